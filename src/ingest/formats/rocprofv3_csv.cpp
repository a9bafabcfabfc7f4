// SPDX-License-Identifier: Apache-2.0
// CSV tables of rocprofv3 (ROCm 6.2 to 7): counter_collection, one row a dispatch and counter; kernel_trace, one row a
// dispatch; agent_info, one row a device; marker_api_trace, one row a range or instant of the host. Told by the names
// in the header, which stand in another order in nearly every release.
//   "Correlation_Id","Dispatch_Id","Agent_Id","Queue_Id","Process_Id","Thread_Id","Grid_Size","Kernel_Id","Kernel_Name",
//     "Workgroup_Size","LDS_Block_Size","Scratch_Size","VGPR_Count","Accum_VGPR_Count","SGPR_Count","Counter_Name",
//     "Counter_Value","Start_Timestamp","End_Timestamp"
//   1,1,"Agent 1",1,156,156,1048576,17,"void add<float>(float*, int)",64,0,0,8,0,16,"SQ_WAVES",16384.000000,3200,3250
#include "ingest/format.h"
#include "ingest/rocprof/columns.h"
#include "ingest/rocprof/table_reader.h"

namespace chopper {
namespace {

Confidence sniff(std::string_view head) {
  using rocprof::TableKind;
  return rocprof::kind_of(rocprof::header_in(head)) == TableKind::other ? Confidence::no : Confidence::yes;
}

}  // namespace

CHOPPER_TRACE_FORMAT(rocprofv3_csv){
    .name = "rocprofv3-csv",
    .summary = "rocprofv3 tables of ROCm 6.2 to 7: counter_collection, kernel_trace, agent_info and marker_api_trace",
    .reads = "counters of dispatches with the times of their pass, resource use, facts about gpus, markers",
    .sniff = sniff,
    .read = rocprof::read_table,
    .holds_passes = true,
};

}  // namespace chopper
