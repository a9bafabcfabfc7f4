// SPDX-License-Identifier: Apache-2.0
#include "base/intervals.h"

#include <gtest/gtest.h>

namespace chopper {
namespace {

TEST(Intervals, ACoverJoinsWhatTouches) {
  EXPECT_EQ(cover_of({{5, 8}, {0, 3}, {3, 4}, {6, 7}}), (Cover{{0, 4}, {5, 8}}));
  EXPECT_EQ(cover_of({}), Cover{});
}

TEST(Intervals, EmptyOnesLeaveNoTrace) { EXPECT_EQ(cover_of({{2, 2}, {5, 4}, {7, 9}, {8, 8}}), (Cover{{7, 9}})); }

TEST(Intervals, OverlapCountsSharedTimeOnce) {
  // The worked example of the specification: kernel [100, 200), communication [50, 130), [120, 150), [190, 300).
  const Cover comm = cover_of({{50, 130}, {120, 150}, {190, 300}});
  EXPECT_EQ(overlap_of(Cover{{100, 200}}, comm), 60);
  EXPECT_EQ(CoverIndex(comm).overlap(100, 200), 60);
  EXPECT_EQ(length_of(comm), 210);
  EXPECT_EQ(length_of(unite(comm, Cover{{100, 200}})), 250);
}

TEST(Intervals, TouchingIsNotOverlapping) {
  EXPECT_EQ(overlap_of(Cover{{0, 5}}, Cover{{5, 9}}), 0);
  EXPECT_EQ(CoverIndex(Cover{{0, 5}}).overlap(5, 9), 0);
  EXPECT_EQ(CoverIndex(Cover{{0, 5}}).overlap(4, 4), 0);
  EXPECT_EQ(CoverIndex(Cover{}).overlap(0, 100), 0);
}

}  // namespace
}  // namespace chopper
