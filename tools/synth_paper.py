#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Simulates the ten jobs of the paper and tabulates, from their truth files alone, what the paper reports.

    tools/synth_paper.py --chopper build/release/chopper [--seed N] [--iterations N] [--update docs/reference/synth-paper.md]

Prints Markdown; with --update it replaces the part of the page between the markers.
"""
import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

CONFIGS = ("b1s4", "b2s4", "b4s4", "b1s8", "b2s8")
MATRIX = ("gemm", "attention")
GEMMS = ("qkv_ip", "attn_op", "mlp_gp", "mlp_up", "mlp_dp")


class Run:
    """The figures of one truth file. Times in ms per rank and iteration, the iteration with the optimizer apart."""

    def __init__(self, truth):
        self.truth = truth
        self.programs = {p["program"]: p["work"] for p in truth["programs"]}
        self.with_optimizer = {p["program"] for p in truth["programs"] if p["with_optimizer"]}
        self.time = defaultdict(float)          # (phase, class) -> ns
        self.operation = defaultdict(float)     # (phase, operation) -> ns
        self.gaps = defaultdict(lambda: [0, 0])  # (phase, operation) -> prep, call
        self.mhz = defaultdict(float)
        self.collectives = defaultdict(list)
        self.power = []
        self.memory_mhz = []
        self.by_gpu = defaultdict(lambda: [0.0, 0.0, []])  # rank -> overlap, duration, durations of f_attn_op
        self.rows = 0
        for row in truth["iterations"]:
            self.add(row)
        self.add_timelines()

    def add(self, row):
        work = self.programs[row["program"]]
        optimizer = row["program"] in self.with_optimizer
        self.rows += 1
        comm = sorted((s, s + d) for w, s, d in zip(work, row["start_ns"], row["duration_ns"]) if w["class"] == "comm")
        for i, w in enumerate(work):
            ns = row["duration_ns"][i]
            self.time[w["phase"], w["class"]] += ns
            self.operation[w["phase"], w["operation"]] += ns
            if w["class"] == "gemm":
                self.mhz["gemm"] += ns * row["core_mhz"][i]
                self.mhz["gemm_memory"] += ns * row["memory_mhz"][i]
                self.mhz["gemm_ns"] += ns
            if w["class"] == "comm" and w.get("bytes", 0) > 1e8 and w["layer"] is not None:
                self.collectives[w["operation"]].append(ns)
            if w["phase"] == "forward" and w["operation"] == "attn_op" and w["class"] == "gemm":
                overlap = covered(comm, row["start_ns"][i], row["start_ns"][i] + ns)
                cell = self.by_gpu[row["rank"]]
                cell[0] += overlap
                cell[1] += ns
                cell[2].append(ns)
        if not optimizer:
            self.power += row["clocks"]["power_w"]

    def add_timelines(self):
        self.launch = self.span = 0
        self.edge = [0, 0]  # prep, call before the first work of the model in an iteration
        for line in self.truth["timeline"]:
            self.launch += line["prep_ns"] + line["call_ns"]
            self.span += line["span_ns"]
            gaps = line["gaps"]
            rank_programs = {r["iteration"]: r["program"] for r in self.truth["iterations"] if r["rank"] == line["rank"]}
            for iteration, index, prep, call in zip(gaps["iteration"], gaps["work"], gaps["prep_ns"], gaps["call_ns"]):
                w = self.programs[rank_programs[iteration]][index]
                cell = self.gaps[w["phase"], w["operation"]]
                cell[0] += prep
                cell[1] += call
                if w["phase"] == "forward" and w["layer"] is None and w["operation"] in ("ie", "ag_in", "ag_out"):
                    self.edge[0] += prep
                    self.edge[1] += call

    def phase_ms(self, phase, classes=("gemm", "attention", "vector")):
        total = sum(v for (p, c), v in self.time.items() if p == phase and c in classes)
        rows = self.truth["job"]["world_size"] if phase == "optimizer" else self.rows
        return total / rows / 1e6

    def gemm_share(self, phase):
        return self.phase_ms(phase, ("gemm",)) / self.phase_ms(phase)

    def operation_ms(self, phase, operation):
        return self.operation[phase, operation] / self.rows / 1e6

    def throughput(self):
        step = self.truth["step"]
        return step["tokens_per_s"] / self.truth["job"]["world_size"]

    def factors(self, names=GEMMS):
        """Factors of the products of forward and backward, as ratios of sums."""
        rows = [r for r in self.truth["operations"] if r["operation"] in names and r["phase"] in ("forward", "backward")]
        sums = [0.0] * 7
        for r in rows:
            value = r["d_thr_ns"]
            for i, name in enumerate(("", "inst", "util", "rate", "freq", "mem_clock", "contention")):
                value *= r[name] if name else 1
                sums[i] += value
        return dict(zip(("inst", "util", "rate", "freq", "mem_clock", "contention"), (b / a for a, b in zip(sums, sums[1:]))))

    def gpu_overlap(self):
        """(overlap ratio, median duration) of the forward output projection per gpu, by overlap."""
        return sorted((o / d, statistics.median(all_ns)) for o, d, all_ns in self.by_gpu.values())


def covered(intervals, start, end):
    total = 0
    at = start
    for s, e in intervals:
        if e <= at:
            continue
        if s >= end:
            break
        total += min(e, end) - max(s, at)
        at = max(at, min(e, end))
    return total


def quantile(values, share):
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "| " + " | ".join("---" for _ in head) + " |"]
    lines += ["| " + " | ".join(str(c) for c in row) + " |" for row in rows]
    return "\n".join(lines)


def report(runs):
    parts = []
    rows = []
    for version in ("fsdp1", "fsdp2"):
        for c in CONFIGS:
            r = runs[c, version]
            rows.append((f"{c} {version}", f"{r.truth['step']['step_time_ns'] / 1e6:.1f}", f"{r.throughput():,.0f}", f"{r.phase_ms('forward'):.0f}",
                         f"{r.phase_ms('backward'):.0f}", f"{r.phase_ms('optimizer'):.1f}", f"{100 * r.gemm_share('forward'):.0f} %",
                         f"{100 * r.gemm_share('backward'):.0f} %", f"{r.operation_ms('backward', 'attn_fa'):.1f}",
                         f"{100 * r.launch / r.span:.2f} %"))
    parts.append(table(("job", "step ms", "tokens/s per gpu", "forward ms", "backward ms", "optimizer ms", "GEMM of forward", "GEMM of backward",
                        "backward attention ms", "launch gaps of span"), rows))
    rows = []
    for c in CONFIGS:
        for version in ("fsdp1", "fsdp2"):
            r = runs[c, version]
            f = r.factors()
            ag, rs = r.collectives["ag"], r.collectives["rs"]
            o = r.gpu_overlap()
            rows.append((f"{c} {version}", f"{r.mhz['gemm'] / r.mhz['gemm_ns']:.0f}", f"{r.mhz['gemm_memory'] / r.mhz['gemm_ns']:.0f}", f"{statistics.mean(r.power):.0f}",
                         *(f"{f[k]:.3f}" for k in ("inst", "util", "rate", "contention", "freq", "mem_clock")),
                         f"{quantile(ag, .02) / 1e6:.2f} / {statistics.median(ag) / 1e6:.2f}", f"{quantile(rs, .02) / 1e6:.2f} / {statistics.median(rs) / 1e6:.2f}",
                         f"{100 * o[0][0]:.0f} % .. {100 * o[-1][0]:.0f} %", f"{100 * (statistics.median(x[1] for x in o[len(o) // 2:]) / o[0][1] - 1):.1f} %"))
    parts.append(table(("job", "GEMM MHz", "memory MHz", "power W", "inst", "util", "rate", "contention", "freq", "mem_clock", "all-gather ms, 2 % / median",
                        "reduce-scatter ms, 2 % / median", "overlap of f_attn_op, lowest .. highest gpu", "faster on the lowest"), rows))
    rows = []
    for c in CONFIGS:
        for version in ("fsdp1", "fsdp2"):
            r = runs[c, version]
            world = r.truth["job"]["world_size"]
            cell = lambda phase, name, steps: "{:.0f} / {:.0f}".format(*(x / steps / 1e3 for x in r.gaps[phase, name]))  # noqa: E731
            edge = lambda r: "{:.0f} / {:.0f}".format(*(x / r.rows / 1e3 for x in r.edge))  # noqa: E731
            rows.append((f"{c} {version}", edge(r), cell("forward", "attn_n", r.rows), cell("backward", "mlp_dp", r.rows),
                         cell("backward", "b_ga", r.rows), cell("optimizer", "opt_step", world)))
    parts.append(table(("job", "f_ie (with packing and unpacking before it)", "f_attn_n", "b_mlp_dp", "b_ga", "opt_step"), rows))
    return parts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chopper", required=True)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--iterations", default="4")
    parser.add_argument("--update", type=Path)
    options = parser.parse_args()
    runs = {}
    for version in ("fsdp1", "fsdp2"):
        for config in CONFIGS:
            with tempfile.TemporaryDirectory() as folder:
                subprocess.run([options.chopper, "synth", "--preset", f"paper-{config}-{version}", "--seed", options.seed, "--num-iterations", options.iterations,
                                "-q", "-o", folder + "/run"], check=True)
                runs[config, version] = Run(json.loads((Path(folder) / "run/truth.json").read_text()))
    parts = report(runs)
    if not options.update:
        print("\n\n".join(parts))
        return 0
    text = options.update.read_text()
    for i, part in enumerate(parts):
        begin, end = f"<!-- table {i + 1} -->", f"<!-- end {i + 1} -->"
        head, rest = text.split(begin)
        text = head + begin + "\n" + part + "\n" + end + rest.split(end)[1]
    options.update.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
