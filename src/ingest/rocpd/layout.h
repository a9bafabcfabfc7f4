// SPDX-License-Identifier: Apache-2.0
// Which layouts of a rocpd database can be read.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "ingest/rocpd/dictionary.h"
#include "ingest/sqlite/database.h"

namespace chopper::rocpd {

/// Returns what wrote the database, empty where it does not say. Fails for schema versions this build does not know.
Result<std::string> writer_of(const sqlite::Database& database, std::string_view shown);

/// Says which column the table of dispatches lacks; nothing when it can be read.
std::optional<Error> unknown_layout(const TableSet& dispatches, std::string_view shown);

}  // namespace chopper::rocpd
