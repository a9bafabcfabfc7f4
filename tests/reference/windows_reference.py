# SPDX-License-Identifier: Apache-2.0
"""Slow, independent reference of iterations, windows and launch gaps of ONE PyTorch profiler trace.

Written from sections 3, 4 and 6 of the specification alone, on the records of chopper_reference; it shares no code and no
algorithm with the C++ program. Time is cut into the pieces between neighbouring end points, and each piece is looked at by
itself.

    windows_reference.py FILE     prints one JSON object

Iterations are told by the marks `ProfilerStep#N` alone; the other kinds of marks of section 4 are not read.
"""
import json
import re
import sys
from collections import Counter
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
import chopper_reference as reference  # noqa: E402

MARK = re.compile(r"ProfilerStep#(\d+)\Z", re.ASCII)
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


def place_of(time, marks):
    """The place in `marks` of the iteration of a launch at `time`; None before the first and after the last."""
    for place, (_, start, end) in enumerate(marks):
        stop = marks[place + 1][1] if place + 1 < len(marks) else end
        if start <= time < stop:
            return place
    return None


def places_of(works, marks):
    """{work: place or None}; None too for work without a launch."""
    return {work: place_of(work.launch.start, marks) if work.launch else None for work in works}


# ----------------------------------------------------------------------------------------------------------- lengths

def lengths(works, start, end):
    """The lengths of section 3 in [start, end), of all work clipped to it."""
    inside = [(max(w.start, start), min(w.end, end), kind_of(w)) for w in works if w.start < end and w.end > start]
    inside = [piece for piece in inside if piece[0] < piece[1]]
    opening, closing = {}, {}
    for begin, stop, kind in inside:
        opening.setdefault(begin, []).append(kind)
        closing.setdefault(stop, []).append(kind)
    points = sorted({start, end} | opening.keys() | closing.keys())
    total, running = Counter(), Counter()
    for here, following in zip(points, points[1:]):
        running.update(opening.get(here, ()))
        running.subtract(closing.get(here, ()))
        length, on = following - here, {kind for kind, n in running.items() if n > 0}
        total["total"] += length
        total["busy"] += length if on else 0
        total["compute"] += length if "COMP" in on else 0
        total["comm"] += length if "COMM" in on else 0
        total["memcpy"] += length if "MEM" in on else 0
        total["overlap"] += length if {"COMP", "COMM"} <= on else 0
        total["exposed_comm"] += length if "COMM" in on and "COMP" not in on else 0
        total["exposed_memcpy"] += length if on == {"MEM"} else 0
        total["idle"] += 0 if on else length
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


def windows(works, marks, places):
    """Rows of head, iterations and tail."""
    if not marks:
        return []
    starts = window_starts(works, marks, places)
    first, last = min(w.start for w in works), max(w.end for w in works)
    parts = [("head", None, first, starts[0], False)] if first < starts[0] else []
    for place, (number, _, _) in enumerate(marks):
        parts.append(("iteration", number, starts[place], starts[place + 1], place + 1 == len(marks)))
    if starts[-1] < last:
        parts.append(("tail", None, starts[-1], last, False))
    rows = []
    for scope, number, start, end, is_last in parts:
        row = lengths(works, start, end)
        assert row["total"] == end - start == row["compute"] + row["exposed_comm"] + row["exposed_memcpy"] + row["idle"]
        rows.append({"scope": scope, "iteration": number, "start_ns": start, "last": is_last, "window_ns": row.pop("total")}
                    | {f"window_{key}_ns": value for key, value in row.items()})
    assert sum(row["window_ns"] for row in rows) == last - first, "head + windows + tail = span"
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
