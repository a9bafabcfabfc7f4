// SPDX-License-Identifier: Apache-2.0
// The interval algebra against the obvious version: one flag for each nanosecond of a small axis.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/intervals.h"
#include "support/trace_builder.h"

namespace chopper::test {
namespace {

constexpr std::int64_t kAxis = 120;  // times lie in [-kAxis, kAxis)

using Flags = std::vector<bool>;

Flags flags_of(const std::vector<Interval>& intervals) {
  Flags flags(2 * kAxis, false);
  for (const Interval& i : intervals) {
    for (std::int64_t t = i.start; t < i.end; t++) flags[static_cast<std::size_t>(t + kAxis)] = true;
  }
  return flags;
}

std::vector<Interval> random_intervals(Random& random) {
  std::vector<Interval> intervals;
  const std::size_t count = random.below(14);
  for (std::size_t i = 0; i < count; i++) {
    const std::int64_t start = random.between(-kAxis, kAxis - 1);
    const std::int64_t longest = std::min<std::int64_t>(kAxis - start, random.chance(4) ? 100 : 12);
    intervals.push_back({start, start + (random.chance(8) ? 0 : random.between(0, longest))});
  }
  return intervals;
}

void expect_cover(const Cover& cover, const Flags& flags) {
  EXPECT_EQ(flags_of(cover), flags);
  for (std::size_t i = 0; i < cover.size(); i++) {
    EXPECT_LT(cover[i].start, cover[i].end);
    if (i > 0) {
      EXPECT_GT(cover[i].start, cover[i - 1].end) << "neighbours touch";
    }
  }
}

TEST(IntervalProperty, AgreesWithOneFlagForEachNanosecond) {
  for (std::uint64_t seed = 1; seed <= 3000; seed++) {
    SCOPED_TRACE(seed_text(seed));
    Random random(seed);
    const std::vector<Interval> x = random_intervals(random);
    const std::vector<Interval> y = random_intervals(random);
    const Flags in_x = flags_of(x);
    const Flags in_y = flags_of(y);
    Flags in_any(in_x.size()), in_both(in_x.size());
    for (std::size_t t = 0; t < in_x.size(); t++) {
      in_any[t] = in_x[t] || in_y[t];
      in_both[t] = in_x[t] && in_y[t];
    }
    const Cover a = cover_of(x);
    const Cover b = cover_of(y);
    expect_cover(a, in_x);
    expect_cover(unite(a, b), in_any);
    EXPECT_EQ(unite(a, b), unite(b, a));
    EXPECT_EQ(length_of(a), std::count(in_x.begin(), in_x.end(), true));
    EXPECT_EQ(overlap_of(a, b), std::count(in_both.begin(), in_both.end(), true));
    EXPECT_EQ(overlap_of(b, a), overlap_of(a, b));
    EXPECT_EQ(length_of(unite(a, b)), length_of(a) + length_of(b) - overlap_of(a, b));
    const Cover both = intersect(a, b);
    EXPECT_EQ(flags_of(both), in_both);
    EXPECT_EQ(length_of(both), overlap_of(a, b));
    std::vector<Interval> in_order = x;
    std::stable_sort(in_order.begin(), in_order.end(),
                     [](const Interval& i, const Interval& k) { return i.start < k.start; });
    Cover extended;
    for (const Interval& i : in_order) extend(extended, i);
    EXPECT_EQ(extended, a);
    const CoverIndex index(a);
    CoverWalk walk(index);
    std::vector<std::int64_t> bounds;
    for (std::size_t i = 0; i < 1 + random.below(6); i++) bounds.push_back(random.between(-kAxis, kAxis));
    std::sort(bounds.begin(), bounds.end());
    const std::vector<std::int64_t> lengths = lengths_between(a, bounds);
    ASSERT_EQ(lengths.size(), bounds.size() - 1);
    for (std::size_t i = 0; i < lengths.size(); i++) EXPECT_EQ(lengths[i], index.overlap(bounds[i], bounds[i + 1]));
    for (const std::int64_t start : bounds) {
      const std::int64_t end = random.between(-kAxis, kAxis);
      EXPECT_EQ(walk.overlap(start, end), index.overlap(start, end));
    }
    for (int i = 0; i < 20; i++) {
      const std::int64_t start = random.between(-kAxis, kAxis - 1);
      const std::int64_t end = random.between(-kAxis, kAxis - 1);
      std::int64_t inside = 0;
      for (std::int64_t t = start; t < end; t++) inside += in_x[static_cast<std::size_t>(t + kAxis)] ? 1 : 0;
      EXPECT_EQ(index.overlap(start, end), inside) << start << " to " << end;
    }
    if (HasFailure()) return;
  }
}

TEST(IntervalProperty, OrderDoesNotMatter) {
  for (std::uint64_t seed = 1; seed <= 200; seed++) {
    SCOPED_TRACE(seed_text(seed));
    Random random(seed);
    std::vector<Interval> x = random_intervals(random);
    const Cover cover = cover_of(x);
    random.shuffle(x);
    EXPECT_EQ(cover_of(x), cover);
  }
}

}  // namespace
}  // namespace chopper::test
