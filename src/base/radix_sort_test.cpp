// SPDX-License-Identifier: Apache-2.0
#include "base/radix_sort.h"

#include <gtest/gtest.h>

#include <initializer_list>

namespace chopper {
namespace {

struct Item {
  std::uint64_t key;
  std::uint32_t place;
  friend bool operator==(const Item&, const Item&) = default;
};

std::vector<Item> made(std::size_t count, std::uint64_t mask) {
  std::vector<Item> items;
  std::uint64_t state = count + mask;
  for (std::uint32_t i = 0; i < count; i++) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    items.push_back({(state >> 7 ^ state << 30) & mask, i});
  }
  return items;
}

TEST(RadixSort, AgreesWithAStableSort) {
  for (const std::size_t count : std::initializer_list<std::size_t>{0, 1, 2, 100, 255, 256, 1000, 5000}) {
    for (const std::uint64_t mask :
         {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{0x7ff}, std::uint64_t{0xfff}, UINT64_MAX}) {
      std::vector<Item> items = made(count, mask);
      std::vector<Item> expected = items;
      std::stable_sort(expected.begin(), expected.end(), [](const Item& a, const Item& b) { return a.key < b.key; });
      radix_sort(items, [](const Item& item) { return item.key; });
      EXPECT_EQ(items, expected) << count << " " << mask;
    }
  }
}

}  // namespace
}  // namespace chopper
