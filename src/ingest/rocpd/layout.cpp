// SPDX-License-Identifier: Apache-2.0
#include "ingest/rocpd/layout.h"

namespace chopper::rocpd {
namespace {

constexpr std::string_view kConvert =
    "convert it to CSV (rocpd convert -i FILE --output-format csv), or record with rocprofv3 --output-format csv";

}  // namespace

Result<std::string> writer_of(const sqlite::Database& database, std::string_view shown) {
  constexpr sqlite::Column kColumns[] = {{"guid"}, {"tag"}, {"value"}};
  HealthLog unheeded;  // a database without this table can be read all the same
  Dictionary guids;
  std::optional<std::string> unknown;
  std::string writer, compression;
  for_each_row(database, shown, unheeded, guids, find_tables(database, "rocpd_metadata"), kColumns,
               [&](const sqlite::Scan& scan, std::uint32_t) {
                 if (scan.text(1) == "compression") compression = scan.text(2);
                 if (scan.text(1) != "schema_version") return;
                 const std::string version(scan.text(2));
                 if (version == "3" || version.starts_with("3.")) {
                   writer = "ROCm 7 (schema version " + version + ")";
                 } else {
                   unknown = version;
                 }
               });
  if (!unknown && compression.empty()) return writer;
  std::string message = "a rocpd database of schema version " + unknown.value_or("3");
  if (!compression.empty()) message += " with columns compressed by " + compression;
  return Error{ErrorCode::bad_input, message + ", where this build reads version 3", std::string(shown),
               std::string(kConvert)};
}

std::optional<Error> unknown_layout(const TableSet& dispatches, std::string_view shown) {
  for (const TableSet::Member& member : dispatches.members) {
    if (member.relation->columns.empty()) continue;  // its definition is damaged: counted when it is read
    for (const std::string_view column : {"start", "end", "agent_id", "kernel_id"}) {
      if (member.relation->has(column)) continue;
      return Error{ErrorCode::bad_input,
                   "a rocpd database of an unknown layout: table " + member.relation->name + " has no column " +
                       std::string(column),
                   std::string(shown), std::string(kConvert)};
    }
  }
  return std::nullopt;
}

}  // namespace chopper::rocpd
