# SPDX-License-Identifier: Apache-2.0
"""Compares the attribution of `chopper report --json - --kernels` with the slow reference on real traces, a few lines per file.

    attribution_compare.py --chopper BIN [--data DIR] [--skip-larger-than MB] [FILES...]

Labels are compared record by record where the reference can tell them; time lines, instances, operations, collectives and
summaries of kernels with sums over all records that have the labels of the program. Without FILES: everything below DIR/kineto.
Exit 0: all equal; 1: a difference; 2: wrong usage; 77: no data (ctest: skipped).
"""
import argparse
import gc
import json
import subprocess
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
import attribution_reference as attribution  # noqa: E402
import chopper_reference as reference  # noqa: E402
import windows_reference as windows  # noqa: E402

SHOWN, SHOWN_NAMES = 8, 4
SUMS = ("num_instances num_kernels duration_ns elapsed_ns overlap_ns prep_ns call_ns prep_idle_ns call_idle_ns num_no_launch "
        "p05_ns p50_ns p95_ns").split()
SUMMARY = ("num", "total_ns", "min_ns", "max_ns", "p50_ns", "p95_ns")
STRONG = ("collective", "copy", "annotation", "path", "accumulate", "module")
# Which names of the Llama family work below a module frame may have, by parts of the innermost such class: whatever told them, a
# norm is no part of attention and an attention no part of an MLP.
PLACES = (
    (("Attention",), set("qkv_ip q_ip k_ip v_ip kv_ip qkv_s qkv_t qkv_re attn_i attn_fa attn_or attn_op".split())),
    (("MLP", "Mlp", "FeedForward", "Intermediate"), set("mlp_gp mlp_gs mlp_up mlp_gu mlp_dp".split())))
NAMES = set("ie attn_n attn_ra mlp_n mlp_ra ln lp cel".split()).union(*(names for _, names in PLACES))
LEAST = 0.99                                            # of what is possible must be labelled


class Differences:
    """Differences by kind, with the first ones of each."""

    def __init__(self):
        self.count, self.examples = Counter(), defaultdict(list)

    def add(self, kind, text):
        self.count[kind] += 1
        if len(self.examples[kind]) < SHOWN:
            self.examples[kind].append(text)

    def equal(self, kind, where, got, want):
        if got != want or (type(got) is bool) != (type(want) is bool):
            self.add(kind, f"{where}: chopper {got}, reference {want}")
            return False
        return True


def run_chopper(chopper, path):
    done = subprocess.run([chopper, "report", "--json", "-", "--kernels", "-q", str(path)], capture_output=True, timeout=900)
    return done.returncode, json.loads(done.stdout) if done.returncode in (0, 3) else None


def match(mine, rows, found):
    """{work: row}; empty when the records differ."""
    works = sorted(mine.works, key=lambda w: (w.start, w.end, w.name, w.offset))
    rows = sorted(rows, key=lambda r: (r["start_ns"], r["start_ns"] + r["duration_ns"], r["name"], r["offset"]))
    want = [(w.start, w.end - w.start, w.name) for w in works]
    got = [(r["start_ns"], r["duration_ns"], r["name"]) for r in rows]
    if got != want:
        place = next((i for i, (a, b) in enumerate(zip(got, want)) if a != b), min(len(got), len(want)))
        found.add("records", f"{len(got)}, expected {len(want)}; first difference at {place}: "
                  f"{got[place:place + 1]}, expected {want[place:place + 1]}")
        return {}
    return dict(zip(works, rows))


# ------------------------------------------------------------------------------------------------------------- labels

def is_sequence(rule):
    """Whether a rule of the program is one the reference cannot follow."""
    return rule in ("sequence", "order", "repetition", "launch_order") or "sequence" in rule


def compare_record(trace, mine, work, row, state, found):
    where = f"{work.name[:48]} at {work.start}"
    place = trace.places[work]
    found.equal("ordinal", where, row["ordinal"], place)
    found.equal("iteration", where, row["iteration"], None if place is None else trace.marks[place][0])
    where += f" in {work.innermost.name[:48]}" if work.innermost else ""
    found.equal("phase", f"{where} by {row['phase_rule']}", row["phase"], trace.phase(work))
    found.equal("recompute", where, row["recompute"], trace.recompute(work))
    found.equal("launch_ns", where, row["launch_ns"], work.launch.start if work.launch else None)
    found.equal("comm_copy", where, row["comm_copy"], work.comm_copy)
    if work.gpu_kind == "kernel":
        found.equal("graph", where, row["graph"], bool(work.launch) and "GraphLaunch" in work.launch.name)
        in_chain = windows.kind_of(work) == "COMP" and work.launch is not None and work is not state["first"]
        prep, call = mine.idle_parts(work)[:2]
        found.equal("prep, call", where, (row["prep_ns"], row["call_ns"]), (prep, call) if in_chain else (None, None))
    compare_layer(trace, work, row, where, state, found)
    compare_operation(trace, work, row, where, state, found)
    compare_place(trace, work, row, where, state, found)


def compare_layer(trace, work, row, where, state, found):
    layer, how = trace.layer(work)
    where += f" by {row['layer_rule']}"
    if how == "stack" or how == "node" and (work.klass != "comm" or not is_sequence(row["layer_rule"])):
        found.equal(f"layer ({how})", where, row["layer"], layer)
        found.equal("layer_known", where, row["layer_known"], True)
    elif how == "outside":
        found.equal("layer (outside)", where, (row["layer"], row["layer_known"]), (None, True))
    elif how == "no_launch":
        found.equal("layer (no launch)", where, (row["layer"], row["layer_known"]), (None, False))
    elif row["layer"] is not None:
        state["layer"][row["layer_rule"]] += 1          # told by what the reference does not read
    else:
        found.equal("layer_known", where, row["layer_known"], state["has_layers"])


def compare_place(trace, work, row, where, state, found):
    """Names that contradict the modules around the work, and losses where nothing is trained."""
    if row["operation"] == "cel" and not state["trains"]:
        found.add("operation (loss without training)", f"{where} by {row['operation_rule']}")
    frames = [attribution.module_class(r)[0] for r in trace.stacks.of(work) if attribution.is_module(r)]
    if row["operation"] not in NAMES or any("Norm" in name for name in frames[:1]):
        return
    for name in frames:
        for parts, allowed in PLACES:
            if any(part in name for part in parts):
                if row["operation"] not in allowed:
                    found.add("operation (place)", f"{where}: {row['operation']} by {row['operation_rule']} below {name}")
                return


def compare_operation(trace, work, row, where, state, found):
    operation, how = trace.operation(work)
    strong = how.removeprefix("partner ") in STRONG
    if not strong and (is_sequence(row["operation_rule"]) or state["sequences"] and how.startswith("partner")):
        state["operation"][row["operation_rule"]] += 1
    else:
        found.equal(f"operation ({how})", f"{where} by {row['operation_rule']}", row["operation"], operation)


# --------------------------------------------------------------------------------------------------------------- sums

def compare_timeline(trace, mine, rows, found):
    by_scope = {}
    for row in rows:
        by_scope[row["scope"], row.get("ordinal")] = row
    want_rows = mine.timeline()
    for key in sorted(by_scope.keys() | want_rows.keys(), key=repr):
        got, want = by_scope.get(key), want_rows.get(key)
        if want is None and key[0] in ("head", "tail") and not mine.trace.marks:
            continue                    # without marks all is head and tail; the reference has neither
        if got is None or want is None:
            if (got or want).get("window_ns") or (got or want)["busy_ns"]:
                found.add("timeline", f"{key}: {'row' if got else 'no row'}, reference {'row' if want else 'no row'}")
            continue
        for name, value in want.items():
            if value is None and name not in got or name == "foreign_ns" and key[0] != "iteration" and name not in got:
                continue
            found.equal(f"timeline {key[0]}.{name}", f"ordinal {key[1]}", got.get(name, "absent"), value)


def compare_operations(mine, rows_of, rows, found):
    def key_of(work):
        row = rows_of[work]
        return (row["iteration"], row["ordinal"]), row["phase"], row["recompute"], row["layer"], row["operation"]
    want_rows = mine.operations(key_of)
    got_rows = {(row["phase"], row["operation"]): row for row in rows}
    found.equal("operations", "number of rows", len(rows), len(got_rows))
    for key in sorted(got_rows.keys() | want_rows.keys()):
        got, want = got_rows.get(key), want_rows.get(key)
        if want is None and key[0] in ("head", "tail") and not mine.trace.marks:
            continue                    # without marks all is head and tail; the reference has neither
        if got is None or want is None:
            found.add("operations", f"{key}: {'row' if got else 'no row'}, reference {'row' if want else 'no row'}")
            continue
        for name in SUMS:
            found.equal(f"operations.{name}", key, got[name], int(want[name]))
        most = max(want["classes"].values())
        if want["classes"][got["class"]] != most:
            found.add("operations.class", f"{key}: {got['class']}, reference {dict(want['classes'])}")


def compare_collectives(trace, mine, rows_of, rows, found):
    by_place = {(row["start_ns"], row["offset"]): row for row in rows}
    want_rows = mine.collectives()
    found.equal("collectives", "number of rows", len(rows), len(want_rows))
    for work, want in want_rows.items():
        got, where = by_place.get((work.start, rows_of[work]["offset"])), f"{work.name[:40]} at {work.start}"
        if got is None:
            found.add("collectives", where + ": no row")
            continue
        for name, value in want.items():
            if name == "seq" and value is None:         # then the program counts
                continue
            if name == "group" and value is None:
                continue
            found.equal(f"collectives.{name}", where, got.get(name), value)
        found.equal("collectives.layer", where, got.get("layer"), rows_of[work]["layer"])
        layer = trace.launch_layer(work)
        if layer is not None:
            found.equal("collectives.launch_layer", where, got.get("launch_layer"), layer)


def compare_summary(mine, rows_of, rows, found):
    def dims(value):
        return tuple(value) if value is not None else None
    got = {(r["name"], r["class"], r["operation"], dims(r["grid"]), dims(r["block"])): tuple(r[k] for k in SUMMARY) for r in rows}
    groups = defaultdict(list)
    for work, row in rows_of.items():
        if work.gpu_kind == "kernel":
            groups[row["operation"]].append(work)
    want = {}
    for operation, works in groups.items():
        for r in reference.kernel_summary(works):
            want[r["name"], r["class"], operation, dims(r["grid"]), dims(r["block"])] = tuple(r[k] for k in SUMMARY)
    for key in sorted(got.keys() | want.keys(), key=repr):
        found.equal("kernel_summary", (key[0][:40], *key[1:]), got.get(key), want.get(key))


def compare_coverage(trace, mine, rows, row, found):
    possible, num = attribution.possible(trace, mine.works), len(mine.works)
    shares = {}
    for label, count in possible.items():
        share = row[f"{label}_records"]
        shares[label] = share
        if abs(share * num - count) > 1e-6 * num:
            found.add("coverage", f"{label}: {share * num:.1f} of {num} records, possible {count}")
        if share * num < LEAST * count:
            found.add("coverage", f"{label}: below {LEAST:.0%} of what is possible")
    tests = {"phase": lambda r: r["phase"] != "unlabelled", "operation": lambda r: r["operation"] != "unlabelled",
             "layer": lambda r: r["layer_known"], "iteration": lambda r: r["ordinal"] is not None}
    total = sum(r["duration_ns"] for r in rows)
    for label, test in tests.items():
        shares[label] = sum(1 for r in rows if test(r)) / num
        in_time = sum(r["duration_ns"] for r in rows if test(r)) / total if total else None
        for key, want in ((f"{label}_records", shares[label]), (f"{label}_time", in_time)):
            if want is None and row[key] is None:
                continue
            if row[key] is None or want is None or abs(row[key] - want) > 1e-9:
                found.add("coverage", f"{key}: {row[key]}, by the records {want}")
    found.equal("iteration_rule", "coverage", row["iteration_rule"], trace.rule)
    return shares


def compare_rules(rows_of, rows, found):
    want = defaultdict(Counter)
    for row in rows_of.values():
        for label in ("phase", "layer", "operation"):
            want[label, row[label + "_rule"]].update(records=1, duration_ns=row["duration_ns"])
    got = {(row["label"], row["rule"]): {k: row[k] for k in ("records", "duration_ns")} for row in rows}
    for key in sorted(got.keys() | want.keys()):
        found.equal("label_rules", key, got.get(key), dict(want[key]) if key in want else None)


# ------------------------------------------------------------------------------------------------------------ one file

def reasons(rows, phase):
    """The share of time in a phase, and the names most of it comes from."""
    total = sum(row["duration_ns"] for row in rows)
    names = Counter()
    for row in rows:
        if row["phase"] == phase:
            name = row["name"] if phase == "unlabelled" else row["operator"] or row["range"] or row["name"]
            names[name[:36]] += row["duration_ns"]
    if not total or not names:
        return None
    most = ", ".join(f"{name} {value / total:.1%}" for name, value in names.most_common(SHOWN_NAMES))
    return f"{phase} {names.total() / total:.1%} of time: {most}"


def compare_gpu(trace, gpu, tables, found):
    """Lines to print."""
    mine = attribution.Gpu(trace, gpu)
    rows = tables["kernels"] + tables["copies"]
    rows_of = match(mine, rows, found)
    if not rows_of:
        return []
    kernels = [w for w in mine.works if w.gpu_kind == "kernel" and windows.kind_of(w) == "COMP"]
    state = {"first": kernels[0] if kernels else None, "layer": Counter(), "operation": Counter(),
             "trains": any(row["phase"] in ("backward", "optimizer") for row in tables["all"]),
             "has_layers": any(row["layer"] is not None for row in tables["all"]),
             "sequences": any(is_sequence(row["operation_rule"]) for row in tables["all"])}
    for work, row in rows_of.items():
        compare_record(trace, mine, work, row, state, found)
        own = mine.comm.within(work.start, work.end)
        found.equal("overlap_ns", f"{work.name[:40]} at {work.start}", row["overlap_ns"], own)
    if not tables["coverage"]:
        found.add("coverage", "no row")
        return []
    shares = compare_coverage(trace, mine, rows, tables["coverage"][0], found)
    if tables["coverage"][0]["iteration_rule"] == trace.rule:
        compare_timeline(trace, mine, tables["timeline"], found)
    compare_operations(mine, rows_of, tables["operations"], found)
    compare_collectives(trace, mine, rows_of, tables["collectives"], found)
    compare_summary(mine, rows_of, tables["kernel_summary"], found)
    compare_rules(rows_of, tables["label_rules"], found)
    phases = Counter(row["phase"] for row in rows)
    labelled = ", ".join(f"{label} {share:.2%}" for label, share in shares.items())
    counts = ", ".join(f"{phase} {count}" for phase, count in phases.most_common())
    lines = [f"gpu {gpu}: {len(rows)} records, {labelled}; iterations by {tables['coverage'][0]['iteration_rule']}; {counts}"]
    lines += [text for text in (reasons(rows, phase) for phase in ("other", "unlabelled")) if text]
    for label in ("layer", "operation"):
        if state[label]:
            lines.append(f"not compared: {label} of {state[label].total()} records ({', '.join(state[label])})")
    return lines


def compare_file(chopper, path):
    """(differences, lines, remark)"""
    found, lines = Differences(), []
    status, document = run_chopper(chopper, path)
    try:
        trace = attribution.load(path)
    except reference.NotATrace:
        trace = None
    if document is None or trace is None or not trace.works:
        if document is not None and trace is not None and document["gpus"]:
            found.add("gpus", "gpu work that the reference does not see")
        return found, lines, f"exit {status}, nothing to compare"
    for gpu in sorted({w.gpu for w in trace.works}, key=repr):
        tables = {name: [row for row in rows if row.get("gpu") == gpu] for name, rows in document.items()
                  if isinstance(rows, list)}
        tables["all"] = document["kernels"] + document["copies"]
        lines += compare_gpu(trace, gpu, tables, found)
    return found, lines, f"exit {status}, {len(trace.works)} gpu records, {len(trace.marks)} iterations by {trace.rule}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--chopper", required=True, help="the program under test")
    parser.add_argument("--data", type=Path, default=reference.ROOT.parent / "shared" / "data")
    parser.add_argument("--skip-larger-than", type=float, default=0, metavar="MB", help="size on disk; 0: none")
    parser.add_argument("files", nargs="*", type=Path)
    options = parser.parse_args()
    files, top = options.files, options.data / "kineto"
    if not files:
        if not top.is_dir():
            print(f"skipped: no directory {top}")
            return 77
        files = sorted(p for p in top.rglob("*") if p.is_file())
    missing = [str(p) for p in [Path(options.chopper), *files] if not p.is_file()]
    if missing:
        print("not a file: " + ", ".join(missing), file=sys.stderr)
        return 2
    chopper, failed = str(Path(options.chopper).resolve()), 0
    for path in files:
        label = path.relative_to(top) if path.is_relative_to(top) else path
        if options.skip_larger_than and path.stat().st_size > options.skip_larger_than * 1e6:
            print(f"skipped      {label}: larger than {options.skip_larger_than:g} MB")
            continue
        begin = time.monotonic()
        try:
            found, lines, remark = compare_file(chopper, path)
        except (ValueError, subprocess.TimeoutExpired) as error:
            found, lines, remark = Differences(), [], ""
            found.add("output", repr(error)[:200])
        total = found.count.total()
        print(f"{f'{total} DIFFER' if total else 'ok':<12} {label}: {remark} ({time.monotonic() - begin:.1f} s)", flush=True)
        for line in lines:
            print("    " + line)
        for kind, count in found.count.most_common():
            print(f"    {kind}: {count}")
            for text in found.examples[kind][:3]:
                print("        " + text)
        failed += bool(total)
        gc.collect()
    print(f"{len(files)} files, {failed} with differences")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
