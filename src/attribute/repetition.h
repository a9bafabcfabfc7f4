// SPDX-License-Identifier: Apache-2.0
// The repeated part of a launch sequence: the blocks of a model that nothing names
// (docs/reference/attribution.md, 6).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace chopper {

/// Items [begin, begin + count x period) are `count` equal parts.
struct Repetition {
  std::size_t begin = 0, period = 0, count = 0;
  friend bool operator==(const Repetition&, const Repetition&) = default;
};

/// Finds the longest repetition of at least three parts, each of at least two items that are not all alike, that
/// together are at least half of all items; of equal ones the one with the shortest part, then the first. Sequences of
/// more than 100,000 items, and parts of more than 2,000, are not looked at. Takes (number of items) x (longest part)
/// steps.
std::optional<Repetition> find_repetition(std::span<const std::uint32_t> items);

}  // namespace chopper
