// SPDX-License-Identifier: Apache-2.0
// Links gpu work to its launch call, and launch calls to the host ranges they were made in (reading rules, 4).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "model/trace.h"

namespace chopper {

/// Per gpu record: the launch call with the same correlation.
struct LaunchLinks {
  std::vector<RowId> launch;
  std::uint64_t num_ambiguous = 0;        ///< records with several calls of the preferred kind
  std::uint64_t first_ambiguous = 0;      ///< row of the first
  std::vector<std::uint32_t> unanswered;  ///< kernel launches without a gpu record: rows of LaunchTable
};
LaunchLinks link_launches(const TraceTables& trace);

/// Rows of a table grouped by thread.
struct RangeOrder {
  std::vector<std::uint32_t> rows;  ///< thread after thread
  std::vector<std::size_t> begin;   ///< first entry of each thread, and one more
};
/// Operators, annotations and module frames, an outer range before the ranges inside it.
RangeOrder order_ranges(const TraceTables& trace);
/// Launch calls with `wanted[row]` not 0, in order of start.
RangeOrder order_calls(const TraceTables& trace, const std::vector<std::uint8_t>& wanted);

/// Numbers the processes of the threads of a trace, by pid.
std::vector<std::uint32_t> processes_of_threads(const TraceTables& trace);

/// Whether a call of this name launches kernels.
bool is_kernel_launch(std::string_view name);

}  // namespace chopper
