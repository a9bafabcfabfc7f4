// SPDX-License-Identifier: Apache-2.0
#include "analyze/decomposition/factors.h"

#include <cmath>

namespace chopper {
namespace {

// A factor of 0, or one that is no number, has no logarithm and explains nothing.
double usable(double value) { return std::isfinite(value) && value > 0 ? value : kNotMeasured; }

void set_counter_factors(const Sums& sums, const FactorRules& rules, double at_peak_ns, FactorValues& factors) {
  const Estimates estimates = estimates_of(sums);
  const double theory = sums[Sum::theory];
  if (rules.use_executed) factors[Factor::inst] = usable(estimates.executed / sums[Sum::work]);
  if (rules.bound == Bound::memory) {
    factors[Factor::util] = usable(at_peak_ns / (theory * factors[Factor::inst]));
    if (factors.has(Factor::util)) factors[Factor::rate] = 1;
    return;
  }
  if (rules.use_matrix) factors[Factor::util] = usable(1 / estimates.utilisation);
  factors[Factor::rate] = usable(at_peak_ns / (theory * factors[Factor::inst] * factors[Factor::util]));
}

void set_clock_factors(const Sums& sums, const FactorRules& rules, const AloneTimes& alone, FactorValues& factors) {
  if (rules.use_clock) factors[Factor::freq] = usable(alone.freq);
  if (!factors.has(Factor::freq)) {
    if (rules.use_regression) factors[Factor::contention] = usable(regressed_contention(sums));
    return;
  }
  if (rules.use_memory_clock) factors[Factor::mem_clock] = usable(alone.mem_clock);
  const double mem_clock = factors.has(Factor::mem_clock) ? factors[Factor::mem_clock] : 1;
  factors[Factor::contention] = usable(sums[Sum::duration] / (alone.at_peak_ns * factors[Factor::freq] * mem_clock));
}

}  // namespace

std::string_view name_of(Factor factor) {
  constexpr std::array<std::string_view, kNumFactors> kNames = {"inst", "util",      "rate",     "contention",
                                                                "freq", "mem_clock", "remainder"};
  return kNames[static_cast<std::size_t>(factor)];
}

std::string_view name_of(Evidence evidence) {
  switch (evidence) {
    case Evidence::absent:
      return "absent";
    case Evidence::counters:
      return "counters";
    case Evidence::definition:
      return "definition";
    case Evidence::clock_counter:
      return "clock_counter";
    case Evidence::telemetry:
      return "telemetry";
    case Evidence::window_mean:
      return "window_mean";
    case Evidence::fact:
      return "fact";
    case Evidence::regression:
      return "regression";
    case Evidence::remainder:
      return "remainder";
    case Evidence::bound_by_m:
      return "bound_by_m";
    case Evidence::medians:
      return "medians";
  }
  return "absent";
}

std::string_view name_of(Missing missing) {
  switch (missing) {
    case Missing::none:
      return "none";
    case Missing::no_theory:
      return "no_theory";
    case Missing::no_executed_work:
      return "no_executed_work";
    case Missing::no_matrix_cycles:
      return "no_matrix_cycles";
    case Missing::no_gpu_cycles:
      return "no_gpu_cycles";
    case Missing::no_pass_times:
      return "no_pass_times";
    case Missing::no_peak_clock:
      return "no_peak_clock";
    case Missing::few_matched:
      return "few_matched";
    case Missing::no_clock:
      return "no_clock";
    case Missing::few_clocks:
      return "few_clocks";
    case Missing::no_memory_clock:
      return "no_memory_clock";
    case Missing::unidentifiable:
      return "unidentifiable";
    case Missing::zero_value:
      return "zero_value";
    case Missing::few_iterations:
      return "few_iterations";
    case Missing::few_resamples:
      return "few_resamples";
    case Missing::not_in_mode:
      return "not_in_mode";
    case Missing::not_needed:
      return "not_needed";
  }
  return "none";
}

double FactorValues::product() const {
  double product = 1;
  for (const double value : values) product *= is_measured(value) ? value : 1;
  return product;
}

FactorValues factors_of(const Sums& sums, const FactorRules& rules) {
  FactorValues factors;
  if (!(sums[Sum::theory] > 0) || !(sums[Sum::duration] > 0)) return factors;
  AloneTimes alone;
  if (rules.use_cycles) alone = alone_times(sums, rules.f_peak_mhz, rules.m);
  set_counter_factors(sums, rules, alone.at_peak_ns, factors);
  set_clock_factors(sums, rules, alone, factors);
  // mem_clock may be absent: an unknown memory clock counts as unchanged, and what it did is in contention.
  for (const Factor needed : {Factor::inst, Factor::util, Factor::rate, Factor::contention, Factor::freq}) {
    if (factors.has(needed)) continue;
    factors[Factor::remainder] = sums[Sum::duration] / sums[Sum::theory] / factors.product();
    break;
  }
  return factors;
}

double regressed_slope(const Sums& sums) {
  const double slope = -sums[Sum::slope_xy] / (sums[Sum::slope_xx] - sums[Sum::slope_rxy]);
  return std::isfinite(slope) ? slope : kNotMeasured;
}

double regressed_contention(const Sums& sums) {
  return usable(1 / (1 - regressed_slope(sums) * sums[Sum::overlap] / sums[Sum::duration]));
}

double log_mean(double a, double b) {
  // log1p keeps its digits where a and b nearly agree.
  const double log_ratio = std::log1p((a - b) / b);
  return a == b || log_ratio == 0 ? a : (a - b) / log_ratio;
}

std::array<double, kNumFactors> additive_shares(double d_thr_ns, double d_act_ns, const FactorValues& factors) {
  std::array<double, kNumFactors> shares{};
  const double mean = log_mean(d_act_ns, d_thr_ns);
  for (std::size_t i = 0; i < kNumFactors; i++) {
    if (is_measured(factors.values[i])) shares[i] = mean * std::log(factors.values[i]);
  }
  return shares;
}

std::array<double, kNumFactors> sequential_shares(double d_thr_ns, const FactorValues& factors) {
  std::array<double, kNumFactors> shares{};
  double reached = d_thr_ns;
  for (std::size_t i = 0; i < kNumFactors; i++) {
    if (!is_measured(factors.values[i])) continue;
    shares[i] = reached * (factors.values[i] - 1);
    reached *= factors.values[i];
  }
  return shares;
}

}  // namespace chopper
