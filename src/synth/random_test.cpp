// SPDX-License-Identifier: Apache-2.0
#include "synth/random.h"

#include <gtest/gtest.h>

namespace chopper::synth {
namespace {

// Written down once: the values must be the same on every platform, or synthetic runs are not.
TEST(Random, ValuesAreFixed) {
  EXPECT_EQ(random_bits(1, Purpose::host_cost, 0), 4789954979324437218u);
  EXPECT_EQ(random_bits(1, Purpose::kernel_duration, 2, 3, 4), 10507859371583254816u);
  EXPECT_EQ(unit(0x8000000000000000u), 0.5);
  EXPECT_EQ(unit(0xffffffffffffffffu), 1.0 - 0x1p-53);
  EXPECT_EQ(triangular(0), -1.0);
  EXPECT_EQ(bell(0), -1020.0 / 209.02153);
}

TEST(Random, EveryKeyCounts) {
  const std::uint64_t base = random_bits(1, Purpose::silicon, 2, 3, 4);
  EXPECT_NE(base, random_bits(2, Purpose::silicon, 2, 3, 4));
  EXPECT_NE(base, random_bits(1, Purpose::xcd, 2, 3, 4));
  EXPECT_NE(base, random_bits(1, Purpose::silicon, 3, 3, 4));
  EXPECT_NE(base, random_bits(1, Purpose::silicon, 2, 4, 4));
  EXPECT_NE(base, random_bits(1, Purpose::silicon, 2, 3, 5));
  EXPECT_NE(random_bits(1, Purpose::silicon, 2, 3), random_bits(1, Purpose::silicon, 3, 2));
}

// Tolerances: five standard errors of 100,000 values.
TEST(Random, MomentsAreThoseStated) {
  constexpr int kCount = 100000;
  double unit_sum = 0, bell_sum = 0, bell_squares = 0, triangular_sum = 0;
  for (int i = 0; i < kCount; i++) {
    const std::uint64_t bits = random_bits(7, Purpose::transfer, static_cast<std::uint64_t>(i));
    unit_sum += unit(bits);
    triangular_sum += triangular(bits);
    bell_sum += bell(bits);
    bell_squares += bell(bits) * bell(bits);
    ASSERT_GE(unit(bits), 0.0);
    ASSERT_LT(unit(bits), 1.0);
    ASSERT_LT(bell(bits) * bell(bits), 24.0);
  }
  EXPECT_NEAR(unit_sum / kCount, 0.5, 0.0046);
  EXPECT_NEAR(triangular_sum / kCount, 0.0, 0.0065);
  EXPECT_NEAR(bell_sum / kCount, 0.0, 0.016);
  EXPECT_NEAR(bell_squares / kCount, 1.0, 0.023);
}

}  // namespace
}  // namespace chopper::synth
