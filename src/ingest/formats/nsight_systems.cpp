// SPDX-License-Identifier: Apache-2.0
// What `nsys export --type sqlite` makes of a report of Nsight Systems: a database with a table for each kind of event,
// each there only when there were such events.
//   CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
//     ..., correlationId INTEGER, globalPid INTEGER, demangledName INTEGER NOT NULL, ..., gridX INTEGER NOT NULL, ...)
#include "ingest/format.h"
#include "ingest/nsight/reader.h"
#include "ingest/sqlite/recognition.h"

namespace chopper {
namespace {

// The second is there in every export, the first in those that other programs cut down.
constexpr std::string_view kTables[] = {"CUPTI_ACTIVITY_KIND_", "META_DATA_EXPORT"};

Confidence sniff(std::string_view head) {
  if (head.starts_with(nsight::kSystemsReportMagic)) return Confidence::yes;  // not ours: claimed to say what it is
  return sqlite::sniff_tables(head, kTables);
}
Result<Confidence> look(const SourceOpener& open, std::string_view shown, const ReadOptions& options) {
  return sqlite::look_at_tables(open, shown, options, kTables);
}

}  // namespace

CHOPPER_TRACE_FORMAT(nsight_systems){
    .name = "nsight-systems",
    .summary = "Nsight Systems report exported with nsys export --type sqlite; plain, gzip or zstd",
    .reads = "gpu work, launch calls, NVTX ranges and marks, facts about gpus",
    .sniff = sniff,
    .read = nsight::read_export,
    .look = look,
};

}  // namespace chopper
