// SPDX-License-Identifier: Apache-2.0
#include "analyze/decomposition/factor_order.h"

#include <array>
#include <cmath>

namespace chopper {
namespace {

// A smaller difference is rounding of the sums.
constexpr double kSame = 1e-12;

// freq = A / B and contention = D / (P (A / B) (G / A)), with A, B, G, P linear in m: freq is the larger one where
// A G P - D B^2, a cubic in m, is above 0.
double excess_of_freq(const Sums& sums, const FactorRules& rules, double m) {
  const AloneTimes alone = alone_times(sums, rules.f_peak_mhz, m);
  const double a = alone.clocked_ns, b = alone.clocked_at_peak_ns;
  const double g = rules.use_memory_clock && is_measured(alone.mem_clock) ? alone.mem_clock * a : a;
  const double for_contention = sums[Sum::duration] * b * b;
  const double excess = a * g * alone.at_peak_ns - for_contention;
  return std::abs(excess) <= kSame * for_contention ? 0 : excess;
}

// Where the cubic through values at 0, 1/3, 2/3 and 1 has its extremes; NaN for those it has not.
std::array<double, 2> extremes_of_cubic(const std::array<double, 4>& y) {
  // In u = 3 t, by forward differences: y0 + d1 u + d2 u (u - 1) / 2 + d3 u (u - 1) (u - 2) / 6.
  const double d1 = y[1] - y[0], d2 = y[2] - 2 * y[1] + y[0], d3 = y[3] - 3 * y[2] + 3 * y[1] - y[0];
  const double a = d3 / 2, b = d2 - d3, c = d1 - d2 / 2 + d3 / 3;
  // a u^2 + b u + c = 0, without cancellation, and for a = 0 too.
  const double q = -(b + std::copysign(std::sqrt(b * b - 4 * a * c), b)) / 2;
  return {q / a / 3, c / q / 3};
}

}  // namespace

bool keeps_order_of_freq_and_contention(const Sums& sums, const FactorRules& rules, double m_low, double m_high) {
  const auto at = [&](double t) { return excess_of_freq(sums, rules, m_low + (m_high - m_low) * t); };
  const std::array<double, 4> values = {at(0), at(1 / 3.0), at(2 / 3.0), at(1)};
  bool freq_is_larger = false, contention_is_larger = false;
  const auto look_at = [&](double excess) {
    freq_is_larger = freq_is_larger || excess > 0;
    contention_is_larger = contention_is_larger || excess < 0;
  };
  for (const double value : values) {
    if (!is_measured(value)) return false;
    look_at(value);
  }
  for (const double t : extremes_of_cubic(values))
    if (t > 0 && t < 1) look_at(at(t));
  return !(freq_is_larger && contention_is_larger);
}

}  // namespace chopper
