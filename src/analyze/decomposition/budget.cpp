// SPDX-License-Identifier: Apache-2.0
#include "analyze/decomposition/budget.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <numeric>

namespace chopper {
namespace {

constexpr double kLeastShare = 0.5;

// Estimators are ratios, so those of the operation apply to the theory time of the window as they are.
void take_from(const Sums& operation, std::initializer_list<Sum> values, Sums& window) {
  for (const Sum value : values) window[value] = operation[value];
}

void fill_from_operation(const Sums& operation, Sums& window) {
  const auto lacks = [&](Sum duration) { return window[duration] < kLeastShare * window[Sum::duration]; };
  if (lacks(Sum::executed_duration)) take_from(operation, {Sum::executed, Sum::executed_theory}, window);
  if (lacks(Sum::matrix_duration)) take_from(operation, {Sum::matrix_busy, Sum::matrix_capacity}, window);
  if (lacks(Sum::cycles_duration))
    take_from(operation, {Sum::cycles, Sum::cycles_theory, Sum::pass_time, Sum::pass_theory}, window);
  if (lacks(Sum::clock_duration)) {
    take_from(operation,
              {Sum::clock_duration, Sum::clock_cycles, Sum::clock_cycles_over_f, Sum::clock_rest_theory,
               Sum::clock_rest_theory_over_f, Sum::clock_pass_time, Sum::clock_pass_rest_theory},
              window);
  }
  if (lacks(Sum::memory_duration)) {
    take_from(operation,
              {Sum::memory_duration, Sum::memory_pass_time, Sum::memory_pass_time_g, Sum::memory_rest_theory,
               Sum::memory_rest_theory_g},
              window);
  }
  take_from(operation, {Sum::slope_xy, Sum::slope_xx, Sum::slope_rxy}, window);
}

// What fits a whole number of nanoseconds; times are far from the limit.
double finite(double value) { return std::isfinite(value) ? std::clamp(value, -4e18, 4e18) : 0; }

}  // namespace

double BudgetTerms::total_ns() const {
  return std::accumulate(factor_ns.begin(), factor_ns.end(), theory_ns + undecomposed_ns);
}

BudgetTerms budget_terms(std::span<const KernelSample> samples, const Decomposition& operation) {
  BudgetTerms terms;
  for (const KernelSample& s : samples)
    if (!has_theory(s)) terms.undecomposed_ns += s.weight * static_cast<double>(s.duration_ns);
  Sums sums;
  for (const KernelSample& s : usable_samples(samples)) add_sample(s, operation.bound, sums);
  const double d_thr = sums[Sum::theory], d_act = sums[Sum::duration];
  if (!(d_thr > 0) || !(d_act > 0)) {
    terms.undecomposed_ns += d_act;
    return terms;
  }
  fill_from_operation(operation.sums, sums);
  const FactorValues factors = factors_of(sums, operation.rules);
  terms.theory_ns = d_thr;
  terms.factor_ns = additive_shares(d_thr, d_act, factors);
  return terms;
}

std::vector<std::int64_t> round_to_sum(std::span<const double> terms, std::int64_t total) {
  std::vector<std::int64_t> rounded(terms.size());
  if (terms.empty()) return rounded;
  std::vector<std::size_t> order(terms.size());
  std::int64_t missing = total;
  for (std::size_t i = 0; i < terms.size(); i++) {
    rounded[i] = static_cast<std::int64_t>(std::floor(finite(terms[i])));
    missing -= rounded[i];
    order[i] = i;
  }
  const auto remainder = [&](std::size_t i) { return finite(terms[i]) - std::floor(finite(terms[i])); };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return remainder(a) > remainder(b); });
  // Terms that sum to the total leave 0 to size - 1; what else the caller's rounding left is spread evenly.
  const auto count = static_cast<std::int64_t>(terms.size());
  std::int64_t each = missing / count;
  if (missing % count < 0) each--;
  const std::int64_t more = missing - each * count;
  for (std::size_t i = 0; i < order.size(); i++)
    rounded[order[i]] += each + (static_cast<std::int64_t>(i) < more ? 1 : 0);
  return rounded;
}

double step_at_clock_ns(double window_ns, std::span<const OperationTime> operations, double f_mhz) {
  double step_ns = window_ns;
  for (const OperationTime& time : operations) {
    const FactorRules& rules = time.operation->rules;
    if (!rules.use_clock || !rules.use_cycles) continue;
    const double change = change_at_clock(time.operation->sums, rules.m, f_mhz);
    if (is_measured(change)) step_ns -= time.window_ns * (1 - change);
  }
  return step_ns;
}

}  // namespace chopper
