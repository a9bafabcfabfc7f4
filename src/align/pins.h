// SPDX-License-Identifier: Apache-2.0
// Stretches that occur once on each side, and so fix where one side lies on the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "align/stretches.h"

namespace chopper {

/// How far stretches of a row of pins must reach. A dispatch that happens to be missing on both sides, of different
/// iterations, makes stretches that occur once over 2 x length - 2 dispatches, two of them side by side over
/// 3 x length - 3; three by chance are not expected.
constexpr std::size_t least_reach(std::size_t length) { return 3 * length; }

/// A pair of places that an alignment goes through.
struct Anchor {
  std::size_t first = 0, second = 0;
};

/// Places where the order leaves no choice, in rows that are long enough; both sides ascend. Of each row the first, the
/// last, and some between.
std::vector<Anchor> find_pins(const StretchIndex& index);

}  // namespace chopper
