// SPDX-License-Identifier: Apache-2.0
#include "analyze/decomposition/decompose.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "analyze/decomposition/paper_mode.h"

namespace chopper {
namespace {

// A gpu of 1,000 FLOP/ns and 10 byte/ns at 2,000 MHz: a kernel of a million FLOPs takes 1,000 ns in theory.
constexpr double kPeakMhz = 2000, kFlopsByNs = 1000, kBytesByNs = 10;

// Executed 10 % more, matrix unit busy for 80 % of the cycles, contention 1.2, clock 1,600 MHz.
//   D_thr 1000; inst 1.1; util 1.25; C = 3,000 cycles: 1,500 ns at the peak clock, so rate = 1500 / 1375;
//   1,875 ns at 1,600 MHz; D_act = 2,250 ns.
KernelSample gemm(std::int32_t iteration = 0, std::int32_t layer = 0) {
  KernelSample s;
  s.iteration = iteration;
  s.layer = layer;
  s.start_ns = 10'000 * (iteration * 100 + layer);
  s.duration_ns = 2250;
  s.overlap_ns = 2250;
  s.collective = 1;
  s.flops = 1e6;
  s.compute_theory_ns = 1e6 / kFlopsByNs;
  s.bytes = 2000;
  s.memory_theory_ns = 2000 / kBytesByNs;
  s.executed_flops = 1.1e6;
  s.matrix_busy_cycles = 0.8 * 3000 * 16;
  s.matrix_cycles = 3000 * 16;
  s.gpu_cycles = 3000;
  s.pass_duration_ns = 3000 / 1.8;  // the pass ran at 1,800 MHz
  s.f_eff_mhz = 1600;
  return s;
}

DecompositionSettings with_clock() {
  return {.f_peak_mhz = kPeakMhz,
          .clock_source = ClockSource::fact,
          .m = {.value = 0, .low = 0, .high = 0, .source = ClockShareSource::fact, .clock_spread = 0},
          .key = 7};
}

void expect_closed(const Decomposition& result) {
  double product = 1, shares = 0;
  for (const FactorResult& factor : result.factors) {
    if (is_measured(factor.value)) product *= factor.value;
    shares += factor.share_ns;
  }
  EXPECT_NEAR(product / (result.d_act_ns / result.d_thr_ns), 1, 1e-12);
  EXPECT_NEAR(shares, result.d_act_ns - result.d_thr_ns, 1e-9 * result.d_act_ns);
}

TEST(Decompose, HandComputedNumbers) {
  const std::vector<KernelSample> samples = {gemm()};
  const Decomposition result = decompose(samples, with_clock());
  EXPECT_EQ(result.bound, Bound::compute);
  EXPECT_EQ(result.d_thr_ns, 1000);
  EXPECT_EQ(result.d_act_ns, 2250);
  EXPECT_NEAR(result[Factor::inst].value, 1.1, 1e-12);
  EXPECT_NEAR(result[Factor::util].value, 1.25, 1e-12);
  EXPECT_NEAR(result[Factor::rate].value, 1500 / 1375.0, 1e-12);
  EXPECT_NEAR(result[Factor::contention].value, 1.2, 1e-12);
  EXPECT_NEAR(result[Factor::freq].value, 1.25, 1e-12);
  EXPECT_EQ(result[Factor::mem_clock].missing, Missing::no_memory_clock);
  EXPECT_EQ(result[Factor::remainder].missing, Missing::not_needed);
  EXPECT_EQ(result[Factor::inst].evidence, Evidence::counters);
  EXPECT_EQ(result[Factor::freq].evidence, Evidence::fact);
  EXPECT_EQ(result[Factor::contention].evidence, Evidence::fact);
  EXPECT_TRUE(result.ranks_freq_and_contention);
  EXPECT_FALSE(result.split_refused);
  // L = 1250 / ln 2.25 = 1541.440 ns.
  EXPECT_NEAR(result[Factor::inst].share_ns, 146.9149, 1e-4);
  EXPECT_NEAR(result[Factor::contention].share_ns, 281.0377, 1e-4);
  expect_closed(result);
  // A single iteration has no spread.
  EXPECT_FALSE(is_measured(result[Factor::freq].low));
  EXPECT_EQ(result[Factor::freq].no_interval, Missing::few_iterations);
}

TEST(Decompose, SequentialSharesAreInTheOrderOfThePaper) {
  DecompositionSettings settings = with_clock();
  settings.sequential_shares = true;
  const Decomposition result = decompose(std::vector{gemm()}, settings);
  EXPECT_NEAR(result[Factor::inst].share_ns, 100, 1e-9);
  EXPECT_NEAR(result[Factor::util].share_ns, 275, 1e-9);
  EXPECT_NEAR(result[Factor::rate].share_ns, 125, 1e-9);
  EXPECT_NEAR(result[Factor::contention].share_ns, 300, 1e-9);
  EXPECT_NEAR(result[Factor::freq].share_ns, 450, 1e-9);
  expect_closed(result);
}

// paper.md 12.1: every instance overlapped, contention 1.18, 1,700 of 2,100 MHz.
std::vector<KernelSample> worked_example(bool with_clock) {
  std::vector<KernelSample> samples;
  for (std::int32_t layer = 0; layer < 32; layer++) {
    KernelSample s;
    s.layer = layer;
    s.start_ns = layer * 1'000'000;
    s.flops = 1e9;
    s.compute_theory_ns = 17'000;
    s.executed_flops = 1e9;
    s.matrix_busy_cycles = 35'700;
    s.matrix_cycles = 35'700;
    s.gpu_cycles = 35'700;  // 17 us at 2,100 MHz, 21 us at 1,700
    s.pass_duration_ns = 17'000;
    s.duration_ns = 24'780;  // 1.18 x 21 us
    s.overlap_ns = 24'780;
    s.collective = 0;
    if (with_clock) s.f_eff_mhz = 1700;
    samples.push_back(s);
  }
  return samples;
}

TEST(WorkedExample, PaperBooksContentionAsFrequency) {
  const PaperDecomposition paper = decompose_as_paper(worked_example(true), 0, 2100);
  EXPECT_EQ(paper.num_instances, 32u);
  EXPECT_DOUBLE_EQ(paper.factors[Factor::contention], 1.0);
  EXPECT_NEAR(paper.factors[Factor::freq], 1.4576, 1e-4);
  EXPECT_DOUBLE_EQ(paper.first_overlap_ratio, 1);  // D_0 is no time without overlap
}

TEST(WorkedExample, OursSeparatesThemByTheClock) {
  DecompositionSettings settings;
  settings.f_peak_mhz = 2100;
  settings.clock_source = ClockSource::fact;
  const Decomposition result = decompose(worked_example(true), settings);
  EXPECT_NEAR(result[Factor::contention].value, 1.18, 1e-9);
  EXPECT_NEAR(result[Factor::freq].value, 1.2353, 1e-4);
  EXPECT_FALSE(result.split_refused);
  // m is unknown: at m = 1 all of it would be contention.
  EXPECT_EQ(result[Factor::freq].evidence, Evidence::bound_by_m);
  EXPECT_NEAR(result[Factor::freq].m_low, 1, 1e-12);
  EXPECT_NEAR(result[Factor::freq].m_high, 2100 / 1700.0, 1e-12);
  EXPECT_NEAR(result[Factor::contention].m_low, 1.18, 1e-9);
  EXPECT_NEAR(result[Factor::contention].m_high, 24'780 / 17'000.0, 1e-9);
  EXPECT_FALSE(result.ranks_freq_and_contention);
  expect_closed(result);
}

TEST(WorkedExample, OursRefusesTheSplitWithoutAClock) {
  DecompositionSettings settings;
  settings.f_peak_mhz = 2100;
  const Decomposition result = decompose(worked_example(false), settings);
  EXPECT_TRUE(result.split_refused);
  EXPECT_EQ(result[Factor::contention].missing, Missing::unidentifiable);
  EXPECT_EQ(result[Factor::freq].missing, Missing::no_clock);
  EXPECT_NEAR(result[Factor::remainder].value, 24'780 / 17'000.0, 1e-12);
  EXPECT_EQ(result[Factor::remainder].evidence, Evidence::remainder);
  EXPECT_FALSE(result.check.identifiable);
  EXPECT_EQ(result.check.num_low, 0u);
  expect_closed(result);
}

// 10,000 bytes in 1,000 ns, whatever the core clock; C was counted at 1,800 MHz, the trace ran at 1,500.
KernelSample copy_kernel() {
  KernelSample s;
  s.duration_ns = 1375;
  s.flops = 1000;
  s.compute_theory_ns = 1;
  s.bytes = 10'000;
  s.memory_theory_ns = 1000;
  s.executed_bytes = 11'000;
  s.gpu_cycles = 1.8 * 1250;
  s.pass_duration_ns = 1250;
  s.f_eff_mhz = 1500;
  return s;
}

TEST(Decompose, BandwidthBoundIsNotChargedToFrequency) {
  // The same kernels in two passes: as many nanoseconds at both clocks.
  const std::vector<PassPoint> passes = {{0, 1.8 * 1250, 1250, 1000}, {0, 1.4 * 1250, 1250, 1000}};
  DecompositionSettings settings = with_clock();
  settings.m = fit_clock_share(passes, 1800);
  ASSERT_EQ(settings.m.source, ClockShareSource::passes);
  EXPECT_NEAR(settings.m.value, 1, 1e-9);
  const Decomposition result = decompose(std::vector{copy_kernel()}, settings);
  EXPECT_EQ(result.bound, Bound::memory);
  EXPECT_EQ(result.d_thr_ns, 1000);
  EXPECT_NEAR(result[Factor::inst].value, 1.1, 1e-12);
  EXPECT_NEAR(result[Factor::util].value, 1250 / 1100.0, 1e-9);
  EXPECT_EQ(result[Factor::rate].value, 1);
  EXPECT_EQ(result[Factor::rate].evidence, Evidence::definition);
  EXPECT_NEAR(result[Factor::freq].value, 1, 1e-9);
  EXPECT_NEAR(result[Factor::contention].value, 1.1, 1e-9);
  expect_closed(result);
}

TEST(Decompose, MemoryClockActsOnTheShareThatDoesNotFollowTheCore) {
  DecompositionSettings settings = with_clock();
  settings.m = {.value = 0.5, .low = 0.5, .high = 0.5, .source = ClockShareSource::fact, .clock_spread = 0};
  KernelSample s = gemm();
  s.g_ratio = 1.25;
  const Decomposition result = decompose(std::vector{s}, settings);
  const double pass = 3000 / 1.8;
  const double at_peak = 0.5 * 1500 + 0.5 * pass, at_clock = 0.5 * 1875 + 0.5 * pass;
  const double at_both = 0.5 * 1875 + 0.5 * pass * 1.25;
  EXPECT_NEAR(result[Factor::freq].value, at_clock / at_peak, 1e-12);
  EXPECT_NEAR(result[Factor::mem_clock].value, at_both / at_clock, 1e-12);
  EXPECT_NEAR(result[Factor::contention].value, 2250 / at_both, 1e-12);
  expect_closed(result);
}

// Half of the layers were not matched: their counters are those of the others by theory time, their clocks their own.
TEST(Decompose, CountersOfAPartAreScaledByTheory) {
  std::vector<KernelSample> samples = {gemm(0, 0), gemm(0, 1)};
  KernelSample large = gemm(0, 2);
  large.flops *= 2, large.compute_theory_ns *= 2, large.duration_ns = 5000, large.f_eff_mhz = 1500;
  large.executed_flops = large.gpu_cycles = large.pass_duration_ns = kNotMeasured;
  large.matrix_busy_cycles = large.matrix_cycles = kNotMeasured;
  samples.push_back(large);
  samples[1].duration_ns = 2750;  // half of the duration is measured
  const Decomposition result = decompose(samples, with_clock());
  EXPECT_EQ(result.num_with_counters, 2u);
  EXPECT_DOUBLE_EQ(result.counters_share, 0.5);
  EXPECT_NEAR(result[Factor::inst].value, 1.1, 1e-12);
  // C = 3,000 for each million FLOPs: 6,000 cycles at 1,600 MHz and 6,000 at 1,500.
  EXPECT_NEAR(result[Factor::freq].value, (3750 + 4000) / 6000.0, 1e-12);
  EXPECT_NEAR(result[Factor::contention].value, 10'000 / 7750.0, 1e-12);
  expect_closed(result);

  samples[1].duration_ns = 2700;
  const Decomposition less = decompose(samples, with_clock());
  EXPECT_EQ(less[Factor::inst].missing, Missing::few_matched);
  EXPECT_EQ(less[Factor::rate].missing, Missing::few_matched);
  EXPECT_EQ(less[Factor::freq].missing, Missing::few_matched);
  EXPECT_NEAR(less[Factor::remainder].value, less.d_act_ns / less.d_thr_ns, 1e-12);
}

TEST(Decompose, SaysWhatIsMissing) {
  KernelSample s = gemm();
  s.executed_flops = kNotMeasured;
  Decomposition result = decompose(std::vector{s}, with_clock());
  EXPECT_EQ(result[Factor::inst].missing, Missing::no_executed_work);
  EXPECT_EQ(result[Factor::rate].missing, Missing::no_executed_work);
  EXPECT_NEAR(result[Factor::util].value, 1.25, 1e-12);
  EXPECT_NEAR(result[Factor::remainder].value, 1500 / 1250.0, 1e-12);  // inst and rate together
  expect_closed(result);

  s = gemm();
  s.matrix_busy_cycles = kNotMeasured;
  result = decompose(std::vector{s}, with_clock());
  EXPECT_EQ(result[Factor::util].missing, Missing::no_matrix_cycles);
  EXPECT_EQ(result[Factor::rate].missing, Missing::no_matrix_cycles);
  expect_closed(result);

  s.matrix_busy_cycles = 0;
  result = decompose(std::vector{s}, with_clock());
  EXPECT_EQ(result[Factor::util].missing, Missing::zero_value);

  s = gemm();
  s.gpu_cycles = kNotMeasured;
  result = decompose(std::vector{s}, with_clock());
  EXPECT_EQ(result[Factor::rate].missing, Missing::no_gpu_cycles);
  EXPECT_EQ(result[Factor::contention].missing, Missing::no_gpu_cycles);
  EXPECT_EQ(result[Factor::freq].missing, Missing::no_gpu_cycles);
  expect_closed(result);

  DecompositionSettings settings = with_clock();
  settings.f_peak_mhz = kNotMeasured;
  result = decompose(std::vector{gemm()}, settings);
  EXPECT_EQ(result[Factor::freq].missing, Missing::no_peak_clock);
  expect_closed(result);

  settings = with_clock();
  settings.m = {.value = 0.3, .low = 0.2, .high = 0.4, .source = ClockShareSource::fact, .clock_spread = 0};
  s = gemm();
  s.pass_duration_ns = kNotMeasured;
  result = decompose(std::vector{s}, settings);
  EXPECT_EQ(result[Factor::freq].missing, Missing::no_pass_times);

  s = gemm();
  s.compute_theory_ns = s.memory_theory_ns = kNotMeasured;
  result = decompose(std::vector{s}, with_clock());
  EXPECT_EQ(result.num_without_theory, 1u);
  EXPECT_EQ(result.duration_without_theory_ns, 2250);
  for (const FactorResult& factor : result.factors) EXPECT_EQ(factor.missing, Missing::no_theory);
  EXPECT_TRUE(decompose({}, with_clock())[Factor::inst].missing == Missing::no_theory);
}

// Without pass times m cannot be anything but 0, and what it would change is open.
TEST(Decompose, WithoutPassTimesTheRangeIsOpen) {
  KernelSample s = gemm();
  s.pass_duration_ns = kNotMeasured;
  DecompositionSettings settings = with_clock();
  settings.m = {};
  const Decomposition result = decompose(std::vector{s}, settings);
  EXPECT_NEAR(result[Factor::freq].value, 1.25, 1e-12);
  EXPECT_FALSE(is_measured(result[Factor::freq].m_low));
  EXPECT_EQ(result[Factor::freq].evidence, Evidence::bound_by_m);
  EXPECT_FALSE(result.ranks_freq_and_contention);
  EXPECT_NEAR(result[Factor::inst].m_low, 1.1, 1e-12);
}

TEST(Decompose, KernelsThatOnlyHelpBelongToTheOperation) {
  KernelSample helper;
  helper.layer = 0;
  helper.start_ns = 5000;
  helper.duration_ns = 250;
  helper.compute_theory_ns = helper.flops = helper.executed_flops = 0;
  helper.gpu_cycles = 400;
  helper.pass_duration_ns = 200;
  helper.f_eff_mhz = 1600;
  const Decomposition result = decompose(std::vector{gemm(), helper}, with_clock());
  EXPECT_EQ(result.d_act_ns, 2500);
  EXPECT_EQ(result.d_thr_ns, 1000);
  EXPECT_NEAR(result[Factor::rate].value, 1700 / 1375.0, 1e-12);
  EXPECT_NEAR(result[Factor::contention].value, 2500 / (3400 / 1.6), 1e-12);
  EXPECT_EQ(result.num_instances, 1u);
}

// Unknown m, all passes at one clock, bound by memory: 2,000 cycles that take 1,000 ns at the peak clock and 2,000 ns
// at the clock of the run; the pass, at a low clock, 3,505.6 ns. freq falls from 2 to 1 and contention from 1.68 to
// 0.96: freq is the larger one at both ends of the range, and at 1/2 and 9/16, and not at 0.53.
TEST(Decompose, DoesNotRankWhatCrossesInsideTheRange) {
  KernelSample s;
  s.duration_ns = 3363;
  s.bytes = 10'000;
  s.memory_theory_ns = 1000;
  s.compute_theory_ns = 100;
  s.executed_bytes = 10'000;
  s.gpu_cycles = 2000;
  s.pass_duration_ns = 3505.6;
  s.f_eff_mhz = 1000;
  DecompositionSettings settings = with_clock();
  settings.m = {};
  Decomposition result = decompose(std::vector<KernelSample>{s}, settings);
  EXPECT_EQ(result.bound, Bound::memory);
  EXPECT_NEAR(result[Factor::freq].m_high, 2, 1e-12);
  EXPECT_NEAR(result[Factor::contention].m_high, 1.6815, 1e-12);
  EXPECT_FALSE(result.ranks_freq_and_contention);
  settings.m = {.value = 0.53, .low = 0.53, .high = 0.53, .source = ClockShareSource::fact, .clock_spread = 0};
  result = decompose(std::vector<KernelSample>{s}, settings);
  EXPECT_LT(result[Factor::freq].value, result[Factor::contention].value);
  EXPECT_TRUE(result.ranks_freq_and_contention);
  // A shorter kernel leaves contention the smaller one throughout.
  s.duration_ns = 3300;
  settings.m = {};
  EXPECT_TRUE(decompose(std::vector<KernelSample>{s}, settings).ranks_freq_and_contention);
}

}  // namespace
}  // namespace chopper
