# SPDX-License-Identifier: Apache-2.0
"""Compares `chopper report --json -` with the slow reference on real traces, one line per file.

    compare.py --chopper BIN [--data DIR] [--jobs N] [--skip-larger-than MB] [FILES...]

Without FILES: everything below DIR/kineto. Exit 0: all equal; 1: a difference; 2: wrong usage; 77: no data (ctest: skipped).
"""
import argparse
import json
import subprocess
import sys
import time
from collections import Counter, defaultdict
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
import chopper_reference as reference  # noqa: E402

COUNTS = ("num_kernels", "num_memcpy", "num_memset", "num_comm_kernels")
SUMMARY = ("num", "total_ns", "min_ns", "max_ns", "p50_ns", "p95_ns")
HEALTH = ("time_overflow", "negative_duration", "zero_timestamp", "outside_host_window", "missing_duration", "missing_time",
          "unreadable_event", "not_an_event", "unclosed_gpu_span", "missing_duration_gpu")
# Exit statuses of the real files below data/kineto; those not named here: 0.
EXIT_STATUS = dict.fromkeys(
    ("no_traceEvents.json", "only_whitespace.json", "scalar.json", "zero_bytes.json", "zero_bytes.json.gz"), 1)
EXIT_STATUS |= dict.fromkeys(
    ("huge_numbers.json", "missing_and_mistyped_fields.json", "nan_infinity.json", "negative_ts_dur.json",
     "non_object_events.json", "truncated.json", "truncated_gz.json.gz", "utf16.json"), 3)
SHOWN = 12


def run_chopper(chopper, path):
    """(exit status, JSON document or None, error output)."""
    done = subprocess.run([chopper, "report", "--json", "-", str(path), "-q"], capture_output=True, timeout=900)
    document = None
    if done.returncode in (0, 3):
        document = json.loads(done.stdout)
    return done.returncode, document, done.stderr.decode("utf-8", "replace").strip()


def gpu_of(row):
    return row["gpu"] if "gpu" in row else row.get("gpu_ordinal")


def by_gpu(rows, what, differences):
    """{gpu: row}; one row per gpu is expected of one file."""
    result = {}
    for row in rows:
        gpu = gpu_of(row)
        if gpu in result:
            differences.append((f"{what}[gpu {gpu}]", "two rows", "one row"))
        result[gpu] = row
    return result


def compare_gpus(ours, expected, differences):
    expected_gpus = {row["gpu"]: row for row in expected["gpus"]}
    tables = {
        "gpus": by_gpu(ours.get("gpus", []), "gpus", differences),
        "timeline": by_gpu([r for r in ours.get("timeline", []) if r.get("scope") == "trace"], "timeline", differences),
        "coverage": by_gpu(ours.get("coverage", []), "coverage", differences),
    }
    for what, rows in tables.items():
        for gpu in rows.keys() ^ expected_gpus.keys():
            differences.append((f"{what}[gpu {gpu}]", "row" if gpu in rows else "no row",
                                "row" if gpu in expected_gpus else "no row"))
    for gpu, want in expected_gpus.items():
        wanted = {"gpus": {k: want[k] for k in COUNTS}, "coverage": want["coverage"],
                  "timeline": want["timeline"] | {"num_no_launch": want["num_no_launch"]}}
        for what, values in wanted.items():
            row = tables[what].get(gpu)
            if row is None:
                continue
            for key, value in values.items():
                got = row.get(key)
                if what == "coverage" and got is not None and value is not None:
                    same = abs(got - value) <= 1e-12
                else:
                    same = got == value
                if not same:
                    differences.append((f"{what}[gpu {gpu}].{key}", got if key in row else "absent", value))


def summary_table(rows, with_gpu):
    """{key: values}. Rows of one kernel in several operations are one; then the quantiles are left out here (attribution_compare
    has them)."""
    def dims(value):
        return tuple(value) if value is not None else None
    groups, names = defaultdict(list), set()
    for row in rows:
        key = (row["name"], row["class"], dims(row.get("grid")), dims(row.get("block")))
        key += (gpu_of(row),) if with_gpu else ()
        groups[key].append(tuple(row.get(k) for k in SUMMARY))
        if (key, row.get("operation")) in names:
            groups[key].append(None)                    # the same row twice
        names.add((key, row.get("operation")))
    return {key: merged(values) for key, values in groups.items()}


def merged(rows):
    if len(rows) == 1:
        return rows[0]
    if None in rows:
        return ("repeated rows",) * len(SUMMARY)
    num, total, least, most = list(zip(*rows))[:4]
    return sum(num), sum(total), min(least), max(most), None, None


def compare_summary(ours, works, differences):
    rows = ours.get("kernel_summary", [])
    with_gpu = any("gpu" in row for row in rows)
    got, want = summary_table(rows, with_gpu), summary_table(reference.kernel_summary(works, with_gpu), with_gpu)
    for key in sorted(got.keys() | want.keys(), key=repr):
        label = "kernel_summary" + repr((key[0][:60],) + key[1:])
        a, b = got.get(key), want.get(key)
        if a is None or b is None:
            differences.append((label, a or "no row", b or "no row"))
            continue
        differences += [(f"{label}.{k}", x, y) for k, x, y in zip(SUMMARY, a, b) if x != y and x is not None]


def compare_health(ours, expected, differences):
    counts = Counter()
    for row in ours.get("health", []):
        counts[row["kind"]] += row.get("count") or 0
    for kind in HEALTH:
        if counts[kind] != expected["health"].get(kind, 0):
            differences.append((f"health.{kind}", counts[kind], expected["health"].get(kind, 0)))


def compare_inputs(ours, expected, differences):
    rows = ours.get("inputs", [])
    if len(rows) != 1:
        differences.append(("inputs", f"{len(rows)} rows", "one row"))
        return
    for key in ("clock", "quantum_ns"):
        if rows[0].get(key) != expected[key]:
            differences.append((f"inputs.{key}", rows[0].get(key, "absent"), expected[key]))


def compare_file(chopper, path, known):
    """(seconds of chopper, seconds of the reference, list of differences, remark). `known`: a real file of data/kineto."""
    begin = time.monotonic()
    try:
        status, ours, message = run_chopper(chopper, path)
    except (ValueError, subprocess.TimeoutExpired) as error:
        return time.monotonic() - begin, 0.0, [("output", repr(error)[:200], "JSON")], ""
    middle = time.monotonic()
    expected, works = reference.analyse(path)
    end = time.monotonic()
    differences, remark = [], ""
    if known and status != EXIT_STATUS.get(Path(path).name, 0):
        differences.append(("exit status", f"{status} ({message[:120]})", EXIT_STATUS.get(Path(path).name, 0)))
    if "zstd" in expected.get("error", ""):
        remark = "not compared: " + expected["error"]
    elif status == 1:
        remark = "exit 1, no gpu work in the reference"
        if expected["gpus"]:
            differences.append(("exit status", f"1 ({message[:120]})", f"gpu work on {len(expected['gpus'])} gpus"))
    elif ours is None:
        differences.append(("exit status", f"{status} ({message[:120]})", "0, 1 or 3"))
    else:
        compare_inputs(ours, expected, differences)
        compare_gpus(ours, expected, differences)
        compare_summary(ours, works, differences)
        compare_health(ours, expected, differences)
        remark = f"exit {status}, {len(expected['gpus'])} gpus, {len(works)} gpu records"
    return middle - begin, end - middle, differences, remark


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--chopper", required=True, help="the program under test")
    parser.add_argument("--data", type=Path, default=reference.ROOT.parent / "shared" / "data")
    parser.add_argument("--jobs", type=int, default=1)
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
    if options.skip_larger_than:
        large = [p for p in files if p.stat().st_size > options.skip_larger_than * 1e6]
        files = [p for p in files if p not in large]
        for path in large:
            print(f"skipped      {path.name}: larger than {options.skip_larger_than:g} MB")
    chopper = str(Path(options.chopper).resolve())
    real = top.resolve()
    known = [path.resolve().is_relative_to(real) for path in files]
    failed = 0
    with ProcessPoolExecutor(max(1, options.jobs)) if options.jobs > 1 else InProcess() as pool:
        for path, outcome in zip(files, pool.map(compare_file, [chopper] * len(files), files, known)):
            seconds, reference_seconds, differences, remark = outcome
            label = path.relative_to(top) if path.is_relative_to(top) else path
            verdict = f"{len(differences)} DIFFER" if differences else "ok"
            print(f"{verdict:<12} {label}: {remark} ({seconds:.2f} s, reference {reference_seconds:.1f} s)", flush=True)
            for key, got, want in differences[:SHOWN]:
                print(f"    {key}: chopper {got}, reference {want}")
            if len(differences) > SHOWN:
                print(f"    ... and {len(differences) - SHOWN} more")
            failed += bool(differences)
    print(f"{len(files)} files, {failed} with differences")
    return 1 if failed else 0


class InProcess:
    """A pool of none: everything in this process, one after the other."""
    map = staticmethod(map)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return False


if __name__ == "__main__":
    sys.exit(main())
