// SPDX-License-Identifier: Apache-2.0
// Reads an SQLite export of Nsight Systems as a trace.
#pragma once

#include <string_view>

#include "ingest/format.h"

namespace chopper::nsight {

/// Reads an export to its end. Fails when the file is no database that can be opened.
Result<TraceTables> read_export(const SourceOpener& open, std::string_view shown, const ReadOptions& options);

}  // namespace chopper::nsight
