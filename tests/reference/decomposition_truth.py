# SPDX-License-Identifier: Apache-2.0
"""Compares alignment and decomposition of `chopper report` with the truth of synthetic runs, one line per run.

    decomposition_truth.py --chopper BIN [--all] [--runs TEXT] [--keep DIR]

Alignment: each kernel's dispatch (columns dispatch and dispatch_pass of the kernels) against the kernel the simulation
says that dispatch is, once with marks, once without, once with flaws, once with neighbours exchanged, once of passes
recorded of products only; and with the long rows of equal kernels of a DDP optimizer. Right without marks is the same
place of any iteration; then the verdict must say so. A wrong one that nothing warns of is a finding, whatever the flaws. Decomposition: inst, util and rate of each
operation, computed from the sums of truth_counters.json by the definitions of spec 9, theory and inst also of operations
that memory bounds, from the works of the programs; and, operation by operation with its true clock stated, contention
and freq. Budget: the terms of each window sum to it. Without shapes: the model description gives the theory and factors
that shapes do, with several passes, recomputed work, tensor and pipeline parallelism. --all: five configurations, FSDP 1
and 2, three seeds (without shapes nothing more).
Exit 0: all within their limits; 1: not; 2: wrong usage.
"""
import argparse
import csv
import json
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
import synth_labels  # noqa: E402
import synth_truth  # noqa: E402

CONFIGURATIONS = ("b1s4", "b2s4", "b4s4", "b1s8", "b2s8")
SMALL = "counters=on layers=2 num_iterations=4 front_end_cycles=40"
FLAWS = ("pass-extra::1", "pass-missing::1", "pass-renamed::1", "pass-warmup::1")
REORDERED = ("pass-reordered::1",)
LEAST_RIGHT = 0.999                                     # of the kernels, with flaws
# Equal kernels in a row that change places, or one of which is dropped, cannot be told apart: these are only flagged.
LEAST_RIGHT_REORDERED, LEAST_RIGHT_DDP = 0.98, 0.75
STATIC, CLOCKED = 0.01, 0.02                            # the limits: inst, util, rate; contention, freq
WITHOUT_SHAPES = (("paper-b1s4-fsdp2", "micro_steps=2"), ("paper-b1s4-fsdp2", "checkpointing=on"),
                  ("llama3-8b-tp4", "num_iterations=3"), ("llama3-8b-pp4", "layers=4"))
SAME = 1e-9                                             # work by the model against work by shapes
TERMS = ("theory_ns", "inst_ns", "util_ns", "rate_ns", "contention_ns", "freq_ns", "mem_clock_ns", "remainder_ns",
         "compute_undecomposed_ns", "comm_copy_kernels_ns", "exposed_comm_transfer_ns", "exposed_comm_wait_ns",
         "exposed_memcpy_ns", "prep_idle_ns", "call_idle_ns", "other_idle_ns")
# Kernels of operators whose least bytes do not follow from what PyTorch records (docs/reference/flops.md): of lists of
# tensors it records no types; of losses of classes the rows that are read.
WITHOUT_THEORY = ("CatArrayBatchedCopy", "multi_tensor_apply_kernel", "chunk_cat_cuda_kernel", "nll_loss_")
FACTORS = ("inst", "util", "rate", "contention", "freq", "mem_clock", "remainder")


def report(chopper, folder, *options):
    done = subprocess.run([chopper, "report", "--json", "-", "-q", *options, str(folder)], capture_output=True, timeout=900)
    if done.returncode != 0:
        raise RuntimeError(f"report: exit {done.returncode}, {done.stderr.decode('utf-8', 'replace')[:300]}")
    return json.loads(done.stdout)


class Found(list):
    def expect(self, condition, text):
        if not condition:
            self.append(text)


def keep_products(run, truth):
    """Leaves in the passes what a profiler with a filter of kernel names would have written; returns the names."""
    names = {work["name"] for program in run.truth["programs"] for work in program["work"] if work["class"] == "gemm"}
    for one in truth["runs"]:
        path = run.folder / next(name for name in one["files"] if "counter_collection" in name)
        header, *lines = path.read_text().splitlines(keepends=True)
        column = next(csv.reader([header])).index("Kernel_Name")
        path.write_text(header + "".join(line for line in lines if next(csv.reader([line]))[column] in names))
    return names


def check_pairs(run, truth, document, marked, found, names=None):
    """Kernels whose dispatch is right, wrong, without; wrong ones that nothing warned of are findings. `names`: those the
    passes were recorded of, else all."""
    runs = {}
    for one in truth["runs"]:
        path = next(name for name in one["files"] if "counter_collection" in name)
        runs[path] = one
    path_of = {row["input"]: row["path"] for row in document["inputs"]}
    verdicts = {(row["pass"], row["input"]): row["verdict"] for row in document["alignment"]}
    tally = Counter()
    for rank in run.ranks:
        rows = [row for row in synth_labels.records_of(document) if row["rank"] == rank]
        problems = []
        for row, work, entry in synth_labels.pairs_of(run, rank, rows, problems):
            if entry["class"] not in ("gemm", "attention", "vector"):
                continue
            if names is not None and row["name"] not in names:
                found.expect(row.get("dispatch") is None, f"rank {rank}: {row['name'][:40]} was not recorded")
                continue
            tally["all"] += 1
            if row.get("dispatch") is None:
                tally["without"] += 1
                continue
            of_pass = runs[path_of[row["dispatch_pass"]]]
            at = row["dispatch"] - 1
            same_place = of_pass["work"][at] == work.index
            same_iteration = of_pass["iteration"][at] == work.iteration
            if same_place and (same_iteration or not marked):
                tally["right"] += 1
                verdict = verdicts[row["dispatch_pass"], row["input"]]
                found.expect(same_iteration or verdict in ("iteration_ambiguous", "partial"),
                             f"rank {rank}: {row['name'][:40]} is of another iteration, verdict {verdict}")
            else:
                tally["wrong"] += 1
                # Without marks `transferred` says that a dispatch is of a place, not of a kernel.
                unwarned = row["dispatch_basis"] not in ("ambiguous", "transferred")
                tally["unwarned"] += unwarned
                if unwarned and tally["unwarned"] <= 3:
                    found.append(f"rank {rank} iteration {work.iteration} work {work.index} {row['name'][:40]}: dispatch "
                                 f"{row['dispatch']} ({row['dispatch_basis']}) is of iteration {of_pass['iteration'][at]} work {of_pass['work'][at]}")
        found.extend(problems[:2])
    for row in document["alignment"]:
        tally["pairs"] += row["num_matched"] + row["num_substituted"]
        tally["flagged"] += row["num_ambiguous"]
    return tally


def check_gaps(document, found):
    """The rows of the gaps agree with the numbers of their alignment, where they are all there."""
    for row in document["alignment"]:
        gaps = [gap for gap in document["alignment_gaps"]
                if (gap["pass"], gap["input"], gap["gpu"]) == (row["pass"], row["input"], row["gpu"])]
        found.expect(len(gaps) == min(row["num_gaps"], 20) and [gap["gap"] for gap in gaps] == list(range(len(gaps))),
                     f"{len(gaps)} rows of {row['num_gaps']} gaps")
        num_trace, num_pass = (sum(gap[f"num_only_{side}"] for gap in gaps) for side in ("trace", "pass"))
        found.expect(len(gaps) < row["num_gaps"] or num_pass == row["num_only_pass"], f"gaps of the pass: {num_pass}")
        # Iterations that the pass does not cover take values from others.
        found.expect(len(gaps) < row["num_gaps"] or num_trace >= row["num_only_trace"], f"gaps of the trace: {num_trace}")


def check_sums(document, found):
    for row in document["budget"]:
        total = sum(row[term] or 0 for term in TERMS)
        found.expect(total == row["window_ns"], f"budget of rank {row['rank']} iteration {row['iteration']}: {total}")
    for row in document["decomposition"]:
        if row["mode"] != "measured":
            continue
        product = row["d_thr_ns"]
        for factor in FACTORS:
            product *= row[factor] if row[factor] is not None else 1
        found.expect(abs(product / row["d_act_ns"] - 1) < 1e-6, f"{row['phase']} {row['operation']}: product {product}")
        shares = sum(row.get(f"{factor}_share_ns") or 0 for factor in FACTORS)
        found.expect(abs(shares - (row["d_act_ns"] - row["d_thr_ns"])) < 2 + 1e-6 * row["d_act_ns"],
                     f"{row['phase']} {row['operation']}: shares {shares}")


def true_factors(operation, gpu):
    """inst, util, rate of an operation that compute bounds, by spec 9 from the sums; None for others."""
    if not operation["flops"] or operation["bytes"]:
        return None
    units = gpu["num_units"] * 4
    cycles = operation["alone_peak_ns"] * gpu["clock_mhz"] / 1e3
    inst = operation["executed_flops"] / operation["flops"]
    util = cycles * units / operation["busy_cycles"]
    return inst, util, operation["alone_peak_ns"] / (operation["d_thr_ns"] * inst * util)


def check_factors(run, truth, document, found):
    """Largest deviations of inst, util, rate over the operations of products and attention."""
    operations = {(o["phase"], o["operation"]): o for o in truth["operations"]}
    worst = {"inst": 0.0, "util": 0.0, "rate": 0.0}
    for row in document["decomposition"]:
        operation = operations.get((row["phase"], row["operation"]))
        if row["mode"] != "measured" or operation is None:
            continue
        factors = true_factors(operation, run.truth["gpu_spec"])
        if factors is None:
            continue
        found.expect(abs(row["d_thr_ns"] / operation["d_thr_ns"] - 1) < 1e-6, f"theory of {row['phase']} {row['operation']}")
        for name, wanted in zip(worst, factors):
            deviation = abs(row[name] / wanted - 1) if row[name] is not None else 1
            worst[name] = max(worst[name], deviation)
            found.expect(deviation <= STATIC, f"{row['phase']} {row['operation']} {name} {row[name]}, truth {wanted}")
    return worst


def check_memory_bound(run, document, found):
    """Largest deviation of inst over the operations that memory bounds, and how many there are."""
    known = {}
    for rank in run.ranks:
        for iteration in run.iterations():
            for work in run.programs[rank, iteration]:
                if work["class"] not in ("gemm", "attention", "vector") or work.get("comm_copy"):
                    continue
                sums = known.setdefault((work["phase"], work["operation"]), Counter())
                if any(word in work["name"] for word in WITHOUT_THEORY):
                    sums["without"] += 1
                    continue
                sums["matrix"] += work["class"] != "vector"
                for key in ("theory_ns", "bytes", "executed_bytes"):
                    sums[key] += work[key]
    worst, number = 0.0, 0
    rows = {(row["phase"], row["operation"]): row for row in document["decomposition"] if row["mode"] == "measured"}
    for key, sums in sorted(known.items()):
        row = rows.get(key)
        if not key[1] or sums["matrix"]:
            continue
        if not sums["bytes"]:
            found.expect(row is None or row["d_thr_ns"] is None, f"theory of {key} without shapes")
            continue
        if row is None or row["inst"] is None:
            found.append(f"{key} has no inst")
            continue
        number += 1
        found.expect(bool(sums["without"]) == bool(row["without_theory_ns"]), f"{key} without theory {row['without_theory_ns']}")
        found.expect(abs(row["d_thr_ns"] / sums["theory_ns"] - 1) < STATIC, f"theory of {key} {row['d_thr_ns']}, truth {sums['theory_ns']}")
        wanted = sums["executed_bytes"] / sums["bytes"]
        deviation = abs(row["inst"] / wanted - 1)
        worst = max(worst, deviation)
        found.expect(deviation <= STATIC, f"{key} inst {row['inst']}, truth {wanted}")
    return worst, number


def check_clocked(chopper, run, truth, found, limit):
    """Contention and freq of the operations of most time, each with its true clock stated."""
    facts = (run.folder / "chopper.toml").read_text()
    worst = 0.0
    chosen = sorted((o for o in truth["operations"] if o["flops"] and not o["bytes"] and o["f_eff_mhz"]),
                    key=lambda o: -o["duration_ns"])[:limit]
    for operation in chosen:
        config = run.folder / "stated.toml"
        config.write_text(facts + f"\n[clock]\nf_eff_mhz = {operation['f_eff_mhz']}\n")
        document = report(chopper, run.folder, "--config", str(config), "--operation", operation["operation"], "--phase",
                          operation["phase"])
        config.unlink()
        row = next(r for r in document["decomposition"] if r["mode"] == "measured")
        # The memory clock is not known: what it costs is in contention.
        for name, wanted in (("freq", operation["freq"]), ("contention", operation["contention"] * operation["mem_clock"])):
            deviation = abs(row[name] / wanted - 1) if row[name] is not None else 1
            worst = max(worst, deviation)
            found.expect(deviation <= CLOCKED, f"{operation['phase']} {operation['operation']} {name} {row[name]}, truth {wanted}")
    return worst


def check_model(chopper, folder, preset, seed, settings):
    """The same run with shapes and without: theory and factors of products and attention, by shapes and by the model."""
    found = Found()
    rows = {}
    for shapes in ("on", "off"):
        arguments = ["--preset", preset, "--seed", str(seed), "--set", f"shapes={shapes}"]
        for setting in settings.split():
            arguments += ["--set", setting]
        synth_truth.Run(chopper, folder / shapes, arguments)
        document = report(chopper, folder / shapes)
        rows[shapes] = {(r["phase"], r["operation"]): r for r in document["decomposition"] if r["mode"] == "measured"}
        check_sums(document, found)
        notes = {row["kind"] for row in document["health"]} & {"model_disagrees", "model_tells_no_work"}
        found.expect(not notes, f"shapes={shapes}: {notes}")
    products = {key for key, row in rows["on"].items() if row["bound"] == "compute"}
    found.expect(len(products) >= 12, f"only {len(products)} operations are bound by compute")
    found.expect(products == set(rows["off"]), f"other operations have theory: {products ^ set(rows['off'])}")
    worst = 0.0
    for key in sorted(products & set(rows["off"])):
        by_shapes, by_model = rows["on"][key], rows["off"][key]
        found.expect(by_shapes["theory_source"] == "shapes" and by_model["theory_source"] == "model",
                     f"{key}: {by_shapes['theory_source']}, {by_model['theory_source']}")
        for name in ("d_thr_ns", "d_act_ns", "inst", "util", "rate"):
            deviation = abs(by_model[name] / by_shapes[name] - 1)
            worst = max(worst, deviation)
            found.expect(deviation <= SAME, f"{key} {name}: by the model {by_model[name]}, by shapes {by_shapes[name]}")
    return f"{len(products)} operations, largest difference {worst:.1e}", found


def check_filtered(run, truth, document, found):
    """Every pass says which share of computation it was recorded of, by the durations of the trace."""
    for row in document["alignment"]:
        found.expect(row["matched_time_share"] == 1 and 0 < row["covered_time_share"] < 0.95,
                     f"pass {row['pass']}: shares {row['matched_time_share']}, {row['covered_time_share']}")
    found.expect({"gpu_cycles", "matrix_utilisation"} <= {row["metric"] for row in document["metrics"]}, "no metrics")


def one_run(chopper, folder, preset, seed, settings, flaws, marked, clocked, least_right, filtered):
    arguments = ["--preset", preset, "--seed", str(seed)]
    for setting in settings.split():
        arguments += ["--set", setting]
    for flaw in flaws:
        arguments += ["--imperfection", flaw]
    found = Found()
    run = synth_truth.Run(chopper, folder, arguments)
    truth = json.loads((folder / "truth_counters.json").read_text())
    names = keep_products(run, truth) if filtered else None
    document = report(chopper, folder, "--kernels")
    tally = check_pairs(run, truth, document, marked, found, names)
    share = tally["right"] / tally["all"]
    found.expect(share >= least_right, f"pairs {share:.5f}")
    # Products alone of equal layers fit at other layers, too, where nothing marks the iterations.
    found.expect(flaws or (filtered and not marked) or tally["flagged"] == 0,
                 f"{tally['flagged']} pairs of clean passes are flagged")
    check_gaps(document, found)
    check_sums(document, found)
    text = (f"pairs {synth_labels.percent(share)} right, {tally['wrong']} wrong ({tally['unwarned']} without warning), "
            f"{tally['without']} without of {tally['all']}; {100 * tally['flagged'] / tally['pairs']:.1f} % of all passes flagged")
    if filtered:
        check_filtered(run, truth, document, found)
    elif not flaws:
        worst = check_factors(run, truth, document, found)
        text += "; " + ", ".join(f"{name} {100 * value:.2f} %" for name, value in worst.items())
        vector, number = check_memory_bound(run, document, found)
        text += f"; inst of {number} memory-bound {100 * vector:.2f} %"
    if clocked:
        text += f"; contention, freq {100 * check_clocked(chopper, run, truth, found, clocked):.2f} %"
    return text, found


def show(title, text, found):
    print(("ok    " if not found else "WRONG ") + f"{title}: {text}", flush=True)
    for line in found[:8]:
        print("        " + line)
    return bool(found)


def runs_of(presets, seeds, every):
    """(title, preset, seed, settings, flaws, whether it has marks, operations with their clock, least share right,
    whether the passes are of products only)"""
    for preset in presets:
        for seed in seeds:
            title = f"{preset} seed {seed}"
            yield f"{title} marks", preset, seed, "marks=on", (), True, 4, 1.0, False
            yield f"{title} no marks", preset, seed, "marks=off optimizer=every", (), False, 0, 1.0, False
            yield f"{title} flaws, marks", preset, seed, "marks=on", FLAWS, True, 0, LEAST_RIGHT, False
            yield f"{title} flaws", preset, seed, "marks=off optimizer=every", FLAWS, False, 0, LEAST_RIGHT, False
            yield f"{title} reordered, marks", preset, seed, "marks=on", REORDERED, True, 0, LEAST_RIGHT_REORDERED, False
            yield f"{title} products only, marks", preset, seed, "marks=on", (), True, 0, 1.0, True
            yield f"{title} products only", preset, seed, "marks=off optimizer=every", (), False, 0, 1.0, True
            if every:
                yield (f"{title} reordered", preset, seed, "marks=off optimizer=every", REORDERED, False, 0,
                       LEAST_RIGHT_REORDERED, False)
    for preset in ("llama3-8b-ddp", "tiny-ddp") if every else ("tiny-ddp",):
        for seed in seeds:
            title = f"{preset} seed {seed}"
            yield f"{title} all flaws, marks", preset, seed, "marks=on", FLAWS + REORDERED, True, 0, LEAST_RIGHT_DDP, False
            if every:
                yield (f"{title} all flaws", preset, seed, "marks=off optimizer=every", FLAWS + REORDERED, False, 0,
                       LEAST_RIGHT_DDP, False)


def main():
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--chopper", required=True)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--runs", default="")
    parser.add_argument("--keep")
    options = parser.parse_args()
    presets = [f"paper-{c}-fsdp{v}" for c in CONFIGURATIONS for v in (1, 2)] if options.all else ["paper-b1s4-fsdp2"]
    seeds = (1, 2, 3) if options.all else (1,)
    failed = 0
    for title, preset, seed, settings, flaws, marked, clocked, least_right, filtered in runs_of(presets, seeds, options.all):
        if options.runs not in title:
            continue
        with tempfile.TemporaryDirectory(dir=options.keep) as folder:
            text, found = one_run(options.chopper, Path(folder) / "run", preset, seed, f"{SMALL} {settings}", flaws, marked,
                                  clocked, least_right, filtered)
        failed += show(title, text, found)
    for preset, settings in WITHOUT_SHAPES:
        title = f"{preset} seed 1 no shapes {settings}"
        if options.runs not in title:
            continue
        with tempfile.TemporaryDirectory(dir=options.keep) as folder:
            failed += show(title, *check_model(options.chopper, Path(folder), preset, 1, f"{SMALL} {settings}"))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
