// SPDX-License-Identifier: Apache-2.0
// rocpd: the database rocprofv3 writes from ROCm 7 on unless told otherwise. Tables end in the id of the writer, and
// views of the same name without it select from them.
//   CREATE TABLE `rocpd_kernel_dispatch_0198c0de_...` ("id" INTEGER NOT NULL PRIMARY KEY, "guid" TEXT NOT NULL, ...,
//     "agent_id" INTEGER NOT NULL, "kernel_id" INTEGER NOT NULL, "dispatch_id" INTEGER NOT NULL, ..., "start" BIGINT
//     ...)
//   CREATE TABLE `rocpd_pmc_event_0198c0de_...` (..., "event_id" INTEGER, "pmc_id" INTEGER NOT NULL, "value" REAL, ...)
#include "ingest/format.h"
#include "ingest/rocpd/reader.h"
#include "ingest/sqlite/recognition.h"

namespace chopper {
namespace {

// No table of rocmProfileData, which used the prefix rocpd_ before, has one of these names.
constexpr std::string_view kTables[] = {"rocpd_kernel_dispatch", "rocpd_info_", "rocpd_pmc_event",
                                        "counters_collection"};

Confidence sniff(std::string_view head) { return sqlite::sniff_tables(head, kTables); }
Result<Confidence> look(const SourceOpener& open, std::string_view shown, const ReadOptions& options) {
  return sqlite::look_at_tables(open, shown, options, kTables);
}

}  // namespace

CHOPPER_TRACE_FORMAT(rocpd_database){
    .name = "rocpd",
    .summary = "rocprofv3 database (rocpd, the default output from ROCm 7 on); plain, gzip or zstd",
    .reads =
        "counters of dispatches with sum and maximum over instances, times of their pass, resource use, facts about "
        "gpus, markers",
    .sniff = sniff,
    .read = rocpd::read_database,
    .look = look,
    .holds_passes = true,
};

}  // namespace chopper
