// SPDX-License-Identifier: Apache-2.0
// Quantile sketches against sorted values; decimal text against school arithmetic on its digits.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "base/decimal.h"
#include "base/quantile_sketch.h"
#include "support/trace_builder.h"

namespace chopper::test {
namespace {

std::vector<std::int64_t> random_values(Random& random) {
  std::vector<std::int64_t> values;
  const std::size_t count = 1 + random.below(300);
  for (std::size_t i = 0; i < count; i++) {
    const std::size_t bits = random.below(random.chance(3) ? 62 : 24);
    values.push_back(static_cast<std::int64_t>(random.next() & ((std::uint64_t{1} << bits) - 1)));
    if (random.chance(4)) values.push_back(values[random.below(values.size())]);
  }
  return values;
}

QuantileSketch sketch_of(const std::vector<std::int64_t>& values) {
  QuantileSketch sketch;
  for (const std::int64_t value : values) sketch.add(value);
  return sketch;
}

void expect_equal(const QuantileSketch& a, const QuantileSketch& b) {
  EXPECT_EQ(a.count(), b.count());
  EXPECT_EQ(a.min(), b.min());
  EXPECT_EQ(a.max(), b.max());
  EXPECT_EQ(a.sum(), b.sum());
  for (std::uint64_t q = 0; q <= 100; q++) EXPECT_EQ(a.quantile(q, 100), b.quantile(q, 100)) << q;
}

TEST(QuantileProperty, WithinATenthOfAPercentOfTheNearestRank) {
  for (std::uint64_t seed = 1; seed <= 400; seed++) {
    SCOPED_TRACE(seed_text(seed));
    Random random(seed);
    std::vector<std::int64_t> values = random_values(random);
    const QuantileSketch sketch = sketch_of(values);
    std::sort(values.begin(), values.end());
    EXPECT_EQ(sketch.count(), values.size());
    EXPECT_EQ(sketch.min(), values.front());
    EXPECT_EQ(sketch.max(), values.back());
    for (std::uint64_t q = 0; q <= 1000; q += 1 + random.below(40)) {
      const std::uint64_t rank = std::max<std::uint64_t>(1, (q * values.size() + 999) / 1000);
      const std::int64_t exact = values[rank - 1];
      const std::int64_t got = sketch.quantile(q, 1000);
      if (exact < 1024) {
        EXPECT_EQ(got, exact) << q;
      } else {
        EXPECT_LE(std::abs(got - exact), exact / 1000) << q << " " << exact;  // half a bucket: 1/2048
      }
    }
    if (HasFailure()) return;
  }
}

TEST(QuantileProperty, MergingIsAddingInAnyOrderAndGrouping) {
  for (std::uint64_t seed = 1; seed <= 200; seed++) {
    SCOPED_TRACE(seed_text(seed));
    Random random(seed);
    const std::vector<std::int64_t> x = random_values(random), y = random_values(random), z = random_values(random);
    const QuantileSketch a = sketch_of(x), b = sketch_of(y), c = sketch_of(z);
    QuantileSketch left = a, right = b, other = c;
    left.merge(b);
    left.merge(c);
    right.merge(c);
    QuantileSketch right_grouped = a;
    right_grouped.merge(right);
    other.merge(b);
    other.merge(a);
    other.merge({});
    QuantileSketch all_at_once;
    all_at_once.merge(a);
    all_at_once.add_all(y);
    all_at_once.add_all(z);
    all_at_once.add_all({});
    expect_equal(left, right_grouped);
    expect_equal(left, other);
    expect_equal(left, all_at_once);
    if (HasFailure()) return;
  }
}

TEST(QuantileProperty, EmptyIsZero) {
  const QuantileSketch empty;
  EXPECT_EQ(empty.quantile(1, 2), 0);
  EXPECT_EQ(empty.count(), 0u);
}

// Shifts the point of the digits by text alone: no arithmetic on numbers wider than the result.
std::optional<std::int64_t> nanoseconds_by_hand(bool negative, std::string whole, std::string fraction, int exponent) {
  for (int power = exponent + 3; power > 0; power--) {
    whole.push_back(fraction.empty() ? '0' : fraction.front());
    if (!fraction.empty()) fraction.erase(0, 1);
  }
  for (int power = exponent + 3; power < 0; power++) {
    if (!whole.empty()) whole.pop_back();
  }
  whole.erase(0, std::min(whole.find_first_not_of('0'), whole.size()));
  const std::string limit = "9223372036854775807";
  if (whole.size() > limit.size() || (whole.size() == limit.size() && whole > limit)) return std::nullopt;
  std::int64_t value = 0;
  for (const char c : whole) value = value * 10 + (c - '0');
  return negative ? -value : value;
}

TEST(DecimalProperty, AgreesWithShiftingThePoint) {
  for (std::uint64_t seed = 1; seed <= 60000; seed++) {
    SCOPED_TRACE(seed_text(seed));
    Random random(seed);
    const auto digits = [&](std::size_t count) {
      std::string text;
      for (std::size_t i = 0; i < count; i++)
        text.push_back(random.chance(4) ? '0' : static_cast<char>('0' + random.below(10)));
      return text;
    };
    const bool negative = random.chance(4);
    const std::string whole = digits(random.below(random.chance(8) ? 40 : 18) + (random.chance(20) ? 0 : 1));
    const std::string fraction = random.chance(3) ? "" : digits(random.below(random.chance(6) ? 40 : 5));
    if (whole.empty() && fraction.empty()) continue;
    const int exponent = random.chance(4) ? static_cast<int>(random.between(-30, 30)) : 0;
    std::string text = (negative ? "-" : random.chance(9) ? "+" : "") + whole;
    if (!fraction.empty()) text += "." + fraction;
    if (exponent != 0)
      text += (random.chance(2) ? "e" : "E") + std::string(exponent > 0 && random.chance(2) ? "+" : "") +
              std::to_string(exponent);
    const std::optional<std::int64_t> expected = nanoseconds_by_hand(negative, whole, fraction, exponent);
    const Nanoseconds got = micros_to_ns(text, false);
    ASSERT_EQ(got.status, expected ? NumberStatus::ok : NumberStatus::overflow) << text;
    if (expected) {
      ASSERT_EQ(got.value, *expected) << text;
    }
  }
}

TEST(DecimalProperty, IntegersReadBackWhatWasWritten) {
  for (std::uint64_t seed = 1; seed <= 5000; seed++) {
    Random random(seed);
    const std::uint64_t value = random.next() >> random.below(64);
    EXPECT_EQ(parse_int64(std::to_string(value)), static_cast<std::int64_t>(value));
    const std::int64_t positive = static_cast<std::int64_t>(value >> 1);
    EXPECT_EQ(parse_int64(std::to_string(-positive)), -positive);
    EXPECT_EQ(parse_int64(std::to_string(positive) + ".000"), positive);
    EXPECT_EQ(parse_int64("1" + std::to_string(UINT64_MAX - (value & 0xff))), std::nullopt);
  }
}

}  // namespace
}  // namespace chopper::test
