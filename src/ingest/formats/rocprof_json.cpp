// SPDX-License-Identifier: Apache-2.0
// Chrome trace of rocprof 1 with kernels: their arguments are the columns of its table, all written as text. Such
// traces begin with an empty event.
//   { "traceEvents":[{}
//   ,{"args":{"name":"GPU0"},"ph":"M","pid":6,"name":"process_name","sort_index":1}
//   ,{"ph":"X","name":"add","pid":6,"tid":156,"ts":"3","dur":"1",
//     "args":{"KernelName":"add","gpu-id":"0","grd":"64","SQ_WAVES":"1","BeginNs":"3200","EndNs":"3250"}}
#include "ingest/rocprof/rocprof_json.h"

#include "ingest/format.h"

namespace chopper {
namespace {

Confidence sniff(std::string_view head) { return rocprof::is_rocprof_json(head) ? Confidence::yes : Confidence::no; }

}  // namespace

CHOPPER_TRACE_FORMAT(rocprof_json){
    .name = "rocprof-json",
    .summary = "results.json of rocprof 1 with counters or kernel times",
    .reads = "counters of dispatches, times, resource use",
    .sniff = sniff,
    .read = rocprof::read_rocprof_json,
    .holds_passes = true,
};

}  // namespace chopper
