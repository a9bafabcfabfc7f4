// SPDX-License-Identifier: Apache-2.0
// PyTorch profiler (Kineto) traces and other Chrome traces: one JSON object with traceEvents, or a bare array of
// events.
//   {"schemaVersion": 1, "traceEvents": [{"ph": "X", "cat": "kernel", "name": "K", "pid": 0, "tid": 7, "ts":
//   123456.789, "dur": 10.240,
//     "args": {"device": 0, "stream": 7, "correlation": 900}}], "baseTimeNanoseconds": 1767225600000000000}
#include <algorithm>
#include <string>

#include "ingest/file_head.h"
#include "ingest/format.h"
#include "ingest/kineto/reader.h"
#include "ingest/rocprof/rocprof_json.h"

namespace chopper {
namespace {

// A binary trace of Perfetto: packets, each with the tag 0x0a and its length in front. A JSON text has no control
// characters; what begins with a line feed and '[' could be both.
bool is_perfetto(std::string_view head) {
  if (!head.starts_with('\n')) return false;
  std::size_t length = 0, at = 1;
  for (unsigned shift = 0; at < head.size() && shift < 28; shift += 7) {
    const auto byte = static_cast<unsigned char>(head[at++]);
    length |= static_cast<std::size_t>(byte & 0x7fu) << shift;
    if (byte < 0x80) break;
  }
  const std::string_view packet = head.substr(at, length);
  const bool ends_well = at + length >= head.size() || head[at + length] == '\n';
  return ends_well && std::any_of(packet.begin(), packet.end(),
                                  [](char c) { return (c >= 0 && c < '\t') || (c > '\r' && c < ' '); });
}

Confidence sniff(std::string_view head) {
  if (is_perfetto(head)) return Confidence::yes;  // not ours: claimed to say what it is
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

Result<TraceTables> read(const SourceOpener& open, std::string_view shown, const ReadOptions& options) {
  Result<TraceTables> tables = read_trace_document(open, shown, options);
  if (tables.ok()) return tables;
  CHOPPER_TRY(const std::string head, file_head(open, kSniffBytes));
  if (!is_perfetto(head)) return tables;
  return Error{ErrorCode::unrecognised,
               "a binary trace of Perfetto: record with rocprofv3 --output-format csv or json, or with the PyTorch "
               "profiler",
               std::string(shown), "rocprofv3 --output-format csv ..., or torch.profiler"};
}

}  // namespace

CHOPPER_TRACE_FORMAT(kineto_json){
    .name = "kineto-json",
    .summary = "PyTorch profiler (Kineto) trace, or any Chrome trace: JSON object or bare array; plain, gzip or zstd",
    .reads = "gpu work, launch calls, operators, annotations, modules, allocator events, collective arguments",
    .sniff = sniff,
    .read = read,
};

}  // namespace chopper
