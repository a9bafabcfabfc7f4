// SPDX-License-Identifier: Apache-2.0
#include "catalog/clock_facts.h"

#include <algorithm>

namespace chopper {

std::optional<double> stated_clock(const ClockFacts& clocks, const ClockQuery& query) {
  const auto at = std::find_if(clocks.begin(), clocks.end(), [&](const ClockFact& fact) { return fact.holds(query); });
  return at == clocks.end() ? std::nullopt : std::optional(at->f_eff_mhz);
}

}  // namespace chopper
