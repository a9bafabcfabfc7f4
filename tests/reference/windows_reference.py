# SPDX-License-Identifier: Apache-2.0
"""Slow, independent reference of iterations, windows and launch gaps of ONE PyTorch profiler trace.

Written from sections 3, 4 and 6 of the specification alone, on the records of chopper_reference; it shares no code and no
algorithm with the C++ program. Time is cut into the pieces between neighbouring end points, and each piece is looked at by
itself.

    windows_reference.py FILE     prints one JSON object

`find_marks` reads the marks `ProfilerStep#N` alone, `iteration_marks` all kinds of section 4.
"""
import bisect
import json
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
import chopper_reference as reference  # noqa: E402

MARK = re.compile(r"ProfilerStep#(\d+)\Z", re.ASCII)
ITERATION = re.compile(r"iteration[ _#:\-<]?(\d+)>?\Z", re.ASCII | re.IGNORECASE)
OPTIMIZER = "Optimizer.step#"
LENGTHS = ("total busy compute comm memcpy overlap exposed_comm exposed_memcpy idle").split()


def kind_of(work):
    """COMP, COMM or MEM."""
    if work.klass == "comm":
        return "COMM"
    return "COMP" if work.klass in reference.COMPUTE_CLASSES else "MEM"


def in_start_order(works):
    return sorted(works, key=lambda w: (w.start, w.end, w.offset))


# -------------------------------------------------------------------------------------------------------- iterations

def find_marks(spans):
    """[(number, start, end)] in order of start."""
    marks = []
    for span in spans:
        found = MARK.match(span.name) if span.cat == "user_annotation" else None
        if found:
            marks.append((int(found[1]), span.start, span.end))
    return sorted(marks, key=lambda mark: mark[1])


def iteration_marks(spans, outermost, text=None):
    """(rule, thread, [(number, start, end)], the records that are the marks). `outermost`: whether no range of the same kind is
    around a span; `text`: what the user says marks begin with."""
    ranges = sorted((s for s in spans if s.cat in reference.RANGE_KIND), key=lambda s: (s.start, -s.end, s.offset))
    steps = [s for s in ranges if s.name.startswith(OPTIMIZER) and outermost(s)]
    kinds = (
        ("user", [s for s in ranges if text and s.name.startswith(text)], re.compile(r"(?s:.*?)(\d+)", re.ASCII)),
        ("iteration", [s for s in ranges if ITERATION.match(s.name)], ITERATION),
        ("profiler_step", [s for s in ranges if MARK.match(s.name)], MARK),
        ("optimizer", [s for s in steps if s.name == steps[0].name], None))
    for rule, found, pattern in kinds:
        if not found:
            continue
        threads = defaultdict(list)
        for span in found:
            threads[span.thread].append(span)
        thread = max(threads, key=lambda t: len(threads[t]))        # of several the one that begins first
        marks = []
        for span in threads[thread]:
            number = pattern.match(span.name) if pattern else None
            marks.append((int(number[1]) if number else None, span.start, span.end))
        return rule, thread, marks, threads[thread]
    launched = sorted((s for s in spans if s.gpu_kind and s.launch), key=lambda s: (s.launch.start, s.launch.offset, s.start))
    behind = launched[-1].launch.start + 1 if launched else 0
    firsts = periodic_firsts(launched)
    if firsts:
        starts = [w.launch.start for w in firsts]
        return "periodic", None, [(None, *mark) for mark in zip(starts, [*starts[1:], behind])], firsts
    return "none", None, [(None, launched[0].launch.start, behind)] if launched else [], []


def periodic_firsts(launched):
    """The kernels that begin iterations: of the names of compute kernels of the gpu with most, those that occur least often, if they are
    two or more, occur three times and take turns in one order. CHOICE: kernels of one launch call, as those of a graph, are no
    sequence of launches."""
    kernels = [w for w in launched if w.gpu_kind == "kernel" and kind_of(w) == "COMP"]
    if not kernels:
        return []
    gpu = Counter(w.gpu for w in kernels).most_common(1)[0][0]
    kernels = [w for w in kernels if w.gpu == gpu]
    count = Counter(w.name for w in kernels)
    number = min(count.values())
    turns = [w for w in kernels if count[w.name] == number]
    num = len(turns) // number
    if number < 3 or num < 2 or any(w.name != turns[place % num].name for place, w in enumerate(turns)):
        return []
    firsts = turns[::num]
    return firsts if len({w.launch.start for w in firsts}) == number else []


def place_of(time, marks):
    """The place in `marks` of the iteration of a launch at `time`; None before the first and after the last."""
    place = bisect.bisect_right(marks, time, key=lambda mark: mark[1]) - 1
    if place < 0 or place + 1 == len(marks) and time >= marks[place][2]:
        return None
    return place


def places_of(works, marks):
    """{work: place or None}; None too for work without a launch."""
    return {work: place_of(work.launch.start, marks) if work.launch else None for work in works}


# ----------------------------------------------------------------------------------------------------------- lengths

def pieces_of(intervals, start, end):
    """(length, labels) of the pieces of [start, end) between the end points of intervals (begin, end, labels)."""
    opening, closing = defaultdict(list), defaultdict(list)
    for begin, stop, labels in intervals:
        begin, stop = max(begin, start), min(stop, end)
        if begin < stop:
            opening[begin] += labels
            closing[stop] += labels
    running = Counter()
    points = sorted({start, end} | opening.keys() | closing.keys())
    for here, following in zip(points, points[1:]):
        running.update(opening.get(here, ()))
        running.subtract(closing.get(here, ()))
        yield following - here, {label for label, n in running.items() if n > 0}


def add_lengths(total, length, on):
    """Adds a piece to the lengths of section 3; `on` are the kinds of work that run in it."""
    total["total"] += length
    total["busy"] += length if on else 0
    total["compute"] += length if "COMP" in on else 0
    total["comm"] += length if "COMM" in on else 0
    total["memcpy"] += length if "MEM" in on else 0
    total["overlap"] += length if {"COMP", "COMM"} <= on else 0
    total["exposed_comm"] += length if "COMM" in on and "COMP" not in on else 0
    total["exposed_memcpy"] += length if on == {"MEM"} else 0
    total["idle"] += 0 if on else length


def lengths(works, start, end):
    """The lengths of section 3 in [start, end), of all work clipped to it."""
    total = Counter()
    for length, on in pieces_of(((w.start, w.end, [kind_of(w)]) for w in works), start, end):
        add_lengths(total, length, on)
    return {key: total[key] for key in LENGTHS}


def trace_lengths(works):
    """The row of the whole trace: `span_ns`, `busy_ns`, ... and `start_ns`."""
    start, end = min(w.start for w in works), max(w.end for w in works)
    row = lengths(works, start, end)
    return {"start_ns": start, "span_ns": row.pop("total")} | {key + "_ns": value for key, value in row.items()}


# ----------------------------------------------------------------------------------------------------------- windows

def window_starts(works, marks, places):
    """S_k for each mark, and the end of the last window at the back."""
    own = []
    for place in range(len(marks)):
        mine = [w for w in works if places[w] == place]
        own.append(min((w.start for w in mine if kind_of(w) == "COMP"), default=min((w.start for w in mine), default=None)))
    last_end = max((w.end for w in works if places[w] is not None), default=max(w.end for w in works))
    starts = [max(s for s in own[:place + 1] if s is not None) if own[place] is not None else None
              for place in range(len(marks))]
    starts.append(last_end)
    for place in reversed(range(len(marks))):           # an iteration without work takes no time
        if starts[place] is None:
            starts[place] = starts[place + 1]
    return starts


def window_parts(works, marks, places):
    """[(scope, place, start, end, last)] of head, iterations and tail."""
    if not marks:
        return []
    starts = window_starts(works, marks, places)
    first, last = min(w.start for w in works), max(w.end for w in works)
    last_place = max((place for place in places.values() if place is not None), default=0)
    parts = [("head", None, first, starts[0], False)] if first < starts[0] else []
    for place in range(len(marks)):
        parts.append(("iteration", place, starts[place], starts[place + 1], place >= last_place))
    if starts[-1] < last:
        parts.append(("tail", None, starts[-1], last, False))
    return parts


def windows(works, marks, places):
    """Rows of head, iterations and tail."""
    rows = []
    for scope, place, start, end, is_last in window_parts(works, marks, places):
        row = lengths(works, start, end)
        assert row["total"] == end - start == row["compute"] + row["exposed_comm"] + row["exposed_memcpy"] + row["idle"]
        number = None if place is None else marks[place][0]
        rows.append({"scope": scope, "iteration": number, "start_ns": start, "last": is_last, "window_ns": row.pop("total")}
                    | {f"window_{key}_ns": value for key, value in row.items()})
    if rows:
        span = max(w.end for w in works) - min(w.start for w in works)
        assert sum(row["window_ns"] for row in rows) == span, "head + windows + tail = span"
    return rows


# -------------------------------------------------------------------------------------------------------------- gaps

def gaps(works, marks, places):
    """[(iteration, prep, call, kernel)] of the pauses before compute kernels, in start order; only those longer than 0."""
    chain = in_start_order(w for w in works if w.gpu_kind == "kernel" and kind_of(w) == "COMP")
    rows, latest_end = [], None
    for work in chain:
        if latest_end is not None and work.launch and work.start > latest_end:
            gap = work.start - latest_end
            prep = min(max(work.launch.start - latest_end, 0), gap)
            place = places[work]
            rows.append((None if place is None else marks[place][0], prep, gap - prep, work))
        latest_end = work.end if latest_end is None else max(latest_end, work.end)
    return rows


# -------------------------------------------------------------------------------------------------------------- trace

def analyse(spans):
    """{gpu: rows} of the spans of one file, as chopper_reference.load_spans returns them."""
    marks, result = find_marks(spans), {}
    for gpu in {s.gpu for s in spans if s.gpu_kind}:
        works = [s for s in spans if s.gpu_kind and s.gpu == gpu]
        places = places_of(works, marks)
        pauses = gaps(works, marks, places)
        count = Counter(w.gpu_kind for w in works)
        result[gpu] = {
            "num_kernels": count["kernel"], "num_memcpy": count["memcpy"], "num_memset": count["memset"],
            "num_comm_kernels": sum(1 for w in works if w.gpu_kind == "kernel" and w.klass == "comm"),
            "timeline": trace_lengths(works) | {"prep_ns": sum(g[1] for g in pauses), "call_ns": sum(g[2] for g in pauses)},
            "windows": windows(works, marks, places),
            "gaps": [g[:3] for g in pauses],
            "num_no_launch": sum(1 for w in works if not w.launch),
            "works": in_start_order(works),
            "iterations": {work: None if place is None else marks[place][0] for work, place in places.items()},
        }
    return result


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: windows_reference.py FILE")
    spans, _, _ = reference.load_spans(sys.argv[1], Counter())
    result = analyse(spans)
    for row in result.values():
        del row["works"], row["iterations"]
    json.dump(result, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
