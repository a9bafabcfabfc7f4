// SPDX-License-Identifier: Apache-2.0
// The tables rocprofv3 writes as CSV, told by the names in their header: the order and number of columns changed with
// nearly every release.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace chopper::rocprof {

/// What a table is.
enum class TableKind : std::uint8_t {
  counter_collection,
  kernel_trace,
  agent_info,
  api_trace,     ///< calls of the host, or markers: the same columns
  incomplete,    ///< a header of the first two without columns they need
  memory_trace,  ///< copies, allocations, scratch
  statistics,    ///< sums by name
  pc_sampling,   ///< samples of program counters
  other
};

/// Columns with whole numbers; the index of a value in a row of them.
enum class Number : std::uint8_t {
  correlation,
  dispatch,
  queue,
  stream,
  process,
  thread,
  kernel_id,
  grid_size,
  workgroup_size,
  lds,
  scratch,
  vgpr,
  accum_vgpr,
  sgpr,
  start,
  end,
  workgroup_x,
  workgroup_y,
  workgroup_z,
  grid_x,
  grid_y,
  grid_z,
  count_
};
inline constexpr std::size_t kNumNumbers = static_cast<std::size_t>(Number::count_);
inline constexpr std::size_t kNoColumn = SIZE_MAX;

/// Where the columns of a table of host calls or markers stand.
struct MarkColumns {
  std::size_t domain = kNoColumn, name = kNoColumn, process = kNoColumn, thread = kNoColumn;
  std::size_t start = kNoColumn, end = kNoColumn;
};

/// Where the columns of a dispatch table stand.
struct DispatchColumns {
  struct Place {
    std::size_t column;
    Number number;
  };
  std::vector<Place> numbers;  ///< in order of column
  std::size_t agent = kNoColumn, kernel_name = kNoColumn, counter_name = kNoColumn, counter_value = kNoColumn;
  bool has_dispatch_id = false, has_times = false;
};

/// Splits the first line of `head` that is not blank; quotes around names are taken off.
std::vector<std::string> header_in(std::string_view head);

TableKind kind_of(std::span<const std::string> header);
DispatchColumns dispatch_columns(std::span<const std::string> header);
MarkColumns mark_columns(std::span<const std::string> header);

/// Releases of ROCm whose header this is; empty: none that is known.
std::string_view writer_of(TableKind kind, std::span<const std::string> header);
/// Whether the writer kept at most 512 records of hardware instances a dispatch (ROCm 6.2).
bool drops_instances(TableKind kind, std::span<const std::string> header);

/// Why a table of host calls is not read: markers have the same columns, so its rows tell.
Error refusal_of_calls(std::string_view shown);

/// Why a table of this kind is not read, and what to give instead; nullopt for those that are.
std::optional<Error> refusal(TableKind kind, std::span<const std::string> header, std::string_view shown);

}  // namespace chopper::rocprof
