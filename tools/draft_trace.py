#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the input of a golden case from short lines: `draft_trace.py < lines > input.json`. Times are microseconds.

    rank N WORLD, host NAME             who wrote the trace, where
    gpu NAME                            what device 0 is
    a THREAD START-END NAME             annotation
    o THREAD START-END NAME             operator
    p THREAD START-END NAME             module frame or Python function
    i THREAD AT NAME                    something that takes no time: [memory]
    l THREAD START NAME                 a call of 2 us, or START-END
    w THREAD AT STREAM START-END NAME   a kernel and its launch call at AT, or AT-END
    c THREAD AT STREAM START-END NAME   a copy and its call
    f THREAD AT STREAM START-END NAME   a fill and its call
    + STREAM START-END NAME             another kernel of the call before: a graph
    k STREAM START-END NAME             a kernel without a call

`; KEY=VALUE ...` at the end of a line are arguments (of the gpu record): seq and fwd for Sequence number and Fwd thread id, others as
they are, values as in JSON. `; {JSON}` are arguments, too.
"""
import json
import sys

SHORT = {"seq": "Sequence number", "fwd": "Fwd thread id", "dims": "Input Dims", "types": "Input type"}
HOST = {"a": "user_annotation", "o": "cpu_op", "p": "python_function"}
GPU = {"w": "kernel", "c": "gpu_memcpy", "f": "gpu_memset", "+": "kernel", "k": "kernel"}
CALLS = {"w": "cudaLaunchKernel", "c": "cudaMemcpyAsync", "f": "cudaMemsetAsync"}


def arguments_of(text):
    if not text:
        return {}
    if text.startswith("{"):
        return json.loads(text)
    return {SHORT.get(k, k): json.loads(v) for k, _, v in (word.partition("=") for word in text.split())}


def event(category, name, pid, tid, start, end, arguments):
    shown = {"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": start, "dur": end - start}
    return json.dumps(shown | ({"args": arguments} if arguments else {}), ensure_ascii=True)


def times_of(text, usual):
    start, _, end = text.partition("-")
    return int(start), int(end) if end else int(start) + usual


def draft(lines):
    """Returns the text of a trace."""
    events, correlation, facts = [], 0, ['"schemaVersion": 1']
    for line in filter(None, map(str.strip, lines)):
        line, _, extra = line.partition(" ; ")
        kind, *rest = line.split(" ", 1)
        rest, arguments = rest[0], arguments_of(extra.strip())
        if kind == "rank":
            facts.append('"distributedInfo": {"rank": %s, "world_size": %s}' % tuple(rest.split()))
        elif kind == "host":
            facts.append('"host_name": "%s"' % rest)
        elif kind == "gpu":
            facts.append('"deviceProperties": [{"id": 0, "name": "%s"}]' % rest)
        elif kind in HOST:
            thread, times, name = rest.split(" ", 2)
            events.append(event(HOST[kind], name, 10, int(thread), *times_of(times, 0), arguments))
        elif kind == "i":
            thread, at, name = rest.split(" ", 2)
            shown = {"ph": "i", "cat": "cpu_instant_event", "name": name, "pid": 10, "tid": int(thread), "ts": int(at), "args": arguments}
            events.append(json.dumps(shown))
        elif kind == "l":
            thread, at, name = rest.split(" ", 2)
            correlation += 1
            events.append(event("cuda_runtime", name, 10, int(thread), *times_of(at, 2), {"correlation": correlation} | arguments))
        else:
            if kind in CALLS:
                thread, at, rest = rest.split(" ", 2)
                correlation += 1
                events.append(event("cuda_runtime", CALLS[kind], 10, int(thread), *times_of(at, 2), {"correlation": correlation}))
            stream, times, name = rest.split(" ", 2)
            own = {"device": 0, "stream": int(stream), "correlation": 0 if kind == "k" else correlation} | arguments
            events.append(event(GPU[kind], name, own["device"], int(stream), *times_of(times, 0), own))
    return "{" + ", ".join(facts) + ',\n"traceEvents": [\n' + ",\n".join(events) + "\n]}\n"


if __name__ == "__main__":
    if len(sys.argv) > 1:
        sys.exit(__doc__)
    sys.stdout.write(draft(sys.stdin))
