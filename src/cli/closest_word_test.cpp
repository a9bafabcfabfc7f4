// SPDX-License-Identifier: Apache-2.0
#include "cli/closest_word.h"

#include <gtest/gtest.h>

#include <vector>

namespace chopper {
namespace {

TEST(EditDistance, CountsSingleSlips) {
  EXPECT_EQ(edit_distance("report", "report"), 0u);
  EXPECT_EQ(edit_distance("reprot", "report"), 1u);  // swapped
  EXPECT_EQ(edit_distance("repot", "report"), 1u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
}

TEST(ClosestWord, GuessesOnlyNearWords) {
  const std::vector<std::string> words = {"--json", "--kernels", "--set-rank"};
  EXPECT_EQ(closest_word("--jsn", words), "--json");
  EXPECT_EQ(closest_word("--kern", words), "--kernels");
  EXPECT_EQ(closest_word("--setrank", words), "--set-rank");
  EXPECT_EQ(closest_word("--output", words), "");
}

}  // namespace
}  // namespace chopper
