// SPDX-License-Identifier: Apache-2.0
// The two tables Nsight Compute writes with --csv, told by the names in their header: the page "details" has a row for
// each kernel and metric, the page "raw" a row for each kernel, a column for each metric and a second line of units.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/csv/csv_reader.h"

namespace chopper::nsight {

inline constexpr std::size_t kNoColumn = SIZE_MAX;

enum class Page : std::uint8_t {
  none,     ///< no header of such a table
  details,  ///< a row for each kernel and metric
  raw       ///< a row for each kernel
};

/// Where the columns of a table stand.
struct Columns {
  Page page = Page::none;
  std::size_t count = 0;  ///< cells of the header
  bool quoted = false;    ///< the writer quotes every cell: a line that does not is none of its rows
  std::size_t id = 0, process = kNoColumn, host = kNoColumn, kernel = kNoColumn, stream = kNoColumn;
  std::size_t block = kNoColumn, grid = kNoColumn, device = kNoColumn, capability = kNoColumn;
  std::size_t section = kNoColumn, metric = kNoColumn, unit = kNoColumn, value = kNoColumn;  ///< of a details page
  std::vector<std::size_t> metrics;                                                          ///< of a raw page
  std::array<std::size_t, 3> block_dim, grid_dim;       ///< launch__block_dim_x ..., where there is no "Block Size"
  std::size_t product = kNoColumn, num_sm = kNoColumn;  ///< what a raw page says about the device
};

/// Reads a header; `names` are its cells. Page::none where it is none.
Columns columns_of(std::span<const std::string> names, bool quoted);
/// Whether a row is the header of such a table. Its first cell may follow output of the application on the same line.
bool is_header(std::span<const CsvCell> cells);
/// Whether a text holds such a header.
bool holds_header(std::string_view head);
/// Whether a text holds lines that Nsight Compute prints.
bool holds_messages(std::string_view head);

}  // namespace chopper::nsight
