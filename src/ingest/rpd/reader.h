// SPDX-License-Identifier: Apache-2.0
// Reads a database of rocmProfileData as a trace.
#pragma once

#include <string_view>

#include "ingest/format.h"

namespace chopper::rpd {

/// Reads a database to its end. Fails when the file is none that can be opened.
Result<TraceTables> read_database(const SourceOpener& open, std::string_view shown, const ReadOptions& options);

}  // namespace chopper::rpd
