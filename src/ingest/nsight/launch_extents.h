// SPDX-License-Identifier: Apache-2.0
// Sizes of a launch as Nsight Compute writes them, "(384, 1, 1)": blocks in threads, grids in blocks.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string_view>

#include "ingest/csv/csv_reader.h"
#include "model/counters.h"

namespace chopper::nsight {

/// Reads "(384, 1, 1)"; unknown where nothing is written, nullopt where it is no size.
std::optional<Extent> parse_extent(std::string_view text);
/// Reads the sizes of three cells; unknown where one of them is missing.
Extent extent_of_cells(std::span<const CsvCell> cells, const std::array<std::size_t, 3>& columns);
/// Sets grid and workgroup in work-items. What does not fit is unknown.
void set_extents(const Extent& grid_in_blocks, const Extent& block, PassKernel& kernel);

}  // namespace chopper::nsight
