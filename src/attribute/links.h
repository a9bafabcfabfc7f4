// SPDX-License-Identifier: Apache-2.0
// Links gpu work to its launch call, and launch calls to the host ranges they were made in (reading rules, 4).
#pragma once

#include <cstdint>
#include <vector>

#include "catalog/class_rules.h"
#include "model/trace.h"

namespace chopper {

/// Per gpu record: the launch call with the same correlation.
struct LaunchLinks {
  std::vector<RowId> launch;
  std::uint64_t num_ambiguous = 0;     ///< records with several calls of the preferred kind
  std::uint64_t first_ambiguous = 0;   ///< row of the first
  std::uint64_t num_unanswered = 0;    ///< kernel launches without a gpu record
  std::uint64_t first_unanswered = 0;  ///< row of the first in LaunchTable
};
LaunchLinks link_launches(const TraceTables& trace);

/// Operators and annotations grouped by thread, an outer range before the ranges inside it.
struct RangeOrder {
  std::vector<std::uint32_t> rows;  ///< rows of HostRangeTable, thread after thread
  std::vector<std::size_t> begin;   ///< first entry of each thread, and one more
};
RangeOrder order_ranges(const TraceTables& trace);

/// Per launch call: where on its thread it was made.
struct CallContext {
  std::vector<RowId> range;             ///< innermost operator or annotation
  std::vector<RowId> operation;         ///< innermost operator
  std::vector<std::uint8_t> comm_copy;  ///< below a communication copy range
};
/// Only calls with `wanted[row]` not 0 are looked up.
CallContext find_call_context(const TraceTables& trace, const RangeOrder& order,
                              const std::vector<std::uint8_t>& wanted, const ClassRules& rules);

}  // namespace chopper
