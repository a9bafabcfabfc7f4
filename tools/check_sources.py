#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the text of the repository: ASCII and no tabs or trailing blanks in sources and pages, a final newline, and one
licence line in the first five lines of every source. Inputs of tests are left alone: bad text is what some of them are for.
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SPDX = "SPDX-License-" + "Identifier: Apache-2.0"
LEFT_OUT = re.compile(r"^(tests/golden/|fuzz/seeds/|examples/.*\.(json|gz|csv)$|LICENSE$|(viewer/)?package-lock\.json$|viewer/test/snapshots/)")
SOURCE = re.compile(r"(\.(cpp|h|cmake|py|sh|ts|mjs|css|html|in)|(^|/)(CMakeLists\.txt|Makefile|layers\.txt|\.clang-(format|tidy)|\.gitignore))$")
TEXT = re.compile(r"\.(md|toml|json|txt|yml|yaml|css|html)$")


def listed_files():
    try:
        names = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT, check=True,
                               capture_output=True).stdout.decode().split("\0")
    except (OSError, subprocess.CalledProcessError):  # not a checkout, such as an unpacked archive
        names = [str(path.relative_to(ROOT)) for path in ROOT.rglob("*")]
        names = [name for name in names if not re.match(r"(build|(viewer/)?node_modules|\.git)/", name)]
    return sorted(name for name in names if name and (ROOT / name).is_file() and not LEFT_OUT.match(name))


def main():
    found, num_files = [], 0
    for name in listed_files():
        data = (ROOT / name).read_bytes()
        is_source = bool(SOURCE.search(name)) or data.startswith(b"#!")
        if not is_source and not TEXT.search(name):
            continue
        num_files += 1
        if data and not data.endswith(b"\n"):
            found.append(f"{name}: no newline at the end")
        text = data.decode("latin-1")
        for number, line in enumerate(text.split("\n"), 1):
            if not line.isascii():
                found.append(f"{name}:{number}: not ASCII")
            if line != line.rstrip():
                found.append(f"{name}:{number}: blanks at the end")
            if "\t" in line and not name.endswith("Makefile"):
                found.append(f"{name}:{number}: tab")
        if is_source and not any(SPDX in line for line in text.split("\n")[:5]):
            found.append(f"{name}: no line '{SPDX}' at the top")
    for line in found:
        print(line)
    print(f"sources: {len(found)} findings" if found else f"sources: {num_files} files are ASCII and name their licence")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
