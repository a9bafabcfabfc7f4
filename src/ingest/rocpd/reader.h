// SPDX-License-Identifier: Apache-2.0
// Reads a rocpd database of rocprofv3 into a counter pass.
#pragma once

#include <string_view>

#include "ingest/format.h"

namespace chopper::rocpd {

/// Reads a database to its end. Fails, with what to do about it, when it cannot be opened or has a layout that this
/// build does not know.
Result<TraceTables> read_database(const SourceOpener& open, std::string_view shown, const ReadOptions& options);

}  // namespace chopper::rocpd
