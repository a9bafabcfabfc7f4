// SPDX-License-Identifier: Apache-2.0
#include "analyze/decomposition/contention.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "analyze/decomposition/decompose.h"
#include "support/simulated_operation.h"

namespace chopper {
namespace {

using test::OverlapPattern;
using test::SimulatedOperation;

Decomposition decomposed(const SimulatedOperation& job, std::uint64_t seed, ClockSource source = ClockSource::none) {
  DecompositionSettings settings;
  settings.f_peak_mhz = job.f_peak_mhz;
  settings.clock_source = source;
  settings.key = seed;
  settings.num_resamples = 200;
  return decompose(test::simulate(job, seed), settings);
}

TEST(Contention, NoiseFreeSlopeIsExact) {
  SimulatedOperation job;
  job.kernel_noise = job.iteration_noise = job.clock_noise = 0;
  // Cycles differ by instance; the regression without a clock sees them, those of one group are made equal here.
  std::vector<KernelSample> samples = test::simulate(job, 1);
  for (KernelSample& s : samples) {
    const double ratio = static_cast<double>(s.overlap_ns) / static_cast<double>(s.duration_ns);
    s.duration_ns = std::llround(1'000'000 * (1 + s.gpu + 10 * s.layer) / (1 - 0.2 * ratio));
    s.overlap_ns = std::llround(static_cast<double>(s.duration_ns) * ratio);
  }
  const ContentionRegression regression = regress_contention(usable_samples(samples), kNotMeasured, 0, false);
  EXPECT_TRUE(regression.check.identifiable);
  EXPECT_FALSE(regression.check.clock_adjusted);
  EXPECT_NEAR(regression.check.slope, 0.2, 1e-5);
}

// Overlapped kernels run at a lower clock: only with the clock that is not charged to contention.
TEST(Contention, IsAdjustedForTheClock) {
  SimulatedOperation job;
  job.kernel_noise = job.iteration_noise = job.clock_noise = 0;
  std::vector<KernelSample> samples = test::simulate(job, 1);
  for (KernelSample& s : samples) {
    const double ratio = static_cast<double>(s.overlap_ns) / static_cast<double>(s.duration_ns);
    s.f_eff_mhz = 1700 / (1 + 0.1 * ratio);
    s.duration_ns = std::llround(1'000'000 * (2000 / s.f_eff_mhz) / (1 - 0.2 * ratio));
    s.overlap_ns = std::llround(static_cast<double>(s.duration_ns) * ratio);
  }
  const std::vector<KernelSample> usable = usable_samples(samples);
  EXPECT_NEAR(regress_contention(usable, 2000, 0, true).check.slope, 0.2, 1e-5);
  EXPECT_GT(regress_contention(usable, 2000, 0, false).check.slope, 0.26);
}

TEST(Contention, VerdictIsRightBothWays) {
  int wrong = 0, runs = 0;
  for (std::uint64_t seed = 1; seed <= 40; seed++) {
    for (const OverlapPattern pattern : {OverlapPattern::mixed, OverlapPattern::all, OverlapPattern::none,
                                         OverlapPattern::by_gpu, OverlapPattern::by_layer, OverlapPattern::few}) {
      SimulatedOperation job;
      job.pattern = pattern;
      job.has_clock = false;
      const std::vector<KernelSample> samples = usable_samples(test::simulate(job, seed));
      const ContentionCheck check = regress_contention(samples, job.f_peak_mhz, 0, false).check;
      wrong += check.identifiable == (pattern == OverlapPattern::mixed) ? 0 : 1;
      runs++;
    }
  }
  EXPECT_EQ(wrong, 0) << "of " << runs;
}

TEST(Contention, TenInstancesOnEachSideAreEnough) {
  std::vector<KernelSample> samples;
  const auto add = [&](std::int32_t layer, double ratio, int count) {
    for (int i = 0; i < count; i++) {
      KernelSample s;
      s.layer = layer;
      s.iteration = static_cast<std::int32_t>(samples.size());
      s.compute_theory_ns = s.flops = 1000;
      s.duration_ns = 1000;
      s.overlap_ns = static_cast<std::int64_t>(1000 * ratio);
      s.collective = ratio > 0 ? 3 : kNone;
      samples.push_back(s);
    }
  };
  const auto check = [&] { return regress_contention(usable_samples(samples), kNotMeasured, 0, false).check; };
  add(0, 0.099, 10);
  add(0, 0.501, 9);
  add(0, 0.5, 5);   // not above 0.5
  add(0, 0.1, 5);   // not below 0.1
  add(1, 0.9, 20);  // a group without the other side
  EXPECT_FALSE(check().identifiable);
  EXPECT_EQ(check().num_low, 10u);
  EXPECT_EQ(check().num_high, 9u);
  EXPECT_EQ(check().num_groups, 1u);
  add(0, 1, 1);
  EXPECT_TRUE(check().identifiable);
  EXPECT_NEAR(check().slope, 0, 1e-12);
}

// Another collective is another group; instances without any overlap are compared with all.
TEST(Contention, KindsAreComparedApart) {
  std::vector<KernelSample> samples;
  const auto add = [&](std::int32_t kind, double ratio, int count) {
    for (int i = 0; i < count; i++) {
      KernelSample s;
      s.iteration = static_cast<std::int32_t>(samples.size());
      s.compute_theory_ns = s.flops = 1000;
      s.duration_ns = 1000;
      s.overlap_ns = static_cast<std::int64_t>(1000 * ratio);
      s.collective = kind;
      samples.push_back(s);
    }
  };
  const auto check = [&] { return regress_contention(usable_samples(samples), kNotMeasured, 0, false).check; };
  add(1, 0.05, 20);
  add(2, 0.9, 20);
  EXPECT_FALSE(check().identifiable);
  EXPECT_EQ(check().num_groups, 0u);
  add(kNone, 0, 10);
  EXPECT_TRUE(check().identifiable);
  EXPECT_EQ(check().num_low, 10u);
  EXPECT_EQ(check().num_high, 20u);
}

TEST(Contention, ReplacesTheClockWhereIdentifiable) {
  SimulatedOperation job;
  job.has_clock = false;
  const Decomposition result = decomposed(job, 3);
  EXPECT_FALSE(result.split_refused);
  EXPECT_EQ(result[Factor::contention].evidence, Evidence::regression);
  const double ratio = result.sums[Sum::overlap] / result.sums[Sum::duration];
  EXPECT_NEAR(result[Factor::contention].value, 1 / (1 - 0.2 * ratio), 0.02);
  EXPECT_EQ(result[Factor::freq].missing, Missing::no_clock);
  EXPECT_NEAR(result[Factor::remainder].value, 2000 / 1700.0, 0.02);  // the clock, under its neutral name
  EXPECT_LT(result[Factor::contention].low, result[Factor::contention].value);
}

TEST(Contention, ChecksWhatClocksGive) {
  const Decomposition result = decomposed({}, 5, ClockSource::telemetry);
  EXPECT_EQ(result[Factor::contention].evidence, Evidence::bound_by_m);
  EXPECT_TRUE(result.check.clock_adjusted);
  EXPECT_NEAR(result.check.contention, result[Factor::contention].value, 0.02);
  EXPECT_LT(result.check.contention_low, result.check.contention);
  EXPECT_GT(result.check.contention_high, result.check.contention);
  EXPECT_LT(result.check.slope_low, 0.2);
  EXPECT_GT(result.check.slope_high, 0.2);
}

// Gpus whose kernels are slower, and overlapped less: within gpus the slope is right, between them it is not.
TEST(Contention, BetweenGpusIsApart) {
  SimulatedOperation job;
  job.kernel_noise = job.iteration_noise = job.clock_noise = 0;
  std::vector<KernelSample> samples = test::simulate(job, 1);
  for (KernelSample& s : samples) {
    double ratio = static_cast<double>(s.overlap_ns) / static_cast<double>(s.duration_ns);
    if (s.gpu == 0 && ratio == 1) ratio = 0;
    s.duration_ns = std::llround(1'000'000 * (s.gpu == 0 ? 1.5 : 1) / (1 - 0.2 * ratio));
    s.overlap_ns = std::llround(static_cast<double>(s.duration_ns) * ratio);
  }
  const ContentionCheck check = regress_contention(usable_samples(samples), kNotMeasured, 0, false).check;
  EXPECT_NEAR(check.slope, 0.2, 1e-5);
  EXPECT_LT(check.between_gpu_slope, 0);
}

}  // namespace
}  // namespace chopper
