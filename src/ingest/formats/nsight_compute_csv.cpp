// SPDX-License-Identifier: Apache-2.0
// CSV of Nsight Compute (ncu --csv): the page details, one row a kernel and metric, and the page raw, one row a kernel
// below a line of units. Told by the first names of the header, which may stand behind output of the application.
//   ==PROF== Connected to process 371693 (/opt/bin/gemm)
//   "ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid
//   Size","Device","CC",
//     "Section Name","Metric Name","Metric Unit","Metric Value"
//   "0","371693","gemm","127.0.0.1","gemm_kernel(float*)","1","7","(384, 1, 1)","(9, 32, 1)","0","10.0",
//     "GPU Speed Of Light Throughput","Elapsed Cycles","cycle","508757"
#include "ingest/format.h"
#include "ingest/nsight/columns.h"
#include "ingest/nsight/page_reader.h"

namespace chopper {
namespace {

Confidence sniff(std::string_view head) {
  if (head.starts_with(nsight::kReportMagic)) return Confidence::yes;  // not ours: claimed to say what it is
  if (nsight::holds_header(head)) return Confidence::yes;
  return nsight::holds_messages(head) ? Confidence::maybe : Confidence::no;  // the header may stand behind more output
}

}  // namespace

CHOPPER_TRACE_FORMAT(nsight_compute_csv){
    .name = "nsight-compute-csv",
    .summary = "Nsight Compute metrics as CSV (ncu --csv), page details or raw, among the output of the application",
    .reads = "metrics of kernels in base units, with how long each ran, launch sizes and gpus",
    .sniff = sniff,
    .read = nsight::read_page,
    .holds_passes = true,
};

}  // namespace chopper
