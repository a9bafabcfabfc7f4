#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the library parts of Chopper never print, never end the process and never read environment or locale.

    check_symbols.py BUILD_DIR

Reads the undefined symbols of every module archive but cli with nm. The one exception is base/check.cpp, which reports
our own bugs before it aborts.
"""
import pathlib
import re
import subprocess
import sys

FORBIDDEN = re.compile(
    r"^(printf|fprintf|vprintf|vfprintf|puts|fputs|putchar|perror|__printf_chk|__fprintf_chk|exit|_exit|_Exit|quick_exit|abort"
    r"|getenv|secure_getenv|setenv|setlocale|newlocale|stdout|stderr|_ZSt4cout|_ZSt4cerr|_ZSt4clog"
    r"|_ZN3fmt2v\d+6vprint.*)(@.*)?$")
EXEMPT = {"check.cpp.o"}  # CHOPPER_CHECK


def forbidden_symbols(archive: pathlib.Path) -> list[str]:
    output = subprocess.run(["nm", "--undefined-only", "--format=posix", str(archive)], capture_output=True, text=True, check=True).stdout
    member, found = "", []
    for line in output.splitlines():
        if line.endswith(":"):
            member = line[line.rfind("[") + 1:].rstrip(":]")
            continue
        symbol = line.split(" ")[0]
        if FORBIDDEN.match(symbol) and member not in EXEMPT:
            found.append(f"{archive.name}({member}): {symbol}")
    return found


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__)
        return 2
    archives = sorted(p for p in pathlib.Path(sys.argv[1]).glob("libchopper_*.a") if p.name not in ("libchopper_cli.a", "libchopper_test_support.a"))
    if len(archives) < 5:
        print(f"symbols: only {len(archives)} module archives in {sys.argv[1]}; build first")
        return 1
    found = [line for archive in archives for line in forbidden_symbols(archive)]
    print("\n".join(found) if found else f"symbols: {len(archives)} archives neither print, exit, nor read the environment")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
