#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the commands that the pages show, so that the pages cannot rot.

    tools/check_docs.py --chopper build/release/chopper             checks
    tools/check_docs.py --chopper build/release/chopper --update    rewrites the outputs shown; review the difference
    tools/check_docs.py --links                                     links alone, needs no program

In README.md, CONTRIBUTING.md and below docs/ and examples/:
  - a block ```sh with a line that starts with `chopper` or `build/release/chopper` is run, line by line, in an empty folder in
    which build/release/chopper, examples/ and tools/ lie; the blocks of one page share the folder. A line must end
    with exit code 0, or with N when it ends in the comment `# exit N`. In a pipeline the first failure counts;
  - a block ```text right after such a block is its standard output, letter for letter;
  - other blocks are not run: `sh` without chopper (make, pip, ...), `console`, `text` alone, and other languages. A block
    ```python is compiled;
  - links to files, and to headings, must exist; nothing on a network is looked up.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
FENCE = re.compile(r"^```(\w*)\s*$")
COMMAND = re.compile(r"^(build/release/)?chopper\b")
EXIT = re.compile(r"#.*\bexit (\d+)\s*$")
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")


class Block:
    """Lines first + 1 .. last - 1 of a page lie between two fences."""

    def __init__(self, word, first, last, lines):
        self.word, self.first, self.last = word, first, last
        self.lines = lines[first + 1:last]


def blocks_of(lines):
    blocks, start, word = [], None, ""
    for number, line in enumerate(lines):
        match = FENCE.match(line)
        if not match:
            continue
        if start is None:
            start, word = number, match.group(1)
        else:
            blocks.append(Block(word, start, number, lines))
            start = None
    return blocks


def pages():
    found = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]
    for folder in ("docs", "examples", "src"):
        found += sorted((ROOT / folder).rglob("*.md"))
    return [page for page in found if page.is_file()]


def commands_of(block):
    """Joins a line that ends in a backslash, in a pipe, or inside single quotes with the next."""
    commands, is_open = [], False
    for line in block.lines:
        if is_open:
            commands[-1] += "\n" + line
        elif line.strip() and not line.lstrip().startswith("#"):
            commands.append(line)
        else:
            continue
        is_open = commands[-1].endswith(("\\", "|")) or commands[-1].count("'") % 2 == 1
    return commands


def run_block(block, folder, environment, where, failures):
    """Returns the standard output, or None when a command could not be run."""
    output, whole = b"", True
    for command in commands_of(block):
        if re.search(r"(^|\|)\s*jq\b", command) and shutil.which("jq") is None:
            print(f"{where}: skipped, there is no jq: {command}")
            whole = False
            continue
        match = EXIT.search(command)
        expected = int(match.group(1)) if match else 0
        result = subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=folder, env=environment, capture_output=True, timeout=120)
        output += result.stdout
        if result.returncode != expected:
            failures.append(f"{where}: exit code {result.returncode}, not {expected}: {command}\n"
                            + result.stderr.decode(errors="replace").rstrip())
            whole = False
    return output.decode(errors="replace") if whole else None


def check_page(page, chopper, update, failures):
    """Returns the number of blocks run."""
    name = page.relative_to(ROOT)
    lines = page.read_text(encoding="ascii").split("\n")
    blocks = blocks_of(lines)
    edits, num_run = [], 0
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "build" / "release").mkdir(parents=True)
        (folder / "build" / "release" / "chopper").symlink_to(chopper)
        for entry in ("examples", "tools", "docs"):
            (folder / entry).symlink_to(ROOT / entry)
        environment = {**os.environ, "PATH": f"{folder / 'build' / 'release'}{os.pathsep}{os.environ.get('PATH', '')}",
                       "NO_COLOR": "1", "LC_ALL": "C"}
        for number, block in enumerate(blocks):
            where = f"{name}:{block.first + 1}"
            if block.word == "python":
                try:
                    compile("\n".join(block.lines), where, "exec")
                except SyntaxError as error:
                    failures.append(f"{where}: {error}")
            if block.word != "sh" or not any(COMMAND.match(line) for line in block.lines):
                continue
            num_run += 1
            output = run_block(block, folder, environment, where, failures)
            shown = blocks[number + 1] if number + 1 < len(blocks) else None
            between = lines[block.last + 1:shown.first] if shown else ["no block"]
            if output is None or shown is None or shown.word != "text" or any(line.strip() for line in between):
                continue
            true = output.rstrip("\n").split("\n")
            if true == shown.lines:
                continue
            edits.append((shown, true))
            if not update:
                place = next((i for i, (t, s) in enumerate(zip(true, shown.lines)) if t != s), min(len(true), len(shown.lines)))
                failures.append(f"{name}:{shown.first + 2 + place}: not the output (tools/check_docs.py --update rewrites it)\n"
                                f"  page: {(shown.lines + ['(end)'])[place]}\n  true: {(true + ['(end)'])[place]}")
    if update and edits:
        for shown, true in reversed(edits):
            lines[shown.first + 1:shown.last] = true
        page.write_text("\n".join(lines), encoding="ascii")
        print(f"{name}: {len(edits)} outputs rewritten")
    return num_run


def anchor_of(heading):
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def anchors_of(page):
    inside, found = False, set()
    for line in page.read_text(encoding="ascii").split("\n"):
        if line.startswith("```"):
            inside = not inside
        elif not inside and line.startswith("#"):
            found.add(anchor_of(line.lstrip("#")))
    return found


def check_links(page, failures):
    """Returns the number of links looked up."""
    text = page.read_text(encoding="ascii")
    # Code is blanked, with its line breaks kept for the line numbers; a link may go over two lines.
    text = re.sub(r"^```.*?^```|`[^`\n]*`", lambda match: "\n" * match.group().count("\n"), text, flags=re.S | re.M)
    num_links = 0
    for match in LINK.finditer(text):
        target = match.group(1)
        if re.match(r"[a-z]+:", target):
            continue
        num_links += 1
        where = f"{page.relative_to(ROOT)}:{text.count(chr(10), 0, match.start()) + 1}"
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        if not file.exists():
            failures.append(f"{where}: no such file: {target}")
        elif anchor and file.suffix == ".md" and anchor not in anchors_of(file):
            failures.append(f"{where}: no such heading: {target}")
    return num_links


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--chopper", metavar="PROGRAM", help="the program to run")
    parser.add_argument("--update", action="store_true", help="rewrite the outputs shown instead of comparing")
    parser.add_argument("--links", action="store_true", help="check the links alone")
    options = parser.parse_args()
    if not options.links and not options.chopper:
        parser.error("--chopper is missing")
    failures, num_run, num_links = [], 0, 0
    for page in pages():
        num_links += check_links(page, failures)
        if not options.links:
            num_run += check_page(page, pathlib.Path(options.chopper).resolve(), options.update, failures)
    for failure in failures:
        print(failure)
    what = f"{num_run} blocks of commands, {num_links} links"
    print(f"docs: {len(failures)} failures in {what}" if failures else f"docs: {what} are good")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
