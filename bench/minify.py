#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Copies a JSON file without the white space between its tokens: minify.py FROM TO, or minify.py --self-test.

It streams, and all work on bytes is done by whole-block calls, so a gigabyte takes seconds. The input must have line
breaks between tokens now and then (a block ends at one), as the traces of the generator do.
"""
import json
import random
import sys

BLOCK_BYTES = 4 << 20
WHITE_SPACE = b" \n\r\t"
# Control characters cannot stand in JSON text as they are, so two of them may stand for the escapes that hide a quote.
PAIR, QUOTE = b"\x01", b"\x02"


def minify_block(block):
    """Returns `block`, which begins and ends outside a string, without the blanks between its tokens."""
    escapes = b"\\" in block
    if escapes:
        if PAIR in block or QUOTE in block:
            raise ValueError("a control character in the JSON text")
        # Left to right: in a run of backslashes the first two belong together.
        block = block.replace(b"\\\\", PAIR).replace(b'\\"', QUOTE)
    # Between quotes the parts with odd numbers are strings; the others are joined, stripped and split in one go.
    parts = block.split(b'"')
    if len(parts) % 2 == 0:
        raise ValueError("a string with a line break, or without an end")
    parts[0::2] = b'"'.join(parts[0::2]).translate(None, WHITE_SPACE).split(b'"')
    block = b'"'.join(parts)
    if escapes:
        block = block.replace(QUOTE, b'\\"').replace(PAIR, b"\\\\")
    return block


def minify(source, target):
    rest = b""
    with open(source, "rb") as reader, open(target, "wb") as writer:
        while data := reader.read(BLOCK_BYTES):
            rest += data
            # A raw line break is never inside a string.
            cut = rest.rfind(b"\n") + 1
            writer.write(minify_block(rest[:cut]))
            rest = rest[cut:]
        writer.write(minify_block(rest))


def self_test():
    """Compares with the json module on documents full of quotes, backslashes and blanks."""
    generator = random.Random(1)

    def text():
        return "".join(generator.choice('\\"\n\t :,{}[]ab') for _ in range(generator.randrange(12)))

    for _ in range(1000):
        document = {text(): [text(), {text(): text(), "number": -1.5}, []] for _ in range(6)}
        printed = json.dumps(document, indent=generator.choice([None, 1, 2])).encode()
        if minify_block(printed) != json.dumps(document, separators=(",", ":")).encode():
            sys.exit("minify: wrong: " + printed.decode())
    print("minify: 1000 documents are as json.dumps writes them")


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        self_test()
    elif len(sys.argv) == 3:
        minify(sys.argv[1], sys.argv[2])
    else:
        sys.exit(__doc__)
