#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a page of Nsight Compute as `ncu --csv` prints it, for measuring: NAME.csv of about MB megabytes.

    bench/ncu_csv.py /tmp/details.csv 300            # page details
    bench/ncu_csv.py --raw /tmp/raw.csv 300          # page raw, 200 metrics a kernel
    time build/release/chopper check --threads 1 /tmp/details.csv
"""
import argparse
import random

FIXED = ["ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Context", "Stream", "Block Size", "Grid Size",
         "Device", "CC"]
DETAILS = ["Section Name", "Metric Name", "Metric Unit", "Metric Value", "Rule Name", "Rule Type", "Rule Description",
           "Estimated Speedup Type", "Estimated Speedup"]
METRICS = [("GPU Speed Of Light Throughput", "SM Frequency", "Ghz"), ("GPU Speed Of Light Throughput", "Duration", "usecond"),
           ("GPU Speed Of Light Throughput", "Elapsed Cycles", "cycle"),
           ("GPU Speed Of Light Throughput", "Memory Throughput", "%"),
           ("Memory Workload Analysis", "Memory Throughput", "Gbyte/second"),
           ("Launch Statistics", "Registers Per Thread", "register/thread"),
           ("Occupancy", "Achieved Occupancy", "%"), ("Launch Statistics", "Dynamic Shared Memory Per Block", "Kbyte/block")]


def quoted(cells):
    return ",".join(f'"{cell}"' for cell in cells)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--raw", action="store_true")
    parser.add_argument("path")
    parser.add_argument("megabytes", type=int)
    options = parser.parse_args()
    chance = random.Random(1)
    kernels = [f"void at::native::elementwise_kernel_{i}<{', '.join(['float', 'c10::BFloat16'] * chance.randint(1, 12))}>"
               f"(at::TensorIterator&, int)" for i in range(200)]
    raw_metrics = [f"sm__counter_{i}.{'sum' if i % 2 else 'avg'}" for i in range(199)] + ["gpu__time_duration.sum"]

    def value():
        return f"{chance.randint(0, 1 << chance.randint(1, 36)):,}" if chance.random() < 0.5 else f"{chance.random() * 100:.2f}"

    size, number = 0, 0
    with open(options.path, "w") as file:
        size += file.write("==PROF== Connected to process 371693 (/opt/bin/train)\n")
        size += file.write(quoted(FIXED + (raw_metrics if options.raw else DETAILS)) + "\n")
        if options.raw:
            size += file.write(quoted([""] * len(FIXED) + ["inst"] * 199 + ["usecond"]) + "\n")
        while size < options.megabytes * 1_000_000:
            kernel = quoted([number, 371693, "train", "127.0.0.1", chance.choice(kernels), 1, 7, "(256, 1, 1)",
                             f"({chance.randint(1, 9999)}, 2, 1)", 0, "9.0"])
            number += 1
            if options.raw:
                size += file.write(kernel + "," + quoted(value() for _ in raw_metrics) + "\n")
            else:
                size += file.write("".join(f'{kernel},{quoted([*metric, value()])},\n' for metric in METRICS))


main()
