// SPDX-License-Identifier: Apache-2.0
// Tells databases of profilers apart by the names of their tables.
#pragma once

#include <span>
#include <string_view>

#include "ingest/format.h"

namespace chopper::sqlite {

/// Looks for one of `words`, which only definitions of the wanted tables have, in the first bytes: yes; a database
/// without them: maybe, since definitions may stand anywhere.
Confidence sniff_tables(std::string_view head, std::span<const std::string_view> words);

/// Whether the database has a table or view whose name begins with one of `words`.
Result<Confidence> look_at_tables(const SourceOpener& open, std::string_view shown, const ReadOptions& options,
                                  std::span<const std::string_view> words);

}  // namespace chopper::sqlite
