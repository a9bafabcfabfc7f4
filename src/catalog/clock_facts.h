// SPDX-License-Identifier: Apache-2.0
// Clocks that are stated: [clock] of a chopper.toml, for everything or for a rank, a gpu, a phase, an operation.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace chopper {

/// "chopper.toml:12". Two files that state the same at other lines agree.
struct FactPlace {
  std::string text;
  friend bool operator==(const FactPlace&, const FactPlace&) { return true; }
};

/// What a clock is asked for.
struct ClockQuery {
  std::optional<std::int64_t> rank;
  std::int32_t gpu = 0;  ///< device ordinal as written
  std::string_view phase, operation;
};

/// A stated clock and what it holds for; what is left out holds for all.
struct ClockFact {
  std::optional<std::int64_t> rank, gpu;
  std::optional<std::string> phase, operation;
  double f_eff_mhz = 0;
  FactPlace place;

  int num_keys() const {
    return int{rank.has_value()} + int{gpu.has_value()} + int{phase.has_value()} + int{operation.has_value()};
  }
  bool holds(const ClockQuery& query) const {
    return (!rank || rank == query.rank) && (!gpu || *gpu == query.gpu) && (!phase || *phase == query.phase) &&
           (!operation || *operation == query.operation);
  }
  friend bool operator==(const ClockFact&, const ClockFact&) = default;
};

/// Lower clocks are slips: gigahertz, or a ratio.
inline constexpr double kLeastStatedMhz = 100;

/// Sorted so that the first one that holds is the one with the most keys.
using ClockFacts = std::vector<ClockFact>;

/// Of the most specific fact that holds; nullopt without any.
std::optional<double> stated_clock(const ClockFacts& clocks, const ClockQuery& query);

}  // namespace chopper
