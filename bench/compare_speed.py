#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares `chopper report` with the floor, the least work an analysis can do, and with other programs: one table.

  compare_speed.py [--mb 1000] [--rank-mb 200] [--large-mb 5000] [--peer-python PY] [--json FILE] [--check]

bench/README.md says what each row means. The floor and the generator of inputs are in the folder $CHOPPER_YARDSTICKS
(default ../shared/bench); files of earlier runs in build/bench are used again.
"""
import argparse
import dataclasses
import json
import os
import pathlib
import platform
import subprocess
import sys

import inputs
import measure

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / "build" / "bench"
# The product's flags (cmake/flags.cmake) and its copy of simdjson, so that the floor has no other tools than we have.
FLOOR_FLAGS = ["-O3", "-march=x86-64-v3", "-mpclmul", "-DNDEBUG", "-std=c++17", "-w"]
SIMDJSON = ROOT / "node_modules" / "@nozbe" / "simdjson" / "src"

# What the table holds us to.
CPU_LIMIT, CPU_AIM = 2.0, 1.5    # one thread, CPU against the floor
WALL_LIMIT = 2.0                 # two threads, wall time against the floor
GZIP_LIMIT = 1.5                 # CPU of the gzipped file against the plain one
LARGE_LIMIT = 1.10               # CPU per byte of the large file against the usual one
RANKS, RANKS_LIMIT = 8, 4.4      # wall time of all ranks on two threads against one rank on one thread
MEMORY_SHARE = 1 / 3             # peak memory as a share of the bytes of text
MEMORY_BYTES_AT_LEAST = 100_000_000  # below, the program itself is a part of what is measured

PEERS = ["json-load", "hta", "tracelens", "perfetto"]
NOT_INSTALLED = 77


@dataclasses.dataclass
class Row:
    """One comparison: `tested` against `base`, by CPU or wall time."""
    name: str
    size: int           # bytes of the file, or of all files
    text_bytes: int     # the same, inflated
    threads: int
    base_name: str
    base: list
    tested: list
    by: str             # "cpu" or "wall"
    limit: float | None = None
    aim: float | None = None
    per_byte: float = 1.0  # multiplies the ratio: bytes of the base / bytes of the tested
    repeat_factor: int = 1


def fail(message):
    sys.exit(f"bench: {message}")


def build_floor(yardsticks):
    source, program = yardsticks / "rawjson.cpp", FOLDER / "floor"
    if not source.exists():
        fail(f"the floor was not found: {source} (set CHOPPER_YARDSTICKS to the folder of rawjson.cpp, gen_kineto.py)")
    if not (SIMDJSON / "simdjson.cpp").exists():
        fail(f"simdjson was not found: {SIMDJSON} (npm ci --ignore-scripts, or make)")
    if not program.exists() or program.stat().st_mtime < source.stat().st_mtime:
        command = [os.environ.get("CXX", "g++"), *FLOOR_FLAGS, "-I", SIMDJSON, source, SIMDJSON / "simdjson.cpp",
                   "-lpthread", "-o", program]
        subprocess.run(list(map(str, command)), check=True)
    return program


class Bench:
    """Knows the programs; makes rows."""

    def __init__(self, chopper, floor):
        self.chopper = chopper
        self.floor = floor

    def report(self, path, threads):
        return [self.chopper, "report", path, "--json", "/dev/null", "-q", "--threads", threads]

    def columns(self, path, threads):
        return [self.floor, "columns", path, threads]

    def against_floor(self, name, path, floor_path=None, factor=1):
        """Returns the rows of one and two threads. `floor_path`: what the floor reads instead, with the same events."""
        base_name = "floor" if floor_path is None else "floor on plain"
        text = floor_path or path
        size, text_bytes = path.stat().st_size, text.stat().st_size
        return [Row(name, size, text_bytes, threads, base_name, self.columns(text, threads),
                    self.report(path, threads), by, limit, aim, repeat_factor=factor)
                for threads, by, limit, aim in ((1, "cpu", CPU_LIMIT, CPU_AIM), (2, "wall", WALL_LIMIT, None))]

    def generated_rows(self, made, megabytes):
        plain = made.plain(megabytes)
        rows = self.against_floor("plain", plain)
        rows += self.against_floor("with stack", made.with_stack(megabytes))
        rows += self.against_floor("one line", made.minified(megabytes), plain)
        packed = made.gzipped(megabytes)
        for row in self.against_floor("gzip", packed, plain):
            row.limit = row.aim = None  # inflating is no part of the floor: the next row is the target
            rows.append(row)
        rows.append(Row("gzip", packed.stat().st_size, plain.stat().st_size, 1, "chopper on plain",
                        self.report(plain, 1), self.report(packed, 1), "cpu", GZIP_LIMIT))
        return rows

    def large_rows(self, made, megabytes, usual_megabytes):
        usual, large = made.plain(usual_megabytes), made.plain(megabytes)
        rows = self.against_floor("large", large)
        rows.append(Row("large", large.stat().st_size, large.stat().st_size, 1, "chopper on plain, per byte",
                        self.report(usual, 1), self.report(large, 1), "cpu", LARGE_LIMIT,
                        per_byte=usual.stat().st_size / large.stat().st_size))
        return rows

    def rank_rows(self, made, megabytes):
        folder = made.ranks(RANKS, megabytes)
        size = sum(path.stat().st_size for path in folder.glob("*.json"))
        return [Row(f"{RANKS} ranks", size, size, 2, "chopper on one rank, 1 thread",
                    self.report(folder / "rank0.json", 1), self.report(folder, 2), "wall", RANKS_LIMIT)]

    def floor_reads(self, path, num_events):
        """Returns whether the floor finds all events: it needs the layout of the profiler."""
        try:
            return json.loads(measure.run(self.columns(path, 1), keep_output=True).output)["events"] == num_events
        except (measure.CommandFailed, ValueError):
            return False

    def real_rows(self, data, folder, notes):
        rows = []
        for path in inputs.real_files(data, folder):
            num_events = inputs.events_of(path)
            if num_events is None:
                notes.append(f"{path.name}: left out, not one JSON object with traceEvents")
                continue
            name = path.name.removesuffix(".json")
            if not self.floor_reads(path, num_events):
                path = inputs.kept(folder / "reprinted" / path.name,
                                   lambda part, source=path: inputs.reprint(source, part))
                name += " (reprinted)"
                if not self.floor_reads(path, num_events):
                    notes.append(f"{path.name}: left out, the floor does not read it, reprinted neither")
                    continue
            # These runs take hundredths of a second, so more of them are needed.
            rows += self.against_floor(name, path, factor=3)
        return rows


def value_of(row, comparison):
    spread = comparison.cpu_ratio if row.by == "cpu" else comparison.wall_ratio
    return measure.Spread(*(value * row.per_byte for value in dataclasses.astuple(spread)))


def verdict(row, ratio, peak_share):
    """Returns the targets of the row and whether they are met; the second is None for a row without targets."""
    targets, missed = [], []
    if row.limit is not None:
        targets.append(f"{row.by} <= {row.limit:g}" + (f" (aim {row.aim:g})" if row.aim else ""))
        if ratio.median > row.limit:
            missed.append(row.by)
    if row.text_bytes >= MEMORY_BYTES_AT_LEAST:
        targets.append(f"peak <= {MEMORY_SHARE:.0%}")
        if peak_share > MEMORY_SHARE:
            missed.append("peak")
    if not targets:
        return "", None, ""
    return ", ".join(targets), not missed, "FAIL: " + ", ".join(missed) if missed else "pass"


COLUMNS = ["input", "MB", "threads", "compared with", "its cpu s", "its wall s", "chopper cpu s", "chopper wall s",
           "ratio of", "ratio (lowest..highest)", "peak MiB", "peak / text", "target", "result"]


def print_line(cells):
    print("| " + " | ".join(cells) + " |", flush=True)


def measure_row(row, repeat):
    """Runs a row and prints it; returns it as JSON."""
    # Status 3: something in the file was lost, which a real file may have.
    result = measure.compare(row.base, row.tested, repeat * row.repeat_factor, expected=(0, 3))
    ratio = value_of(row, result)
    peak_share = result.tested.peak_bytes / row.text_bytes
    target, met, word = verdict(row, ratio, peak_share)
    print_line([row.name, f"{row.size / 1e6:.1f}", str(row.threads), row.base_name,
                f"{result.base.cpu_s:.3f}", f"{result.base.wall_s:.3f}",
                f"{result.tested.cpu_s:.3f}", f"{result.tested.wall_s:.3f}", row.by,
                f"{ratio.median:.2f} ({ratio.lowest:.2f}..{ratio.highest:.2f})",
                f"{result.tested.peak_bytes / 2**20:.0f}", f"{peak_share:.0%}", target, word])
    return {"input": row.name, "bytes": row.size, "text_bytes": row.text_bytes, "threads": row.threads,
            "base": row.base_name, "base_runs": dataclasses.asdict(result.base),
            "chopper_runs": dataclasses.asdict(result.tested), "ratio_of": row.by, "ratio": dataclasses.asdict(ratio),
            "peak_share": peak_share, "limit": row.limit, "aim": row.aim, "met": met}


def measure_peers(bench, path, python):
    """Runs every peer once between two runs of chopper on one thread; prints a table and returns it as JSON."""
    size = path.stat().st_size
    print(f"\nOther programs on a plain file of {size / 1e6:.0f} MB, chopper on one thread:\n")
    print_line(["program", "cpu s", "wall s", "peak MiB", "chopper wall s", "times slower"])
    print_line(["---"] * 6)
    rows = []
    for peer in PEERS:
        try:
            neighbours = [measure.run(bench.report(path, 1))]
            result = measure.run([python, ROOT / "bench" / "peer.py", peer, path], expected=(0, NOT_INSTALLED),
                                 keep_output=True)
            neighbours.append(measure.run(bench.report(path, 1)))
        except (measure.CommandFailed, OSError) as error:
            print_line([peer, f"failed ({error})", "", "", "", ""])
            rows.append({"peer": peer, "state": "failed"})
            continue
        if result.status == NOT_INSTALLED:
            print_line([peer, "not installed", "", "", "", ""])
            rows.append({"peer": peer, "state": "not installed"})
            continue
        program = result.output.strip().splitlines()[-1]
        chopper_s = sum(run.wall_s for run in neighbours) / 2
        print_line([program, f"{result.cpu_s:.2f}", f"{result.wall_s:.2f}", f"{result.peak_bytes / 2**20:.0f}",
                    f"{chopper_s:.3f}", f"{result.wall_s / chopper_s:.0f}"])
        rows.append({"peer": peer, "state": "ran", "program": program, "bytes": size, "cpu_s": result.cpu_s,
                     "wall_s": result.wall_s, "peak_bytes": result.peak_bytes, "chopper_wall_s": chopper_s})
    return rows


def cpu_name():
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.machine()


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mb", type=int, default=1000, help="size of the generated inputs")
    parser.add_argument("--rank-mb", type=int, default=200, help="size of each of the eight ranks; 0: leave them out")
    parser.add_argument("--large-mb", type=int, default=0, help="size of the large input, such as 5000; 0: none")
    parser.add_argument("--peer-mb", type=int, default=100, help="size of the input of other programs; 0: none")
    parser.add_argument("--repeat", type=int, default=5, help="pairs of runs a row")
    parser.add_argument("--chopper", type=pathlib.Path, default=ROOT / "build" / "release" / "chopper")
    parser.add_argument("--data", type=pathlib.Path, default=ROOT.parent / "shared" / "data" / "kineto",
                        help="folder of real traces; left out when missing")
    parser.add_argument("--no-real", action="store_true", help="leave the real traces out")
    parser.add_argument("--peer-python", default=sys.executable, help="a Python that has the other programs")
    parser.add_argument("--json", type=pathlib.Path, help="write all numbers to this file")
    parser.add_argument("--check", action="store_true", help="exit with 1 when a target is missed")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    if not arguments.chopper.exists():
        fail(f"the program was not found: {arguments.chopper} (make)")
    FOLDER.mkdir(parents=True, exist_ok=True)
    yardsticks = pathlib.Path(os.environ.get("CHOPPER_YARDSTICKS", ROOT.parent / "shared" / "bench"))
    bench = Bench(arguments.chopper.resolve(), build_floor(yardsticks))
    made = inputs.Inputs(yardsticks / "gen_kineto.py", FOLDER / "inputs")
    # All inputs are made before the first measurement, which would be disturbed.
    notes = []
    rows = bench.generated_rows(made, arguments.mb)
    if arguments.large_mb:
        rows += bench.large_rows(made, arguments.large_mb, arguments.mb)
    if arguments.rank_mb:
        rows += bench.rank_rows(made, arguments.rank_mb)
    if not arguments.no_real and arguments.data.is_dir():
        rows += bench.real_rows(arguments.data, FOLDER / "real", notes)
    peer_input = made.plain(arguments.peer_mb) if arguments.peer_mb else None

    smallest = measure.smallest_peak_bytes()
    machine = f"{cpu_name()}, {os.cpu_count()} cores"
    print(f"{machine}; {arguments.repeat} pairs of runs a row; a peak below {smallest / 2**20:.0f} MiB is not seen\n")
    print_line(COLUMNS)
    print_line(["---"] * len(COLUMNS))
    results = []
    for row in rows:
        try:
            results.append(measure_row(row, arguments.repeat))
        except measure.CommandFailed as error:
            notes.append(f"{row.name}, {row.threads} threads: {error}")
            results.append({"input": row.name, "threads": row.threads, "failed": str(error), "met": False})
    peers = measure_peers(bench, peer_input, arguments.peer_python) if peer_input else []

    judged = [result for result in results if result["met"] is not None]
    num_met = sum(result["met"] for result in judged)
    print()
    for note in notes:
        print(f"note: {note}")
    print(f"bench: {num_met} of {len(judged)} rows meet their targets")
    if arguments.json:
        arguments.json.write_text(json.dumps({"machine": machine, "arguments": sys.argv[1:], "rows": results,
                                              "peers": peers, "notes": notes}, indent=2) + "\n", encoding="utf-8")
    if arguments.check and num_met < len(judged):
        sys.exit(1)


if __name__ == "__main__":
    main()
