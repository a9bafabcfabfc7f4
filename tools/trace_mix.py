#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the mix of events and the size of traces: events per kernel and mean bytes, by category.

    tools/trace_mix.py FILE...        each a trace (.json or .json.gz); the first is what the others are compared with
"""
import collections
import gzip
import json
import sys


def measure(path):
    raw = open(path, "rb").read()
    text = gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw
    events = json.loads(text)["traceEvents"]
    count, size = collections.Counter(), collections.Counter()
    steps = set()
    for e in events:
        key = f"{e.get('ph')} {e.get('cat', '')}".replace("async_cpu_to_gpu", "ac2g")
        count[key] += 1
        size[key] += len(json.dumps(e))
        if e.get("cat") == "user_annotation" and str(e.get("name", "")).startswith("ProfilerStep#"):
            steps.add(e["name"])
    return {"bytes": len(text), "count": count, "size": size, "steps": max(1, len(steps)), "kernels": max(1, count["X kernel"])}


def main(paths):
    runs = [measure(p) for p in paths]
    for run, path in zip(runs, paths):
        print(f"{path}: {run['bytes'] / 1e6:.1f} MB, {run['steps']} steps, {run['kernels']} kernels, {run['bytes'] / run['kernels']:.0f} bytes and "
              f"{sum(run['count'].values()) / run['kernels']:.2f} events per kernel, {run['bytes'] / sum(run['count'].values()):.0f} bytes per event")
    keys = sorted({k for r in runs for k in r["count"]}, key=lambda k: -runs[0]["count"][k])
    print(f"{'events per kernel, mean bytes':34}" + "".join(f"{i:>22}" for i in range(len(runs))))
    for key in keys:
        cells = [f"{r['count'][key] / r['kernels']:10.3f} {r['size'][key] / max(1, r['count'][key]):8.0f}   " for r in runs]
        print(f"{key:34}" + "".join(cells))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1:])
