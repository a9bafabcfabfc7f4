// SPDX-License-Identifier: Apache-2.0
#include "analyze/decomposition/sums.h"

namespace chopper {
namespace {

// Cycles over megahertz are microseconds.
constexpr double kNsByCycleMhz = 1000;

// Scaled to the whole selection; kNotMeasured where the measured samples have no theory to scale by.
double scaled(double sum, double measured_theory, double theory) {
  return measured_theory > 0 && theory > 0 ? sum * (theory / measured_theory) : kNotMeasured;
}

void add_counters(const KernelSample& s, Bound bound, double theory, double duration, Sums& sums) {
  const double executed = bound == Bound::compute ? s.executed_flops : s.executed_bytes;
  if (is_measured(executed)) {
    sums[Sum::executed] += s.weight * executed;
    sums[Sum::executed_theory] += theory;
    sums[Sum::executed_duration] += duration;
  }
  if (is_measured(s.matrix_busy_cycles) && is_measured(s.matrix_cycles)) {
    sums[Sum::matrix_busy] += s.weight * s.matrix_busy_cycles;
    sums[Sum::matrix_capacity] += s.weight * s.matrix_cycles;
    sums[Sum::matrix_duration] += duration;
  }
  if (!is_measured(s.gpu_cycles)) return;
  sums[Sum::cycles] += s.weight * s.gpu_cycles;
  sums[Sum::cycles_theory] += theory;
  sums[Sum::cycles_duration] += duration;
  if (!is_measured(s.pass_duration_ns)) return;
  sums[Sum::pass_time] += s.weight * s.pass_duration_ns;
  sums[Sum::pass_theory] += theory;
}

void add_clocks(const KernelSample& s, double theory, double duration, Sums& sums) {
  if (!is_measured(s.f_eff_mhz) || !(s.f_eff_mhz > 0)) return;
  sums[Sum::clock_duration] += duration;
  if (is_measured(s.gpu_cycles)) {
    sums[Sum::clock_cycles] += s.weight * s.gpu_cycles;
    sums[Sum::clock_cycles_over_f] += s.weight * s.gpu_cycles / s.f_eff_mhz;
  } else {
    sums[Sum::clock_rest_theory] += theory;
    sums[Sum::clock_rest_theory_over_f] += theory / s.f_eff_mhz;
  }
  const bool has_pass = is_measured(s.gpu_cycles) && is_measured(s.pass_duration_ns);
  if (has_pass)
    sums[Sum::clock_pass_time] += s.weight * s.pass_duration_ns;
  else
    sums[Sum::clock_pass_rest_theory] += theory;
  if (!is_measured(s.g_ratio)) return;
  sums[Sum::memory_duration] += duration;
  if (has_pass) {
    sums[Sum::memory_pass_time] += s.weight * s.pass_duration_ns;
    sums[Sum::memory_pass_time_g] += s.weight * s.pass_duration_ns * s.g_ratio;
  } else {
    sums[Sum::memory_rest_theory] += theory;
    sums[Sum::memory_rest_theory_g] += theory * s.g_ratio;
  }
}

// Sums over the samples with a known clock; where one has no counters of its own, those of the others by theory time.
struct ClockSums {
  double cycles = 0, cycles_over_f = 0, pass_time = 0;
  double mean_g = 1;
};

ClockSums clock_sums(const Sums& sums) {
  const auto by_theory = [&](Sum sum, Sum theory) { return sums[theory] > 0 ? sums[sum] / sums[theory] : 0; };
  const double cycles = by_theory(Sum::cycles, Sum::cycles_theory);
  const double pass_time = by_theory(Sum::pass_time, Sum::pass_theory);
  ClockSums clock;
  clock.cycles = sums[Sum::clock_cycles] + cycles * sums[Sum::clock_rest_theory];
  clock.cycles_over_f = sums[Sum::clock_cycles_over_f] + cycles * sums[Sum::clock_rest_theory_over_f];
  clock.pass_time = sums[Sum::clock_pass_time] + pass_time * sums[Sum::clock_pass_rest_theory];
  const double known = sums[Sum::memory_pass_time] + pass_time * sums[Sum::memory_rest_theory];
  const double scaled_by_g = sums[Sum::memory_pass_time_g] + pass_time * sums[Sum::memory_rest_theory_g];
  if (known > 0) clock.mean_g = scaled_by_g / known;
  return clock;
}

}  // namespace

Bound bound_of(std::span<const KernelSample> samples) {
  double compute = 0, memory = 0;
  for (const KernelSample& s : samples) {
    compute += s.weight * theory_of(s, Bound::compute);
    memory += s.weight * theory_of(s, Bound::memory);
  }
  return memory > compute ? Bound::memory : Bound::compute;
}

void add_sample(const KernelSample& s, Bound bound, Sums& sums) {
  const double theory = s.weight * theory_of(s, bound);
  const double duration = s.weight * static_cast<double>(s.duration_ns);
  const double work = bound == Bound::compute ? s.flops : s.bytes;
  sums[Sum::duration] += duration;
  sums[Sum::overlap] += s.weight * static_cast<double>(s.overlap_ns);
  sums[Sum::theory] += theory;
  if (is_measured(work)) sums[Sum::work] += s.weight * work;
  add_counters(s, bound, theory, duration, sums);
  add_clocks(s, theory, duration, sums);
}

Estimates estimates_of(const Sums& sums) {
  const double theory = sums[Sum::theory];
  Estimates estimates;
  estimates.executed = scaled(sums[Sum::executed], sums[Sum::executed_theory], theory);
  estimates.cycles = scaled(sums[Sum::cycles], sums[Sum::cycles_theory], theory);
  estimates.pass_time_ns = scaled(sums[Sum::pass_time], sums[Sum::pass_theory], theory);
  if (sums[Sum::matrix_capacity] > 0) estimates.utilisation = sums[Sum::matrix_busy] / sums[Sum::matrix_capacity];
  return estimates;
}

AloneTimes alone_times(const Sums& sums, double f_peak_mhz, double m) {
  AloneTimes alone;
  const Estimates estimates = estimates_of(sums);
  if (!is_measured(estimates.cycles) || !(f_peak_mhz > 0)) return alone;
  if (m > 0 && !is_measured(estimates.pass_time_ns)) return alone;
  // Without pass times m is 0 here, and they do not count.
  const double pass_time = m > 0 ? estimates.pass_time_ns : 0;
  alone.at_peak_ns = (1 - m) * kNsByCycleMhz * estimates.cycles / f_peak_mhz + m * pass_time;
  if (!(sums[Sum::clock_duration] > 0)) return alone;
  const ClockSums clock = clock_sums(sums);
  const double scalable = (1 - m) * kNsByCycleMhz * clock.cycles_over_f;
  const double at_clock = scalable + m * clock.pass_time;
  const double at_peak = (1 - m) * kNsByCycleMhz * clock.cycles / f_peak_mhz + m * clock.pass_time;
  if (!(at_peak > 0) || !(at_clock > 0)) return alone;
  alone.freq = at_clock / at_peak;
  alone.clocked_ns = at_clock;
  alone.clocked_at_peak_ns = at_peak;
  if (sums[Sum::memory_duration] > 0) alone.mem_clock = (scalable + m * clock.pass_time * clock.mean_g) / at_clock;
  return alone;
}

double change_at_clock(const Sums& sums, double m, double f_mhz) {
  const AloneTimes alone = alone_times(sums, f_mhz, m);
  return is_measured(alone.freq) ? 1 / alone.freq : kNotMeasured;
}

}  // namespace chopper
