// SPDX-License-Identifier: Apache-2.0
// The mode `paper`: the decomposition as the prototype of arXiv 2512.08242 computes it, for comparison with the
// publication (docs/reference/decomposition.md, 9).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "analyze/decomposition/factors.h"
#include "analyze/decomposition/samples.h"

namespace chopper {

struct PaperDecomposition {
  /// (iteration, micro step, layer) of the gpu that have counters; without any: all of the gpu.
  std::size_t num_instances = 0;
  std::size_t num_iterations = 0;  ///< they are of
  bool has_counters = false;
  double d_thr_ns = 0;  ///< median over instances of compute theory
  double d_act_ns = 0;  ///< median over instances of summed kernel durations
  /// inst, util, contention (D_50 / D_0), freq; `remainder` is what the product leaves, which the paper does not
  /// report.
  FactorValues factors;
  std::array<Missing, kNumFactors> missing{};
  double first_overlap_ratio = kNotMeasured;  ///< of the instance that D_0 is: far from 0 it is no time without overlap
  double middle_overlap_ratio = kNotMeasured;  ///< of the instance that D_50 is
};

/// Of one gpu; `f_peak_mhz` is the clock D_peak is computed with. Bandwidth-bound operations have no theory here.
PaperDecomposition decompose_as_paper(std::span<const KernelSample> samples, std::int32_t gpu, double f_peak_mhz);

}  // namespace chopper
