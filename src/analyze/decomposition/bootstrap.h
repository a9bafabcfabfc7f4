// SPDX-License-Identifier: Apache-2.0
// Spread of factors over contiguous blocks of iterations, all gpus together (docs/reference/decomposition.md, 6).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "analyze/decomposition/factors.h"

namespace chopper {

/// Iterations of a block: the whole part of the cube root of their number, the order that minimises the error of the
/// variance of a mean.
std::size_t block_length_of(std::size_t num_iterations);

/// The 97.5 % point of Student's distribution; `degrees` at least 1 and not necessarily whole.
double student_quantile(double degrees);

/// What the standard error of a bootstrap is multiplied by for half of a 95 % interval over `num_iterations`:
/// Student's quantile, as the spread is estimated, and the root of n / (n - block length), as blocks of few iterations
/// spread around their own mean. 0 when there are too few iterations.
double interval_stretch(std::size_t num_iterations, std::size_t block_length);

struct BootstrapSpread {
  std::array<double, kNumFactors> log_error{};  ///< standard error of ln(factor); kNotMeasured: too few resamples
  double slope_error = kNotMeasured;            ///< of the slope of the regression
};

/// Recomputes the factors from `num_resamples` resamples of the sums of iterations, in order of iterations. The same
/// key gives the same resamples.
BootstrapSpread bootstrap(std::span<const Sums> iterations, const FactorRules& rules, std::size_t num_resamples,
                          std::uint64_t key);

}  // namespace chopper
