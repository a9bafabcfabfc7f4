// SPDX-License-Identifier: Apache-2.0
// The time of a window by the terms of the decomposition, and what a step could take without one of its costs
// (docs/reference/decomposition.md, 10).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analyze/decomposition/decompose.h"
#include "analyze/decomposition/factors.h"
#include "analyze/decomposition/samples.h"

namespace chopper {

/// What the kernels of one operation take of a window; all terms together are the sum of w.
struct BudgetTerms {
  double theory_ns = 0;
  std::array<double, kNumFactors> factor_ns{};  ///< by Factor; negative where it makes the kernels faster
  double undecomposed_ns = 0;                   ///< kernels without theory, operations without factors
  double total_ns() const;
};

/// w / D, the weight of a sample whose kernel takes w of the window; 0 for a kernel of no length.
inline double window_weight(std::int64_t weight_ns, std::int64_t duration_ns) {
  return duration_ns > 0 ? static_cast<double>(weight_ns) / static_cast<double>(duration_ns) : 0;
}

/// `samples` are those of the operation in the window, each weighted by window_weight. Counters and clocks that cover
/// less than half of the window are taken from the operation, in proportion to theory time, as are m and the slope of
/// the regression.
BudgetTerms budget_terms(std::span<const KernelSample> samples, const Decomposition& operation);

/// Whole numbers that sum to `total`, each as near to its term as that allows: the largest remainders are rounded up,
/// of equal ones the first. The terms sum to `total` but for rounding.
std::vector<std::int64_t> round_to_sum(std::span<const double> terms, std::int64_t total);

/// Step times without one cost and everything else as it was. Each is a bound: what one cost hides is not put back.
inline std::int64_t step_without_exposed_comm_ns(std::int64_t window_ns, std::int64_t transfer_ns,
                                                 std::int64_t wait_ns) {
  return window_ns - transfer_ns - wait_ns;
}
inline std::int64_t step_without_launch_gaps_ns(std::int64_t window_ns, std::int64_t prep_idle_ns,
                                                std::int64_t call_idle_ns) {
  return window_ns - prep_idle_ns - call_idle_ns;
}

/// What one operation takes of a window.
struct OperationTime {
  double window_ns = 0;  ///< sum of w
  const Decomposition* operation = nullptr;
};

/// The step with all operations at the core clock `f_mhz`, at the peak clock or at one that the power cap allows;
/// operations whose clock is not known keep their time.
double step_at_clock_ns(double window_ns, std::span<const OperationTime> operations, double f_mhz);

}  // namespace chopper
