// SPDX-License-Identifier: Apache-2.0
#include "attribute/repetition.h"

#include <algorithm>

namespace chopper {
namespace {

constexpr std::size_t kMostItems = 100'000, kLongestPart = 2'000, kShortestPart = 2, kFewestParts = 3;

// The longest stretch of items that equal those `period` behind them, but not all each other: its parts, as far as they
// are whole.
Repetition longest_with(std::span<const std::uint32_t> items, std::size_t period) {
  Repetition best;
  std::size_t equal = 0;   // items before i that equal those behind them, without a break
  std::size_t change = 0;  // the last item that differs from the one before it
  for (std::size_t i = 0; i + period < items.size(); i++) {
    if (i > 0 && items[i] != items[i - 1]) change = i;
    equal = items[i] == items[i + period] ? equal + 1 : 0;
    const std::size_t count = equal < period ? 0 : equal / period + 1;
    if (count > best.count && change > i + 1 - equal) best = {i + 1 - equal, period, count};
  }
  return best;
}

}  // namespace

std::optional<Repetition> find_repetition(std::span<const std::uint32_t> items) {
  const std::size_t n = items.size();
  if (n > kMostItems) return std::nullopt;
  Repetition best;
  for (std::size_t period = kShortestPart; period <= std::min(kLongestPart, n / kFewestParts); period++) {
    // Parts of which all but the last are followed by their like: two thirds of half of the items.
    std::size_t num_equal = 0;
    for (std::size_t i = 0; i + period < n; i++) num_equal += items[i] == items[i + period] ? 1u : 0u;
    if (num_equal * 3 < n) continue;
    const Repetition found = longest_with(items, period);
    const std::size_t covered = found.count * period;
    if (found.count < kFewestParts || covered * 2 < n) continue;
    if (covered > best.count * best.period) best = found;
  }
  if (best.count == 0) return std::nullopt;
  return best;
}

}  // namespace chopper
