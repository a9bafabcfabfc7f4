#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Loads a synthetic run with HolisticTraceAnalysis and compares its time split with the truth.

    hta_loads.py --chopper BIN [--preset llama3-8b-fsdp2-h100]

Needs HolisticTraceAnalysis 0.5 with pandas below 3 (`pip install HolisticTraceAnalysis 'pandas<3'`). Exit 77: it is not there.
"""
import argparse
import json
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

warnings.simplefilter("ignore")
ROUNDING_US = 1  # HTA rounds starts up and ends down to whole microseconds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chopper", required=True)
    parser.add_argument("--preset", default="llama3-8b-fsdp2-h100")
    options = parser.parse_args()
    try:
        from hta.trace_analysis import TraceAnalysis
    except ImportError as error:
        print(f"skipped: HolisticTraceAnalysis is not installed ({error})")
        return 77
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        subprocess.run([options.chopper, "synth", "--preset", options.preset, "--num-iterations", "2", "-q", "-o", str(run)], check=True)
        truth = json.loads((run / "truth.json").read_text())
        files = {line["rank"]: str(run / "traces" / f"rank{line['rank']}.trace.json.gz") for line in truth["timeline"]}
        analysis = TraceAnalysis(trace_files=files, trace_dir=str(run / "traces"), include_last_profiler_step=True)
        table = analysis.get_temporal_breakdown(visualize=False).set_index("rank")
        for line in truth["timeline"]:
            row = table.loc[line["rank"]]
            for theirs, ours in (("compute_time(us)", line["compute_ns"]), ("idle_time(us)", line["idle_ns"])):
                if abs(row[theirs] - ours / 1000) > ROUNDING_US * line["num_kernels"]:
                    print(f"rank {line['rank']}: {theirs} {row[theirs]:.0f}, truth {ours / 1000:.0f} us")
                    failures += 1
    print(f"{len(files)} ranks loaded, {failures} differences")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
