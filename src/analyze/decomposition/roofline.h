// SPDX-License-Identifier: Apache-2.0
// Where an operation lies under the roofline, by the work it must do and by the work it did
// (docs/reference/decomposition.md, 8).
#pragma once

#include <span>

#include "analyze/decomposition/samples.h"

namespace chopper {

/// kNotMeasured for what is not known.
struct RooflinePoint {
  double intensity = kNotMeasured;          ///< FLOP / byte
  double attainable_tflops = kNotMeasured;  ///< min(peak, intensity x peak bandwidth)
  double achieved_tflops = kNotMeasured;    ///< work over duration in the runtime trace
  double achieved_gbps = kNotMeasured;
};

struct Roofline {
  double peak_tflops =
      kNotMeasured;  ///< of the operation: its FLOPs over its compute theory, whatever the mix of types
  double peak_gbps = kNotMeasured;
  RooflinePoint algorithmic;
  RooflinePoint executed;  ///< over the samples with counters of both FLOPs and bytes
};

/// Ratios of sums over the samples.
Roofline roofline_of(std::span<const KernelSample> samples);

}  // namespace chopper
