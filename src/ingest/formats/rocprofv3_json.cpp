// SPDX-License-Identifier: Apache-2.0
// JSON of rocprofv3 (ROCm 6.2 to 7): an object for each process, in it agents, names of counters and kernels, then the
// records. A counter has a record for each instance of the hardware that counts it.
//   {"rocprofiler-sdk-tool": [{"metadata": {"pid": 9}, "agents": [{"id": {"handle": 7}, "type": 2, "node_id": 4}],
//     "counters": [{"agent_id": {"handle": 7}, "id": {"handle": 11}, "name": "GRBM_GUI_ACTIVE"}],
//     "kernel_symbols": [{"kernel_id": 8, "formatted_kernel_name": "add"}],
//     "callback_records": {"counter_collection": [{"dispatch_data": {"dispatch_info": {"agent_id": {"handle": 7},
//       "kernel_id": 8, "dispatch_id": 1}}, "records": [{"counter_id": {"handle": 11}, "value": 4100.0}]}]}}]}
#include "ingest/format.h"
#include "ingest/rocprof/sdk_json.h"

namespace chopper {
namespace {

Confidence sniff(std::string_view head) {
  if (head.starts_with("\xef\xbb\xbf")) head.remove_prefix(3);
  const std::size_t start = head.find_first_not_of(" \n\r\t");
  if (start == std::string_view::npos || head[start] != '{') return Confidence::no;
  const std::size_t key = head.find_first_not_of(" \n\r\t", start + 1);
  return key != std::string_view::npos && head.substr(key).starts_with("\"rocprofiler-sdk-tool\"") ? Confidence::yes
                                                                                                   : Confidence::no;
}

}  // namespace

CHOPPER_TRACE_FORMAT(rocprofv3_json){
    .name = "rocprofv3-json",
    .summary = "results.json of rocprofv3 of ROCm 6.2 to 7",
    .reads =
        "counters of dispatches, over instances as sum and maximum, times of the pass, resource use, facts about gpus, "
        "markers",
    .sniff = sniff,
    .read = rocprof::read_sdk_json,
    .holds_passes = true,
};

}  // namespace chopper
