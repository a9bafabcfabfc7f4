// SPDX-License-Identifier: Apache-2.0
// Contention from instances of one operation with and without overlap, without any counter: the cross-check of the
// contention that counters and clocks give, and its replacement where there is no clock
// (docs/reference/decomposition.md, 7).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analyze/decomposition/factors.h"
#include "analyze/decomposition/pooled_slope.h"
#include "analyze/decomposition/samples.h"

namespace chopper {

/// The regression of the speed of instances on their overlap ratio.
struct ContentionCheck {
  bool identifiable = false;
  std::size_t num_low = 0, num_high = 0;  ///< instances below 0.1 and above 0.5, in groups that have both
  std::size_t num_groups = 0;             ///< groups (gpu, layer, kind of collective) that have both
  bool clock_adjusted = false;            ///< durations were brought to one clock before
  double slope = kNotMeasured;            ///< share of its speed a kernel loses while it is overlapped
  double slope_low = kNotMeasured, slope_high = kNotMeasured;
  double group_stretch = 1;                 ///< of its error: deviations from the mean of a small group are too small
  double between_gpu_slope = kNotMeasured;  ///< the same between means of gpus: gpus differ in more than overlap
  double contention = kNotMeasured;         ///< at the overlap ratio of the operation
  double contention_low = kNotMeasured, contention_high = kNotMeasured;
};

struct ContentionRegression {
  ContentionCheck check;                ///< without intervals
  std::vector<SlopeSums> by_iteration;  ///< index: position of the iteration among those of the samples
};

inline constexpr double kLowOverlap = 0.1, kHighOverlap = 0.5;
inline constexpr std::size_t kLeastInstances = 10;

/// `samples` as usable_samples orders them. Where `f_peak_mhz` and the clocks of at least half of the duration are
/// known durations are brought to the peak clock by `m`; instances with a kernel of unknown clock are left out then.
ContentionRegression regress_contention(std::span<const KernelSample> samples, double f_peak_mhz, double m,
                                        bool clocks_known);

}  // namespace chopper
