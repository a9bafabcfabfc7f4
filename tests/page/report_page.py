#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what `chopper report -o` writes: the page holds the JSON of `report --json`, and nothing points outside.

    report_page.py --chopper build/release/chopper

A chopper built without the page must refuse with one clear line; the rest is skipped then (exit 77).
"""
import argparse
import html.parser
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DEMO = ROOT / "examples" / "demo"
# A kernel name that would end the element, or hide what follows, if it were written as it is.
EVIL = "k</script><script>alert(1)</script><!-- \u2028\u2029 <b>&amp;"


class Elements(html.parser.HTMLParser):
    """Script elements of type application/json by id, and every attribute that names another resource."""

    def __init__(self):
        super().__init__(convert_charrefs=False)
        self.data, self.outside, self.scripts, self.current = {}, [], 0, None

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.outside += [f"{tag} {name}={value}" for name, value in attributes.items()
                         if name in ("src", "href", "action", "data", "srcset") and not value.startswith("data:,")]
        self.scripts += tag == "script"
        self.current = attributes.get("id") if tag == "script" and attributes.get("type") == "application/json" else None

    def handle_endtag(self, tag):
        self.current = None

    def handle_data(self, text):
        if self.current:
            self.data[self.current] = self.data.get(self.current, "") + text


def chopper(program, *arguments):
    return subprocess.run([program, "report", *map(str, arguments)], capture_output=True)


def trace():
    event = {"ph": "X", "cat": "kernel", "name": EVIL, "pid": 0, "tid": 7, "ts": 1000, "dur": 5,
             "args": {"stream": 7, "correlation": 1, "device": 0}}
    call = {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 990, "dur": 3,
            "args": {"correlation": 1}}
    return json.dumps({"traceEvents": [call, event]}, ensure_ascii=False)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chopper", default=str(ROOT / "build/release/chopper"))
    program = str(pathlib.Path(parser.parse_args().chopper).resolve())
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        page = folder / "page.html"
        done = chopper(program, DEMO, "-o", page)
        if b"built without the HTML page" in done.stderr:
            assert done.returncode == 1 and done.stdout == b"" and not page.exists(), done
            print("page: this build has none, and says so")
            sys.exit(77)
        assert done.returncode == 0 and done.stdout.startswith(b"demo "), done
        text = page.read_text(encoding="utf-8")
        elements = Elements()
        elements.feed(text)
        assert not elements.outside, elements.outside
        assert not re.search(r"url\((?!data:)|@import", text[:text.index("</style>")]), "the style refers to something"
        assert json.loads(elements.data["page-facts"]) == {"run": "demo", "left_out": []}, elements.data["page-facts"]
        expected = chopper(program, DEMO, "--json", "-").stdout.decode()
        assert json.loads(elements.data["report"]) == json.loads(expected), "not the JSON of --json"
        num_scripts = elements.scripts

        to_stdout = chopper(program, DEMO, "-o", "-")
        assert to_stdout.stdout == page.read_bytes() and to_stdout.returncode == 0, "-o - writes the same bytes, no text"
        both = chopper(program, DEMO, "-o", "-", "--json", "-")
        assert both.returncode == 2 and b"standard output" in both.stderr, both

        odd = folder / "odd.json"
        odd.write_text(trace(), encoding="utf-8")
        assert chopper(program, odd, "-o", odd).returncode == 2 and odd.read_text(encoding="utf-8") == trace()
        assert chopper(program, odd, "-o", folder / "none" / "page.html").returncode == 1
        assert chopper(program, odd, "-o", page).returncode == 0
        elements = Elements()
        elements.feed(page.read_text(encoding="utf-8"))
        assert elements.scripts == num_scripts, "the name of a kernel became markup"
        assert json.loads(elements.data["report"])["kernel_summary"][0]["name"] == EVIL
        assert "\u2028" not in page.read_text(encoding="utf-8")
    print("page: the embedded JSON is that of --json, and nothing points outside")


if __name__ == "__main__":
    main()
