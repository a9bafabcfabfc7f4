// SPDX-License-Identifier: Apache-2.0
// What the allocator's events say: totals of each device, over the trace and in each iteration.
#pragma once

#include <vector>

#include "model/summary.h"
#include "model/trace.h"

namespace chopper {

/// One entry a device and scope (the trace, and each iteration in which the device has events), in order of device and
/// time. Devices are numbered as gpu work is: where the allocator counts otherwise (ROCm counts gpus alone, its traces
/// all agents), by order, if there are as many. An event belongs to the iteration whose mark holds its time, as a
/// launch does.
std::vector<MemorySummary> summarise_memory(const TraceTables& trace, const IterationMarks& iterations);

}  // namespace chopper
