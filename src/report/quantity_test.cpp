// SPDX-License-Identifier: Apache-2.0
#include "report/quantity.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "report/utf8.h"

namespace chopper {
namespace {

TEST(Quantity, DurationsHaveASensibleUnit) {
  EXPECT_EQ(duration_text(0), "0 ns");
  EXPECT_EQ(duration_text(999), "999 ns");
  EXPECT_EQ(duration_text(1234), "1.2 us");
  EXPECT_EQ(duration_text(999999), "1.0 ms");
  EXPECT_EQ(duration_text(612.4e6), "612.4 ms");
  EXPECT_EQ(duration_text(12.3456e9), "12.346 s");
  EXPECT_EQ(duration_text(999e9), "999.000 s");
}

TEST(Quantity, LongDurationsAreNotInSeconds) {
  constexpr double kHour = 3600e9;
  EXPECT_EQ(duration_text(1000e9), "16.7 min");
  EXPECT_EQ(duration_text(1.5 * kHour), "90.0 min");
  EXPECT_EQ(duration_text(2 * kHour), "2.0 h");
  EXPECT_EQ(duration_text(47.5 * kHour), "47.5 h");
  EXPECT_EQ(duration_text(900000e9), "10.4 d");
  const auto shown = [](double ns) {
    const TimeScale scale = scale_for(ns);
    return scale.text(std::llround(ns / scale.step_ns));
  };
  EXPECT_EQ(shown(10.7e3), "10.70 us");
  EXPECT_EQ(shown(10.7e6), "10.70 ms");
  EXPECT_EQ(shown(100.7e6), "100.7 ms");
  EXPECT_EQ(shown(999e9), "999.000 s");
  EXPECT_EQ(shown(1000e9), "16.67 min");
  EXPECT_EQ(shown(2.25 * kHour), "2.250 h");
  EXPECT_EQ(shown(900000e9), "10.417 d");
}

TEST(Quantity, CountsAndBytes) {
  EXPECT_EQ(count_text(0), "0");
  EXPECT_EQ(count_text(13377), "13,377");
  EXPECT_EQ(count_text(1000000), "1,000,000");
  EXPECT_EQ(counted(1, "rank"), "1 rank");
  EXPECT_EQ(counted(1200, "rank"), "1,200 ranks");
  EXPECT_EQ(bytes_text(512), "512 B");
  EXPECT_EQ(bytes_text(2.1e9), "2.1 GB");
}

TEST(Quantity, SharesNeverReadAsAllOrNothingWhenTheyAreNot) {
  EXPECT_EQ(share_text(1), "100.0 %");
  EXPECT_EQ(share_text(0.99999), "99.99 %");
  EXPECT_EQ(share_text(0.9998), "99.98 %");
  EXPECT_EQ(share_text(0.796), "79.6 %");
  EXPECT_EQ(share_text(0.0004), "0.04 %");
  EXPECT_EQ(share_text(0.00001), "<0.01 %");
  EXPECT_EQ(share_text(0), "0.0 %");
}

TEST(Quantity, RoundedPartsAddUp) {
  const std::vector<double> thirds = {1, 1, 1, 0};
  EXPECT_EQ(round_parts(thirds, 3, 1000), (std::vector<std::int64_t>{334, 333, 333, 0}));
  EXPECT_EQ(round_parts({0, 0}, 0, 1000), (std::vector<std::int64_t>{0, 0}));
  // The largest rests are rounded up.
  EXPECT_EQ(round_parts({627.99, 30.525, 341.485}, 1000, 1000), (std::vector<std::int64_t>{628, 31, 341}));
  EXPECT_EQ(round_parts({627.5, 30.4, 342.1}, 1000, 1000), (std::vector<std::int64_t>{628, 30, 342}));
  const std::vector<double> uneven = {0.1, 7.77, 3.14159, 88.2, 1e-9, 0.3};
  const std::vector<std::int64_t> rounded =
      round_parts(uneven, std::accumulate(uneven.begin(), uneven.end(), 0.0), 1000);
  EXPECT_EQ(std::accumulate(rounded.begin(), rounded.end(), std::int64_t{0}), 1000);
}

TEST(Utf8, CutsAtCodePointsAndTamesControls) {
  EXPECT_EQ(cut_end("abcdefgh", 6), "abc...");
  EXPECT_EQ(cut_end("abc", 6), "abc");
  EXPECT_EQ(cut_end("\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9", 4), "\xC3\xA9...");
  EXPECT_EQ(cut_middle("/long/path/to/file", 12), "/lo...o/file");
  EXPECT_EQ(printable("a\x1b[31m\nb\xC2\x9B"), "a?[31m?b?");
}

}  // namespace
}  // namespace chopper
