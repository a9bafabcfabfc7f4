// SPDX-License-Identifier: Apache-2.0
#include "catalog/units.h"

#include <algorithm>

namespace chopper {
namespace {

// Names that are something times one dimension, or a quotient of two.
struct NamedUnit {
  std::string_view name, numerator, denominator;
  double scale;
};
constexpr std::array kNamedUnits = {
    NamedUnit{"ratio", "", "", 1},        NamedUnit{"percent", "", "", 0.01},    NamedUnit{"1", "", "", 1},
    NamedUnit{"us", "ns", "", 1e3},       NamedUnit{"ms", "ns", "", 1e6},        NamedUnit{"s", "ns", "", 1e9},
    NamedUnit{"KiB", "bytes", "", 1024},  NamedUnit{"GB", "bytes", "", 1e9},     NamedUnit{"GFLOP", "flop", "", 1e9},
    NamedUnit{"TFLOP", "flop", "", 1e12}, NamedUnit{"Hz", "cycles", "ns", 1e-9}, NamedUnit{"MHz", "cycles", "ns", 1e-3},
    NamedUnit{"GHz", "cycles", "ns", 1},
};

void multiply_by(Unit& unit, std::string_view dimension, int power) {
  if (dimension.empty()) return;
  const auto at = std::find(kDimensionNames.begin(), kDimensionNames.end(), dimension);
  auto& exponent = unit.powers[static_cast<std::size_t>(at - kDimensionNames.begin())];
  exponent = static_cast<std::int8_t>(exponent + power);
}

bool find_unit(std::string_view name, Unit& unit) {
  if (std::find(kDimensionNames.begin(), kDimensionNames.end(), name) != kDimensionNames.end()) {
    multiply_by(unit, name, 1);
    return true;
  }
  const auto at =
      std::find_if(kNamedUnits.begin(), kNamedUnits.end(), [&](const NamedUnit& known) { return known.name == name; });
  if (at == kNamedUnits.end()) return false;
  multiply_by(unit, at->numerator, 1);
  multiply_by(unit, at->denominator, -1);
  unit.scale = at->scale;
  return true;
}

Unit combine(const Unit& a, const Unit& b, int sign) {
  Unit result = a;
  for (std::size_t i = 0; i < result.powers.size(); i++)
    result.powers[i] = static_cast<std::int8_t>(result.powers[i] + sign * b.powers[i]);
  result.scale = sign > 0 ? a.scale * b.scale : a.scale / b.scale;
  return result;
}

}  // namespace

Unit operator*(const Unit& a, const Unit& b) { return combine(a, b, 1); }
Unit operator/(const Unit& a, const Unit& b) { return combine(a, b, -1); }

Result<Unit> parse_unit(std::string_view text) {
  // A power beyond any real unit: keeps the exponents of a hostile file in range.
  constexpr int kMostFactors = 16;
  Unit unit;
  char before = '*';
  int num_factors = 0;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find_first_of("*/", at), text.size());
    Unit factor;
    const std::string name(text.substr(at, end - at));
    if (!find_unit(name, factor) || ++num_factors > kMostFactors) {
      return Error{ErrorCode::bad_input, "unknown unit '" + std::string(text) + "'", "",
                   "units are products and quotients of cycles, quad_cycles, ns, bytes, flop, mops, requests, "
                   "instructions, waves, blocks, ratio, percent, us, ms, s, KiB, GB, GFLOP, TFLOP, Hz, MHz, GHz"};
    }
    unit = before == '*' ? unit * factor : unit / factor;
    if (end < text.size()) before = text[end];
    at = end + 1;
  }
  return unit;
}

std::string dimensions_text(const Unit& unit) {
  std::string above, below;
  for (std::size_t i = 0; i < unit.powers.size(); i++) {
    for (int n = 0; n < unit.powers[i]; n++) above += (above.empty() ? "" : "*") + std::string(kDimensionNames[i]);
    for (int n = 0; n > unit.powers[i]; n--) below += "/" + std::string(kDimensionNames[i]);
  }
  if (above.empty() && below.empty()) return "a pure number";
  return (above.empty() ? "1" : above) + below;
}

}  // namespace chopper
