// SPDX-License-Identifier: Apache-2.0
#include "attribute/repetition.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace chopper {
namespace {

std::optional<Repetition> found_in(std::string_view text) {
  return find_repetition(std::vector<std::uint32_t>(text.begin(), text.end()));
}

TEST(Repetition, OfBlocks) {
  // Embedding; norm, attention, product, four times; final norm, head.
  EXPECT_EQ(found_in("enapnapnapnapnh"), (Repetition{1, 3, 4, 1}));
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

TEST(Repetition, RestGoesOnAsThePartsDo) {
  EXPECT_EQ(found_in("xbcabcabcabcaby"), (Repetition{1, 3, 4, 1}));
  EXPECT_EQ(found_in("abcabcabcabxyz"), (Repetition{0, 3, 3, 2}));
}

TEST(Repetition, LeavesLongSequencesAlone) {
  const auto found = [](std::uint32_t num_items, std::uint32_t period) {
    std::vector<std::uint32_t> items;
    for (std::uint32_t i = 0; i < num_items; i++) items.push_back(i % period);
    return find_repetition(items);
  };
  EXPECT_EQ(found(10'000, 2'000), (Repetition{0, 2'000, 5, 0}));
  EXPECT_EQ(found(10'000, 2'001), std::nullopt);
  EXPECT_EQ(found(100'000, 200), (Repetition{0, 200, 500, 0}));
  EXPECT_EQ(found(100'000, 201), std::nullopt);
  EXPECT_EQ(found(100'001, 10), std::nullopt);
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
      std::size_t rest = 0;
      while (begin + count * period + rest < items.size() &&
             items[begin + count * period + rest] == items[begin + (count - 1) * period + rest])
        rest++;
      const bool longer = period == best.period && count == best.count && rest > best.rest;
      if (count * period > best.count * best.period || longer) best = {begin, period, count, rest};
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

// P to T multiply, A and B attend, all others do neither. Of each kernel: its layer, . outside of them, ? unknown.
// A kernel behind a | follows on a gather.
std::string layers_of(std::string_view text) {
  PassKernels pass;
  bool gather = false;
  for (const char c : text) {
    if (c == '|') {
      gather = true;
      continue;
    }
    pass.names.push_back(static_cast<std::uint32_t>(c));
    pass.classes.push_back(c >= 'P' && c <= 'T'   ? GpuClass::gemm
                           : c == 'A' || c == 'B' ? GpuClass::attention
                                                  : GpuClass::vector);
    pass.begins.push_back(gather ? 1 : 0);
    gather = false;
  }
  std::string layers;
  for (const std::int32_t layer : layers_by_repetition(pass))
    layers += layer == kUnknownLayer ? '?' : layer == kOutsideLayers ? '.' : static_cast<char>('0' + layer);
  return layers;
}

TEST(LayersByRepetition, AreTheParts) {
  EXPECT_EQ(layers_of("ePAQgPAQgPAQgH"), ".000011112222.");
  EXPECT_EQ(layers_of("PAQgPAQgPAQg"), "000011112222");
  EXPECT_EQ(layers_of("abcdef"), "??????");
}

TEST(LayersByRepetition, WhereTheyBeginIsNotGuessed) {
  // The norm before the head is the first kernel of each block, or the norm behind the embedding the last one.
  EXPECT_EQ(layers_of("eanPAQanPAQanPAQanR"), ".??000??111??222??.");
  EXPECT_EQ(layers_of("enPAQnPAQnPAQnR"), ".?000?111?222?.");
}

TEST(LayersByRepetition, BeginWhereGathersEnd) {
  EXPECT_EQ(layers_of("e|nPAQ|nPAQ|nPAQnP"), ".000011112222..");
  EXPECT_EQ(layers_of("ean|PAQan|PAQan|PAQanR"), "...000001111122222.");
  EXPECT_EQ(layers_of("ean|PAQa|nPAQan|PAQanR"), ".??000??111??222??.");         // not all of them
  EXPECT_EQ(layers_of("e|a|n|PAQ|a|n|PAQ|a|n|PAQ|anR"), ".??000??111??222??.");  // several places
}

TEST(LayersByRepetition, PartsOfSeveralBlocksAreNone) {
  // Passes, one behind the other; blocks of two kinds in turns.
  EXPECT_EQ(layers_of("eePAQgPAQgPAQgHeePAQgPAQgPAQgHeePAQgPAQgPAQgH"), std::string(45, '?'));
  EXPECT_EQ(layers_of("PAQgPBQgPAQgPBQgPAQgPBQg"), std::string(24, '?'));
  // Seven of one kind and one of another, wherever the parts begin.
  EXPECT_EQ(layers_of("PmQPmQPmQPmQPAQPmQPmQPmQPmQPAQPmQPmQPmQPmQPAQ"), std::string(45, '?'));
  EXPECT_EQ(layers_of("PmQPmQPAQPmQPmQPmQPmQPAQPmQPmQPmQPmQPAQPmQPmQ"), std::string(45, '?'));
  // Kernels that do not multiply may repeat themselves in a block that does.
  EXPECT_EQ(layers_of("PababababPababababPabababab"), "000000000111111111222222222");
}

TEST(LayersByRepetition, BesideBlocksOfAnotherKind) {
  // What lies before would count as well: no number is known.
  EXPECT_EQ(layers_of("eRASgPAQgPAQgPAQgH"), std::string(18, '?'));
  EXPECT_EQ(layers_of("RxSxPQgPQgPQgPQgh"), std::string(17, '?'));
  EXPECT_EQ(layers_of("RxPQgPQgPQgPQgh"), "..000111222333.");
  // What lies behind is not known to be outside.
  EXPECT_EQ(layers_of("ePAQgPAQgPAQgRASg"), ".000011112222????");
  EXPECT_EQ(layers_of("ePAQgPAQgPAQgRxh"), ".000011112222...");
}

}  // namespace
}  // namespace chopper
