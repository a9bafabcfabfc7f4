// SPDX-License-Identifier: Apache-2.0
#include "ingest/nsight/launch_extents.h"

#include <algorithm>

#include "ingest/nsight/number.h"

namespace chopper::nsight {
namespace {

// A whole number, grouped as the locale does or not.
std::optional<std::uint32_t> parse_size(std::string_view text) {
  const NumberCell cell = parse_number(text, 0);
  if (cell.form != NumberForm::number && cell.form != NumberForm::ambiguous) return std::nullopt;
  if (!(cell.value >= 0 && cell.value <= UINT32_MAX)) return std::nullopt;
  const auto size = static_cast<std::uint32_t>(cell.value);
  return size == cell.value ? std::optional(size) : std::nullopt;
}

std::int64_t volume(const Extent& extent) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(std::int64_t{extent.x}, std::int64_t{extent.y}, &product) ||
      __builtin_mul_overflow(product, std::int64_t{extent.z}, &product))
    return kNoNumber;
  return product;
}

}  // namespace

std::optional<Extent> parse_extent(std::string_view text) {
  if (text.empty() || text == "n/a") return Extent();
  if (text.front() == '(' && text.back() == ')') text = text.substr(1, text.size() - 2);
  // Numbers may hold commas: only where there are no spaces, commas alone part them.
  const std::string_view separator = text.find(", ") != std::string_view::npos ? ", " : ",";
  std::uint32_t sizes[3] = {1, 1, 1};
  for (std::size_t i = 0; i < 3; i++) {
    const std::size_t end = text.find(separator);
    if ((end == std::string_view::npos) != (i == 2)) return std::nullopt;
    const std::optional<std::uint32_t> size = parse_size(text.substr(0, end));
    if (!size) return std::nullopt;
    sizes[i] = *size;
    text.remove_prefix(std::min(text.size(), end == std::string_view::npos ? text.size() : end + separator.size()));
  }
  return Extent{sizes[0], sizes[1], sizes[2]};
}

Extent extent_of_cells(std::span<const CsvCell> cells, const std::array<std::size_t, 3>& columns) {
  std::uint32_t sizes[3];
  for (std::size_t i = 0; i < 3; i++) {
    const std::optional<std::uint32_t> size =
        columns[i] < cells.size() ? parse_size(cells[columns[i]].text) : std::nullopt;
    if (!size) return {};
    sizes[i] = *size;
  }
  return {sizes[0], sizes[1], sizes[2]};
}

void set_extents(const Extent& grid, const Extent& block, PassKernel& kernel) {
  if (!block.known()) return;
  kernel.workgroup = block;
  kernel.workgroup_size = volume(block);
  if (!grid.known()) return;
  const std::int64_t blocks = volume(grid);
  if (blocks == kNoNumber || kernel.workgroup_size == kNoNumber ||
      __builtin_mul_overflow(blocks, kernel.workgroup_size, &kernel.grid_size))
    kernel.grid_size = kNoNumber;
  const auto times = [](std::uint32_t a, std::uint32_t b) { return std::uint64_t{a} * b; };
  if (std::max({times(grid.x, block.x), times(grid.y, block.y), times(grid.z, block.z)}) > UINT32_MAX) return;
  kernel.grid = {grid.x * block.x, grid.y * block.y, grid.z * block.z};
}

}  // namespace chopper::nsight
