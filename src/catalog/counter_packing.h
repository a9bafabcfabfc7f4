// SPDX-License-Identifier: Apache-2.0
// Puts groups of counters into as few passes as possible. A pass holds a limited number of counters of each block; a
// group stays together, and groups of a pass share the counters they have in common.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace chopper {

struct PackingProblem {
  std::vector<std::size_t> limits;               ///< of each block
  std::vector<std::size_t> block;                ///< of each counter
  std::vector<std::vector<std::size_t>> groups;  ///< of counters
  std::vector<std::size_t> always;               ///< counters every pass has
};

struct Packing {
  std::vector<std::vector<std::size_t>> passes;  ///< groups of each pass
  std::size_t lower_bound = 0;                   ///< no way to pack needs fewer passes than this
};

/// Returns whether these counters and those of every pass fit into one.
bool fits_one_pass(const PackingProblem& problem, std::span<const std::size_t> counters);

/// Packs all groups, of which each fits one pass. The result is the fewest passes where it equals its lower bound: the
/// search is complete for what people ask for, and is cut off after some time for hundreds of groups.
Packing pack_counters(const PackingProblem& problem);

}  // namespace chopper
