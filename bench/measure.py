# SPDX-License-Identifier: Apache-2.0
"""Runs two commands side by side, again and again, and compares neighbouring runs.

Speed on a shared machine drifts by a third within the hour, for both commands alike. So a ratio is taken of two runs
that follow each other, the order is swapped from pair to pair, and the median of these ratios is the result.
"""
import dataclasses
import os
import statistics
import subprocess
import sys


@dataclasses.dataclass
class Run:
    cpu_s: float
    wall_s: float
    peak_bytes: int
    status: int
    output: str = ""


@dataclasses.dataclass
class Spread:
    median: float
    lowest: float
    highest: float


@dataclasses.dataclass
class Side:
    """The medians of one command over all pairs; the peak is the largest."""
    cpu_s: float
    wall_s: float
    peak_bytes: int


@dataclasses.dataclass
class Comparison:
    base: Side
    tested: Side
    cpu_ratio: Spread
    wall_ratio: Spread


class CommandFailed(Exception):
    """A command ended with a status that was not expected."""


# Starts the command named by its arguments and reports, on the file descriptor that comes first, user and system time,
# wall time, peak memory in KiB and the exit status. A process of its own because what the parent of a command has
# held so far counts as the command's peak memory; this one holds next to nothing.
LAUNCHER = """
import os, sys, time
report, command = int(sys.argv[1]), sys.argv[2:]
os.set_inheritable(report, False)
start = time.monotonic()
child = os.posix_spawnp(command[0], command, os.environ)
_, status, usage = os.wait4(child, 0)
wall = time.monotonic() - start
cpu, status = usage.ru_utime + usage.ru_stime, os.waitstatus_to_exitcode(status)
os.write(report, f"{cpu} {wall} {usage.ru_maxrss} {status}".encode())
"""


def run(command, expected=(0,), keep_output=False):
    """Runs `command`; returns its user and system time, wall time and peak memory, and what it prints if asked to."""
    words = [str(word) for word in command]
    reader, writer = os.pipe()
    try:
        output = subprocess.run([sys.executable, "-I", "-S", "-c", LAUNCHER, str(writer), *words], pass_fds=[writer],
                                stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False,
                                stdout=subprocess.PIPE if keep_output else subprocess.DEVNULL).stdout or b""
    finally:
        os.close(writer)
        with open(reader, encoding="ascii") as file:
            report = file.read().split()
    if not report:
        raise CommandFailed(f"cannot be started: {words[0]}")
    result = Run(float(report[0]), float(report[1]), int(report[2]) * 1024, int(report[3]), output.decode())
    if result.status not in expected:
        raise CommandFailed(f"status {result.status}: {' '.join(words)}")
    return result


def smallest_peak_bytes():
    """Returns the peak memory that a program which does nothing seems to have: the launcher's."""
    return run(["true"]).peak_bytes


def side_of(runs):
    return Side(statistics.median(one.cpu_s for one in runs), statistics.median(one.wall_s for one in runs),
                max(one.peak_bytes for one in runs))


def spread_of(values):
    return Spread(statistics.median(values), min(values), max(values))


def compare(base, tested, repeat, expected=(0,)):
    """Runs both commands `repeat` times as neighbours, after one run of each that warms the page cache."""
    commands = (base, tested)
    for command in commands:
        run(command, expected)
    runs = ([], [])
    for pair in range(repeat):
        for which in ((0, 1) if pair % 2 == 0 else (1, 0)):
            runs[which].append(run(commands[which], expected))
    pairs = list(zip(*runs))
    return Comparison(side_of(runs[0]), side_of(runs[1]),
                      spread_of([tested.cpu_s / max(base.cpu_s, 1e-9) for base, tested in pairs]),
                      spread_of([tested.wall_s / base.wall_s for base, tested in pairs]))
