# SPDX-License-Identifier: Apache-2.0
"""Makes the inputs of compare_speed.py in build/bench and keeps them for the next run."""
import concurrent.futures
import gzip
import json
import os
import shutil
import subprocess
import sys
import zlib

import minify

REAL_BYTES_AT_LEAST = 5_000_000  # below, starting a process is most of what would be measured
DEFLATE_AT_MOST = 1032           # times smaller: a gzip file that claims more ends in something else


def kept(path, make):
    """Returns `path`, which `make(part)` writes when it is not there yet."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        print(f"bench: making {path.parent.name}/{path.name}", file=sys.stderr, flush=True)
        part = path.with_name(path.name + ".part")
        make(part)
        os.replace(part, path)
    return path


class Inputs:
    """The generated files, by size in MB of 10^6 bytes."""

    def __init__(self, generator, folder):
        self.generator = generator
        self.folder = folder

    def generated(self, name, megabytes, *options):
        def make(part):
            command = [sys.executable, self.generator, "--out", part, "--target-mb", str(megabytes), *options]
            subprocess.run(list(map(str, command)), check=True, stdout=subprocess.DEVNULL)
        return kept(self.folder / name, make)

    def plain(self, megabytes):
        return self.generated(f"plain_{megabytes}.json", megabytes)

    def with_stack(self, megabytes):
        return self.generated(f"with_stack_{megabytes}.json", megabytes, "--with-stack")

    def minified(self, megabytes):
        return kept(self.folder / f"minified_{megabytes}.json",
                    lambda part: minify.minify(self.plain(megabytes), part))

    def gzipped(self, megabytes):
        def make(part):
            packer = zlib.compressobj(1, zlib.DEFLATED, 16 + zlib.MAX_WBITS)
            with open(self.plain(megabytes), "rb") as source, open(part, "wb") as target:
                while data := source.read(1 << 22):
                    target.write(packer.compress(data))
                target.write(packer.flush())
        return kept(self.folder / f"plain_{megabytes}.json.gz", make)

    def ranks(self, count, megabytes):
        """Returns a folder with one file a rank, made as many at a time as there are cores."""
        folder = self.folder / f"ranks_{megabytes}"
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(lambda rank: self.generated(f"{folder.name}/rank{rank}.json", megabytes, "--rank", str(rank)),
                          range(count)))
        return folder


def text_bytes(path):
    """Returns the inflated size of a file, of a gzip file what its last four bytes say; 0 when they cannot be true."""
    size = path.stat().st_size
    if not path.name.endswith(".gz") or size < 18:
        return size
    with open(path, "rb") as file:
        file.seek(-4, os.SEEK_END)
        inflated = int.from_bytes(file.read(4), "little")
    return inflated if inflated <= size * DEFLATE_AT_MOST else 0


def inflate(source, target):
    opened = gzip.open(source, "rb") if source.name.endswith(".gz") else open(source, "rb")
    with opened as reader, open(target, "wb") as writer:
        shutil.copyfileobj(reader, writer, 1 << 22)


def events_of(path):
    """Returns the number of events of a JSON object with traceEvents, or None when the file is none."""
    try:
        document = json.loads(path.read_bytes())
        return len(document["traceEvents"])
    except (ValueError, TypeError, KeyError):
        return None


def reprint(source, target):
    """Writes a trace as the profiler lays it out: events at two blanks, one argument a line, the events last."""
    document = json.loads(source.read_bytes())
    events = document.pop("traceEvents")
    with open(target, "w", encoding="utf-8") as file:
        file.write("{\n")
        for key, value in document.items():
            file.write(f"  {json.dumps(key)}: {json.dumps(value)},\n")
        file.write('  "traceEvents": [')
        for number, event in enumerate(events):
            arguments = event.pop("args", None)
            lines = [", ".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in event.items())]
            if isinstance(arguments, dict) and arguments:
                inner = ",\n      ".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in arguments.items())
                lines.append(f'"args": {{\n      {inner}\n    }}')
            elif arguments is not None:
                lines.append(f'"args": {json.dumps(arguments)}')
            file.write((",\n" if number else "\n") + "  {\n    " + ",\n    ".join(lines) + "\n  }")
        file.write("\n  ]\n}\n")


def real_files(data, folder):
    """Inflates the traces below `data` that are large enough into `folder`; returns them in order of name."""
    found = []
    for source in sorted([*data.rglob("*.json"), *data.rglob("*.json.gz")]):
        if text_bytes(source) <= REAL_BYTES_AT_LEAST:
            continue
        name = source.relative_to(data).as_posix().replace("/", "_").removesuffix(".gz")
        try:
            found.append(kept(folder / name, lambda part, source=source: inflate(source, part)))
        except (OSError, EOFError, zlib.error):  # a damaged file, kept for the tests
            (folder / (name + ".part")).unlink(missing_ok=True)
    return found
