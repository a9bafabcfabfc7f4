// SPDX-License-Identifier: Apache-2.0
#include "analyze/decomposition/clock_share.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "support/random.h"

namespace chopper {
namespace {

// A pass in which kernels with 1,000 ns of theory take 2,000 ns at 2,000 MHz, of which `m` does not follow the clock.
PassPoint pass_at(double mhz, double m, std::int32_t gpu = 0, double factor = 1) {
  const double duration = factor * 2000 * ((1 - m) * 2000 / mhz + m);
  return {gpu, duration * mhz / 1000, duration, 1000};
}

TEST(ClockShare, TwoClocksGiveTheShare) {
  for (const double m : {0.0, 0.25, 0.6, 1.0}) {
    const ClockShare share = fit_clock_share(std::vector{pass_at(2000, m), pass_at(1500, m)}, 2000);
    EXPECT_EQ(share.source, ClockShareSource::passes);
    EXPECT_NEAR(share.value, m, 1e-12);
    EXPECT_LE(share.low, m + 1e-12);
    EXPECT_GE(share.high, m - 1e-12);
    EXPECT_NEAR(share.clock_spread, 1 / 3.0, 1e-12);
  }
}

// 1,000 ns do not follow the clock: half of the time at 2,000 MHz, three sevenths at 1,500.
TEST(ClockShare, IsThatAtTheClockOfTheCycles) {
  const std::vector<PassPoint> passes = {pass_at(2000, 0.5), pass_at(1500, 0.5)};
  EXPECT_NEAR(fit_clock_share(passes, 2000).value, 0.5, 1e-12);
  EXPECT_NEAR(fit_clock_share(passes, 1500).value, 3 / 7.0, 1e-12);
  EXPECT_NEAR(clock_share_at(0.5, 2000, 1500), 3 / 7.0, 1e-12);
  EXPECT_NEAR(clock_share_at(3 / 7.0, 1500, 2000), 0.5, 1e-12);
}

TEST(ClockShare, OneClockSaysNothing) {
  EXPECT_EQ(fit_clock_share(std::vector{pass_at(2000, 0.5), pass_at(1910, 0.5)}, 2000).source,
            ClockShareSource::unknown);
  EXPECT_EQ(fit_clock_share(std::vector{pass_at(2000, 0.5), pass_at(1900, 0.5)}, 2000).source,
            ClockShareSource::passes);
  const ClockShare none = fit_clock_share({}, 2000);
  EXPECT_EQ(none.source, ClockShareSource::unknown);
  EXPECT_EQ(none.value, 0);
  EXPECT_EQ(none.low, 0);
  EXPECT_EQ(none.high, 1);
  // Gpus at different clocks differ in more than the clock.
  EXPECT_EQ(fit_clock_share(std::vector{pass_at(2000, 0.5, 0), pass_at(1500, 0.5, 1)}, 2000).source,
            ClockShareSource::unknown);
  // What has no cycles, time or theory is no point.
  EXPECT_EQ(fit_clock_share(std::vector{pass_at(2000, 0.5), {0, 0, 1000, 1000}, {0, 1, 1, 0}}, 2000).source,
            ClockShareSource::unknown);
}

TEST(ClockShare, GpusHaveTheirOwnLevel) {
  const std::vector<PassPoint> passes = {pass_at(2000, 0.4, 0, 1.0), pass_at(1600, 0.4, 0, 1.0),
                                         pass_at(1900, 0.4, 1, 1.3), pass_at(1500, 0.4, 1, 1.3)};
  EXPECT_NEAR(fit_clock_share(passes, 2000).value, 0.4, 1e-12);
}

TEST(ClockShare, RangeCoversTheTruth) {
  int covered = 0;
  constexpr int kRuns = 400;
  for (std::uint64_t seed = 1; seed <= kRuns; seed++) {
    test::Random random(seed);
    std::vector<PassPoint> passes;
    for (std::int32_t gpu = 0; gpu < 2; gpu++) {
      for (const double mhz : {2000.0, 1900.0, 1700.0, 1600.0}) {
        // About normal: the sum of twelve.
        double noise = -6;
        for (int i = 0; i < 12; i++) noise += static_cast<double>(random.below(1'000'000)) * 1e-6;
        PassPoint point = pass_at(mhz, 0.5, gpu, 1 + 0.01 * noise);
        point.cycles = point.duration_ns * mhz / 1000;
        passes.push_back(point);
      }
    }
    const ClockShare share = fit_clock_share(passes, 2000);
    covered += share.low <= 0.5 && 0.5 <= share.high ? 1 : 0;
  }
  EXPECT_GE(covered, kRuns * 92 / 100);
  EXPECT_LE(covered, kRuns * 98 / 100);
}

}  // namespace
}  // namespace chopper
