// SPDX-License-Identifier: Apache-2.0
#include "analyze/decomposition/budget.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "analyze/decomposition/roofline.h"

namespace chopper {
namespace {

// 1,000 ns of theory, 1,500 ns alone at 2,000 MHz, 1,875 ns at 1,600, 2,250 ns in the trace.
KernelSample gemm() {
  KernelSample s;
  s.duration_ns = 2250;
  s.flops = 1e6;
  s.compute_theory_ns = 1000;
  s.executed_flops = 1.1e6;
  s.matrix_busy_cycles = 2400;
  s.matrix_cycles = 3000;
  s.gpu_cycles = 3000;
  s.f_eff_mhz = 1600;
  return s;
}

Decomposition operation() {
  DecompositionSettings settings;
  settings.f_peak_mhz = 2000;
  settings.clock_source = ClockSource::fact;
  return decompose(std::vector{gemm()}, settings);
}

double term(const BudgetTerms& terms, Factor factor) { return terms.factor_ns[static_cast<std::size_t>(factor)]; }

TEST(Budget, TermsScaleWithTheShareOfTime) {
  KernelSample half = gemm();
  half.weight = window_weight(1125, half.duration_ns);
  const BudgetTerms terms = budget_terms(std::vector{half, gemm()}, operation());
  EXPECT_NEAR(terms.theory_ns, 1500, 1e-9);
  EXPECT_NEAR(terms.total_ns(), 3375, 1e-9);
  const double mean = 1875 / std::log(2.25);
  EXPECT_NEAR(term(terms, Factor::inst), mean * std::log(1.1), 1e-9);
  EXPECT_NEAR(term(terms, Factor::util), mean * std::log(1.25), 1e-9);
  EXPECT_NEAR(term(terms, Factor::contention), mean * std::log(1.2), 1e-9);
  EXPECT_NEAR(term(terms, Factor::freq), mean * std::log(1.25), 1e-9);
  EXPECT_EQ(term(terms, Factor::remainder), 0);
}

// Counters and clock of the operation, duration of the window: 2,700 ns instead of 2,250 are contention.
TEST(Budget, AWindowWithoutCountersHasThoseOfTheOperation) {
  KernelSample s = gemm();
  s.executed_flops = s.matrix_cycles = s.gpu_cycles = s.f_eff_mhz = kNotMeasured;
  s.duration_ns = 2700;
  const BudgetTerms terms = budget_terms(std::vector{s}, operation());
  const double mean = 1700 / std::log(2.7);
  EXPECT_NEAR(term(terms, Factor::freq), mean * std::log(1.25), 1e-9);
  EXPECT_NEAR(term(terms, Factor::contention), mean * std::log(1.44), 1e-9);
  EXPECT_NEAR(terms.total_ns(), 2700, 1e-9);
}

TEST(Budget, WhatHasNoTheoryIsUndecomposed) {
  KernelSample s = gemm(), zero = gemm();
  s.compute_theory_ns = kNotMeasured;
  BudgetTerms terms = budget_terms(std::vector{s, gemm()}, operation());
  EXPECT_EQ(terms.undecomposed_ns, 2250);
  EXPECT_NEAR(terms.total_ns(), 4500, 1e-9);
  zero.compute_theory_ns = 0;
  terms = budget_terms(std::vector{zero}, operation());
  EXPECT_EQ(terms.undecomposed_ns, 2250);
  EXPECT_EQ(terms.total_ns(), 2250);
  EXPECT_EQ(budget_terms({}, operation()).total_ns(), 0);
  EXPECT_EQ(window_weight(5, 0), 0);
}

TEST(Budget, RoundingKeepsTheSum) {
  using Numbers = std::vector<std::int64_t>;
  EXPECT_EQ(round_to_sum(std::vector{1.5, 2.5, 3.0}, 7), (Numbers{2, 2, 3}));
  EXPECT_EQ(round_to_sum(std::vector{-0.25, 10.25}, 10), (Numbers{0, 10}));
  EXPECT_EQ(round_to_sum(std::vector{0.4, 0.3, 0.3}, 1), (Numbers{1, 0, 0}));
  EXPECT_EQ(round_to_sum(std::vector{3.9999999, 4.0000001}, 8), (Numbers{4, 4}));
  EXPECT_EQ(round_to_sum(std::vector{1.0, 1.0}, 7), (Numbers{4, 3}));  // not what is asked for, and still the sum
  EXPECT_EQ(round_to_sum(std::vector{1.0, 1.0}, -1), (Numbers{0, -1}));
  EXPECT_TRUE(round_to_sum({}, 0).empty());
}

TEST(Budget, StepsWithoutOneCost) {
  EXPECT_EQ(step_without_exposed_comm_ns(10'000, 700, 300), 9000);
  EXPECT_EQ(step_without_launch_gaps_ns(10'000, 40, 60), 9900);
  const Decomposition gemms = operation();
  DecompositionSettings settings;
  settings.f_peak_mhz = 2000;
  const Decomposition unknown = decompose(std::vector{gemm()}, settings);  // no clock
  const std::vector<OperationTime> times = {{4500, &gemms}, {1000, &unknown}};
  EXPECT_NEAR(step_at_clock_ns(10'000, times, 2000), 10'000 - 4500 * 0.2, 1e-9);
  EXPECT_NEAR(step_at_clock_ns(10'000, times, 1600), 10'000, 1e-9);
  EXPECT_NEAR(step_at_clock_ns(10'000, times, 1280), 10'000 + 4500 * 0.25, 1e-9);
}

TEST(RooflineOf, LiesUnderTheLowerRoof) {
  KernelSample s;
  s.duration_ns = 2000;
  s.flops = 1e6;
  s.compute_theory_ns = 500;  // 2 TFLOP/s
  s.bytes = 1e5;
  s.memory_theory_ns = 1000;  // 100 GB/s
  s.executed_flops = 1.2e6;
  s.executed_bytes = 3e5;
  KernelSample uncounted = s;
  uncounted.executed_bytes = kNotMeasured;
  const Roofline roofline = roofline_of(std::vector{s, uncounted});
  EXPECT_NEAR(roofline.peak_tflops, 2, 1e-12);
  EXPECT_NEAR(roofline.peak_gbps, 100, 1e-12);
  EXPECT_NEAR(roofline.algorithmic.intensity, 10, 1e-12);
  EXPECT_NEAR(roofline.algorithmic.attainable_tflops, 1, 1e-12);
  EXPECT_NEAR(roofline.algorithmic.achieved_tflops, 0.5, 1e-12);
  EXPECT_NEAR(roofline.algorithmic.achieved_gbps, 50, 1e-12);
  EXPECT_NEAR(roofline.executed.intensity, 4, 1e-12);
  EXPECT_NEAR(roofline.executed.attainable_tflops, 0.4, 1e-12);
  EXPECT_NEAR(roofline.executed.achieved_tflops, 0.6, 1e-12);
  EXPECT_NEAR(roofline.executed.achieved_gbps, 150, 1e-12);
  EXPECT_FALSE(is_measured(roofline_of({}).algorithmic.intensity));
}

}  // namespace
}  // namespace chopper
