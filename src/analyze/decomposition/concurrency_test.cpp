// SPDX-License-Identifier: Apache-2.0
#include "analyze/decomposition/concurrency.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

namespace chopper {
namespace {

using Weights = std::vector<WindowWeight>;

TEST(ConcurrencyWeights, ShareTimeEqually) {
  // The drawing of the header.
  EXPECT_EQ(concurrency_weights(std::vector<Interval>{{0, 6}, {2, 8}}, std::vector<std::int64_t>{0, 10}),
            (Weights{{0, 0, 4}, {0, 1, 4}}));
  EXPECT_EQ(concurrency_weights(std::vector<Interval>{{0, 6}, {10, 12}}, std::vector<std::int64_t>{0, 20}),
            (Weights{{0, 0, 6}, {0, 1, 2}}));
  // Ends are open: the second begins where the first ends.
  EXPECT_EQ(concurrency_weights(std::vector<Interval>{{0, 6}, {6, 7}}, std::vector<std::int64_t>{0, 20}),
            (Weights{{0, 0, 6}, {0, 1, 1}}));
}

// [10, 12) beside [-5, 25): half of a nanosecond each in both windows; the first of equals gets the whole one.
TEST(ConcurrencyWeights, AreClippedToWindows) {
  const std::vector<Interval> kernels = {{-5, 25}, {10, 12}, {14, 14}, {30, 40}};
  EXPECT_EQ(concurrency_weights(kernels, std::vector<std::int64_t>{0, 11, 11, 20}),
            (Weights{{0, 0, 11}, {0, 1, 0}, {2, 0, 9}, {2, 1, 0}}));
}

// Thirds: whole nanoseconds by largest remainder, of equal ones the first.
TEST(ConcurrencyWeights, WholeNanosecondsSumToTheUnion) {
  EXPECT_EQ(concurrency_weights(std::vector<Interval>{{0, 10}, {0, 10}, {0, 10}}, std::vector<std::int64_t>{0, 10}),
            (Weights{{0, 0, 4}, {0, 1, 3}, {0, 2, 3}}));
}

TEST(ConcurrencyWeights, NothingToShare) {
  EXPECT_TRUE(concurrency_weights({}, std::vector<std::int64_t>{0, 10}).empty());
  EXPECT_TRUE(concurrency_weights(std::vector<Interval>{{0, 5}}, {}).empty());
  EXPECT_TRUE(concurrency_weights(std::vector<Interval>{{0, 5}}, std::vector<std::int64_t>{3}).empty());
  EXPECT_TRUE(concurrency_weights(std::vector<Interval>{{0, 5}, {9, 7}}, std::vector<std::int64_t>{5, 10}).empty());
}

TEST(ConcurrencyWeights, TimesOfAnySize) {
  constexpr std::int64_t kFirst = std::numeric_limits<std::int64_t>::min() / 2,
                         kLast = std::numeric_limits<std::int64_t>::max() / 2;
  EXPECT_EQ(concurrency_weights(std::vector<Interval>{{kFirst, kLast}, {kFirst, 0}},
                                std::vector<std::int64_t>{kFirst, kLast}),
            (Weights{{0, 0, -kFirst / 2 + kLast}, {0, 1, -kFirst / 2}}));
}

}  // namespace
}  // namespace chopper
