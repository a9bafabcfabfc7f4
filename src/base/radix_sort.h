// SPDX-License-Identifier: Apache-2.0
// Sorts by a whole number in a few passes over the items, without comparing them: several times faster than std::sort
// on the hundreds of thousands of times and buckets of a trace.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

namespace chopper {

/// Sorts by `key(item)`, an unsigned number; items with equal keys stay in order.
template <class T, class Key>
void radix_sort(std::vector<T>& items, Key&& key) {
  const auto less = [&](const T& a, const T& b) { return key(a) < key(b); };
  if (std::is_sorted(items.begin(), items.end(), less)) return;
  constexpr std::size_t kFew = 256;  // below, the tables of digits cost more than comparisons
  if (items.size() < kFew) {
    std::stable_sort(items.begin(), items.end(), less);
    return;
  }
  std::uint64_t lowest = UINT64_MAX, highest = 0;
  for (const T& item : items) {
    lowest = std::min<std::uint64_t>(lowest, key(item));
    highest = std::max<std::uint64_t>(highest, key(item));
  }
  constexpr int kDigitBits = 11;  // 2048 counters of 4 bytes lie in the first-level cache
  const int bits = static_cast<int>(std::bit_width(highest - lowest));
  std::vector<T> sorted(items.size());
  for (int shift = 0; shift < bits; shift += kDigitBits) {
    std::array<std::uint32_t, std::size_t{1} << kDigitBits> place{};
    const auto digit = [&](const T& item) {
      return static_cast<std::size_t>((key(item) - lowest) >> shift) & (place.size() - 1);
    };
    for (const T& item : items) place[digit(item)]++;
    std::uint32_t next = 0;
    for (std::uint32_t& p : place) next += std::exchange(p, next);
    for (const T& item : items) sorted[place[digit(item)]++] = item;
    std::swap(items, sorted);
  }
}

}  // namespace chopper
