// SPDX-License-Identifier: Apache-2.0
#include "attribute/repetition.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string_view>
#include <vector>

namespace chopper {
namespace {

std::optional<Repetition> found_in(std::string_view text) {
  return find_repetition(std::vector<std::uint32_t>(text.begin(), text.end()));
}

TEST(Repetition, OfBlocks) {
  // Embedding; norm, attention, product, four times; final norm, head.
  EXPECT_EQ(found_in("enapnapnapnapnh"), (Repetition{1, 3, 4}));
  EXPECT_EQ(found_in("abcabcabc"), (Repetition{0, 3, 3}));
  EXPECT_EQ(found_in("xxabcdabcdabcdyy"), (Repetition{2, 4, 3}));
  // Blocks that hold a repetition themselves: the longer one counts.
  EXPECT_EQ(found_in("qppppkqppppkqppppk"), (Repetition{0, 6, 3}));
  // Two stacks of blocks: the longer one.
  EXPECT_EQ(found_in("abcabcabcuvwxuvwxuvwx"), (Repetition{9, 4, 3}));
}

TEST(Repetition, NeedsThreeAndHalf) {
  EXPECT_EQ(found_in(""), std::nullopt);
  EXPECT_EQ(found_in("abc"), std::nullopt);
  EXPECT_EQ(found_in("abcabc"), std::nullopt);
  EXPECT_EQ(found_in("abcabcabc123456789"), (Repetition{0, 3, 3}));
  EXPECT_EQ(found_in("abcabcabc123456789x"), std::nullopt);
  EXPECT_EQ(found_in("abcabxabcabyabc"), std::nullopt);
}

TEST(Repetition, OfEqualItemsTheShortestPart) {
  EXPECT_EQ(found_in("aaaaaaaaaaaa"), std::nullopt);
  EXPECT_EQ(found_in("lrlrlrlrlrlrs"), (Repetition{0, 2, 6}));
  EXPECT_EQ(found_in("abcabcabcabcabcabc"), (Repetition{0, 3, 6}));
}

TEST(Repetition, LeavesLongSequencesAlone) {
  std::vector<std::uint32_t> items;
  for (std::uint32_t i = 0; i < 100'000; i++) items.push_back(i % 2'000);
  EXPECT_EQ(find_repetition(items), (Repetition{0, 2'000, 50}));
  items.push_back(0);
  EXPECT_EQ(find_repetition(items), std::nullopt);
  items.clear();
  for (std::uint32_t i = 0; i < 50'000; i++) items.push_back(i % 2'001);
  EXPECT_EQ(find_repetition(items), std::nullopt);
}

// Every repetition there is, tried one by one.
std::optional<Repetition> naive(const std::vector<std::uint32_t>& items) {
  Repetition best;
  for (std::size_t period = 2; period <= items.size() / 3; period++) {
    for (std::size_t begin = 0; begin + 3 * period <= items.size(); begin++) {
      std::size_t count = 1;
      while (begin + (count + 1) * period <= items.size() &&
             std::equal(items.begin() + static_cast<std::ptrdiff_t>(begin),
                        items.begin() + static_cast<std::ptrdiff_t>(begin + period),
                        items.begin() + static_cast<std::ptrdiff_t>(begin + count * period)))
        count++;
      const std::set<std::uint32_t> different(items.begin() + static_cast<std::ptrdiff_t>(begin),
                                              items.begin() + static_cast<std::ptrdiff_t>(begin + period));
      if (count < 3 || 2 * count * period < items.size() || different.size() < 2) continue;
      if (count * period > best.count * best.period) best = {begin, period, count};
    }
  }
  return best.count == 0 ? std::nullopt : std::optional(best);
}

TEST(Repetition, AgreesWithTryingAll) {
  std::mt19937 random(7);
  std::size_t num_found = 0;
  for (int i = 0; i < 20'000; i++) {
    std::vector<std::uint32_t> items;
    const auto some = [&](std::size_t most) {
      for (std::size_t n = random() % (most + 1); n > 0; n--) items.push_back(static_cast<std::uint32_t>(random() % 3));
    };
    some(6);
    std::vector<std::uint32_t> part;
    for (std::size_t n = 1 + random() % 5; n > 0; n--) part.push_back(static_cast<std::uint32_t>(random() % 3));
    for (std::size_t n = random() % 6; n > 0; n--) items.insert(items.end(), part.begin(), part.end());
    some(6);
    const std::optional<Repetition> expected = naive(items);
    num_found += expected ? 1u : 0u;
    ASSERT_EQ(find_repetition(items), expected) << i;
  }
  EXPECT_GT(num_found, 5'000u);
}

}  // namespace
}  // namespace chopper
