// SPDX-License-Identifier: Apache-2.0
// The operations of one device: kernels, time, overlap with communication, launch gaps, instances.
#pragma once

#include "analyze/device_work.h"
#include "catalog/gpus.h"
#include "model/summary.h"

namespace chopper {

/// What the rows of the operations table tell apart besides phase and operation.
struct Grain {
  bool layer = false;
  bool iteration = false;
};

/// Fills `operations`, `compute_by_operation`, `num_compared` and `flops` of `summary`. `spec`: the gpu, nullptr where
/// it is not known.
void summarise_operations(const TraceTables& trace, const GpuWorkLabels& labels, const DeviceWork& work,
                          const Grain& grain, const GpuSpec* spec, GpuSummary& summary);

}  // namespace chopper
