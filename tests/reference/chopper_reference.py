# SPDX-License-Identifier: Apache-2.0
"""Slow, independent reference of Chopper's whole-trace numbers for ONE PyTorch profiler trace.

Written from docs/reference/reading-rules.md, sections 1-3 and 6 of the specification and data/classes.toml alone; it
shares no code and no algorithm with the C++ program. It prefers plain code to fast code: whole files in memory, dictionaries,
one sweep over sorted end points per gpu. Only the standard library is used. zstd files are not read.

    chopper_reference.py FILE     prints one JSON object

Choices where the rules leave room are marked "CHOICE" below.
"""
import gc
import json
import re
import sys
import tomllib
import zlib
from collections import Counter, defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
INT64_MIN, INT64_MAX = -(2 ** 63), 2 ** 63 - 1
WINDOW_SLACK_NS = 60 * 10 ** 9
sys.set_int_max_str_digits(0)                           # a number of any length is read; what does not fit is counted


class Num(str):
    """A JSON number, kept as its text: no float is ever made of a time."""
    __slots__ = ()


class NotATrace(Exception):
    """Nothing recognisable in the file."""


# --------------------------------------------------------------------------------------------------------- container

def gzip_header_length(data, pos):
    """Length of the gzip member header at pos, or None when there is no complete header."""
    if data[pos:pos + 3] != b"\x1f\x8b\x08" or len(data) < pos + 10:
        return None
    flags, p = data[pos + 3], pos + 10
    if flags & 4:
        if len(data) < p + 2:
            return None
        p += 2 + int.from_bytes(data[p:p + 2], "little")
    for bit in (8, 16):
        if flags & bit:
            end = data.find(b"\0", p)
            if end < 0:
                return None
            p = end + 1
    if flags & 2:
        p += 2
    return p - pos if p <= len(data) else None


def gunzip(data, health):
    """All members; a wrong checksum and trailing bytes are notes, an early end is `truncated`."""
    out, pos, first = [], 0, True
    while pos < len(data):
        header = gzip_header_length(data, pos)
        if header is None:
            if data[pos:pos + 2] == b"\x1f\x8b" and first:
                health["truncated"] += 1
            elif data[pos:].strip(b"\0"):
                health["trailing_bytes"] += 1
            break
        first = False
        inflater, member, p, broken = zlib.decompressobj(-15), [], pos + header, False
        while not inflater.eof and p < len(data):
            try:
                member.append(inflater.decompress(data[p:p + 4096]))
            except zlib.error:
                broken = True
                break
            p += 4096
        body = b"".join(member)
        out.append(body)
        if broken or not inflater.eof:
            health["truncated"] += 1
            break
        p = min(p, len(data)) - len(inflater.unused_data)
        trailer = data[p:p + 8]
        expected = zlib.crc32(body).to_bytes(4, "little") + (len(body) & 0xFFFFFFFF).to_bytes(4, "little")
        if len(trailer) < 8:
            health["truncated"] += 1
        elif trailer != expected:
            health["checksum_mismatch"] += 1
        pos = p + 8
    return b"".join(out)


def read_text(path, health):
    """The text of the file. Invalid UTF-8 bytes stay visible as lone surrogates (surrogateescape)."""
    data = Path(path).read_bytes()
    if data[:2] == b"\x1f\x8b":
        data = gunzip(data, health)
    elif data[:4] == b"\x28\xb5\x2f\xfd":
        raise NotATrace("zstd is not read by the reference")
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        codec = "utf-16-le" if data[:2] == b"\xff\xfe" else "utf-16-be"
        if len(data) % 2:
            data = data[:-1]
        return data[2:].decode(codec, "replace")
    if data[:3] == b"\xef\xbb\xbf":
        data = data[3:]
    return data.decode("utf-8", "surrogateescape")


# ------------------------------------------------------------------------------------------------------ strict JSON

def join_pairs(pairs):
    """An object from its pairs: the last of equal keys counts; the members of several `args` are merged (rule 1.5)."""
    result = dict(pairs)
    if len(result) != len(pairs):
        objects = [v for k, v in pairs if k == "args" and isinstance(v, dict)]
        if objects:                                     # CHOICE: an `args` that is no object changes nothing
            result["args"] = {key: value for members in objects for key, value in members.items()}
        arrays = [v for k, v in pairs if k == "traceEvents" and isinstance(v, list)]
        if len(arrays) > 1:
            result["traceEvents"] = [event for array in arrays for event in array]
            result["\0second traceEvents"] = len(arrays) - 1
    return result


def reject_constant(text):
    raise ValueError("bare " + text)


STRICT = dict(parse_float=Num, parse_int=Num, parse_constant=reject_constant, object_pairs_hook=join_pairs)
DECODER = json.JSONDecoder(**STRICT)
INVALID_BYTE = re.compile("[\udc80-\udcff]")


# ---------------------------------------------------------------------------------------------------- tolerant JSON

class Cut(Exception):
    """The text ended inside a value."""


class Bad(Exception):
    """The text cannot be read, not even repaired."""


SPACE = re.compile(r"[ \t\r\n]*")
NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.+-])")
WORD = re.compile(r'[^\s,:{}\[\]"]+')
WORDS = {"true": True, "false": False, "null": None}
ABSENT = object()                                       # what is no JSON where the value of a member is expected
PLAIN = re.compile("[^\"\\\\\\x00-\\x1f\udc80-\udcff]+")
ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
HEX4 = re.compile(r"[0-9a-fA-F]{4}")
EVENT_START = re.compile(r'\{\s*"(?:ph|cat|name|pid|tid|ts|dur|args|id|s|bp)"\s*:')
EVENT_END = re.compile(r"\}\s*(?=[,\]])")
AFTER_STRAY_BRACKET = re.compile(r"[\s\],]*(?=" + EVENT_START.pattern + ")")
DOCUMENT_START = re.compile(r'\{\s*["}]|\[\s*[\[{\]]')
FIELD_NAME = re.compile(r'"(?:ph|cat|name|pid|tid|ts|dur|args|id|bp)"\s*:')


def skip_space(text, pos):
    return SPACE.match(text, pos).end()


class Tolerant:
    """Recursive descent over one text; `repaired` says whether anything had to be mended since it was last cleared."""

    def __init__(self, text):
        self.text, self.repaired = text, False

    def value(self, pos, where):
        text, pos = self.text, skip_space(self.text, pos)
        if pos >= len(text):
            raise Cut()
        c = text[pos]
        if c == "{":
            return self.object(pos)
        if c == "[":
            return self.array(pos)
        if c == '"':
            return self.string(pos, where)
        number = NUMBER.match(text, pos)
        if number:
            return Num(number.group()), number.end()
        word = WORD.match(text, pos)
        if word is None:
            raise Bad()
        if word.end() == len(text):
            raise Cut()
        if word.group() in WORDS:
            return WORDS[word.group()], word.end()
        follows = skip_space(text, word.end())
        if follows < len(text) and text[follows] not in ",}]":
            raise Bad()                                 # CHOICE: several words are not one value
        if DECIMAL.match(word.group()):
            return Num(word.group()), word.end()        # CHOICE: 01, +1 and .5 are decimal text, though no JSON
        if where == "object":
            return ABSENT, word.end()
        self.repaired = True
        return None, word.end()

    def object(self, pos):
        text, pairs, members, pos = self.text, [], 0, skip_space(self.text, pos + 1)
        while True:
            if pos >= len(text):
                raise Cut()
            if text[pos] == "}":
                self.repaired |= bool(members)          # "," before "}"
                return join_pairs(pairs), pos + 1
            if text[pos] != '"':
                raise Bad()
            key, pos = self.string(pos, "key")
            pos = skip_space(text, pos)
            if pos >= len(text):
                raise Cut()
            if text[pos] != ":":
                raise Bad()
            value, pos = self.value(pos + 1, "object")
            if value is not ABSENT:
                pairs.append((key, value))
            members += 1
            pos = skip_space(text, pos)
            if pos >= len(text):
                raise Cut()
            if text[pos] == "}":
                return join_pairs(pairs), pos + 1
            if text[pos] != ",":
                raise Bad()
            pos = skip_space(text, pos + 1)

    def array(self, pos):
        text, values, pos = self.text, [], skip_space(self.text, pos + 1)
        while True:
            if pos >= len(text):
                raise Cut()
            if text[pos] == "]":
                self.repaired |= bool(values)           # "," before "]"
                return values, pos + 1
            value, pos = self.value(pos, "array")
            values.append(value)
            pos = skip_space(text, pos)
            if pos >= len(text):
                raise Cut()
            if text[pos] == "]":
                return values, pos + 1
            if text[pos] != ",":
                raise Bad()
            pos = skip_space(text, pos + 1)

    def can_end(self, pos, where):
        """Whether a string may end before pos. CHOICE: in an object a comma must be followed by a quote or a brace."""
        text, pos = self.text, skip_space(self.text, pos)
        if pos >= len(text):
            return True
        if where == "key":
            return text[pos] == ":"
        if where in ("array", "element"):
            return text[pos] in ",]"
        if text[pos] != ",":
            return text[pos] == "}"
        after = skip_space(text, pos + 1)
        return after >= len(text) or text[after] in '"}'

    def comma_before_field(self, pos, begin):
        """The position of the comma in `, "KEY":` when the quote at pos opens such a key, inside a string from begin."""
        comma = pos - 1
        while comma >= begin and self.text[comma] in " \t\r\n":
            comma -= 1
        found = comma >= begin and self.text[comma] == "," and FIELD_NAME.match(self.text, pos)
        return comma if found else None

    def string(self, pos, where):
        text, parts, pos = self.text, [], pos + 1
        begin = pos
        while True:
            plain = PLAIN.match(text, pos)
            if plain:
                parts.append(plain.group())
                pos = plain.end()
            if pos >= len(text):
                raise Cut()
            c = text[pos]
            if c == '"':
                if self.can_end(pos + 1, where):
                    return "".join(parts), pos + 1
                self.repaired = True
                comma = self.comma_before_field(pos, begin) if where == "object" else None
                if comma is not None:                   # the closing quote is missing
                    return "".join(parts)[:comma - pos], comma
                parts.append(c)
                pos += 1
            elif c == "\\":
                part, pos = self.escape(pos)
                parts.append(part)
            elif c < " ":                               # raw control character, kept
                self.repaired = True
                parts.append(c)
                pos += 1
            else:                                       # a run of invalid bytes
                end = pos
                while end < len(text) and INVALID_BYTE.match(text, end):
                    end += 1
                self.repaired = True
                parts.append(text[pos:end].encode("utf-8", "surrogateescape").decode("utf-8", "replace"))
                pos = end

    def escape(self, pos):
        text = self.text
        if pos + 1 >= len(text):
            raise Cut()
        c = text[pos + 1]
        if c in ESCAPES:
            return ESCAPES[c], pos + 2
        if c == "u" and HEX4.match(text, pos + 2):
            code, pos = int(text[pos + 2:pos + 6], 16), pos + 6
            if 0xD800 <= code < 0xDC00 and text.startswith("\\u", pos) and HEX4.match(text, pos + 2):
                low = int(text[pos + 2:pos + 6], 16)
                if 0xDC00 <= low < 0xE000:
                    return chr(0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00)), pos + 6
            return chr(code), pos
        self.repaired = True                            # \p is backslash and p
        return "\\", pos + 1


def next_event_start(text, pos):
    """The next "{" that looks like the start of an event and is not the value of a key."""
    for match in EVENT_START.finditer(text, pos):
        before = match.start() - 1
        while before >= 0 and text[before] in " \t\r\n":
            before -= 1
        if before < 0 or text[before] != ":":
            return match.start()
    return None


def read_event(parser, pos):
    """One array element at pos: (value, end, repaired)."""
    text = parser.text
    try:
        value, end = DECODER.raw_decode(text, pos)
        if not INVALID_BYTE.search(text, pos, end):
            return value, end, False
    except (ValueError, RecursionError):
        pass
    parser.repaired = False
    # Pure Python calls take no C stack in CPython 3.11, so deep nesting is read here, never by the C scanner above.
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(10 ** 6)
    try:
        value, end = parser.value(pos, "element")
    finally:
        sys.setrecursionlimit(limit)
    return value, end, parser.repaired


def tolerant_events(parser, pos, bare, events, health):
    """The event array whose "[" is before pos; returns the position after it, or None at the end of the text."""
    text, commas, first = parser.text, 0, True
    while True:
        pos = skip_space(text, pos)
        if pos >= len(text):
            health["unclosed_array" if bare else "truncated"] += 1
            return None
        if text[pos] == ",":
            commas, pos = commas + 1, pos + 1
            continue
        if text[pos] == "]":
            if commas:
                health["separator_repaired"] += 1
            more = AFTER_STRAY_BRACKET.match(text, pos + 1)
            if more is None:
                return pos + 1
            health["text_repaired"] += 1                # a stray "]": more events follow
            commas, first, pos = 0, True, more.end()
            continue
        if commas != (0 if first else 1):
            health["separator_repaired"] += 1
        commas, first, begin = 0, False, pos
        try:
            value, pos, repaired = read_event(parser, pos)
        except Bad:
            health["unreadable_event"] += 1
            pos = next_event_start(text, begin + 1)
            if pos is None:
                end = EVENT_END.search(text, begin)
                if end is None:
                    health["truncated"] += 1
                    return None
                pos = end.end()
            else:
                first = True                            # the separator belonged to what was lost
            continue
        except Cut:
            pos = next_event_start(text, begin + 1)
            if pos is None:
                health["truncated"] += 1
                return None
            health["unreadable_event"] += 1
            first = True
            continue
        health["text_repaired"] += repaired
        events.append(value)


def tolerant_object(parser, pos, events, meta, health):
    """The document whose "{" is at pos: (seen traceEvents, position after it or None)."""
    text, seen, pos = parser.text, False, skip_space(parser.text, pos + 1)
    while True:
        pos = skip_space(text, pos)
        if pos >= len(text):
            health["truncated"] += 1
            return seen, None
        if text[pos] == "}":
            return seen, pos + 1
        if text[pos] == ",":
            pos += 1
            continue
        try:
            if text[pos] != '"':
                raise Bad()
            key, colon = parser.string(pos, "key")
            colon = skip_space(text, colon)
            if colon >= len(text):
                raise Cut()
            if text[colon] != ":":
                raise Bad()
            begin = skip_space(text, colon + 1)
            if key == "traceEvents" and text.startswith("[", begin):
                health["duplicate_key"] += seen
                seen = True
                pos = tolerant_events(parser, begin + 1, False, events, health)
                if pos is None:
                    return seen, None
            else:
                value, pos = parser.value(begin, "object")
                if value is not ABSENT:
                    meta[key] = value
        except (Bad, Cut):                              # unreadable metadata: look for the events behind it
            later = re.compile(r'"traceEvents"\s*:\s*\[').search(text, pos + 1)
            if later is None:
                health["truncated"] += 1
                return seen, None
            pos = later.start()


def read_document(text, health):
    """(events in file order, metadata) of the whole text."""
    events, meta = [], {}
    if not INVALID_BYTE.search(text):
        try:
            document = json.loads(text, **STRICT)
        except (ValueError, RecursionError):
            document = Ellipsis
        if isinstance(document, list):
            return document, meta
        if isinstance(document, dict):
            if not isinstance(document.get("traceEvents"), list):
                raise NotATrace("no array traceEvents")
            health["duplicate_key"] += int(document.pop("\0second traceEvents", 0))
            events = document.pop("traceEvents")
            return events, document
        if document is not Ellipsis:
            raise NotATrace("a scalar")
    parser, pos, documents = Tolerant(text), 0, 0
    while pos is not None:
        pos = skip_space(text, pos)
        if pos >= len(text):
            break
        if documents and EVENT_START.match(text, pos):  # events behind a document, without a "[" of their own
            health["text_repaired"] += 1
            rest = Counter()
            pos = tolerant_events(parser, pos, True, events, rest)
            health.update({kind: n for kind, n in rest.items() if kind != "unclosed_array"})
            continue
        if text[pos] == "{":
            document_events, document_meta = [], {}
            seen, pos = tolerant_object(parser, pos, document_events, document_meta, health)
            if not seen:
                continue
            events += document_events
            meta.update(document_meta)                  # CHOICE: the last base time counts for all documents
        elif text[pos] == "[":
            pos = tolerant_events(parser, pos + 1, True, events, health)
        else:
            if not documents:
                break
            health["trailing_bytes"] += 1
            later = DOCUMENT_START.search(text, pos)
            pos = later.start() if later else None
            continue
        documents += 1
        health["second_document"] += documents > 1
    if not documents:
        raise NotATrace("no trace document")
    return events, meta


# ----------------------------------------------------------------------------------------------------------- numbers

DECIMAL = re.compile(r"\s*([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?\s*\Z", re.ASCII)
INTEGER = re.compile(r"\s*[+-]?\d+\s*\Z", re.ASCII)


def decimal_parts(value):
    """(sign, integer digits, fraction digits, exponent) of a number or a quoted number, else None."""
    if not isinstance(value, str):
        return None
    match = DECIMAL.match(value)
    if not match or not (match[2] or match[3]):
        return None
    return match[1], match[2], match[3] or "", int(match[4] or 0)


def to_ns(value, unpadded=False):
    """Microseconds as text -> exact integer nanoseconds cut towards zero (any size), None when not numeric."""
    parts = decimal_parts(value)
    if parts is None:
        return None
    sign, whole, fraction, exponent = parts
    if unpadded and fraction and exponent == 0:
        ns = int(whole or "0") * 1000 + int(fraction)
    else:
        digits, shift = int(whole + fraction), exponent - len(fraction) + 3
        if digits == 0:
            ns = 0
        elif shift >= 0:
            ns = digits * 10 ** min(shift, 400)
        else:
            ns = digits // 10 ** min(-shift, len(whole + fraction) + 1)
    return -ns if sign == "-" else ns


def fits(ns):
    return INT64_MIN <= ns <= INT64_MAX


def to_id(value):
    """A 64-bit integer (signed; unsigned keeps its bits), None when absent or not fitting."""
    if not isinstance(value, str) or not INTEGER.match(value):
        return None
    number = int(value) if len(value) < 60 else 2 ** 64
    if not INT64_MIN <= number < 2 ** 64:
        return None
    return number - 2 ** 64 if number > INT64_MAX else number


def base_time(value):
    """A usable baseTimeNanoseconds, else None."""
    if not isinstance(value, str) or not INTEGER.match(value):
        return None
    return int(value) if -(3 * 2 ** 60) < int(value) < 3 * 2 ** 60 else None


def has_part_of_us(value):
    """Whether a ts or dur has a fraction ("5.0" and "1.5e1" too), or an exponent that leaves no whole microsecond."""
    parts = decimal_parts(value)
    if parts is None:
        return False
    _, whole, fraction, exponent = parts
    digits = whole.lstrip("0")
    return bool(fraction) or bool(digits) and exponent + len(digits) - len(digits.rstrip("0")) < 0


def to_dims(value):
    """[x, y, z] or None."""
    if not isinstance(value, list) or len(value) != 3:
        return None
    dims = [to_id(v) for v in value]
    return None if None in dims else dims


def is_text(value):
    return isinstance(value, str) and not isinstance(value, Num)


def name_text(value):
    """The name as text; None when it is missing or of a type that is no name."""
    if value is True or value is False:
        return "true" if value else "false"
    if not isinstance(value, str):
        return None
    if re.search("[\ud800-\udfff]", value):
        return re.sub("[\ud800-\udfff]", "\ufffd", value)
    return str(value)


def thread_of(event):
    """(pid, tid); quoted integers are integers, other texts stay, all else is None."""
    key = []
    for field in ("pid", "tid"):
        value = event.get(field)
        number = to_id(value)
        key.append(number if number is not None else str(value) if isinstance(value, str) else None)
    return tuple(key)


def fractions_unpadded(fractions, has_base):
    """Rule 2: the 2024-03 build that did not pad the nanoseconds with zeros. `fractions` is a set of digit texts."""
    return (not has_base and bool(fractions)
            and all(1 <= len(f) <= 3 for f in fractions)
            and any(len(f) < 3 for f in fractions)
            and not any(len(f) > 1 and f[0] == "0" for f in fractions)
            and any(len(f) >= 2 and f[-1] == "0" for f in fractions))


# ----------------------------------------------------------------------------------------------------------- records

GPU_KIND = {"kernel": "kernel", "gpu_memcpy": "memcpy", "memcpy": "memcpy", "gpu_memset": "memset", "memset": "memset"}
CALL_KIND = {"cuda_runtime": 0, "runtime": 0, "cuda_driver": 1}
RANGE_KIND = {"cpu_op": "operator", "operator": "operator", "user_annotation": "annotation"}
NO_HOST_WORK = {"gpu_user_annotation", "trace", "overhead", "cuda_sync", "cuda_event", "cuda_profiler_range", "mtia_ccp_events"}
KNOWN_CATEGORIES = GPU_KIND.keys() | CALL_KIND.keys() | RANGE_KIND.keys() | {"python_function"} | NO_HOST_WORK


def category_of(event):
    """The first known one of the comma-separated categories in lower case, else the whole text, "" without one."""
    cat = event.get("cat")
    if not is_text(cat):
        return ""
    for part in cat.split(","):
        if part.strip().lower() in KNOWN_CATEGORIES:
            return part.strip().lower()
    return cat.strip().lower()


class Span:
    """One span; gpu work gets the labels at the end later."""
    __slots__ = ("cat", "gpu_kind", "name", "start", "end", "offset", "thread", "args", "gpu",
                 "launch", "innermost", "operator", "klass", "comm_copy")

    def __init__(self, event, offset, start, end):
        self.start, self.end, self.offset, self.thread = start, end, offset, thread_of(event)
        self.cat = category_of(event)
        self.gpu_kind = GPU_KIND.get(self.cat)
        self.name = name_text(event.get("name")) or ""
        self.args = event["args"] if isinstance(event.get("args"), dict) else {}
        self.launch = self.innermost = self.operator = None
        self.klass, self.comm_copy, self.gpu = None, False, None
        if self.gpu_kind:
            device = to_id(self.args.get("device"))
            self.gpu = device if device is not None else to_id(event.get("pid"))


def has_missing_field(event):
    name = event.get("name")
    return (not isinstance(event.get("pid"), str) or not isinstance(event.get("tid"), str)
            or name_text(name) is None or not isinstance(event.get("args", {}), dict)
            or not is_text(event.get("cat", "")))


PHASES = "XBEMCiIstfbneSTFpONDPVvRc(),"


def phase_of(event):
    """The phase; without a text `ph` but with `ts` and `dur` it is X; a text that is no phase of the format is "unknown"."""
    ph = event.get("ph")
    if is_text(ph):
        return ph if len(ph) == 1 and ph in PHASES else "unknown"
    return "X" if "ts" in event and "dur" in event else None


def read_spans(events, base, unpadded, health):
    """(spans of X and of B/E pairs not yet quarantined, quarantined ones are counted, whether most ts are absolute)."""
    spans, ends_open, last_time, votes = [], defaultdict(list), None, Counter()
    for offset, event in enumerate(events):
        if not isinstance(event, dict) or not ("ph" in event or "ts" in event or "name" in event):
            health["missing_field" if event == {} else "not_an_event"] += 1
            continue
        ph = phase_of(event)
        ts = to_ns(event.get("ts"), unpadded)
        in_range = ts is not None and fits(ts)
        if in_range and valid_time(base + ts) and (last_time is None or base + ts > last_time):
            last_time = base + ts
        if ph == "unknown":
            health["missing_field"] += 1
        if ph not in ("X", "B", "E"):
            continue
        if ph != "E":
            health["missing_field"] += not is_text(event.get("ph")) or has_missing_field(event)
        if ts is None:
            health["missing_time"] += 1
            continue
        if in_range:
            votes[ts > 10 ** 18] += 1
        if ph in ("B", "E"):
            if in_range:                                # CHOICE: a B or E whose ts does not fit is counted and pairs with nothing
                ends_open[thread_of(event)].append((base + ts, offset, ph, event))
            else:
                health["time_overflow"] += 1
            continue
        dur = to_ns(event.get("dur"), unpadded)
        span = Span(event, offset, base + ts, base + ts + (dur or 0))
        if dur is None:
            health["missing_duration_gpu" if span.gpu_kind else "missing_duration"] += 1
            if span.gpu_kind:
                continue
        if not in_range or not fits(dur or 0):
            health["time_overflow"] += 1
        elif usable(span, health):
            spans.append(span)
            last_time = max(last_time, span.end)
    for thread_events in ends_open.values():
        spans += pair_begin_end(thread_events, last_time, health)
    return spans, votes[True] > votes[False]


def valid_time(time):
    return -(2 ** 62) < time < 2 ** 62


def usable(span, health):
    """The quarantine rules that look at one span alone; False: counted."""
    if not valid_time(span.start) or not valid_time(span.end) or span.end - span.start >= 2 ** 62:
        health["time_overflow"] += 1
        return False
    if span.end < span.start:
        health["negative_duration"] += 1
        return False
    return True


def pair_begin_end(thread_events, last_time, health):
    """Spans of the B and E events of one thread. Only the time and the name of an E matter."""
    spans, opened = [], []
    for time, offset, ph, event in sorted(thread_events, key=lambda e: (e[0], e[1])):
        if ph == "B":
            opened.append(Span(event, offset, time, None))
            continue
        name = name_text(event.get("name"))
        for index in reversed(range(len(opened))):
            if name is None or opened[index].name == name:
                span = opened.pop(index)
                span.end = time
                spans.append(span)
                break
        else:
            health["unmatched_end"] += 1
    for span in opened:
        if span.gpu_kind:
            health["unclosed_gpu_span"] += 1
        else:
            health["unclosed_span"] += 1
            span.end = span.start if last_time is None else max(last_time, span.start)
            spans.append(span)
    return [s for s in spans if usable(s, health)]


def is_host_record(span):
    return span.cat in CALL_KIND or span.cat in RANGE_KIND or span.cat == "python_function" or span.cat == ""


def quarantine(spans, absolute_ts, health):
    """The rules that need the whole file: ts 0 among absolute times, and the host window."""
    kept = []
    for span in spans:
        if absolute_ts and span.start == 0:
            health["zero_timestamp"] += 1
        else:
            kept.append(span)
    host = [s for s in kept if is_host_record(s)]
    if not host:
        return kept
    first, last = min(s.start for s in host), max(s.end for s in host)
    slack = max(last - first, WINDOW_SLACK_NS)
    result = []
    for span in kept:
        if span.gpu_kind and (span.start < first - slack or span.end > last + slack):
            health["outside_host_window"] += 1
        else:
            result.append(span)
    return result


# ------------------------------------------------------------------------------------------------------ links, classes

def device_processes(works, calls):
    """{device: pid of most of its records whose calls are all of one process}; a device without a majority is missing."""
    votes = defaultdict(Counter)                        # CHOICE: the unknown device is a device, no pid is a pid
    for work in works:
        pids = {call.thread[0] for call in calls.get(to_id(work.args.get("correlation")) or 0, [])}
        if len(pids) == 1:
            votes[work.gpu][pids.pop()] += 1
    result = {}
    for device, counts in votes.items():
        pid, most = counts.most_common(1)[0]
        if 2 * most > counts.total():
            result[device] = pid
    return result


def link_launches(spans):
    """Sets span.launch of gpu work to its launch call."""
    calls = defaultdict(list)
    for span in spans:
        if span.cat in CALL_KIND:
            correlation = to_id(span.args.get("correlation"))
            if correlation:
                calls[correlation].append(span)
    works = [s for s in spans if s.gpu_kind]
    several = len({s.thread[0] for s in spans if s.cat in CALL_KIND}) > 1
    process_of = device_processes(works, calls) if several else {}
    for span in works:
        candidates = calls.get(to_id(span.args.get("correlation")) or 0, [])
        if several:
            if span.gpu in process_of:
                candidates = [c for c in candidates if c.thread[0] == process_of[span.gpu]]
            elif len({c.thread[0] for c in candidates}) > 1:
                continue
        for kind in (0, 1):                             # runtime, then driver
            of_kind = [c for c in candidates if CALL_KIND[c.cat] == kind]
            if not of_kind:
                continue
            before = [c for c in of_kind if c.start <= span.start]
            if before:
                span.launch = min(before, key=lambda c: (-c.start, c.offset))
            else:
                span.launch = min(of_kind, key=lambda c: (c.start, c.offset))
            break


def link_ranges(spans, lists):
    """Sets innermost, operator and comm_copy of gpu work from the ranges open on the thread of its launch call."""
    ranges, queries = defaultdict(list), defaultdict(list)
    for span in spans:
        if span.cat in RANGE_KIND:
            ranges[span.thread].append(span)
        elif span.gpu_kind and span.launch:
            queries[span.launch.thread].append(span)
    copy_names = lists["comm_copy"]
    for thread, works in queries.items():
        waiting = sorted(ranges.get(thread, []), key=lambda r: r.start, reverse=True)
        opened = []
        for work in sorted(works, key=lambda w: w.launch.start):
            time = work.launch.start
            while waiting and waiting[-1].start <= time:
                opened.append(waiting.pop())
            opened = [r for r in opened if time < max(r.end, r.start + 1)]
            work.innermost = innermost(opened)
            work.operator = innermost([r for r in opened if RANGE_KIND[r.cat] == "operator"])
            work.comm_copy = any(r.name in copy_names["range_exact"] or starts(r.name, copy_names["range_prefix"])
                                 for r in opened)


def innermost(ranges):
    return max(ranges, key=lambda r: (r.start, -r.end, r.offset), default=None)


def starts(name, prefixes):
    return any(name.startswith(p) for p in prefixes)


def contains(name, parts):
    return any(p in name for p in parts)


def without(name, words):
    """The name without every occurrence of the words."""
    for word in words:
        name = name.replace(word, "")
    return name


def classify(work, lists):
    """The class of a gpu record: the first rule of specification 3 that decides."""
    lower = work.name.lower()
    if work.args.get("Collective name") is not None:
        size = to_id(work.args.get("Group size"))
        if size is None or size > 1:
            return "comm"
    if work.gpu_kind != "kernel":
        return work.gpu_kind
    if starts(work.name, lists["memory"]["copy_prefix"]):
        return "memcpy"
    if starts(work.name, lists["memory"]["fill_prefix"]):
        return "memset"
    comm = lists["communication"]
    if starts(lower.removeprefix("void "), comm["kernel_prefix_nocase"]) or contains(lower, comm["kernel_contains_nocase"]):
        return "comm"
    for record in (work.operator, work.innermost):
        name = record.name if record else ""
        if name in comm["operator_exact"] or starts(name, comm["operator_prefix"]):
            return "comm"
    if work.operator:
        name, rules = work.operator.name, lists["operator_class"]
        rest = without(name, rules.get("ignore", []))
        if starts(name, rules["vector_first_prefix"]):
            return "vector"
        if contains(rest, rules["attention_contains"]):
            return "attention"
        if name in rules["gemm_exact"] or contains(rest, rules["gemm_contains"]):
            return "gemm"
        if starts(name, rules["vector_prefix"]):
            return "vector"
    rules = lists["kernel_class"]
    rest = without(lower, rules.get("ignore_nocase", []))
    if contains(rest, rules["vector_first_contains_nocase"]):
        return "vector"
    if contains(rest, rules["attention_contains_nocase"]) or starts(lower, rules["attention_prefix_nocase"]):
        return "attention"
    if contains(rest, rules["gemm_contains_nocase"]) or starts(lower, rules["gemm_prefix_nocase"]):
        return "gemm"
    if contains(rest, rules["vector_contains_nocase"]):
        return "vector"
    return "other"


COMPUTE_CLASSES = ("gemm", "attention", "vector", "other")


# ---------------------------------------------------------------------------------------------------------- time line

def launch_pieces(works):
    """(prep pieces, call pieces, number of kernels without launch) of the chain of COMP kernels."""
    prep_pieces, call_pieces, no_launch, latest_end = [], [], 0, None
    chain = [w for w in works if w.gpu_kind == "kernel" and w.klass in COMPUTE_CLASSES]
    for work in sorted(chain, key=lambda w: (w.start, w.end, w.offset)):
        if work.launch is None:
            no_launch += 1
        elif latest_end is not None:
            gap = max(0, work.start - latest_end)
            prep = min(max(work.launch.start - latest_end, 0), gap)
            prep_pieces.append((latest_end, latest_end + prep))
            call_pieces.append((latest_end + prep, latest_end + gap))
        latest_end = work.end if latest_end is None else max(latest_end, work.end)
    return prep_pieces, call_pieces, no_launch


def timeline(works):
    """The row of scope `trace`: one sweep over all end points, counting what is open."""
    prep_pieces, call_pieces, no_launch = launch_pieces(works)
    points = []
    for work in works:
        labels = ["comm"] if work.klass == "comm" else ["comp"] if work.klass in COMPUTE_CLASSES else ["mem"]
        if labels == ["comp"] and not work.comm_copy:
            labels.append("comp_strict")
        if work.comm_copy and labels != ["comm"]:
            labels.append("comm_copy")
        for label in labels:
            points += [(work.start, 1, label), (work.end, -1, label)]
    for label, pieces in (("prep", prep_pieces), ("call", call_pieces)):
        for begin, end in pieces:
            points += [(begin, 1, label), (end, -1, label)]
    points.sort(key=lambda p: p[0])
    row, opened, previous = Counter(), Counter(), None
    for time, step, label in points:
        if previous is not None and time > previous:
            length = time - previous
            comp, comm, mem = opened["comp"] > 0, opened["comm"] > 0, opened["mem"] > 0
            row["busy_ns"] += length * (comp or comm or mem)
            row["compute_ns"] += length * comp
            row["comm_ns"] += length * comm
            row["memcpy_ns"] += length * mem
            row["overlap_ns"] += length * (comp and comm)
            row["exposed_comm_ns"] += length * (comm and not comp)
            row["exposed_comm_strict_ns"] += length * (comm and not opened["comp_strict"] > 0)
            row["exposed_memcpy_ns"] += length * (mem and not comp and not comm)
            row["comm_copy_ns"] += length * (opened["comm_copy"] > 0)
            idle = not (comp or comm or mem)
            row["prep_idle_ns"] += length * (idle and opened["prep"] > 0)
            row["call_idle_ns"] += length * (idle and opened["call"] > 0)
        opened[label] += step
        previous = time
    start = min(w.start for w in works)
    row["span_ns"] = max(w.end for w in works) - start
    row["idle_ns"] = row["span_ns"] - row["busy_ns"]
    row["prep_ns"] = sum(e - b for b, e in prep_pieces)
    row["call_ns"] = sum(e - b for b, e in call_pieces)
    keys = ("span_ns busy_ns compute_ns comm_ns memcpy_ns overlap_ns exposed_comm_ns exposed_comm_strict_ns "
            "exposed_memcpy_ns idle_ns comm_copy_ns prep_ns call_ns prep_idle_ns call_idle_ns").split()
    result = {key: int(row[key]) for key in keys}
    result["start_ns"] = start
    assert (result["compute_ns"] + result["exposed_comm_ns"] + result["exposed_memcpy_ns"] + result["idle_ns"]
            == result["span_ns"]), "identity of specification 3"
    return result, no_launch


def coverage(works):
    """Shares of the gpu records, and of their summed durations, that carry a label. A share of nothing is None."""
    tests = {"launch": lambda w: w.launch is not None, "operator": lambda w: w.operator is not None,
             "class": lambda w: w.klass != "other"}
    total = sum(w.end - w.start for w in works)

    def time_share(test):
        return sum(w.end - w.start for w in works if test(w)) / total if total else None

    result = {}
    for label, test in tests.items():
        result[label + "_records"] = sum(1 for w in works if test(w)) / len(works)
        result[label + "_time"] = time_share(test)
    result["host_operator_time"] = time_share(lambda w: w.operator is not None)
    return result


# ------------------------------------------------------------------------------------------------------ kernel summary

def bucket_middle(value):
    """What a quantile prints for a value: exact below 1024, else the middle of its bucket (1024 per power of two)."""
    if value < 1024:
        return value
    width = 2 ** (value.bit_length() - 1 - 10)
    return value // width * width + width // 2          # CHOICE: lower bound + half the width


def quantile(ordered, percent):
    rank = max(1, -(-percent * len(ordered) // 100))
    return min(max(bucket_middle(ordered[rank - 1]), ordered[0]), ordered[-1])


def grid_and_block(work):
    """(grid in blocks, block). Two HIP calls count work-items: divided by the block, rounded up."""
    grid, block = to_dims(work.args.get("grid")), to_dims(work.args.get("block"))
    if work.launch and work.launch.name in ("hipExtModuleLaunchKernel", "hipHccModuleLaunchKernel") and grid and block:
        if all(b > 0 for b in block):
            grid = [-(-g // b) for g, b in zip(grid, block)]
    return grid, block


def kernel_summary(works, by_gpu=False):
    """Rows per (name, class, grid, block) over kernel records; with by_gpu also per gpu."""
    groups = defaultdict(list)
    for work in works:
        if work.gpu_kind == "kernel":
            grid, block = grid_and_block(work)
            key = (work.name, work.klass, tuple(grid) if grid else None, tuple(block) if block else None)
            groups[key + (work.gpu,) if by_gpu else key].append(work.end - work.start)
    rows = []
    for key, durations in sorted(groups.items(), key=lambda item: repr(item[0])):
        durations.sort()
        row = {"name": key[0], "class": key[1], "grid": list(key[2]) if key[2] else None,
               "block": list(key[3]) if key[3] else None}
        if by_gpu:
            row["gpu"] = key[4]
        row |= {"num": len(durations), "total_ns": sum(durations), "min_ns": durations[0], "max_ns": durations[-1],
                "p50_ns": quantile(durations, 50), "p95_ns": quantile(durations, 95)}
        rows.append(row)
    return rows


# ---------------------------------------------------------------------------------------------------------------- file

def load_spans(path, health):
    """(all spans, gpu work among them linked and classified; clock; quantum_ns) of a file."""
    events, meta = read_document(read_text(path, health), health)
    return spans_of(events, meta, health)


def spans_of(events, meta, health):
    """What load_spans gives, of a document that is already read."""
    base = base_time(meta.get("baseTimeNanoseconds"))
    health["missing_field"] += base is None and "baseTimeNanoseconds" in meta
    fractions, fine = set(), False
    for event in events:
        if isinstance(event, dict):
            for field in ("ts", "dur"):
                value = event.get(field)
                if isinstance(value, str) and ("." in value or "e" in value.lower()):
                    fine = fine or has_part_of_us(value)
                    parts = decimal_parts(value)
                    if parts and parts[2]:
                        fractions.add(parts[2])
    unpadded = fractions_unpadded(fractions, base is not None)
    spans, mostly_absolute = read_spans(events, base or 0, unpadded, health)
    absolute_ts = base is None and mostly_absolute
    spans = quarantine(spans, absolute_ts, health)
    with open(ROOT / "data" / "classes.toml", "rb") as file:
        lists = tomllib.load(file)
    link_launches(spans)
    link_ranges(spans, lists)
    for span in spans:
        if span.gpu_kind:
            span.klass = classify(span, lists)
    return spans, "unix" if base is not None or absolute_ts else "relative", 1 if fine else 1000


def load(path, health):
    """(gpu work with all labels, clock, quantum_ns) of a file."""
    spans, clock, quantum_ns = load_spans(path, health)
    return [s for s in spans if s.gpu_kind], clock, quantum_ns


def analyse(path):
    """(the printed object, gpu work records). An unrecognisable file has `error` and no gpus."""
    health = Counter()
    result = {"file": Path(path).name, "clock": None, "quantum_ns": None, "gpus": [], "kernel_summary": [], "health": {}}
    collecting = gc.isenabled()
    gc.disable()                                        # millions of small objects and no cycles
    works = []
    try:
        works, result["clock"], result["quantum_ns"] = load(path, health)
    except NotATrace as error:
        result["error"] = str(error)
    finally:
        if collecting:
            gc.enable()
    for gpu in sorted({w.gpu for w in works}, key=lambda g: (g is None, g or 0)):
        mine = [w for w in works if w.gpu == gpu]
        count = Counter(w.gpu_kind for w in mine)
        row = {"gpu": gpu, "num_kernels": count["kernel"], "num_memcpy": count["memcpy"], "num_memset": count["memset"],
               "num_comm_kernels": sum(1 for w in mine if w.gpu_kind == "kernel" and w.klass == "comm")}
        row["timeline"], row["num_no_launch"] = timeline(mine)
        row["coverage"] = coverage(mine)
        result["gpus"].append(row)
    result["kernel_summary"] = kernel_summary(works)
    result["health"] = {kind: int(n) for kind, n in sorted(health.items()) if n}
    return result, works


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: chopper_reference.py FILE")
    json.dump(analyse(sys.argv[1])[0], sys.stdout, ensure_ascii=False, indent=1)
    print()


if __name__ == "__main__":
    main()
