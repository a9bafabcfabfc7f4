// SPDX-License-Identifier: Apache-2.0
// The factors between theory and measurement, their closed product, and what each adds in nanoseconds
// (docs/reference/decomposition.md, 3 and 4).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "analyze/decomposition/sums.h"

namespace chopper {

/// In the order of the paper.
enum class Factor : std::uint8_t { inst, util, rate, contention, freq, mem_clock, remainder };
inline constexpr std::size_t kNumFactors = 7;

/// What a value rests on.
enum class Evidence : std::uint8_t {
  absent,         ///< there is no value; the reason says why
  counters,       ///< of counter passes, and durations of the runtime trace
  definition,     ///< 1, because the other factors are defined so
  clock_counter,  ///< cycles of a free-running counter over time
  telemetry,      ///< sampled clock
  window_mean,    ///< sampled clock, the sampling window longer than the kernel
  fact,           ///< a clock the user states
  regression,     ///< of speed on overlap ratio
  remainder,      ///< what closes the product
  bound_by_m,     ///< as from the clock, but m is unknown and would change it: see the range
  medians,        ///< mode paper
};

/// Why there is no value, or no interval.
enum class Missing : std::uint8_t {
  none,
  no_theory,         ///< neither FLOPs nor bytes are known, or both are 0
  no_executed_work,  ///< no counters of executed FLOPs (bound by memory: of bytes)
  no_matrix_cycles,  ///< no counters of the matrix unit
  no_gpu_cycles,     ///< no counter of gpu cycles
  no_pass_times,     ///< m is above 0, and the passes have no times
  no_peak_clock,     ///< the clock of the peak is unknown
  few_matched,       ///< counters are known for less than half of the duration
  no_clock,          ///< the clock during the runtime trace is not known: the split is refused
  few_clocks,        ///< it is known for less than half of the duration
  no_memory_clock,   ///< the memory clock is not known for passes and trace
  unidentifiable,    ///< too few instances with and without overlap that differ in nothing else
  zero_value,        ///< a counter is 0 where the factor needs it not to be
  few_iterations,    ///< no interval: one iteration, or no more than a block, has no spread
  few_resamples,     ///< no interval: too many resamples lack what the value needs
  not_in_mode,       ///< the mode does not have the factor
  not_needed,        ///< the product closes without it
};

std::string_view name_of(Factor factor);
std::string_view name_of(Evidence evidence);
std::string_view name_of(Missing missing);

/// A value for each factor; kNotMeasured for one that is absent.
struct FactorValues {
  std::array<double, kNumFactors> values;

  FactorValues() { values.fill(kNotMeasured); }
  double operator[](Factor factor) const { return values[static_cast<std::size_t>(factor)]; }
  double& operator[](Factor factor) { return values[static_cast<std::size_t>(factor)]; }
  bool has(Factor factor) const { return is_measured((*this)[factor]); }
  /// Of those that are present.
  double product() const;
};

/// Which sources may be used, decided once for a selection.
struct FactorRules {
  Bound bound = Bound::compute;
  double f_peak_mhz = kNotMeasured;
  double m = 0;
  bool use_executed = true, use_matrix = true, use_cycles = true, use_clock = true, use_memory_clock = true;
  bool use_regression = false;  ///< for contention where the clock is not known
};

/// The product of the values is duration over theory, whatever is missing: then `remainder` is present. All absent
/// without theory.
FactorValues factors_of(const Sums& sums, const FactorRules& rules);

/// The slow-down of the regression: 1 / (1 - slope x overlap ratio); kNotMeasured without one.
double regressed_contention(const Sums& sums);
/// The slope itself: the share of its speed that a kernel loses while it is overlapped.
double regressed_slope(const Sums& sums);

/// (a - b) / ln(a / b), the logarithmic mean of two positive numbers; a where they are equal.
double log_mean(double a, double b);

/// L ln(factor) of each, L = log_mean(d_act, d_thr); 0 for absent ones. They sum to d_act - d_thr when the product of
/// the factors is d_act / d_thr.
std::array<double, kNumFactors> additive_shares(double d_thr_ns, double d_act_ns, const FactorValues& factors);

/// What each adds to the product of theory and the factors before it; 0 for absent ones.
std::array<double, kNumFactors> sequential_shares(double d_thr_ns, const FactorValues& factors);

}  // namespace chopper
