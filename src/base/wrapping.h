// SPDX-License-Identifier: Apache-2.0
// Sums of durations a file states: each is below 2^62, a damaged file may hold many of them. They wrap and never trap.
#pragma once

#include <cstdint>

namespace chopper {

inline void add_wrapping(std::int64_t& sum, std::int64_t value) {
  sum = static_cast<std::int64_t>(static_cast<std::uint64_t>(sum) + static_cast<std::uint64_t>(value));
}

}  // namespace chopper
