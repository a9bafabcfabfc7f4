// SPDX-License-Identifier: Apache-2.0
// Reads a table of rocprof before version 3 or of rocprof-compute into a counter pass.
#pragma once

#include <string_view>

#include "ingest/format.h"

namespace chopper::rocprof {

/// Reads the table to its end. Fails on I/O errors, and with the reason when the text is a table that is not read.
Result<TraceTables> read_wide_table(const SourceOpener& open, std::string_view shown, const ReadOptions& options);

}  // namespace chopper::rocprof
