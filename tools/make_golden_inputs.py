#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the compressed and re-encoded inputs of tests/golden/ingest/container, from the text of ingest/document/object.

    make_golden_inputs.py           writes them
    make_golden_inputs.py --check   says which differ (exit 1); they are committed, so this is for whoever changes one

The same bytes come out every time: no names or times in the gzip headers, and plain Huffman coding without matches.
"""
import pathlib
import struct
import sys
import zlib

GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "tests/golden/ingest"
HEADER = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"


def deflate(data):
    packer = zlib.compressobj(9, zlib.DEFLATED, -15, 9, zlib.Z_HUFFMAN_ONLY)
    return packer.compress(data) + packer.flush()


def member(data, checksum_error=0, header=HEADER):
    return header + deflate(data) + struct.pack("<II", zlib.crc32(data) ^ checksum_error, len(data))


def stored(data):
    """A member of one stored block: what is in it can be read in a hex dump."""
    block = struct.pack("<BHH", 1, len(data), len(data) ^ 0xffff) + data
    return HEADER + block + struct.pack("<II", zlib.crc32(data), len(data))


def named(data):
    """A member with a file name, a comment, an extra field and a header checksum."""
    header = HEADER[:3] + b"\x1e" + HEADER[4:] + b"\x04\x00ab\x00\x00" + b"trace.json\x00" + b"a comment\x00"
    return member(data, header=header + struct.pack("<H", zlib.crc32(header) & 0xffff))


def inputs():
    text = (GOLDEN / "document/object/input.json").read_bytes()
    packed = member(text)
    half = text.index(b"aten::add")  # inside an event
    broken = bytearray(stored(text))
    broken[10] |= 6  # block type 3 does not exist
    return {
        "gzip/input.json.gz": packed,
        "gzip_named_json/input.json": packed,
        "json_named_gzip/input.json.gz": text,
        "gzip_header_fields/input.json.gz": named(text),
        "gzip_stored/input.json.gz": stored(text),
        "gzip_two_members/input.json.gz": member(text[:half]) + member(text[half:]),
        "gzip_empty_members/input.json.gz": member(b"") + packed + member(b""),
        "gzip_wrong_checksum/input.json.gz": member(text, checksum_error=1),
        "gzip_wrong_checksum_first_of_two/input.json.gz": member(text[:half], checksum_error=1) + member(text[half:]),
        "gzip_trailing_bytes/input.json.gz": packed + b"garbage",
        "gzip_trailing_zeros/input.json.gz": packed + bytes(512),
        "gzip_without_trailer/input.json.gz": packed[:-8],
        "gzip_cut/input.json.gz": packed[:len(packed) * 2 // 3],
        "gzip_cut_in_header/input.json.gz": packed[:7],
        "gzip_damaged_at_once/input.json.gz": bytes(broken),
        "gzip_of_nothing/input.json.gz": member(b""),
        "empty_named_gzip/input.json.gz": b"",
        "utf16_little_endian/input.json": b"\xff\xfe" + text.decode().encode("utf-16-le"),
        "utf16_big_endian/input.json": b"\xfe\xff" + text.decode().encode("utf-16-be"),
        "utf16_cut/input.json": b"\xff\xfe" + text.decode().encode("utf-16-le")[:half * 2 + 1],
        "utf16_in_gzip/input.json.gz": member(b"\xff\xfe" + text.decode().encode("utf-16-le")),
    }


def main():
    different = 0
    for name, data in inputs().items():
        path = GOLDEN / "container" / name
        if path.exists() and path.read_bytes() == data:
            continue
        different += 1
        if "--check" in sys.argv[1:]:
            print(f"{path}: {'differs' if path.exists() else 'missing'}")
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        print(f"{path}: written")
    sys.exit(1 if different and "--check" in sys.argv[1:] else 0)


if __name__ == "__main__":
    main()
