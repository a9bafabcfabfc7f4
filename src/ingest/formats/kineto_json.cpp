// SPDX-License-Identifier: Apache-2.0
// PyTorch profiler (Kineto) traces and other Chrome traces: one JSON object with traceEvents, or a bare array of
// events.
//   {"schemaVersion": 1, "traceEvents": [{"ph": "X", "cat": "kernel", "name": "K", "pid": 0, "tid": 7, "ts":
//   123456.789, "dur": 10.240,
//     "args": {"device": 0, "stream": 7, "correlation": 900}}], "baseTimeNanoseconds": 1767225600000000000}
#include "ingest/format.h"
#include "ingest/kineto/reader.h"
#include "ingest/rocprof/rocprof_json.h"

namespace chopper {
namespace {

Confidence sniff(std::string_view head) {
  if (head.starts_with("\xef\xbb\xbf")) head.remove_prefix(3);
  const std::size_t start = head.find_first_not_of(" \n\r\t");
  if (start == std::string_view::npos || (head[start] != '{' && head[start] != '[')) return Confidence::no;
  if (rocprof::is_rocprof_json(head)) return Confidence::no;  // a Chrome trace whose kernels carry counters
  const auto has = [&](std::string_view word) { return head.find(word) != std::string_view::npos; };
  if (has("\"traceEvents\"") || has("\"ph\"")) return Confidence::yes;
  if (has("\"schemaVersion\"") && (has("\"deviceProperties\"") || has("\"distributedInfo\"") || has("\"traceName\"")))
    return Confidence::yes;
  return Confidence::maybe;  // traceEvents may stand behind more metadata than the head holds
}

}  // namespace

CHOPPER_TRACE_FORMAT(kineto_json){
    .name = "kineto-json",
    .summary = "PyTorch profiler (Kineto) trace, or any Chrome trace: JSON object or bare array; plain, gzip or zstd",
    .reads = "gpu work, launch calls, operators, annotations, modules, allocator events, collective arguments",
    .sniff = sniff,
    .read = read_trace_document,
};

}  // namespace chopper
