// SPDX-License-Identifier: Apache-2.0
// Gives dispatches of a counter pass their times, where the profiler wrote them into another file (ROCm 6.2).
#pragma once

#include <vector>

#include "model/summary.h"

namespace chopper {

/// Fills times of passes whose dispatches have none from the kernel times of the same folder whose file name has the
/// longest beginning in common, by correlation; ids that are there twice are left out.
void join_pass_times(std::vector<InputSummary>& inputs);

}  // namespace chopper
