// SPDX-License-Identifier: Apache-2.0
#include "analyze/decomposition/bootstrap.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "analyze/decomposition/decompose.h"
#include "support/simulated_operation.h"

namespace chopper {
namespace {

using test::SimulatedOperation;

TEST(Bootstrap, StudentsQuantiles) {
  EXPECT_NEAR(student_quantile(1), 12.706, 1e-3);
  EXPECT_NEAR(student_quantile(4), 2.776, 1e-3);
  EXPECT_NEAR(student_quantile(9), 2.262, 1e-3);
  EXPECT_NEAR(student_quantile(10), 2.228, 1e-3);
  EXPECT_NEAR(student_quantile(19), 2.093, 1e-3);
  EXPECT_NEAR(student_quantile(60), 2.000, 1e-3);
  EXPECT_NEAR(student_quantile(2.5), 3.575, 0.03);  // between those of 2 and 3
  EXPECT_NEAR(student_quantile(1e9), 1.960, 1e-3);
}

TEST(Bootstrap, BlocksGrowWithTheCubeRoot) {
  EXPECT_EQ(block_length_of(1), 1u);
  EXPECT_EQ(block_length_of(7), 1u);
  EXPECT_EQ(block_length_of(8), 2u);
  EXPECT_EQ(block_length_of(26), 2u);
  EXPECT_EQ(block_length_of(27), 3u);
  EXPECT_EQ(block_length_of(1000), 10u);
  EXPECT_EQ(interval_stretch(1, 1), 0);
  EXPECT_NEAR(interval_stretch(5, 1), 2.776 * std::sqrt(5 / 4.0), 1e-3);
}

// Of a mean the bootstrap is Student's interval: values 8, 9, 10, 11, 12, standard error of the mean 1 / sqrt 2.
TEST(Bootstrap, IsStudentsIntervalOfAMean) {
  std::vector<Sums> iterations(5);
  for (std::size_t i = 0; i < 5; i++) {
    iterations[i][Sum::duration] = 8 + static_cast<double>(i);
    iterations[i][Sum::theory] = iterations[i][Sum::work] = 1;
  }
  const BootstrapSpread spread = bootstrap(iterations, {}, 20'000, 1);
  const double error = spread.log_error[static_cast<std::size_t>(Factor::remainder)];
  EXPECT_NEAR(interval_stretch(5, 1) * error, 2.776 * std::sqrt(0.5) / 10, 0.005);
  EXPECT_FALSE(is_measured(spread.log_error[0]));
}

TEST(Bootstrap, TheSameKeyGivesTheSame) {
  const std::vector<KernelSample> samples = test::simulate({}, 1);
  DecompositionSettings settings;
  settings.f_peak_mhz = 2000;
  settings.clock_source = ClockSource::fact;
  settings.key = 11;
  const auto low = [&] { return decompose(samples, settings)[Factor::contention].low; };
  const double first = low();
  EXPECT_EQ(low(), first);
  settings.key = 12;
  EXPECT_NE(low(), first);
  EXPECT_NEAR(low(), first, 0.01);
}

// An iteration that alone has the counters tells nothing of their spread; of three in a row among 26, one resample of
// nine has none.
TEST(Bootstrap, NeedsCountersInSeveralIterations) {
  SimulatedOperation job;
  job.num_iterations = 26;
  std::vector<KernelSample> samples = test::simulate(job, 1);
  DecompositionSettings settings;
  settings.f_peak_mhz = 2000;
  settings.clock_source = ClockSource::fact;
  for (KernelSample& s : samples) {
    if (s.iteration == 0) s.duration_ns *= 80;
    if (s.iteration > 0) s.executed_flops = kNotMeasured;
  }
  const Decomposition result = decompose(samples, settings);
  EXPECT_EQ(result[Factor::inst].no_interval, Missing::few_iterations);
  EXPECT_FALSE(is_measured(result[Factor::inst].low));
  EXPECT_TRUE(is_measured(result[Factor::util].low));
  for (KernelSample& s : samples)
    if (s.iteration == 1 || s.iteration == 2) s.executed_flops = 1.1e12;
  EXPECT_EQ(decompose(samples, settings)[Factor::inst].no_interval, Missing::few_resamples);
}

// ln(freq) at the ends of the range of m is added in squares; what does not rest on m stays.
TEST(Bootstrap, AFittedShareWidensTheIntervals) {
  const std::vector<KernelSample> samples = test::simulate({}, 1);
  DecompositionSettings settings;
  settings.f_peak_mhz = 2000;
  settings.clock_source = ClockSource::fact;
  settings.m = {.value = 0.3, .low = 0.3, .high = 0.3, .source = ClockShareSource::passes, .clock_spread = 0.1};
  const Decomposition certain = decompose(samples, settings);
  settings.m.low = 0.1, settings.m.high = 0.5;
  const Decomposition fitted = decompose(samples, settings);
  const FactorResult &freq = fitted[Factor::freq], &alone = certain[Factor::freq];
  EXPECT_EQ(freq.value, alone.value);
  EXPECT_EQ(freq.evidence, Evidence::fact);
  EXPECT_NEAR(std::log(freq.value / freq.low),
              std::hypot(std::log(alone.value / alone.low), std::log(freq.value / freq.m_low)), 1e-12);
  EXPECT_NEAR(std::log(freq.high / freq.value),
              std::hypot(std::log(alone.high / alone.value), std::log(freq.m_high / freq.value)), 1e-12);
  EXPECT_LT(freq.m_low, freq.value);
  EXPECT_EQ(fitted[Factor::util].low, certain[Factor::util].low);
}

struct Coverage {
  int inst = 0, util = 0, contention = 0, freq = 0, slope = 0;
};

double mean_slowdown(double slope) { return 0.3 + 0.3 / (1 - slope) + 0.4 * -std::log(1 - slope) / slope; }

Coverage coverage_of(const SimulatedOperation& job, int num_seeds) {
  Coverage coverage;
  const double freq = job.f_peak_mhz / job.f_eff_mhz * (1 + job.clock_noise * job.clock_noise);
  for (int seed = 1; seed <= num_seeds; seed++) {
    DecompositionSettings settings;
    settings.f_peak_mhz = job.f_peak_mhz;
    settings.clock_source = ClockSource::fact;
    settings.m = {.value = 0, .low = 0, .high = 0, .source = ClockShareSource::fact, .clock_spread = 0};
    settings.key = static_cast<std::uint64_t>(seed);
    const auto samples = test::simulate(job, static_cast<std::uint64_t>(seed));
    const Decomposition result = decompose(samples, settings);
    const auto covers = [](const FactorResult& factor, double truth) {
      return factor.low <= truth && truth <= factor.high ? 1 : 0;
    };
    coverage.inst += covers(result[Factor::inst], job.inst);
    coverage.util += covers(result[Factor::util], 1 / job.utilisation);
    coverage.contention += covers(result[Factor::contention], mean_slowdown(job.slope));
    coverage.freq += covers(result[Factor::freq], freq);
    coverage.slope += result.check.slope_low <= job.slope && job.slope <= result.check.slope_high ? 1 : 0;
  }
  return coverage;
}

// CHOPPER_COVERAGE_SEEDS=5000 gives the figures of docs/reference/decomposition.md, 6.
TEST(Bootstrap, IntervalsCoverTheTruth) {
  const char* setting = std::getenv("CHOPPER_COVERAGE_SEEDS");
  const int seeds = setting == nullptr ? 400 : std::stoi(setting);
  for (const double memory : {0.0, 0.3}) {
    for (const std::int32_t iterations : {5, 8, 10, 15, 20}) {
      SimulatedOperation job;
      job.num_gpus = 4, job.num_layers = 4;
      job.num_iterations = iterations;
      job.iteration_memory = memory;
      const Coverage coverage = coverage_of(job, seeds);
      const std::array<int, 5> counts = {coverage.inst, coverage.util, coverage.contention, coverage.freq,
                                         coverage.slope};
      if (setting != nullptr) {
        std::string line;
        for (const int count : counts) line += " " + std::to_string(100.0 * count / seeds).substr(0, 5);
        std::printf("memory %.1f iterations %2d: inst util contention freq slope %%:%s\n", memory, iterations,
                    line.c_str());
      }
      for (const int count : counts) {
        EXPECT_GE(count * 100, 90 * seeds) << iterations << " iterations, memory " << memory;
        EXPECT_LE(count * 100, 98 * seeds) << iterations << " iterations, memory " << memory;
      }
    }
  }
}

}  // namespace
}  // namespace chopper
