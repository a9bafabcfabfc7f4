// SPDX-License-Identifier: Apache-2.0
// Units of counters and metrics, so that an expression which adds cycles to bytes is refused when it is read.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace chopper {

/// What units are made of. Quad-cycles (four cycles, as some blocks of AMD count) are apart from cycles on purpose:
/// only a stated factor turns one into the other. Counts of hardware (units, dies, lanes) have no dimension.
inline constexpr std::array<std::string_view, 10> kDimensionNames = {
    "cycles", "quad_cycles", "ns", "bytes", "flop", "mops", "requests", "instructions", "waves", "blocks"};

/// A product of powers of dimensions; a value in this unit x `scale` is the value in the dimensions themselves.
struct Unit {
  std::array<std::int8_t, kDimensionNames.size()> powers{};
  double scale = 1;

  bool has_dimensions_of(const Unit& other) const { return powers == other.powers; }
};

Unit operator*(const Unit& a, const Unit& b);
Unit operator/(const Unit& a, const Unit& b);

/// Reads "bytes/requests", "GB/s", "MHz", "ratio": names joined by * and /, from left to right.
Result<Unit> parse_unit(std::string_view text);

/// Returns the dimensions as parse_unit reads them: "cycles*bytes/ns"; "a pure number" when there are none.
std::string dimensions_text(const Unit& unit);

}  // namespace chopper
