# SPDX-License-Identifier: Apache-2.0
"""Checks that a synthetic run, read back, equals its truth.json to the nanosecond, one line per run.

    synth_truth.py --chopper BIN [--presets NAME,NAME | --all | --fewer] [--keep DIR]

Each run of `chopper synth` is read twice: by `chopper report` and by the slow references in Python. Both must find what
truth.json says; the Python side also looks at what a real trace promises (ranges nest, ids resolve, ranks leave a
collective together). Then faults, seeds, dialects and each imperfection.
--all: every preset but the two with most ranks, two iterations each. --fewer: a selection for slow builds.
Exit 0: all equal; 1: a difference; 2: wrong usage.
"""
import argparse
import gc
import gzip
import json
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
import chopper_reference as reference  # noqa: E402
import windows_reference as windows  # noqa: E402

PRESETS = ("tiny-fsdp2", "tiny-fsdp1", "tiny-ddp", "demo")
VARIANTS = (                                            # of tiny-fsdp2
    "tensor_parallel=2", "sharding=ddp pipeline_parallel=2 micro_steps=4", "context_parallel=2", "compiled=on",
    "sharding=ddp layers=4 world_size=8 pipeline_parallel=4 micro_steps=3",
    "sharding=ddp graphs=on", "checkpointing=on", "reads_loss=off", "stacks=on memory_events=on annotations=on",
    "micro_steps=2 sharding=fsdp1 optimizer=once", "tensor_parallel=2 pipeline_parallel=2 world_size=8 ranks_per_node=4 "
    "sharding=ddp micro_steps=2 reads_loss=off")
FEWER_VARIANTS = ("sharding=ddp pipeline_parallel=2 micro_steps=4", "sharding=ddp graphs=on")
TOO_LARGE = ("llama3-70b-fsdp2", "tiny-1024")
DIALECTS = ("nvidia", "amd-queue", "amd-stream")
TIMELINE = ("start_ns span_ns busy_ns compute_ns comm_ns memcpy_ns overlap_ns exposed_comm_ns exposed_memcpy_ns idle_ns "
            "prep_ns call_ns").split()
COUNTS = ("num_kernels", "num_memcpy", "num_memset", "num_comm_kernels")
FILL_KERNEL = "__amd_rocclr_fillBufferAligned"
RANGES = ("cpu_op", "user_annotation", "python_function")
SHOWN = 8


class TrueLaunch:
    """A launch call as the truth has it."""
    __slots__ = ("start",)

    def __init__(self, start):
        self.start = start


class TrueWork:
    """A piece of gpu work as the truth has it, with the fields of a span that windows_reference reads."""
    __slots__ = ("start", "end", "offset", "name", "klass", "gpu_kind", "launch", "iteration", "index", "arrived")

    def columns(self):
        return self.start, self.end - self.start, self.name, self.iteration, self.launch.start


# --------------------------------------------------------------------------------------------------------------- runs

class Run:
    """One folder that `chopper synth` wrote."""

    def __init__(self, chopper, folder, arguments):
        self.chopper, self.folder = chopper, Path(folder)
        done = subprocess.run([chopper, "synth", *arguments, "-q", "-o", str(folder)], capture_output=True, timeout=600)
        if done.returncode:
            raise RuntimeError(f"synth {' '.join(arguments)}: exit {done.returncode}, "
                               f"{done.stderr.decode('utf-8', 'replace')[:300]}")
        with open(self.folder / "truth.json", encoding="utf-8") as file:
            self.truth = json.load(file)
        self.job = self.truth["job"]
        self.ranks = range(self.job["world_size"])
        programs = {each["program"]: each["work"] for each in self.truth["programs"]}
        self.rows = {(row["rank"], row["iteration"]): row for row in self.truth["iterations"]}
        self.programs = {key: programs[row["program"]] for key, row in self.rows.items()}

    def trace(self, rank):
        return self.folder / "traces" / f"rank{rank}.trace.json.gz"

    def text(self, rank):
        return gzip.decompress(self.trace(rank).read_bytes())

    def read(self, rank, health):
        """The spans of a rank, as the slow reference reads them."""
        return reference.load_spans(self.trace(rank), health)[0]

    def report(self):
        """(exit status, JSON document)"""
        done = subprocess.run([self.chopper, "report", "--json", "-", "-q", str(self.folder)], capture_output=True,
                              timeout=900)
        return done.returncode, json.loads(done.stdout) if done.returncode in (0, 3) else None

    def check(self):
        """(exit status, text)"""
        done = subprocess.run([self.chopper, "check", "-q", str(self.folder)], capture_output=True, timeout=900)
        return done.returncode, done.stdout.decode("utf-8", "replace")

    def iterations(self):
        first = self.job["first_recorded"]
        return range(first, first + self.job["num_iterations"])

    def works(self, rank):
        """All work of a rank in the order in which it was launched."""
        result = []
        for number in self.iterations():
            row, program = self.rows[rank, number], self.programs[rank, number]
            for index, label in enumerate(program):
                work = TrueWork()
                work.start = row["start_ns"][index]
                work.end = work.start + row["duration_ns"][index]
                work.offset, work.iteration, work.index = len(result), number, index
                work.name, work.klass = label["name"], label["class"]
                work.launch, work.arrived = TrueLaunch(row["launch_ns"][index]), row["all_arrived_ns"][index]
                work.gpu_kind = work.klass if work.klass in ("memcpy", "memset") else "kernel"
                if work.klass == "memset" and self.job["dialect"] == "amd-stream":
                    work.name, work.gpu_kind = FILL_KERNEL, "kernel"
                result.append(work)
        return result


class Differences(list):
    def equal(self, what, got, want):
        if got != want:
            self.append(f"{what}: {shorten(got)}, expected {shorten(want)}")
        return got == want

    def true(self, what, condition):
        if not condition:
            self.append(what)


def shorten(value):
    text = repr(value)
    return text if len(text) < 160 else text[:157] + "..."


def first_difference(got, want):
    for place, (a, b) in enumerate(zip(got, want)):
        if a != b:
            return f"at {place}: {shorten(a)}, expected {shorten(b)}"
    return f"{len(got)} rows, expected {len(want)}"


# -------------------------------------------------------------------------------------------------------- the program

def health_counts(document):
    """{input or None: {kind: count}}, without the files of the folder that are no traces."""
    result = defaultdict(Counter)
    for row in document["health"]:
        if row["kind"] != "foreign_file":
            result[row.get("input")][row["kind"]] += row["count"]
    return result


def rows_by_rank(document, table, found):
    result = {}
    for row in document[table]:
        if table == "timeline" and row["scope"] != "trace":
            continue
        found.true(f"{table}: two rows for rank {row['rank']}", row["rank"] not in result)
        result[row["rank"]] = row
    return result


def compare_program(run, document, expected, found):
    """`expected`: {rank: row with the keys of TIMELINE and COUNTS}."""
    tables = {table: rows_by_rank(document, table, found) for table in ("gpus", "timeline", "coverage")}
    for table, rows in tables.items():
        if not found.equal(f"{table}: ranks", sorted(rows), sorted(expected)):
            return
    for rank, want in expected.items():
        found.equal(f"rank {rank} gpu", tables["gpus"][rank]["gpu_ordinal"], run.truth["gpus"][rank]["gpu"])
        for key in COUNTS:
            found.equal(f"rank {rank} {key}", tables["gpus"][rank][key], want[key])
        for key in TIMELINE:
            found.equal(f"rank {rank} {key}", tables["timeline"][rank][key], want[key])
        found.equal(f"rank {rank} launch_records", tables["coverage"][rank]["launch_records"], 1)


def compare_health(run, document, status, found):
    """Nothing lost, nothing odd."""
    found.equal("report: exit status", status, 0)
    allowed = {"overlapping_on_stream"} if run.job["dialect"] == "amd-queue" else set()    # streams share queues
    for counts in health_counts(document).values():
        for kind in counts.keys() - allowed:
            found.append(f"health: {kind} {counts[kind]}")


# ---------------------------------------------------------------------------------------------------------- references

def compare_records(works, true_works, iterations, found, label):
    """Times, names, launches and iterations of all gpu records; returns the pairs."""
    true_works = sorted(true_works, key=TrueWork.columns)

    def columns(work):
        return (work.start, work.end - work.start, work.name, iterations[work],
                work.launch.start if work.launch else None)
    got = sorted(((columns(w), w) for w in works), key=lambda pair: (pair[0][:3], pair[0][3] or -1, pair[0][4] or -1))
    seen, want = [pair[0] for pair in got], [w.columns() for w in true_works]
    if seen != want:
        found.append(f"{label} gpu records (start, duration, name, iteration, launch) {first_difference(seen, want)}")
        return []
    for (_, work), true_work in zip(got, true_works):
        # CHOICE: data/classes.toml has no word for chunk_cat, which the truth calls a vector kernel.
        if work.klass != true_work.klass and not (work.klass == "other" and "chunk_cat" in work.name):
            found.append(f"{label} class {work.klass} of {work.name[:60]}, expected {true_work.klass}")
            break
    return [(pair[1], true_work) for pair, true_work in zip(got, true_works)]


def compare_reference(run, rank, spans, found):
    """Whole trace, windows, gaps and records of one rank; returns (record, truth) pairs."""
    label, truth = f"rank {rank}", run.truth["timeline"][rank]
    result = windows.analyse(spans)
    if not found.equal(f"{label} gpus", list(result), [run.truth["gpus"][rank]["gpu"]]):
        return []
    mine = next(iter(result.values()))
    for key in COUNTS:
        found.equal(f"{label} reference {key}", mine[key], truth[key])
    for key in TIMELINE:
        found.equal(f"{label} reference {key}", mine["timeline"][key], truth[key])
    found.equal(f"{label} reference num_no_launch", mine["num_no_launch"], 0)
    if mine["windows"] != truth["windows"]:
        found.append(f"{label} windows {first_difference(mine['windows'], truth['windows'])}")
    true_gaps = list(zip(*(truth["gaps"][key] for key in ("iteration", "prep_ns", "call_ns"))))
    if mine["gaps"] != true_gaps:
        found.append(f"{label} gaps {first_difference(mine['gaps'], true_gaps)}")
    pairs = compare_records(mine["works"], run.works(rank), mine["iterations"], found, label)
    marks = windows.find_marks(spans)
    found.equal(f"{label} marks", marks, [(n, run.rows[rank, n]["host_start_ns"], run.rows[rank, n]["host_end_ns"])
                                          for n in run.iterations()])
    return pairs


def compare_step(run, found):
    """Step time and tokens of section 3."""
    by_iteration = defaultdict(list)
    for row in run.truth["timeline"]:
        for window in row["windows"]:
            if window["scope"] == "iteration" and (not window["last"] or run.job["num_iterations"] == 1):
                by_iteration[window["iteration"]].append(window["window_ns"])
    longest = sorted(max(values) for values in by_iteration.values())
    job, step = run.job, run.truth["step"]
    found.equal("step_time_ns", step["step_time_ns"], longest[(len(longest) - 1) // 2])
    sets = job["world_size"] // (job["tensor_parallel"] * job["pipeline_parallel"] * job["context_parallel"])
    found.equal("tokens", step["tokens"], job["batch"] * job["sequence"] * job["micro_steps"] * sets)


# ------------------------------------------------------------------------------------------------- what a trace promises

def check_nesting(spans, found, label):
    threads = defaultdict(list)
    for span in spans:
        if span.cat in RANGES or span.cat in reference.CALL_KIND:
            threads[span.thread].append(span)
    for members in threads.values():
        opened = []
        for span in sorted(members, key=lambda s: (s.start, -s.end, s.offset)):
            while opened and opened[-1].end <= span.start:
                opened.pop()
            if opened and span.end > opened[-1].end:
                found.append(f"{label} {span.name[:60]} ends after {opened[-1].name[:60]} around it")
                return
            opened.append(span)


def check_links(spans, found, label):
    """One launch call per correlation id; the External id of work and calls is that of a range around the call."""
    calls, works, hosts = defaultdict(list), defaultdict(list), {}
    for span in spans:
        correlation = reference.to_id(span.args.get("correlation"))
        if span.cat in reference.CALL_KIND:
            calls[correlation].append(span)
        elif span.gpu_kind:
            works[correlation].append(span)
        elif span.cat in ("cpu_op", "user_annotation"):
            external = reference.to_id(span.args.get("External id"))
            found.true(f"{label} External id {external} is there twice", external not in hosts)
            hosts[external] = span
    for correlation, members in works.items():
        found.equal(f"{label} launch calls of correlation {correlation}", len(calls[correlation]), 1)
        graph = "GraphLaunch" in calls[correlation][0].name if calls[correlation] else False
        found.true(f"{label} {len(members)} records of correlation {correlation}", graph or len(members) == 1)
    found.true(f"{label} calls share a correlation id", all(len(members) == 1 for members in calls.values()))
    outside = Counter()
    for members in works.values():
        for work in members:
            for record in (work, work.launch):
                host = hosts.get(reference.to_id(record.args.get("External id"))) if record else None
                around = host and host.thread == work.launch.thread and host.start <= work.launch.start \
                    and work.launch.end <= host.end
                outside[record.cat if record else "none"] += not around
    found.equal(f"{label} External ids that are no range around the launch call", +outside, Counter())
    return hosts


def check_sequences(spans, found, label):
    """Each backward operator has its forward operator earlier."""
    ends, backward = {}, []
    for span in spans:
        number = reference.to_id(span.args.get("Sequence number"))
        if span.cat != "cpu_op" or number is None or number < 0:
            continue
        thread = reference.to_id(span.args.get("Fwd thread id"))
        if thread == 0:
            ends[number] = min(ends.get(number, span.end), span.end)
        else:
            backward.append((number, span))
    found.true(f"{label} no backward operator has a sequence number", backward)
    lonely = [(number, span.name) for number, span in backward if not ends.get(number, span.end) <= span.start
              or number not in ends]
    found.true(f"{label} {len(lonely)} backward operators without forward operator, such as {lonely[:1]}", not lonely)


def members_of(args):
    size, ranks = reference.to_id(args.get("Group size")), args.get("Process Group Ranks", "")
    if "..." not in ranks:
        return tuple(json.loads(ranks))
    start, stride = (reference.to_id(args.get("Global rank " + key)) for key in ("start", "stride"))
    return tuple(start + stride * i for i in range(size))


def collect_collectives(rank, pairs, hosts, found, collectives):
    """Adds to {key: {rank: [(start, end, all_arrived, kind)]}}, in order of launch. A key is a group and, for send and
    receive, its direction."""
    comm = [pair for pair in pairs if pair[0].klass == "comm"]
    for work, truth in sorted(comm, key=lambda pair: pair[0].launch.start):
        host = hosts.get(reference.to_id(work.args.get("External id")))
        if host is None or host.name != "record_param_comms":
            found.append(f"rank {rank} {work.name[:40]}: its External id is no record_param_comms")
            return
        members, kind, source = members_of(host.args), host.args.get("Collective name"), None
        found.true(f"rank {rank} is no member of {members}", rank in members)
        found.equal(f"rank {rank} Group size", reference.to_id(host.args.get("Group size")), len(members))
        found.true(f"rank {rank} collective data of kernel and operator differ",
                   work.args.get("Collective name") in (None, kind))
        if kind in ("send", "recv"):
            # The group is that of all stages; the two that meet are named apart.
            source, target = (reference.to_id(host.args.get(key)) for key in ("Src Rank", "Dst Rank"))
            found.equal(f"rank {rank} end of {kind}", source if kind == "send" else target, rank)
            found.true(f"rank {rank} {kind}: {source} and {target} are no members of {members}", {source, target} <= set(members))
            members = tuple(sorted((source, target)))
        size = sorted(reference.to_id(host.args.get(key)) for key in ("In msg nelems", "Out msg nelems"))
        rows = collectives[members, source].setdefault(rank, [])
        rows.append((work.start, work.end, truth.arrived, "p2p" if source is not None else kind, size))


def check_collectives(run, collectives, found):
    jitter = run.truth["physics"]["exit_jitter_ns"]
    for (members, source), by_rank in collectives.items():
        label = f"group {members}" + ("" if source is None else f" from {source}")
        if not found.equal(f"{label} ranks", tuple(sorted(by_rank)), tuple(sorted(members))):
            continue
        counts = {len(rows) for rows in by_rank.values()}
        if not found.equal(f"{label} different numbers of collectives", len(counts), 1):
            continue
        for place, rows in enumerate(zip(*by_rank.values())):
            starts, ends, arrived, kinds, sizes = zip(*rows)
            what = f"{label} collective {place}"
            found.equal(f"{what} kinds", len(set(kinds)), 1)
            found.true(f"{what} sizes differ", all(size == sizes[0] for size in sizes))
            found.equal(f"{what} all_arrived_ns", set(arrived), {max(starts)})
            found.true(f"{what} ends before the last rank arrives", min(ends) >= max(starts))
            found.true(f"{what} ranks leave {max(ends) - min(ends)} ns apart", max(ends) - min(ends) <= jitter)
            if len(found) > 50:
                return


# ------------------------------------------------------------------------------------------------------------- one run

def check_truth(run, found):
    """What must hold inside truth.json: factors multiply to durations, gaps have causes, nothing removed costs time, and
    parameters are gathered after they were written."""
    truth = run.truth
    works = {p["program"]: p["work"] for p in truth["programs"]}
    for row in truth["iterations"]:
        for i, work in enumerate(works[row["program"]]):
            if work["bound"] == "none":
                continue
            product = work["theory_ns"] * work["inst"] * work["util"] * work["rate"]
            for factor in ("variation", "freq", "mem_clock", "contention"):
                product *= 1 if row[factor][i] is None else row[factor][i]
            # Each of the four is printed with six decimals.
            limit = 1 + row["duration_ns"][i] * 1e-5
            if abs(product - row["duration_ns"][i]) > limit:
                found.append(f"rank {row['rank']} work {i}: factors give {product:.1f}, duration {row['duration_ns'][i]}")
    pause_ns = truth["physics"]["queue_gap_ns"] * 1.3 + 1
    for line in truth["timeline"]:
        gaps = line["gaps"]
        for prep, call, prep_cause, call_cause in zip(gaps["prep_ns"], gaps["call_ns"], gaps["prep_cause"], gaps["call_cause"]):
            found.true(f"rank {line['rank']}: prep {prep} with cause {prep_cause}", (prep > 0) == (prep_cause != "none"))
            found.true(f"rank {line['rank']}: call {call} without cause", call_cause != "none" or call <= pause_ns)
    scenarios = {each["name"]: each for each in truth["counterfactual"]}
    factual = scenarios["factual"]
    longest = max(sum(w["window_ns"] for w in line["windows"] if w["scope"] == "iteration") for line in truth["timeline"])
    found.equal("span of the factual scenario", factual["span_ns"], longest)
    for name, each in scenarios.items():
        found.true(f"{name} ends at {each['end_ns']}, the job at {factual['end_ns']}", each["end_ns"] <= factual["end_ns"] * 1.002)
    check_gathers(truth, works, found)


def check_gathers(truth, works, found):
    rows = {(row["rank"], row["iteration"]): row for row in truth["iterations"]}
    for (rank, iteration), row in rows.items():
        following = rows.get((rank, iteration + 1))
        ends = [s + d for w, s, d in zip(works[row["program"]], row["start_ns"], row["duration_ns"]) if w["operation"] == "opt_step"]
        if following is None or not ends:
            continue
        for work, start in zip(works[following["program"]], following["start_ns"]):
            if work["operation"] == "ag" and work["layer"] is None:
                found.true(f"rank {rank} iteration {iteration + 1}: parameters gathered before they are written", start >= max(ends))


def check_run(run, found):
    check_truth(run, found)
    status, document = run.report()
    if document is None:
        found.append(f"report: exit status {status}")
        return
    compare_program(run, document, {row["rank"]: row for row in run.truth["timeline"]}, found)
    compare_health(run, document, status, found)
    found.equal("check: exit status", run.check()[0], 0)
    compare_step(run, found)
    collectives = defaultdict(dict)
    for rank in run.ranks:
        health = Counter()
        spans = run.read(rank, health)
        found.equal(f"rank {rank} health of the reference", +health, Counter())
        pairs = compare_reference(run, rank, spans, found)
        check_nesting(spans, found, f"rank {rank}")
        hosts = check_links(spans, found, f"rank {rank}")
        check_sequences(spans, found, f"rank {rank}")
        collect_collectives(rank, pairs, hosts, found, collectives)
    check_collectives(run, collectives, found)


# ------------------------------------------------------------------------------------------------- seeds and dialects

def same_files(a, b):
    return [name for name in ["truth.json", *(f"traces/rank{r}.trace.json.gz" for r in a.ranks)]
            if contents(a.folder / name) != contents(b.folder / name)]


def contents(path):
    data = path.read_bytes()
    return gzip.decompress(data) if path.suffix == ".gz" else data


def check_seeds(make, found):
    arguments = ["--preset", "tiny-fsdp2", "--num-iterations", "2"]
    first, again = make(arguments), make([*arguments, "--threads", "1"])
    other = make([*arguments, "--seed", "2"])
    found.equal("files that differ with the same seed", same_files(first, again), [])
    found.equal("files that differ with another seed", len(same_files(first, other)), len(first.ranks) + 1)
    found.equal("num_iterations", first.job["num_iterations"], 2)
    for rank in first.ranks:
        numbers = [mark[0] for mark in windows.find_marks(first.read(rank, Counter()))]
        found.equal(f"rank {rank} marks", numbers, list(first.iterations()))


def without_counts(row):
    return {key: value for key, value in row.items() if key not in ("num_kernels", "num_memset")}


def check_dialects(make, preset, found):
    runs = [make(["--preset", preset, "--num-iterations", "2", "--dialect", dialect]) for dialect in DIALECTS]
    times = [[sorted((s.start, s.end) for s in run.read(rank, Counter()) if s.gpu_kind) for rank in run.ranks]
             for run in runs]
    for run, run_times in zip(runs[1:], times[1:]):
        label = f"{run.job['dialect']} against {DIALECTS[0]}"
        found.true(f"{label}: times of gpu work differ", run_times == times[0])
        found.true(f"{label}: iterations of the truth differ", run.truth["iterations"] == runs[0].truth["iterations"])
        for rank in run.ranks:
            mine, first = run.truth["timeline"][rank], runs[0].truth["timeline"][rank]
            found.true(f"{label}: rank {rank} time line of the truth differs", without_counts(mine) == without_counts(first))
            fills = sum(1 for w in run.works(rank) if w.klass == "memset")
            as_kernels = fills if run.job["dialect"] == "amd-stream" else 0
            found.equal(f"{label}: rank {rank} fills", (mine["num_memset"], mine["num_kernels"]),
                        (fills - as_kernels, first["num_kernels"] + as_kernels))
    for run in runs:
        inner = Differences()
        check_run(run, inner)
        found += [f"{run.job['dialect']}: {text}" for text in inner]


# ------------------------------------------------------------------------------------------------------- imperfections

def as_shown(run, flaws):
    """The function from true times to those that the rank's clock shows."""
    offset = sum(f["amount"] for f in flaws if f["name"] == "clock-offset")
    drift = sum(f["amount"] for f in flaws if f["name"] == "clock-drift") / 1000
    start = run.job["start_ns"]
    return lambda t: t + offset + int(float(t - start) * drift * 1e-6)


def expected_row(works):
    """What a report must say of these pieces of work alone."""
    pauses = windows.gaps(works, [], {w: None for w in works})
    count = Counter(w.gpu_kind for w in works)
    return windows.trace_lengths(works) | {
        "prep_ns": sum(g[1] for g in pauses), "call_ns": sum(g[2] for g in pauses), "num_kernels": count["kernel"],
        "num_memcpy": count["memcpy"], "num_memset": count["memset"],
        "num_comm_kernels": sum(1 for w in works if w.klass == "comm")}


# name: (exit status, kind of health that counts the listed records or None, whether the records are missing)
IMPERFECTIONS = {
    "drop-first": (0, None, True), "drop-random": (0, None, True), "drop-stream": (0, None, True),
    "clock-offset": (0, None, False), "clock-drift": (0, None, False), "duplicate-correlation": (0, None, False),
    # The traces state a base time, so that ts 0 is the base and lies far before the host's records.
    "zero-time": (3, "outside_host_window", True), "overflowed-time": (3, "time_overflow", True),
    "truncated": (3, "truncated", False), "broken-quoting": (0, "text_repaired", False)}


def check_imperfection(make, whole, name, argument, found):
    """`whole`: the same run without imperfections."""
    run = make(["--preset", "tiny-fsdp2", "--imperfection", argument])
    wanted_status, kind, missing = IMPERFECTIONS[name]
    status, document = run.report()
    check_status, check_text = run.check()
    found.equal("exit status of report", status, wanted_status)
    found.equal("exit status of check", check_status, wanted_status)
    if document is None:
        return
    for key in run.truth.keys() - {"imperfections"}:
        found.true(f"the truth about {key} differs from that of the whole run", run.truth[key] == whole.truth[key])
    flaws_of = {rank: [f for f in run.truth["imperfections"] if f["rank"] == rank] for rank in run.ranks}
    touched = [rank for rank in run.ranks if flaws_of[rank]]
    asked = argument.split(":")[1:2]
    found.equal("ranks with imperfections", touched, [int(asked[0])] if asked and asked[0] else list(run.ranks))
    found.equal("names", {f["name"] for f in run.truth["imperfections"]}, {name})
    by_rank, health, expected = {i["rank"]: i["input"] for i in document["inputs"]}, health_counts(document), {}
    for rank in run.ranks:
        flaws, counts = flaws_of[rank], health[by_rank[rank]]
        listed = {(f["iteration"], f["work"]) for f in flaws}
        gone = listed if missing else set()
        works = [w for w in run.works(rank) if (w.iteration, w.index) not in gone]
        lost = len(run.works(rank)) - len(works)
        if missing:
            found.equal(f"rank {rank} listed records", lost, len(flaws))
        shown, spans = as_shown(run, flaws), run.read(rank, Counter())
        for work in works:
            work.start, work.end, work.launch.start = shown(work.start), shown(work.end), shown(work.launch.start)
        if name == "truncated":
            works = check_truncated(run, whole, rank, flaws, works, spans, found)
        marks = windows.find_marks(spans)
        records = [s for s in spans if s.gpu_kind]
        places = windows.places_of(records, marks)
        if name == "duplicate-correlation":
            check_repeated(spans, flaws, found, f"rank {rank}")
            got = sorted((w.start, w.end, w.name) for w in records)
            found.true(f"rank {rank} gpu records differ", got == sorted((w.start, w.end, w.name) for w in works))
        elif name != "broken-quoting" or flaws:
            iterations = {w: None if places[w] is None else marks[places[w]][0] for w in records}
            compare_records(records, works, iterations, found, f"rank {rank}")
        expected[rank] = expected_row(works)
        if name == "duplicate-correlation":             # the nearest earlier call: not always the true one
            expected[rank] |= {key: value for key, value in windows.analyse(spans)[records[0].gpu]["timeline"].items()
                               if key in ("prep_ns", "call_ns")}
            found.true(f"rank {rank} health says nothing of it", not flaws or counts["ambiguous_correlation"])
            continue
        want = Counter()
        if kind and flaws:
            want[kind] = len(flaws)
            found.true(f"check does not say {kind}", kind in check_text)
        present = {(w.iteration, w.index) for w in works}
        want["launches_without_gpu_record"] = sum(1 for w in run.works(rank) if w.gpu_kind == "kernel" and (
            w.iteration, w.index) not in present and name != "truncated" and w.name != FILL_KERNEL)
        if name == "truncated":                         # calls are written before their work
            launches = {s for s in spans if s.cat in reference.CALL_KIND and "Launch" in s.name}
            want["launches_without_gpu_record"] = len(launches - {w.launch for w in records})
        found.equal(f"rank {rank} health", +counts, +want)
    compare_program(run, document, expected, found)


def check_truncated(run, whole, rank, flaws, works, spans, found):
    """The text is a beginning of the whole text; the gpu records are those of that beginning."""
    text, complete = run.text(rank), whole.text(rank)
    found.true(f"rank {rank} is no beginning of the whole file", complete.startswith(text))
    found.equal(f"rank {rank} bytes cut", len(complete) - len(text), sum(f["amount"] for f in flaws))
    num = sum(1 for s in spans if s.gpu_kind)
    found.true(f"rank {rank} lost no gpu record", not flaws or 0 < num < len(works))
    return works[:num]


def check_repeated(spans, flaws, found, label):
    """Each listed launch shares its id with a launch before it."""
    works = [s for s in spans if s.gpu_kind]
    started = {reference.to_id(w.args.get("correlation")) for w in works}
    calls = Counter(reference.to_id(s.args.get("correlation")) for s in spans if s.cat in reference.CALL_KIND)
    launches = sum(n for correlation, n in calls.items() if correlation in started)
    found.equal(f"{label} launches", launches, len(works))
    found.equal(f"{label} launches that share an id", len(works) - len(started), len(flaws))
    found.equal(f"{label} ids that are no launch's and shared", sum(1 for c, n in calls.items() if n > 1
                                                                    and c not in started), 0)


# --------------------------------------------------------------------------------------------------------------- main

def listed_names(chopper):
    """{heading: names} of `chopper synth --list`."""
    text = subprocess.run([chopper, "synth", "--list"], capture_output=True, timeout=60, check=True).stdout.decode()
    return {part.split()[0]: re.findall(r"^  (\S+)", part, re.MULTILINE) for part in text.split("\n\n")}


def variant_arguments(variant):
    return ["--preset", "tiny-fsdp2", *(word for setting in variant.split() for word in ("--set", setting))]


class Checks:
    """Runs the checks one after the other, each in a folder of its own that is removed behind it."""

    def __init__(self, chopper, keep):
        self.chopper, self.keep, self.num, self.failed = chopper, keep, 0, 0

    def run(self, label, check):
        begin, found = time.monotonic(), Differences()
        with tempfile.TemporaryDirectory(prefix="synth_truth_") as folder:
            top, made = Path(self.keep or folder) / str(self.num), []

            def make(arguments):
                made.append(Run(self.chopper, top / str(len(made)), arguments))
                return made[-1]
            try:
                check(make, found)
            except (RuntimeError, ValueError, OSError, subprocess.TimeoutExpired) as error:
                found.append(f"{type(error).__name__}: {str(error)[:300]}")
        verdict = f"{len(found)} DIFFER" if found else "ok"
        print(f"{verdict:<12} {label} ({time.monotonic() - begin:.1f} s)", flush=True)
        for text in found[:SHOWN]:
            print("    " + text)
        if len(found) > SHOWN:
            print(f"    ... and {len(found) - SHOWN} more")
        self.num += 1
        self.failed += bool(found)
        gc.collect()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--chopper", required=True, help="the program under test")
    parser.add_argument("--presets", help="only these, separated by commas")
    parser.add_argument("--all", action="store_true", help="all presets but the two with most ranks")
    parser.add_argument("--fewer", action="store_true", help="a selection, for slow builds")
    parser.add_argument("--keep", help="write the runs here and leave them")
    options = parser.parse_args()
    if not Path(options.chopper).is_file():
        print(f"not a file: {options.chopper}", file=sys.stderr)
        return 2
    chopper = str(Path(options.chopper).resolve())
    gc.disable()                                        # millions of small objects and no cycles
    listed = listed_names(chopper)
    checks = Checks(chopper, options.keep)

    def whole_run(arguments):
        return lambda make, found: check_run(make(arguments), found)
    names = options.presets.split(",") if options.presets else PRESETS[:1] if options.fewer else PRESETS
    if options.all:
        names = [name for name in listed["presets"] if name not in TOO_LARGE]
    for name in names:
        checks.run(name, whole_run(["--preset", name, *(["--num-iterations", "2"] if options.all else [])]))
    if not options.presets:
        for variant in FEWER_VARIANTS if options.fewer else VARIANTS:
            checks.run("tiny-fsdp2 " + variant, whole_run(variant_arguments(variant)))
        for fault in listed["faults"][:2] if options.fewer else listed["faults"]:
            checks.run("fault " + fault, whole_run(["--preset", "tiny-fsdp2", "--fault", fault, "--num-iterations", "2"]))
        checks.run("seeds", check_seeds)
        checks.run("dialects", lambda make, found: check_dialects(make, "tiny-fsdp2", found))
        with tempfile.TemporaryDirectory(prefix="synth_truth_") as folder:
            whole = Run(chopper, Path(folder) / "whole", ["--preset", "tiny-fsdp2"])
            # Those of counter passes are checked by counters_truth.py.
            of_traces = sorted(name for name in listed["imperfections"] if not name.startswith("pass-"))
            checks.run("list of imperfections",
                       lambda make, found: found.equal("names", of_traces, sorted(IMPERFECTIONS)))
            arguments = [(name, name) for name in IMPERFECTIONS] + [("clock-offset", "clock-offset:1:-2500"),
                                                                    ("drop-random", "drop-random:2:5")]
            for name, argument in arguments:
                checks.run("imperfection " + argument, lambda make, found, name=name, argument=argument:
                           check_imperfection(make, whole, name, argument, found))
    print(f"{checks.num} checks, {checks.failed} with differences")
    return 1 if checks.failed else 0


if __name__ == "__main__":
    sys.exit(main())
