// SPDX-License-Identifier: Apache-2.0
// The repeated part of a launch sequence: the blocks of a model that nothing names
// (docs/reference/attribution.md, 6).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "model/trace.h"

namespace chopper {

/// Items [begin, begin + count x period) are `count` equal parts, and `rest` more items go on as these do: the parts
/// could begin up to `rest` items later.
struct Repetition {
  std::size_t begin = 0, period = 0, count = 0, rest = 0;
  std::size_t end() const { return begin + count * period + rest; }
  friend bool operator==(const Repetition&, const Repetition&) = default;
};

/// Finds the longest repetition of at least three parts, each of at least two items that are not all alike, that
/// together are at least half of all items; of equal ones the one with the shortest part, then the first. Sequences of
/// more than 100,000 items, and parts of more than 2,000, are not looked at, nor parts that would take more than
/// 20 million comparisons: of n items those of more than 20,000,000 / n.
std::optional<Repetition> find_repetition(std::span<const std::uint32_t> items);

/// The kernels of a forward pass, in order of launch.
struct PassKernels {
  std::vector<std::uint32_t> names;
  std::vector<GpuClass> classes;
  std::vector<std::uint8_t> begins;  ///< not 0: launched right behind the copies of a gather, where blocks begin
};

/// The layer of each kernel of a pass, or kOutsideLayers, or kUnknownLayer: the parts of its repetition, from 0, where
/// nothing else explains them.
std::vector<std::int32_t> layers_by_repetition(const PassKernels& pass);

}  // namespace chopper
