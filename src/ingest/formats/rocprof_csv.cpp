// SPDX-License-Identifier: Apache-2.0
// CSV tables of rocprof 1 and 2 and of rocprof-compute (Omniperf): a row a dispatch, a column a counter, or a row a
// dispatch and counter; and the machine that rocprof-compute describes. Told by the names in the header, of which
// nearly every release renamed some.
//   Index,KernelName,gpu-id,queue-id,queue-index,pid,tid,grd,wgr,lds,scr,vgpr,sgpr,fbar,sig,obj,SQ_WAVES,BeginNs,EndNs
//   Dispatch_ID,GPU_ID,Queue_ID,PID,TID,Grid_Size,Workgroup_Size,LDS_Per_Workgroup,Scratch_Per_Workitem,Arch_VGPR,
//     Accum_VGPR,SGPR,Wave_Size,Kernel_Name,Start_Timestamp,End_Timestamp,Correlation_ID,SQ_WAVES,TCC_HIT[0],TCC_HIT[1]
//   0,2,1,156,156,1048576,256,0,0,4,4,16,64,"void add<float>(float*, int)",3200,3250,0,16384,512,590
#include "ingest/format.h"
#include "ingest/rocprof/wide_columns.h"
#include "ingest/rocprof/wide_reader.h"

namespace chopper {
namespace {

Confidence sniff(std::string_view head) {
  using rocprof::WideKind;
  switch (rocprof::wide_kind_of(rocprof::header_in(head))) {
    case WideKind::other:
      return Confidence::no;
    case WideKind::peaks:
    case WideKind::incomplete:
      return Confidence::maybe;  // not read: claimed to say what it is
    default:
      return Confidence::yes;
  }
}

}  // namespace

CHOPPER_TRACE_FORMAT(rocprof_csv){
    .name = "rocprof-csv",
    .summary = "tables of rocprof 1 and 2, and workload folders of rocprof-compute (Omniperf)",
    .reads = "counters of dispatches, over instances as sum and maximum, times, resource use, facts about the gpu",
    .sniff = sniff,
    .read = rocprof::read_wide_table,
    .holds_passes = true,
};

}  // namespace chopper
