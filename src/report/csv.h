// SPDX-License-Identifier: Apache-2.0
// Writes the tables of an answer as CSV: a header line, quoting as in RFC 4180, lines ended by a single line feed.
// Missing values are empty cells; extents are written 16x1x1; the examples of `health` are "where: what" joined by ";
// ".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/engine.h"
#include "report/text_sink.h"

namespace chopper {

/// Returns the names of the tables, in order; `kernels` and `copies` only with `with_kernels`.
std::vector<std::string_view> csv_table_names(bool with_kernels);

/// Streams one table. Returns whether the sink took everything.
bool write_csv_table(const Answer& answer, std::string_view table, const TextSink& sink);

/// Streams all tables, each after a line "# <table>", with an empty line between them.
bool write_csv_tables(const Answer& answer, bool with_kernels, const TextSink& sink);

/// Appends `text` as one cell, quoted when it must be.
void append_csv_cell(std::string& out, std::string_view text);

}  // namespace chopper
