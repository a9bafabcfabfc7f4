#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs golden tests: folders tests/golden/<area>/<subject>/<case>/ with

  command         one line: the arguments of chopper, quoted as for a shell; run in the case folder
  expected.txt    what it prints: standard output; then, if there is any, the line "--- stderr" and standard error;
                  then, if the exit status is not 0, the line "--- exit N". The version number is written VERSION.
  expected_exit   optional: the exit status; --bless refuses to record another one
  *.sql           optional: becomes the database of the same name without ".sql" before the command is run, which then
                  happens in a copy of the folder; a line "-- damage OFFSET HEX" or "-- cut SIZE" is done to its bytes
  tables          optional, here or in a folder above: the tables of `report --json -` to compare, others are left out;
                  "timeline:trace" keeps the rows with "scope":"trace"; "kernels=name,phase" keeps these keys of each row;
                  "all" keeps everything

  golden.py --chopper PROGRAM CASE...            compares, and prints the difference
  golden.py --chopper PROGRAM --bless [CASE...]  writes expected.txt (of all cases by default); review the diff
  golden.py --self-test                          proves that a difference fails
"""
import argparse
import difflib
import json
import os
import pathlib
import re
import shlex
import shutil
import sqlite3
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
VERSION = re.search(r"project\(chopper VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)


def block(data):
    """Returns `data` with a final newline, saying so if it had none."""
    return data if not data or data.endswith(b"\n") else data + b"\n--- no newline at the end\n"


def make_databases(folder):
    """Turns each NAME.sql below the folder into the database NAME."""
    for path in sorted(folder.rglob("*.sql")):
        database, text = path.with_suffix(""), path.read_text()
        connection = sqlite3.connect(database)
        connection.executescript(text)
        connection.close()
        data = bytearray(database.read_bytes())
        for offset, value in re.findall(r"^-- damage (\d+) ([0-9a-f]+)$", text, re.M):
            data[int(offset):int(offset) + len(value) // 2] = bytes.fromhex(value)
        for size in re.findall(r"^-- cut (\d+)$", text, re.M):
            del data[int(size):]
        database.write_bytes(data)
        path.unlink()


def run(case, program, timeout_s):
    """Returns the text to compare and the exit status."""
    if next(case.rglob("*.sql"), None) is None:
        return run_in(case, case, program, timeout_s)
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder) / "case"
        shutil.copytree(case, copy)
        make_databases(copy)
        return run_in(case, copy, program, timeout_s)


def run_in(case, folder, program, timeout_s):
    """Runs the command of the case in the folder."""
    lines = [line for line in (case / "command").read_text().splitlines() if line.strip()]
    if len(lines) != 1:
        raise SystemExit(f"{case}/command: expected one line, found {len(lines)}")
    environment = dict(os.environ, LC_ALL="C", TZ="UTC")
    done = subprocess.run([program] + shlex.split(lines[0]), cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=timeout_s)
    text = keep_tables(block(done.stdout), wanted_tables(case))
    if done.stderr:
        text += b"--- stderr\n" + block(done.stderr)
    if done.returncode != 0:
        text += b"--- exit %d\n" % done.returncode
    return re.sub(rb"(?<![\d.])" + re.escape(VERSION.encode()) + rb"(?![\d.]*\d)", b"VERSION", text), done.returncode


def wanted_tables(case):
    """Returns {table: (scope or None, keys or None)} from the nearest file `tables`, None where all are wanted."""
    for folder in (case, *case.parents):
        if (folder / "tables").exists():
            words = (folder / "tables").read_text().split()
            if words == ["all"]:
                return None
            split = [re.fullmatch(r"(\w+)(?::(\w+))?(?:=([\w,]+))?", word) for word in words]
            return {m[1]: (m[2], m[3] and m[3].split(",")) for m in split}
        if folder == ROOT:
            break
    return None


def keep_keys(line, keys):
    """Keeps some keys of a row, numbers as they are written."""
    row, comma = line.rstrip(b","), b"," if line.endswith(b",") else b""
    values = dict(re.findall(rb'"(\w+)":("(?:[^"\\]|\\.)*"|\[[^\]]*\]|\{[^}]*\}|[^,{}]+)', row[1:-1]))
    json.loads(row)  # a row is valid JSON
    kept = [b'"%s":%s' % (key.encode(), values[key.encode()]) for key in keys if key.encode() in values]
    return b"{" + b",".join(kept) + b"}" + comma


def keep_tables(data, tables):
    """Leaves out tables of a JSON report; other text stays as it is. A report has a row a line."""
    if tables is None or not data.startswith(b'{\n"chopper":'):
        return data
    kept, name = [], None
    for line in data.split(b"\n"):
        begins = re.match(rb'"(\w+)":\[', line)
        if begins:
            name = begins[1].decode()
        if name is None or name in tables:
            scope, keys = tables.get(name, (None, None)) if name else (None, None)
            row = line.startswith(b'{"')
            if not (scope and row and b'"scope":"%s"' % scope.encode() not in line):
                kept.append(keep_keys(line, keys) if row and keys else line)
        if name and (line in (b"],", b"]") or re.match(rb'"\w+":\[\],?$', line)):
            name = None
    return b"\n".join(kept)


def compare(case, program, bless, timeout_s):
    """Returns whether the case is as expected; prints why not."""
    actual, status = run(case, program, timeout_s)
    allowed = int((case / "expected_exit").read_text()) if (case / "expected_exit").exists() else None
    if (allowed is not None and status != allowed) or status < 0:
        sys.stdout.buffer.write(actual)
        print(f"{case}: exit status {status}" + (f", expected {allowed}" if allowed is not None else ", a crash"))
        return False
    path = case / "expected.txt"
    expected = path.read_bytes() if path.exists() else b""
    if actual == expected and path.exists():
        return True
    if bless:
        path.write_bytes(actual)
        print(f"{case}: written")
        return True
    split = [data.decode("utf-8", "backslashreplace").splitlines() for data in (expected, actual)]
    print(*difflib.unified_diff(*split, "expected.txt", "actual", lineterm=""), sep="\n")
    if split[0] == split[1]:
        print("(they differ in line ends only)")
    print(f"{case}: not as expected" if path.exists() else f"{case}: there is no expected.txt (tools/bless writes it)")
    return False


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        case = pathlib.Path(folder) / "case"
        case.mkdir()
        (case / "command").write_text(f"-c 'echo {VERSION} 1{VERSION}; echo bad >&2; exit 3'\n")
        expected = f"VERSION 1{VERSION}\n--- stderr\nbad\n--- exit 3\n"
        right = [run(case, "/bin/sh", 10) == (expected.encode(), 3)]
        right.append(not compare(case, "/bin/sh", False, 10))  # no expectation
        right.append(compare(case, "/bin/sh", True, 10) and compare(case, "/bin/sh", False, 10))
        (case / "expected_exit").write_text("0\n")
        right.append(not compare(case, "/bin/sh", True, 10))  # another exit status
        (case / "expected_exit").unlink()
        (case / "expected.txt").write_text(expected.replace("bad", "good"))
        right.append(not compare(case, "/bin/sh", False, 10))
        (case / "t.db.sql").write_text("CREATE TABLE t (a);\n-- cut 16\n-- damage 14 39\n")
        (case / "command").write_text("-c 'cat t.db; ls'\n")
        right.append(run(case, "/bin/sh", 10)[0].startswith(b"SQLite format 9\0command"))
        right.append(not (case / "t.db").exists())
        report = b'{\n"chopper":{"version":"1"},\n"a":[\n{"x":1,"n":"q,\\"}]","y":[1,2],"z":0.10}\n],\n"b":[]\n}\n'
        kept = b'{\n"chopper":{"version":"1"},\n"a":[\n{"z":0.10,"n":"q,\\"}]","y":[1,2]}\n],\n}\n'
        right.append(keep_tables(report, {"a": (None, ["z", "n", "y", "absent"])}) == kept)
    print(f"golden: self-test, {sum(right)} of {len(right)} right")
    return all(right)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chopper", default=str(ROOT / "build/release/chopper"), help="default: build/release/chopper")
    parser.add_argument("--bless", action="store_true")
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("--timeout", type=float, default=290, metavar="SECONDS")
    parser.add_argument("case", nargs="*", type=pathlib.Path)
    arguments = parser.parse_args()
    if arguments.self_test:
        sys.exit(0 if self_test() else 1)
    program = str(pathlib.Path(arguments.chopper).resolve())
    cases = arguments.case or sorted(path.parent for path in ROOT.glob("tests/golden/*/*/*/command"))
    if not cases:
        sys.exit("golden: no cases")
    failed = [case for case in cases if not compare(case, program, arguments.bless, arguments.timeout)]
    print(f"golden: {len(cases) - len(failed)} of {len(cases)} as expected")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
