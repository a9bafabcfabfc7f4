// SPDX-License-Identifier: Apache-2.0
// m, the share of a kernel's time that does not change with the core clock (docs/reference/decomposition.md, 5).
#pragma once

#include <cstdint>
#include <span>

#include "analyze/decomposition/samples.h"

namespace chopper {

enum class ClockShareSource : std::uint8_t {
  unknown,  ///< taken as 0, may be anything from 0 to 1
  passes,   ///< fitted to counter passes at different clocks
  fact,     ///< given
};

struct ClockShare {
  double value = 0, low = 0, high = 1;
  ClockShareSource source = ClockShareSource::unknown;
  double clock_spread = 0;  ///< highest over lowest clock of the passes of a gpu, minus 1
};

/// The share at the clock `to_mhz` of a kernel whose share is `m` at `from_mhz`: what does not follow the clock is the
/// same time, and a smaller part of a longer one.
inline double clock_share_at(double m, double from_mhz, double to_mhz) { return m / ((1 - m) * from_mhz / to_mhz + m); }

/// The dispatches of an operation in one counter pass on one gpu, or in one iteration of it: the more points the better
/// the uncertainty.
struct PassPoint {
  std::int32_t gpu = 0;
  double cycles = 0;       ///< sum of gpu cycles
  double duration_ns = 0;  ///< sum of the times of the same dispatches in the pass
  double theory_ns = 0;    ///< sum of the theory of the kernels they are matched with
};

/// Fits T = a / f + b by theory time, on each gpu its own a + b and one common share; m = b / T at `reference_mhz`, the
/// clock of the pass that the cycles of the decomposition are from. Unknown unless clocks on one gpu differ by at least
/// 5 %.
ClockShare fit_clock_share(std::span<const PassPoint> points, double reference_mhz);

}  // namespace chopper
