// SPDX-License-Identifier: Apache-2.0
// Databases of rocmProfileData (rpdTracer, *.rpd): calls of HIP, what ran on the gpu, and which call it was of.
//   CREATE TABLE "rocpd_op" ("id" integer NOT NULL PRIMARY KEY, "gpuId" integer NOT NULL, "queueId" integer NOT NULL,
//   ...,
//     "start" integer NOT NULL, "end" integer NOT NULL, "description_id" integer NOT NULL, "opType_id" integer NOT
//     NULL)
#include "ingest/format.h"
#include "ingest/rpd/reader.h"
#include "ingest/sqlite/recognition.h"

namespace chopper {
namespace {

// rocpd of ROCm 7 has neither.
constexpr std::string_view kTables[] = {"rocpd_api", "rocpd_op"};

Confidence sniff(std::string_view head) { return sqlite::sniff_tables(head, kTables); }
Result<Confidence> look(const SourceOpener& open, std::string_view shown, const ReadOptions& options) {
  return sqlite::look_at_tables(open, shown, options, kTables);
}

}  // namespace

CHOPPER_TRACE_FORMAT(rpd_database){
    .name = "rpd",
    .summary = "rocmProfileData database (rpdTracer, *.rpd); plain, gzip or zstd",
    .reads = "gpu work, launch calls, markers",
    .sniff = sniff,
    .read = rpd::read_database,
    .look = look,
};

}  // namespace chopper
