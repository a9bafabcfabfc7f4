# SPDX-License-Identifier: Apache-2.0
"""Compares the labels that `chopper report` gives to gpu work with the truth of synthetic runs, one line per run and mode.

    synth_labels.py --chopper BIN [--all] [--runs TEXT] [--modes NAME,NAME] [--keep DIR]

Each run is made in several modes: what the trace says about its program differs, the work does not. Compared are the labels of every gpu
record, the collectives, the windows and, where all labels must be right, the sums of operations. Printed are the shares
of gpu time with the right label, and the most costly pairs (true label -> our label) of those that are wrong.
--all: every run, also with graphs and fused kernels in three dialects. --runs: those whose name contains TEXT.
Exit 0: all within their limits; 1: not; 2: wrong usage.
"""
import argparse
import gc
import gzip
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
import synth_truth as truth_of  # noqa: E402

# name: (settings, least share of gpu time that must be right)
MODES = {
    "annotations": ("annotations=on", 1.0),
    "annotations-only": ("annotations=on modules=off", 1.0),
    "modules": ("annotations=off modules=on", 0.99),
    "neither": ("annotations=off modules=off stacks=off", 0.97),
}
TINY = "--num-iterations 2"
LAYERS = "--num-iterations 2 --set layers=4"
QUICK = {
    "tiny-fsdp2": TINY,
    "tiny-fsdp1": TINY,
    "tiny-ddp": TINY,
    "tiny-fsdp2 checkpointing": TINY + " --set checkpointing=on",
    "tiny-fsdp1 micro_steps=2": TINY + " --set micro_steps=2 --set reads_loss=off",
    "tiny-fsdp2 nvidia": TINY + " --dialect nvidia",
    "tiny-ddp graphs": TINY + " --set graphs=on",
    "tiny-fsdp2 compiled": TINY + " --set compiled=on",
    "tiny-fsdp2 tensor_parallel=2": TINY + " --set tensor_parallel=2",
}
FULL = QUICK | {
    "tiny-fsdp2 three layers, four iterations": "--num-iterations 4 --set layers=3 --dialect amd-queue",
    "tiny-fsdp2 one iteration": "--num-iterations 1 --set layers=4",
    "tiny-fsdp1 checkpointing": TINY + " --set checkpointing=on --set layers=4",
    "tiny-fsdp1 nvidia": TINY + " --dialect nvidia --set layers=4",
    "tiny-fsdp2 micro_steps=2": TINY + " --set micro_steps=2 --set layers=4",
    "tiny-ddp micro_steps=2 checkpointing": TINY + " --set micro_steps=2 --set checkpointing=on --set layers=4",
    "tiny-fsdp2 reads_loss=off": "--num-iterations 4 --set reads_loss=off --set layers=4",
    "tiny-fsdp2 optimizer=once": "--num-iterations 3 --set optimizer=once --set layers=4",
    "tiny-fsdp2 optimizer=never": "--num-iterations 2 --set optimizer=never --set layers=4",
    "tiny-fsdp2 context_parallel=2": TINY + " --set context_parallel=2 --set layers=4",
    "tiny-ddp pipeline_parallel=2": TINY + " --set pipeline_parallel=2 --set micro_steps=4 --set layers=4",
    "tiny-ddp pipeline_parallel=4 unwrapped": TINY + " --set pipeline_parallel=4 --set micro_steps=8 --set layers=8",
    "tiny-fsdp2 shapes=off": TINY + " --set shapes=off --set layers=4",
    "tiny-fsdp2 stacks=on": TINY + " --set layers=4 --set stacks=on",
    "llama3-8b-fsdp2-h100": LAYERS,
    "llama3-8b-ddp": LAYERS,
    "llama3-8b-tp4": LAYERS,
    "llama3-8b-pp4": LAYERS + " --set layers=8",
    "llama3-8b-cp4": LAYERS,
    "llama3-8b-compiled": LAYERS,
    "llama3-8b-compiled amd-stream": LAYERS + " --dialect amd-stream",
    "llama3-8b-graphs": LAYERS,
    "llama3-8b-graphs amd-queue": LAYERS + " --dialect amd-queue",
    "llama3-8b-fsdp2-h100 checkpointing": LAYERS + " --set checkpointing=on",
    "paper-b2s4-fsdp1": LAYERS,
    "paper-b2s4-fsdp2": LAYERS,
}
LABELS = ("iteration", "phase", "recompute", "layer", "operation")
COLLECTIVES = ("kind", "bytes", "layer", "launch_layer", "transfer_ns", "wait_ns")
WINDOW = ("scope", "iteration", "window_start_ns", "last", *(f"window_{key}ns" for key in (
    "", "busy_", "compute_", "comm_", "memcpy_", "overlap_", "exposed_comm_", "exposed_memcpy_", "idle_")))
SHOWN, SHOWN_PAIRS = 8, 6


def report(chopper, run):
    done = subprocess.run([chopper, "report", "--json", "-", "--kernels", "-q", str(run.folder)], capture_output=True,
                          timeout=900)
    if done.returncode != 0:
        raise RuntimeError(f"report: exit {done.returncode}, {done.stderr.decode('utf-8', 'replace')[:300]}")
    return json.loads(done.stdout)


def records_of(document):
    return [row for table in ("kernels", "copies") for row in document[table]]


def place_of(row):
    """What tells a gpu record in both sources."""
    return row["start_ns"], row["duration_ns"], row["name"], row["launch_ns"] or 0


def pairs_of(run, rank, rows, found):
    """[(row, true work, its entry in the program)]; none when the records differ."""
    works = [(work, run.programs[rank, work.iteration][work.index]) for work in run.works(rank)]
    # The order of the file and of launch decides between records with the same place, as graphs have them.
    works.sort(key=lambda pair: (pair[0].start, pair[0].end - pair[0].start, pair[0].name, pair[0].launch.start, pair[0].offset))
    rows = sorted(rows, key=lambda row: (place_of(row), row["offset"]))
    want = [(w.start, w.end - w.start, w.name, w.launch.start) for w, _ in works]
    got = [place_of(row) for row in rows]
    if got != want:
        found.append(f"rank {rank} gpu records {truth_of.first_difference(got, want)}")
        return []
    return [(row, work, entry) for row, (work, entry) in zip(rows, works)]


def true_labels(work, entry):
    return {"iteration": work.iteration, "phase": entry["phase"], "recompute": entry.get("recompute", False),
            "layer": entry["layer"], "operation": entry["operation"]}


def our_labels(row):
    labels = {label: row[label] for label in LABELS}
    if row["layer"] is None and not row["layer_known"]:
        labels["layer"] = "unknown"
    return labels


class Tally:
    """Right and wrong labels, weighted."""

    def __init__(self):
        self.total, self.right, self.wrong, self.rules = Counter(), Counter(), defaultdict(Counter), defaultdict(Counter)

    def add(self, label, got, want, weight, about, rule=None):
        self.total[label] += weight
        if got == want and type(got) is type(want):
            self.right[label] += weight
        else:
            key = f"{about}: {want} -> {got}" + (f" by {rule}" if rule else "")
            self.wrong[label][key] += weight

    def share(self, label):
        return self.right[label] / self.total[label] if self.total[label] else 1.0

    def text(self, labels):
        return " ".join(f"{label} {percent(self.share(label))}" for label in labels if self.total[label])

    def costly(self, label):
        for key, weight in self.wrong[label].most_common(SHOWN_PAIRS):
            yield f"{label} {percent(weight / self.total[label])} {key}"


def percent(share):
    """Never rounded up to 100."""
    return "100" if share == 1 else f"{int(share * 1e5) / 1e3:.3f}"


def compare_labels(pairs, tally):
    """Time without an operation in the truth is judged by its iteration alone."""
    for row, work, entry in pairs:
        got, want, weight = our_labels(row), true_labels(work, entry), row["duration_ns"]
        for label in LABELS:
            if label == "iteration" or entry["operation"]:
                about = f"{want['phase']} {want['operation'] or entry['class']}" + (" (again)" if want["recompute"] else "")
                tally.add(label, got[label], want[label], weight, about, row.get(label + "_rule"))


def transfers(run):
    """{(iteration, kind, time when all had arrived): the shortest duration over the ranks}. Who arrives together is one collective."""
    result = {}
    for rank in run.ranks:
        for work in run.works(rank):
            entry = run.programs[rank, work.iteration][work.index]
            if entry["class"] == "comm":
                key = work.iteration, entry["operation"], work.arrived
                result[key] = min(result.get(key, work.end - work.start), work.end - work.start)
    return result


def compare_collectives(rank, pairs, rows, shortest, tally, found):
    rows = {(row["start_ns"], row["offset"]): row for row in rows}
    comm = [pair for pair in pairs if pair[2]["class"] == "comm"]
    found.equal(f"rank {rank} rows of collectives", sorted(rows), sorted((r["start_ns"], r["offset"]) for r, _, _ in comm))
    for record, work, entry in comm:
        row = rows.get((record["start_ns"], record["offset"]), {})
        want = {"kind": entry["operation"], "bytes": entry["bytes"], "layer": entry["layer"],
                "launch_layer": entry["launch_layer"]}
        want["transfer_ns"] = shortest[work.iteration, entry["operation"], work.arrived]
        want["wait_ns"] = record["duration_ns"] - want["transfer_ns"]
        for key in COLLECTIVES:
            tally.add(key, row.get(key, "no row"), want[key], 1, f"{entry['phase']} {entry['operation']}"
                      + (f" of layer {entry['layer']}" if key == "launch_layer" else ""))


def compare_windows(rank, rows, truth, found, job):
    rows = [row for row in rows if row["scope"] in ("iteration", "head", "tail") and row.get("window_ns") is not None]
    rows = [row for row in rows if row["scope"] != "tail" or row["window_ns"] > 0]   # the truth has no empty tail
    got = sorted(([row.get(key) for key in WINDOW] for row in rows), key=lambda r: (r[2], r[2] + r[4]))
    want = [[row["start_ns"] if key == "window_start_ns" else row[key] for key in WINDOW] for row in truth["windows"]]
    for values in want + got:
        values[3] = bool(values[3])                     # `last` may be left out of head and tail
    want.sort(key=lambda r: (r[2], r[2] + r[4]))
    if got != want:
        found.append(f"rank {rank} windows {truth_of.first_difference(got, want)}")
    iterations = [row for row in rows if row["scope"] == "iteration"]
    for key, value in (("micro_steps", job["micro_steps"]), ("complete", True)):
        values = {row.get(key) for row in iterations}
        found.true(f"rank {rank} {key} of iterations: {sorted(values, key=repr)}, expected {value}",
                   values == {value} or not iterations)


def compare_operations(document, truth, found):
    """Sums over ranks and iterations."""
    got = defaultdict(Counter)
    for row in document["operations"]:
        got[row["phase"], row["operation"]].update(num_kernels=row["num_kernels"], duration_ns=row["duration_ns"],
                                                   overlap_ns=row["overlap_ns"])
    for row in truth["operations"]:
        key = row["phase"], row["operation"]
        if row["operation"]:
            want = {name: row[name] for name in ("num_kernels", "duration_ns", "overlap_ns") if name in row}
            found.equal(f"operation {key}", {name: got[key][name] for name in want}, want)


def take_off_wrapper(folder):
    """No range says where a forward pass begins. The new name is as long as the old one: places in the files stay."""
    name, num_files = b'"DistributedDataParallel.forward"', 0
    for path in folder.rglob("*.json.gz"):
        text = gzip.decompress(path.read_bytes())
        path.write_bytes(gzip.compress(text.replace(name, b'"' + b"x" * (len(name) - 2) + b'"'), 1))
        num_files += name in text
    assert num_files > 0, folder


def check_run(make, chopper, arguments, mode, unwrapped, state, found):
    settings, limit = MODES[mode]
    run = make([*arguments, *(word for setting in settings.split() for word in ("--set", setting))])
    if unwrapped:
        take_off_wrapper(Path(run.folder))
    document, labels, collectives = report(chopper, run), Tally(), Tally()
    by_rank = {table: defaultdict(list) for table in ("timeline", "collectives", "records")}
    for table, rows in (("timeline", document["timeline"]), ("collectives", document["collectives"]),
                        ("records", records_of(document))):
        for row in rows:
            by_rank[table][row["rank"]].append(row)
    shortest = transfers(run)
    for rank in run.ranks:
        pairs = pairs_of(run, rank, by_rank["records"][rank], found)
        compare_labels(pairs, labels)
        compare_collectives(rank, pairs, by_rank["collectives"][rank], shortest, collectives, found)
        compare_windows(rank, by_rank["timeline"][rank], run.truth["timeline"][rank], found, run.job)
    for label in LABELS:
        if unwrapped and label == "phase":
            continue  # sends between stages are of the forward pass because the wrapper says so
        if labels.share(label) < (1.0 if label == "iteration" else limit):
            found.append(f"{label}: {percent(labels.share(label))} % of gpu time, at least {limit * 100:g} % expected")
    for key in COLLECTIVES:
        if collectives.share(key) < 1:
            found.append(f"collectives {key}: {percent(collectives.share(key))} % right")
    if limit == 1 and all(labels.share(label) == 1 for label in LABELS):
        compare_operations(document, run.truth, found)
    for label in LABELS:
        state["pairs"] += labels.costly(label)
    for key in COLLECTIVES:
        state["pairs"] += (f"collectives {text}" for text in collectives.costly(key))
    state["line"] = f"{labels.text(LABELS)}; collectives {collectives.text(COLLECTIVES)}"


class Checks:
    """Runs the checks one after the other, each in a folder of its own that is removed behind it."""

    def __init__(self, chopper, keep):
        self.chopper, self.keep, self.num, self.failed = chopper, keep, 0, 0

    def run(self, name, arguments, mode):
        begin, found, state = time.monotonic(), truth_of.Differences(), {"line": "", "pairs": []}
        with tempfile.TemporaryDirectory(prefix="synth_labels_") as folder:
            top = Path(self.keep or folder) / f"{name.replace(' ', '_').replace(',', '')}.{mode}"
            try:
                check_run(lambda words: truth_of.Run(self.chopper, top, words), self.chopper,
                          ["--preset", name.split()[0], *arguments.split()], mode, "unwrapped" in name.split(), state, found)
            except (RuntimeError, ValueError, OSError, KeyError, subprocess.TimeoutExpired) as error:
                found.append(f"{type(error).__name__}: {str(error)[:300]}")
        verdict = f"{len(found)} WRONG" if found else "ok"
        print(f"{verdict:<9} {name} [{mode}] {state['line']} ({time.monotonic() - begin:.1f} s)", flush=True)
        for text in found[:SHOWN]:
            print("    " + text)
        if len(found) > SHOWN:
            print(f"    ... and {len(found) - SHOWN} more")
        for text in state["pairs"]:
            print("      " + text)
        self.num += 1
        self.failed += bool(found)
        gc.collect()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--chopper", required=True, help="the program under test")
    parser.add_argument("--all", action="store_true", help="all runs and modes")
    parser.add_argument("--runs", help="those of all runs whose name contains this")
    parser.add_argument("--modes", help="only these, separated by commas: " + ", ".join(MODES))
    parser.add_argument("--keep", help="write the runs here and leave them")
    options = parser.parse_args()
    modes = options.modes.split(",") if options.modes else list(MODES)
    if not Path(options.chopper).is_file() or not set(modes) <= set(MODES):
        print(f"not a file, or no mode: {options.chopper} {options.modes or ''}", file=sys.stderr)
        return 2
    gc.disable()                                        # millions of small objects and no cycles
    checks = Checks(str(Path(options.chopper).resolve()), options.keep)
    runs = FULL if options.all or options.runs else QUICK
    for name, arguments in runs.items():
        for mode in modes:
            if options.runs is None or options.runs in name:
                checks.run(name, arguments, mode)
    print(f"{checks.num} checks, {checks.failed} with labels that are wrong")
    return 1 if checks.failed else 0


if __name__ == "__main__":
    sys.exit(main())
