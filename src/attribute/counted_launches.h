// SPDX-License-Identifier: Apache-2.0
// Which kernel launch each counted range of a trace is. The profiler writes neither a correlation nor real times for
// them; it counts one kernel after the other, in the order of their launches.
#pragma once

#include <string>
#include <vector>

#include "model/trace.h"

namespace chopper {

struct CountedLaunches {
  std::vector<RowId> launch;  ///< of each dispatch of TraceTables::counters, a row of LaunchTable; empty where unknown
  std::string unknown;        ///< why; empty where known
};
/// Ties ranges to launches where there is but one way: one gpu, one range a launch, and launches one after the other.
CountedLaunches launches_of_ranges(const TraceTables& trace);

}  // namespace chopper
