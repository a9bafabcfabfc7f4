#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the plans of `chopper metrics plan` from outside: that the input of rocprofv3 is YAML with the keys it knows,
that no pass of a random set goes beyond the limits of data/counters, that the check counter is in every pass, that the
command of Nsight Compute is one for a shell, and that both leave out kernels that communicate and nothing else.

    tools/check_plan.py --chopper build/release/chopper

Without PyYAML (Debian: python3-yaml) nothing is checked, and the exit code is 77.
"""
import argparse
import collections
import pathlib
import random
import re
import shlex
import subprocess
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Keys of a job in the schema of rocprofv3's input files.
JOB_KEYS = {"pmc", "kernel_exclude_regex", "kernel_trace", "marker_trace", "output_format"}
COMMUNICATES = ["ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "rcclGenericKernel", "ncclDevKernel_Generic_1",
                "void ncclKernel_x<1>", "void vllm::cross_device_reduce_1stage<__half, 8>(x)", "msccl_all", "deep_ep::intranode::dispatch"]
COMPUTES = ["Cijk_Ailk_Bljk_BBS_BH", "void at::native::vectorized_elementwise_kernel<4, x>", "attn_fwd", "void my_nccl_free_kernel<1>",
            "nvjet_tst_128x256", "reduce_kernel"]


def run(chopper, words, failures):
    done = subprocess.run([chopper, "metrics", "plan", *words], capture_output=True, text=True, timeout=60)
    if done.returncode != 0:
        failures.append(f"{words}: exit code {done.returncode}\n{done.stderr}")
    return done.stdout


def blocks_of(counters, architecture):
    """Returns the limits of blocks and the block of each counter."""
    def fits(entry):
        return architecture in entry.get("architectures", counters["architectures"])
    limits = {block["name"]: block["limit"] for block in counters["block"] if fits(block)}
    return limits, {counter["name"]: counter["block"] for counter in counters["counter"] if fits(counter)}


def check_passes(text, counters, architecture, what, failures):
    import yaml
    limits, blocks = blocks_of(counters, architecture)
    for number, job in enumerate(yaml.safe_load(text)["jobs"], 1):
        if not set(job) <= JOB_KEYS:
            failures.append(f"{what}: pass {number}: unknown keys {sorted(set(job) - JOB_KEYS)}")
        used = collections.Counter(blocks[name] for name in job["pmc"])
        beyond = {block: count for block, count in used.items() if count > limits[block]}
        if beyond:
            failures.append(f"{what}: pass {number}: beyond the limits: {beyond}")
        if len(set(job["pmc"])) != len(job["pmc"]) or job["pmc"].count(counters["check_counter"]) != 1:
            failures.append(f"{what}: pass {number}: counters twice, or no check counter")
        pattern = re.compile(job["kernel_exclude_regex"])
        for match in (pattern.search, pattern.fullmatch):
            wrong = [name for name in COMMUNICATES if not match(name)] + [name for name in COMPUTES if match(name)]
            if wrong:
                failures.append(f"{what}: the pattern is wrong about {wrong}")


def check_command(text, what, failures):
    words = shlex.split(text, comments=True)
    if words[0] != "ncu" or words[-1] != "COMMAND":
        failures.append(f"{what}: not a command line: {words[0]} ... {words[-1]}")
    pattern = re.compile(words[words.index("--kernel-name") + 1].removeprefix("regex:"))
    wrong = [name for name in COMMUNICATES if pattern.search(name)] + [name for name in COMPUTES if not pattern.search(name)]
    if wrong:
        failures.append(f"{what}: the pattern is wrong about {wrong}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--chopper", metavar="PROGRAM", required=True)
    chopper = parser.parse_args().chopper
    try:
        import yaml  # noqa: F401
    except ImportError:
        print("plan: PyYAML is not installed: not checked")
        return 77
    counters = tomllib.loads((ROOT / "data/counters/amd.toml").read_text())
    failures, number = [], 0
    generator = random.Random(1)
    for architecture in counters["architectures"]:
        names = sorted(blocks_of(counters, architecture)[1])
        sets = [[]] + [generator.sample(names, generator.randint(1, 40)) for _ in range(8)]
        for words in sets:
            number += 1
            text = run(chopper, ["--gpu", architecture, *words], failures)
            check_passes(text, counters, architecture, f"{architecture} {words}", failures)
    for gpu in ("h100_sxm", "b200", "a100_sxm_80gb", "rtx_4090"):
        number += 1
        check_command(run(chopper, ["--gpu", gpu], failures), gpu, failures)
    for failure in failures:
        print(failure)
    print(f"plan: {number} plans, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
