# SPDX-License-Identifier: Apache-2.0
"""Checks that the counter passes of a synthetic run say what its truth says, one line per run.

    counters_truth.py --chopper BIN [--fewer] [--keep DIR]

The files are read with Python's own readers and put against truth.json and truth_counters.json: which kernel each
dispatch is, operations, busy cycles and bytes of each, its cycles at the clock of its pass; and, over each operation,
the factors inst, util and rate and the share m as spec 9 defines them, computed from the values of the files alone.
Exit 0: all equal; 1: a difference; 2: wrong usage.
"""
import argparse
import json
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from counter_files import Difference, dispatches_of, expect, marks_of  # noqa: E402

CASES = (                                                # preset, settings, formats
    ("tiny-fsdp2", "", "rocprofv3-7.0 rocprofv3-6.4 rocprofv3-6.3 rocprofv3-6.2"),
    ("tiny-fsdp2", "layers=1 num_iterations=2 world_size=2", "rocprofv3-json rocpd"),
    ("tiny-ddp", "counter_gzip=on marks=off --gpu=mi250x", "rocprofv3-7.0"),
    ("paper-b1s4-fsdp1", "layers=2 num_iterations=3", "rocprofv3-7.0"),
    ("paper-b2s4-fsdp2", "layers=2 num_iterations=2 reads_loss=off", "rocprofv3-7.0"),
    ("paper-b2s8-fsdp2", "layers=2 num_iterations=2 front_end_cycles=40", "rocprofv3-7.0"),
    ("llama3-8b-fsdp2-h100", "layers=2 num_iterations=2", "ncu"),
)
FEWER = CASES[1:2] + CASES[6:]
FLAWS = ("pass-extra::2", "pass-missing::2", "pass-renamed::2", "pass-reordered::2", "pass-warmup::1", "pass-clocks::8")
COMPUTE = ("gemm", "attention", "vector")
BELL = 4.9                                              # the noise of a repetition is within so many deviations


def near(got, wanted, share, what):
    expect(abs(got - wanted) <= share * abs(wanted), f"{what}: {got}, truth {wanted}")


class Run:
    """The truth of a run, and what its passes have to say about each operation."""

    def __init__(self, folder, form):
        self.folder, self.form = folder, form
        self.truth = json.loads((folder / "truth.json").read_text())
        self.counters = json.loads((folder / "truth_counters.json").read_text())
        self.physics, self.gpu = self.truth["physics"], self.truth["gpu_spec"]
        self.matrix_units = self.gpu["num_units"] * 4
        self.programs = {p["program"]: p["work"] for p in self.truth["programs"]}
        self.program_of = {(i["rank"], i["iteration"]): i["program"] for i in self.truth["iterations"]}
        self.values = defaultdict(lambda: defaultdict(float))   # (phase, operation): sums of what the passes measured
        self.numbers = {i["iteration"] for i in self.truth["iterations"]}

    def work_list(self, run, number):
        """The program of an iteration; warm-ups are those of the first recorded iteration without optimizer, if any."""
        rank = run["rank"]
        if (rank, number) in self.program_of:
            return self.programs[self.program_of[rank, number]]
        every = self.truth["job"]["optimizer"] == "every"
        stage = self.program_of[rank, min(self.numbers)] % self.truth["job"]["pipeline_parallel"]
        return self.programs[stage + (self.truth["job"]["pipeline_parallel"] if every else 0)]

    def check_pairing(self, run):
        """Every computing kernel of every iteration is there once, in order, or listed as missing."""
        flaw = {f["dispatch"]: f["flaw"] for f in run["flaws"]}
        seen = defaultdict(list)
        for i, (number, work, order) in enumerate(zip(run["iteration"], run["work"], run["order"], strict=True)):
            expect((work < 0) == (flaw.get(i + 1) == "extra"), f"dispatch {i + 1}: extra or not")
            if work >= 0:
                seen[number].append((order, work, flaw.get(i + 1)))
        missing = defaultdict(set)
        for each in run["missing"]:
            missing[each["iteration"]].add(each["work"])
        first = self.truth["job"]["first_recorded"] - run["num_warmup"]
        for number in range(first, first + run["num_iterations"]):
            wanted = [i for i, w in enumerate(self.work_list(run, number)) if w["class"] in COMPUTE]
            expect(sorted(w for _, w, _ in seen[number]) == [w for w in wanted if w not in missing[number]],
                   f"iteration {number}: not the kernels of the program")
            expect(all(wanted[order] == work for order, work, _ in seen[number]), f"iteration {number}: order")
            rows = seen[number]
            expect(all(a[0] < b[0] for a, b in zip(rows, rows[1:]) if not (a[2] == b[2] == "reordered")),
                   f"iteration {number}: dispatches out of order")

    def check_dispatch(self, run, work, flaw, number, dispatch):
        expect((dispatch.name == work["name"]) == (flaw != "renamed"), f"{dispatch.name}, truth {work['name']}")
        block = work["block"]
        expect(dispatch.items == [g * b for g, b in zip(work["grid"], block, strict=True)], "grid")
        expect(dispatch.group == block[0] * block[1] * block[2], "workgroup")
        if dispatch.operations is not None:
            expect(abs(dispatch.operations - work["executed_flops"]) <= 512, "operations")
            # One cycle, or the last digit of a percentage.
            error = 1 + (1e-8 * self.matrix_units * dispatch.cycles if self.form == "ncu" else 0)
            expect(abs(dispatch.busy - self.busy_cycles(work)) <= error, "busy cycles")
        if dispatch.read is not None and dispatch.written is not None:
            expect(abs(dispatch.read + dispatch.written - work["executed_bytes"]) <= 32, "bytes")
        self.check_cycles(run, work, number, dispatch)

    def busy_cycles(self, work):
        """Executed operations over those of a unit and cycle, at the rate the kernel's instructions run."""
        if work["class"] == "vector":
            return 0
        rate = work["rate"]
        if work["bound"] == "memory" and work["class"] == "gemm":
            rate = 1 / self.physics["gemm_rate"]
        per_second = self.gpu["bf16_tflops"] * 1e12 / self.matrix_units
        return work["executed_flops"] / per_second * self.gpu["clock_mhz"] * 1e6 * rate

    def check_cycles(self, run, work, number, dispatch):
        cycles, time = dispatch.cycles, dispatch.end - dispatch.start
        clock = dispatch.clock = cycles / time * 1e3
        near(clock, run["mean_mhz"], 0.006 + 1 / time, "clock of the dispatch")
        front = self.physics["front_end_cycles"]
        m = work["insensitive"]
        alone = work["alone_ns"] * ((1 - m) * self.gpu["clock_mhz"] / clock + m) * clock * 1e-3
        cold = number == self.truth["job"]["first_recorded"] - run["num_warmup"] and work["bound"] == "memory"
        alone *= 1 + (self.physics["cold_cache_share"] if cold else 0)
        near(cycles - front, alone, BELL * self.physics["kernel_jitter"] + 2 * clock * 1e-3 / alone, "cycles")

    def add(self, run, work, dispatch):
        """Sums of the pass by operation; bytes of the two passes that count them add up."""
        sums = self.values[work["phase"], work["operation"]]
        sums["mixed"] = sums["mixed"] or sums.get("bound", work["bound"]) != work["bound"]
        sums["bound"] = work["bound"]
        sums["matrix"] = max(sums["matrix"], work["class"] != "vector")
        time, clock = dispatch.cycles / dispatch.clock * 1e3, dispatch.clock
        for key, value in (("n", 1), ("time", time), ("slow", time * clock / self.gpu["clock_mhz"]),
                           ("thr", work["theory_ns"]), ("flops", work["flops"]), ("bytes", work["bytes"])):
            sums[key, run["pass"]] += value
        for key in ("read", "written", "operations", "busy"):
            if getattr(dispatch, key) is not None:
                sums[key] += getattr(dispatch, key)
                sums["pass", key] = run["pass"]

    def check_run(self, run):
        self.check_pairing(run)
        num_dies = len(self.truth["gpus"][run["rank"]]["xcd_clock_share"])
        dispatches = dispatches_of(self.folder, run, self.form, num_dies, self.matrix_units)
        expect(list(dispatches) == list(range(1, run["num_dispatches"] + 1)), "ids of dispatches")
        end = 0
        for dispatch in dispatches.values():
            expect(dispatch.start >= end, "dispatches overlap")
            end = dispatch.end
        flaw = {f["dispatch"]: f["flaw"] for f in run["flaws"]}
        for i, number in enumerate(run["iteration"]):
            if run["work"][i] < 0:
                continue
            work = self.work_list(run, number)[run["work"][i]]
            self.check_dispatch(run, work, flaw.get(i + 1), number, dispatches[i + 1])
            if number in self.numbers:
                self.add(run, work, dispatches[i + 1])
        self.check_marks(run, dispatches)

    def check_marks(self, run, dispatches):
        marks = marks_of(self.folder, run, self.form)
        if not self.counters["settings"]["marks"] or self.form == "ncu":
            expect(not marks, "marks are there")
            return
        expect(len(marks) == run["num_iterations"], "one mark for each iteration")
        outside = 0
        span = {int(name.removeprefix("ProfilerStep#")): (start, end) for name, start, end in marks}
        for i, number in enumerate(run["iteration"]):
            start, end = span[number]
            outside += not start <= dispatches[i + 1].start < end
        lag = 0 if self.truth["job"]["reads_loss"] else 4
        expect(outside <= lag * len(marks), f"{outside} dispatches outside of their marks")

    def measured(self, sums):
        """Factors of spec 9 from the sums of the passes, with m from all of them."""
        passes = sorted(p for key, p in (k for k in sums if isinstance(k, tuple)) if key == "time")
        # time(f) / n = a f_peak / f + b: least squares over the passes; m is b's share at the peak clock.
        points = [(sums["time", p] / sums["slow", p], sums["time", p] / sums["n", p]) for p in passes]
        mean_x = sum(x for x, _ in points) / len(points)
        mean_y = sum(y for _, y in points) / len(points)
        slope = (sum((x - mean_x) * (y - mean_y) for x, y in points) / sum((x - mean_x) ** 2 for x, _ in points))
        m = min(1, max(0, (mean_y - slope * mean_x) / (slope + mean_y - slope * mean_x)))

        def at_peak(p):
            ratio = sums["slow", p] / sums["time", p]
            return sums["time", p] * ((1 - m) * ratio + m)
        p = sums["pass", "operations"]
        if sums["bound"] == "compute":
            inst = sums["operations"] / sums["flops", p]
            util = at_peak(p) * self.gpu["clock_mhz"] * 1e-3 * self.matrix_units / sums["busy"]
            return inst, util, at_peak(p) / (sums["thr", p] * inst * util), m
        read = sums["read"] / sums["bytes", sums["pass", "read"]]
        inst = read + sums["written"] / sums["bytes", sums["pass", "written"]]
        return inst, at_peak(1) / (sums["thr", 1] * inst), 1, m

    def check_factors(self, flawed):
        """Returns how many operations were put against the truth. Passes with flaws have other kernels each."""
        share = 0.01
        by_name = {(o["phase"], o["operation"]): o for o in self.truth["operations"]}
        compared = 0
        for wanted in self.counters["operations"]:
            name = f"{wanted['phase']} {wanted['operation']}"
            product = wanted["d_thr_ns"]
            for factor in ("inst", "util", "rate", "freq", "mem_clock", "contention"):
                product *= wanted.get(factor, 1)
            near(product, wanted["duration_ns"], 1e-9, f"{name}: theory and factors")
            other = by_name[wanted["phase"], wanted["operation"]]
            near(wanted["d_thr_ns"], other["d_thr_ns"], 1e-9, f"{name}: d_thr")
            if wanted["num_kernels"] == other["num_kernels"]:   # no fills and copies among them
                expect(wanted["duration_ns"] == other["duration_ns"], f"{name}: duration")
            sums = self.values.get((wanted["phase"], wanted["operation"]))
            if sums is None or sums["mixed"] or flawed:
                continue
            inst, util, rate, m = self.measured(sums)
            near(inst, wanted["inst"], share, f"{name}: inst")
            # Few dispatches, and what follows from the passes' noise, cannot be closer.
            noise = 4 * self.physics["kernel_jitter"] / sums["n", 1] ** 0.5
            expect(abs(m - wanted["insensitive"]) < 0.03 + 20 * noise, f"{name}: m {m}, {wanted['insensitive']}")
            near(util, wanted["util"], share + noise, f"{name}: util")
            near(rate, wanted["rate"], share + noise, f"{name}: rate")
            compared += 1
        return compared


def check(chopper, preset, settings, form, flaws, folder):
    command = [chopper, "synth", "--preset", preset, "-q", "-o", str(folder)]
    for each in settings.split() + ["counters=on", f"counter_format={form}"]:
        command += [each] if each.startswith("--") else ["--set", each]
    for each in flaws:
        command += ["--imperfection", each]
    subprocess.run(command, check=True)
    run = Run(folder, form)
    for each in run.counters["runs"]:
        try:
            run.check_run(each)
        except Difference as error:
            raise Difference(f"pass {each['pass']} rank {each['rank']}: {error}") from error
    kinds = {f["flaw"] for each in run.counters["runs"] for f in each["flaws"]}
    missing = any(each["missing"] for each in run.counters["runs"])
    expect(kinds == ({"extra", "renamed", "reordered"} if flaws else set()), f"flaws: {kinds}")
    expect(missing == bool(flaws), "missing dispatches")
    dispatches = sum(each["num_dispatches"] for each in run.counters["runs"])
    return f"{dispatches} dispatches, {run.check_factors(bool(flaws))} operations compared"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--chopper", required=True)
    parser.add_argument("--fewer", action="store_true")
    parser.add_argument("--keep")
    options = parser.parse_args()
    cases = []
    for preset, settings, forms in FEWER if options.fewer else CASES:
        cases += [(preset, settings, form, ()) for form in forms.split()]
        cases.append((preset, settings, forms.split()[0], FLAWS))
    failed = False
    with tempfile.TemporaryDirectory() as scratch:
        for i, (preset, settings, form, flaws) in enumerate(cases):
            folder = Path(options.keep or scratch) / f"run{i}"
            name = " ".join(part for part in (preset, settings, form, "flawed" if flaws else "") if part)
            try:
                print(f"{name}: {check(options.chopper, preset, settings, form, flaws, folder)}", flush=True)
            except Difference as error:
                failed = True
                print(f"{name}: {error}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
