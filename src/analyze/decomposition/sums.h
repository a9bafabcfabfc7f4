// SPDX-License-Identifier: Apache-2.0
// Sums over samples, and the estimators of a whole selection from the part of it that was measured
// (docs/reference/decomposition.md, 2).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "analyze/decomposition/samples.h"

namespace chopper {

/// What is summed. `x_theory` and `x_duration` are theory and duration of the samples for which x was measured; all
/// values are multiplied by the weight of the sample.
enum class Sum : std::uint8_t {
  duration,
  overlap,
  theory,  ///< of the bound
  work,    ///< FLOPs, or bytes where memory is the bound
  executed,
  executed_theory,
  executed_duration,
  matrix_busy,
  matrix_capacity,
  matrix_duration,
  cycles,
  cycles_theory,
  cycles_duration,
  pass_time,
  pass_theory,
  // Samples whose clock is known, with and without cycles (pass time) of their own.
  clock_duration,
  clock_cycles,         ///< C
  clock_cycles_over_f,  ///< C / f_eff
  clock_rest_theory,    ///< theory where C is not measured
  clock_rest_theory_over_f,
  clock_pass_time,
  clock_pass_rest_theory,
  // Samples whose memory clock is known.
  memory_duration,
  memory_pass_time,
  memory_pass_time_g,  ///< pass time x g
  memory_rest_theory,
  memory_rest_theory_g,
  // Contention by regression; see contention.h.
  slope_xy,
  slope_xx,
  slope_rxy,
  count
};
inline constexpr std::size_t kNumSums = static_cast<std::size_t>(Sum::count);

struct Sums {
  std::array<double, kNumSums> values{};

  double operator[](Sum sum) const { return values[static_cast<std::size_t>(sum)]; }
  double& operator[](Sum sum) { return values[static_cast<std::size_t>(sum)]; }
  Sums& operator+=(const Sums& other) {
    for (std::size_t i = 0; i < kNumSums; i++) values[i] += other.values[i];
    return *this;
  }
};

/// Theory decides: the larger of the sums of compute and memory theory; equal ones are bound by compute.
Bound bound_of(std::span<const KernelSample> samples);

void add_sample(const KernelSample& sample, Bound bound, Sums& sums);

/// Estimates for the whole selection; kNotMeasured where nothing was measured. Each measured x is scaled by theory
/// time: sum of x over the measured samples x theory of all / theory of the measured.
struct Estimates {
  double executed = kNotMeasured;      ///< FLOPs or bytes
  double utilisation = kNotMeasured;   ///< of the matrix unit, 0..1
  double cycles = kNotMeasured;        ///< C
  double pass_time_ns = kNotMeasured;  ///< C / f_pass
};
Estimates estimates_of(const Sums& sums);

/// Time alone on the gpu by the model D(f, g) = (1 - m) C / f + m (C / f_pass) (g_pass / g).
struct AloneTimes {
  double at_peak_ns = kNotMeasured;  ///< D(f_peak, g_pass)
  double freq = kNotMeasured;        ///< D(f_eff, g_pass) / D(f_peak, g_pass)
  double mem_clock = kNotMeasured;   ///< D(f_eff, g_eff) / D(f_eff, g_pass)
  // Of the samples whose clock is known: what freq is the ratio of.
  double clocked_ns = kNotMeasured, clocked_at_peak_ns = kNotMeasured;
};

/// Needs a peak clock; with m > 0 pass times as well.
AloneTimes alone_times(const Sums& sums, double f_peak_mhz, double m);

/// Time alone at core clock `f_mhz` over that at the clock of the runtime trace, memory clock unchanged; kNotMeasured
/// without clocks.
double change_at_clock(const Sums& sums, double m, double f_mhz);

}  // namespace chopper
