#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that shells accept the completion scripts of chopper and complete with them, and that the manual page has no
warnings. Shells and groff that are not installed are skipped, with a line that says so; bash is needed.

    tools/check_completion.py --chopper build/release/chopper
"""
import argparse
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile

# The words of the line so far, the last one being completed; what must and what must not be offered.
CASES = [
    (["chopper", "rep"], {"report"}, {"check"}),
    (["chopper", ""], {"report", "check", "synth", "demo"}, {"completion", "schema"}),
    (["chopper", "report", "--js"], {"--json"}, {"--strict"}),
    (["chopper", "check", "--"], {"--strict", "--quiet"}, {"--json", "--kernels"}),
    (["chopper", "report", "--progress", ""], {"auto", "plain", "off"}, set()),
    (["chopper", "synth", "--preset", "tiny-"], {"tiny-fsdp2"}, {"demo"}),
    (["chopper", "synth", "--gpu", "mi3"], {"mi300x"}, {"h100_sxm"}),
    (["chopper", "metrics", "matrix_u"], {"matrix_utilisation"}, {"matrix_cycles"}),
    (["chopper", "metrics", "plan", "--gpu", "mi300"], {"mi300x"}, {"h100_sxm"}),
    (["chopper", "metrics", "plan", "--gpu", "mi300x", "l2_"], {"l2_bytes", "l2_hit_rate"}, {"plan"}),
    (["chopper", "completion", ""], {"bash", "zsh", "fish"}, set()),
]


def output_of(command, failures, what, text=None):
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=60)
    if done.returncode != 0 or done.stderr.strip():
        failures.append(f"{what}: exit code {done.returncode}\n{done.stderr.rstrip()}")
    return done.stdout


def bash_words(script, words):
    line = " ".join(shlex.quote(word) for word in words)
    return ["bash", "-c", f'source {shlex.quote(str(script))}; COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _chopper; '
                          'printf "%s\\n" "${COMPREPLY[@]}"']


def fish_words(script, words):
    line = " ".join(words)
    return ["fish", "--no-config", "-c", f"source {shlex.quote(str(script))}; complete -C {shlex.quote(line)}"]


def check_shell(shell, script, failures):
    output_of([shell, "-n", str(script)], failures, f"{shell} -n")
    if shell == "zsh":  # its completion needs a terminal; loading it does not
        output_of(["zsh", "-fc", f"autoload -Uz compinit && compinit -D -u && source {shlex.quote(str(script))} && "
                                 '[[ $_comps[chopper] == _chopper ]]'], failures, "zsh: loading")
        return
    for words, wanted, unwanted in CASES:
        command = bash_words(script, words) if shell == "bash" else fish_words(script, words)
        found = {line.split("\t")[0] for line in output_of(command, failures, f"{shell}: {words}").splitlines()}
        if not wanted <= found:
            failures.append(f"{shell}: {words}: not offered: {sorted(wanted - found)}")
        if unwanted & found:
            failures.append(f"{shell}: {words}: offered: {sorted(unwanted & found)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--chopper", metavar="PROGRAM", required=True)
    chopper = str(pathlib.Path(parser.parse_args().chopper).resolve())
    failures, checked = [], []
    with tempfile.TemporaryDirectory() as folder:
        for shell in ("bash", "zsh", "fish"):
            if shell != "bash" and shutil.which(shell) is None:
                print(f"completion: {shell} is not installed: skipped")
                continue
            script = pathlib.Path(folder) / f"chopper.{shell}"
            script.write_text(output_of([chopper, "completion", shell], failures, f"chopper completion {shell}"))
            check_shell(shell, script, failures)
            checked.append(shell)
        page = output_of([chopper, "man"], failures, "chopper man")
        if shutil.which("groff") is None:
            print("completion: groff is not installed: the manual page is not rendered")
        else:
            text = output_of(["groff", "-ww", "-man", "-Tascii", "-P-cbou"], failures, "groff", page)
            if "EXIT STATUS" not in text:
                failures.append("groff: the page has no exit status")
            checked.append("the manual page")
    for failure in failures:
        print(failure)
    print(f"completion: {len(failures)} failures" if failures else f"completion: {', '.join(checked)} are good")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
