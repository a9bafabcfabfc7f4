// SPDX-License-Identifier: Apache-2.0
// Reads a CSV table of rocprofv3 into a counter pass: counter_collection, kernel_trace, agent_info or
// marker_api_trace.
#pragma once

#include <string_view>

#include "ingest/format.h"

namespace chopper::rocprof {

/// Reads a table to its end. Fails on I/O errors, and with what to do about it when it is another table.
Result<TraceTables> read_table(const SourceOpener& open, std::string_view shown, const ReadOptions& options);

}  // namespace chopper::rocprof
