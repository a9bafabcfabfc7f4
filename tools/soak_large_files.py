#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reports on a made-up trace far larger than the 4 GiB that one JSON document of simdjson may have, plain and gzipped.

  soak_large_files.py --chopper PROGRAM [--mb 5000] [--keep]     SOAK_MB sets the default size

Checks that the program ends with status 0, finds every kernel and reports the same of both files (but for name and size
on disk); prints seconds, MB/s and peak memory.
The trace: one launch, one kernel and their arrow every 10 us.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import time

HEAD = '{\n  "schemaVersion": 1,\n  "displayTimeUnit": "ms",\n  "traceEvents": [\n'
TAIL = '  {"ph": "M", "name": "process_name", "pid": 1, "tid": 0, "ts": 0, "args": {"name": "python"}}\n  ]\n}\n'
STEP = """  {
    "ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1,
    "ts": %(ts)d.125, "dur": 4.500,
    "args": {"External id": %(id)d, "cbid": 211, "correlation": %(id)d}
  },
  {
    "ph": "s", "id": %(id)d, "pid": 1, "tid": 1, "ts": %(ts)d.125, "cat": "ac2g", "name": "ac2g"
  },
  {
    "ph": "X", "cat": "kernel", "name": "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn", "pid": 0, "tid": 7,
    "ts": %(start)d.250, "dur": 8.000,
    "args": {
      "External id": %(id)d, "queued": 0, "device": 0, "context": 1, "stream": 7, "correlation": %(id)d,
      "registers per thread": 128, "shared memory": 65536, "grid": [16, 32, 1], "block": [128, 1, 1]
    }
  },
  {
    "ph": "f", "id": %(id)d, "pid": 0, "tid": 7, "ts": %(start)d.250, "cat": "ac2g", "name": "ac2g", "bp": "e"
  },
"""


def write_trace(path, size):
    """Writes at least `size` bytes; returns the number of kernels."""
    step_id = 0
    with open(path, "w", buffering=1 << 22) as file:
        written = file.write(HEAD)
        while written < size:
            steps = []
            for _ in range(2000):
                step_id += 1
                ts = 1_700_000_000_000_000 + 10 * step_id
                steps.append(STEP % {"id": step_id, "ts": ts, "start": ts + 6})
            written += file.write("".join(steps))
        file.write(TAIL)
    return step_id


def report(program, path, text_bytes):
    """Returns the status of the program and its JSON answer without what differs from file to file."""
    start = time.monotonic()
    with subprocess.Popen([program, "report", str(path), "--json", "-", "-q"], stdout=subprocess.PIPE) as process:
        output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.monotonic() - start
    megabytes = text_bytes / 1e6
    print(f"{path.name}: {megabytes:.0f} MB of text, {seconds:.1f} s, {megabytes / seconds:.0f} MB/s, "
          f"peak {usage.ru_maxrss / 1024:.0f} MiB, status {process.returncode}", flush=True)
    if process.returncode != 0:
        return process.returncode, None
    answer = json.loads(output.replace(path.name.encode(), b"FILE"))
    for row in answer["inputs"]:
        del row["bytes"]
    return 0, answer


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chopper", required=True)
    parser.add_argument("--mb", type=int, default=int(os.environ.get("SOAK_MB", "5000")))
    parser.add_argument("--keep", action="store_true", help="leave the files in build/soak")
    arguments = parser.parse_args()
    folder = pathlib.Path(__file__).resolve().parent.parent / "build" / "soak"
    folder.mkdir(parents=True, exist_ok=True)
    plain, packed = folder / "large.json", folder / "large.json.gz"
    num_kernels = write_trace(plain, arguments.mb * 1_000_000)
    print(f"soak: wrote {plain.name} with {num_kernels} kernels", flush=True)
    with open(packed, "wb") as file:
        subprocess.run(["gzip", "-1", "-n", "-c", str(plain)], stdout=file, check=True)
    results = [report(arguments.chopper, path, plain.stat().st_size) for path in (plain, packed)]
    if not arguments.keep:
        plain.unlink()
        packed.unlink()
    if any(status != 0 for status, _ in results):
        sys.exit("soak: the program failed")
    if results[0][1] != results[1][1]:
        sys.exit("soak: the plain and the gzipped file give different reports")
    found = sum(gpu["num_kernels"] for gpu in results[0][1]["gpus"])
    if found != num_kernels:
        sys.exit(f"soak: the report has {found} kernels, the file {num_kernels}")
    print("soak: large files, both reports agree")


if __name__ == "__main__":
    main()
