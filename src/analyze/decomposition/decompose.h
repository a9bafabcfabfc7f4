// SPDX-License-Identifier: Apache-2.0
// How far an operation is from theory, and why: the mode `measured` (docs/reference/decomposition.md).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "analyze/decomposition/clock_share.h"
#include "analyze/decomposition/contention.h"
#include "analyze/decomposition/factors.h"
#include "analyze/decomposition/samples.h"
#include "analyze/decomposition/sums.h"

namespace chopper {

/// Where f_eff of the samples is from.
enum class ClockSource : std::uint8_t { none, clock_counter, telemetry, window_mean, fact };

struct FactorResult {
  double value = kNotMeasured;
  double low = kNotMeasured, high = kNotMeasured;      ///< 95 % interval
  double m_low = kNotMeasured, m_high = kNotMeasured;  ///< smallest and largest value for m in its range
  double share_ns = 0;                                 ///< of d_act - d_thr
  Evidence evidence = Evidence::absent;
  Missing missing = Missing::none;      ///< why there is no value
  Missing no_interval = Missing::none;  ///< why there is a value and no interval
};

struct DecompositionSettings {
  double f_peak_mhz = kNotMeasured;  ///< the clock the peak of theory is quoted at
  ClockSource clock_source = ClockSource::none;
  ClockShare m;                      ///< of fit_clock_share, or a fact; unknown by default
  std::uint64_t key = 0;             ///< of the bootstrap: made from the key of the row
  std::size_t num_resamples = 1000;  ///< 0: no intervals
  bool sequential_shares = false;    ///< instead of log-mean ones
};

/// Everything of one operation over a selection. Without theory all factors are absent.
struct Decomposition {
  Bound bound = Bound::compute;
  std::size_t num_samples = 0, num_without_theory = 0;
  std::size_t num_with_counters = 0;  ///< samples with any counter
  std::size_t num_instances = 0, num_iterations = 0;
  double duration_without_theory_ns = 0;  ///< left out of d_act_ns
  double d_thr_ns = 0, d_act_ns = 0;
  double counters_share = 0;  ///< of d_act_ns, with the counter that covers least of those collected; 0 without any
  double clock_share = 0;     ///< of d_act_ns, with f_eff
  std::array<FactorResult, kNumFactors> factors;
  ClockShare m;
  bool split_refused = false;              ///< contention and clock cannot be told apart: no clock, no regression
  bool ranks_freq_and_contention = false;  ///< both are known, and the larger is the same for all m in its range
  ContentionCheck check;
  // For the budget of windows.
  Sums sums;
  FactorRules rules;

  const FactorResult& operator[](Factor factor) const { return factors[static_cast<std::size_t>(factor)]; }
};

/// `samples` of one operation in any order: the result does not depend on it, to the last bit.
Decomposition decompose(std::span<const KernelSample> samples, const DecompositionSettings& settings);

}  // namespace chopper
