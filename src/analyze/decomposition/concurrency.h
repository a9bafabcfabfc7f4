// SPDX-License-Identifier: Apache-2.0
// What each of several kernels that run at once takes of the time of a window: w = integral of dt / n(t) over its
// interval, n the number of kernels running at t.
//
//   a: --------        n: 1 1 2 2 2 2 1 1     w(a) = 2 + 4/2 = 4, w(b) = 4/2 + 2 = 4, |a u b| = 8
//   b:     --------
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/intervals.h"

namespace chopper {

struct WindowWeight {
  std::uint32_t window = 0, kernel = 0;  ///< positions of the arguments
  std::int64_t weight_ns = 0;
  friend bool operator==(const WindowWeight&, const WindowWeight&) = default;
};

/// Weights of the compute kernels of one gpu in the windows [bounds[i], bounds[i + 1]), by window, then kernel; a pair
/// that does not meet has none. The weights of a window sum to the length of the union of the kernels in it, exactly:
/// whole nanoseconds by largest remainder, so each is within 1 ns of its integral. `kernels` in any order, `bounds`
/// must not decrease. O(n log n).
std::vector<WindowWeight> concurrency_weights(std::span<const Interval> kernels, std::span<const std::int64_t> bounds);

}  // namespace chopper
