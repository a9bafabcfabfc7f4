// SPDX-License-Identifier: Apache-2.0
// The time line of one device: of all its work, and of each iteration (docs/reference/attribution.md 3). Time is
// accounted in windows, which follow each other without a gap; work belongs to the iteration that launched it, and may
// reach into other windows:
//
//   launched in 0:  [comp][comp]  [comm........]
//   launched in 1:                     [comp][comp][comm]
//   windows:        |----- 0 ---------|------- 1 -------|
//                   S_0               S_1
#pragma once

#include <vector>

#include "analyze/device_work.h"
#include "model/summary.h"

namespace chopper {

/// The row of the whole trace.
TimelineRow trace_timeline(const TraceTables& trace, const GpuWorkLabels& labels, const DeviceWork& work);

/// The rows head, one an iteration, tail, and unlabelled when there is such work.
std::vector<WindowSummary> summarise_windows(const TraceTables& trace, const GpuWorkLabels& labels,
                                             const DeviceWork& work);

}  // namespace chopper
