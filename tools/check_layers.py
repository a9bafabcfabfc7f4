#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that includes follow tools/layers.txt.

  check_layers.py [--root FOLDER]   every #include "module/..." of src/ is a listed edge, names a module, and finds its
                                    file; include/chopper includes the standard library and itself only
  check_layers.py --self-test       proves on made-up trees that a bad edge fails
"""
import argparse
import pathlib
import re
import sys
import tempfile

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.M)
SOURCES = (".h", ".cpp")
# Folders of tests/ that unit tests beside their sources may include.
TEST_ONLY = {"support"}
STANDARD = set("""
algorithm any array atomic barrier bit bitset charconv chrono compare complex concepts condition_variable coroutine
deque exception filesystem format forward_list fstream functional future initializer_list iomanip ios iosfwd iostream
istream iterator latch limits list locale map memory memory_resource mutex new numbers numeric optional ostream queue
random ranges ratio regex scoped_allocator semaphore set shared_mutex source_location span sstream stack stdexcept
stop_token streambuf string string_view strstream syncstream system_error thread tuple type_traits typeindex typeinfo
unordered_map unordered_set utility valarray variant vector version cassert cctype cerrno cfenv cfloat cinttypes
climits clocale cmath csetjmp csignal cstdarg cstddef cstdint cstdio cstdlib cstring ctime cuchar cwchar cwctype
""".split()) - {"format"}  # g++ 12 has no <format>


def read_layers(path):
    layers = {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        line = line.split("#")[0].strip()
        if not line:
            continue
        module, colon, edges = line.partition(":")
        if not colon:
            raise SystemExit(f"{path}:{number}: no colon")
        for edge in edges.split():
            if edge != "chopper" and edge not in layers:
                raise SystemExit(f"{path}:{number}: {edge} is not listed above {module}: unknown, or a circle")
        layers[module] = set(edges.split())
    return layers


def check(root):
    """Returns the violations below `root`, as text."""
    layers = read_layers(root / "tools" / "layers.txt")
    found = []
    for path in sorted((root / "src").glob("*/**/*")):
        if path.suffix not in SOURCES:
            continue
        module = path.relative_to(root / "src").parts[0]
        where = path.relative_to(root)
        if module not in layers:
            found.append(f"{where}: the folder {module} is not listed in tools/layers.txt")
            continue
        allowed = layers[module] | {module}
        if path.stem.endswith("_test"):
            allowed = allowed | TEST_ONLY
        for quote, name in INCLUDE.findall(path.read_text()):
            head, slash, _ = name.partition("/")
            if not slash:
                if quote == '"' and (path.parent / name).exists():
                    found.append(f'{where}: write "{module}/..." instead of "{name}"')
                continue
            if quote == "<" and head not in layers and head != "chopper":
                continue
            if head not in layers and head not in TEST_ONLY | {"chopper"}:
                found.append(f'{where}: "{name}" is in no module; other libraries are included with <>')
            elif head not in allowed:
                found.append(f'{where}: {module} may not include {head} ("{name}")')
            elif head in layers and not (root / "src" / name).exists() and not (root / name).exists():
                found.append(f'{where}: there is no "{name}"')
    for path in sorted((root / "include").glob("chopper/**/*.h")):
        for _, name in INCLUDE.findall(path.read_text()):
            if name not in STANDARD and not name.startswith("chopper/"):
                found.append(f"{path.relative_to(root)}: public headers may not include {name}")
    return found


def self_test():
    cases = [  # file, its text, whether it must fail
        ("src/model/a.h", '#include "base/b.h"\n#include <vector>\n', False),
        ("src/base/a.h", '#include "model/b.h"\n', True),
        ("src/ingest/a.cpp", '#  include "analyze/b.h"\n', True),
        ("src/ingest/formats/a.cpp", '#include "model/b.h"\n', False),
        ("src/ingest/a.cpp", "#include <model/b.h>\n#include <sys/stat.h>\n", False),
        ("src/model/a.cpp", "#include <ingest/b.h>\n", True),
        ("src/unknown/a.cpp", "\n", True),
        ("src/base/a.cpp", '#include "nowhere/b.h"\n', True),
        ("src/base/a.cpp", '#include "base/missing.h"\n', True),
        ("src/base/a_test.cpp", '#include "support/b.h"\n', False),
        ("src/base/a.cpp", '#include "support/b.h"\n', True),
        ("include/chopper/a.h", "#include <span>\n#include <chopper/b.h>\n", False),
        ("include/chopper/a.h", '#include "base/b.h"\n', True),
        ("include/chopper/a.h", "#include <fmt/format.h>\n", True),
    ]
    wrong = 0
    layers = (pathlib.Path(__file__).parent / "layers.txt").read_text()
    for name, text, must_fail in cases:
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for other in ("tools/layers.txt", "src/base/b.h", "src/model/b.h", "src/ingest/b.h", "src/analyze/b.h", name):
                (root / other).parent.mkdir(parents=True, exist_ok=True)
                (root / other).write_text("")
            (root / "tools/layers.txt").write_text(layers)
            (root / name).write_text(text)
            if bool(check(root)) != must_fail:
                wrong += 1
                print(f"self-test: {name} with {text!r} should {'fail' if must_fail else 'pass'}: {check(root)}")
    print(f"layers: self-test, {len(cases) - wrong} of {len(cases)} cases right")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    if arguments.self_test:
        sys.exit(1 if self_test() else 0)
    found = check(arguments.root)
    for line in found:
        print(line)
    print(f"layers: {len(found)} includes break tools/layers.txt" if found else "layers: all includes follow tools/layers.txt")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
