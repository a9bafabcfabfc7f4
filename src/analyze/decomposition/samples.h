// SPDX-License-Identifier: Apache-2.0
// What a decomposition is computed from: one sample a kernel, with what theory, the runtime trace and the counter
// passes say about it (docs/reference/decomposition.md, 1).
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "analyze/bound.h"

namespace chopper {

/// A quantity that was not measured, or is not known.
inline constexpr double kNotMeasured = std::numeric_limits<double>::quiet_NaN();
/// A layer or a kind of collective that there is not.
inline constexpr std::int32_t kNone = -1;

inline bool is_measured(double value) { return !std::isnan(value); }

/// One kernel of an operation. Theory of a kernel that does none of the work of its operation (a reduction behind a
/// split product) is 0, not kNotMeasured: its time belongs to the operation. A sample without any theory is left out.
struct KernelSample {
  std::int32_t gpu = 0;             ///< dense
  std::int32_t iteration = 0;       ///< dense ordinal, shared by all gpus
  std::int32_t layer = kNone;       ///< index of the layer
  std::int32_t micro_step = kNone;  ///< forward-backward pass of the iteration, where that is known
  std::int32_t collective = kNone;  ///< kind of the collective that overlaps it most
  std::int64_t start_ns = 0;        ///< in the runtime trace; only differences on one gpu matter
  std::int64_t duration_ns = 0;     ///< in the runtime trace
  std::int64_t overlap_ns = 0;      ///< of it, with communication on its gpu
  double weight = 1;                ///< scales all that is summed; w/D in a budget

  double flops = kNotMeasured;              ///< algorithmic
  double compute_theory_ns = kNotMeasured;  ///< flops over the peak of their type
  double bytes = kNotMeasured;              ///< minimal
  double memory_theory_ns = kNotMeasured;   ///< bytes over the peak bandwidth

  double executed_flops = kNotMeasured;
  double executed_bytes = kNotMeasured;
  double matrix_busy_cycles = kNotMeasured;
  double matrix_cycles = kNotMeasured;     ///< what a matrix utilisation of 1 would be in the same pass
  double gpu_cycles = kNotMeasured;        ///< C, of one gpu (not summed over its dies)
  double pass_duration_ns = kNotMeasured;  ///< of the same dispatch as gpu_cycles: f_pass is their quotient
  double f_eff_mhz = kNotMeasured;         ///< during the kernel, in the runtime trace
  double g_ratio = kNotMeasured;           ///< g_pass / g_eff: memory clock of the pass over that of the runtime trace
};

inline double theory_of(const KernelSample& sample, Bound bound) {
  const double theory = bound == Bound::compute ? sample.compute_theory_ns : sample.memory_theory_ns;
  return is_measured(theory) ? theory : 0;
}
inline bool has_theory(const KernelSample& sample) {
  return is_measured(sample.compute_theory_ns) || is_measured(sample.memory_theory_ns);
}

inline bool has_counters(const KernelSample& sample) {
  return is_measured(sample.executed_flops) || is_measured(sample.executed_bytes) ||
         is_measured(sample.matrix_busy_cycles) || is_measured(sample.gpu_cycles);
}

/// Whether two samples are of one instance: what a gpu runs of a layer in a micro step of an iteration.
inline bool same_instance(const KernelSample& a, const KernelSample& b) {
  return a.iteration == b.iteration && a.gpu == b.gpu && a.micro_step == b.micro_step && a.layer == b.layer;
}

/// Samples that have theory, in an order that does not depend on the one they came in: results are the same to the last
/// bit.
std::vector<KernelSample> usable_samples(std::span<const KernelSample> samples);

}  // namespace chopper
