// SPDX-License-Identifier: Apache-2.0
// Keeps the COMP kernels of a gpu for the alignment with counter passes.
#pragma once

#include "analyze/device_work.h"
#include "analyze/model_work.h"
#include "catalog/gpus.h"
#include "model/compute_kernels.h"
#include "model/selection.h"

namespace chopper {

/// What tells the work of kernels without recorded shapes.
struct ModelFacts {
  const RunFacts& facts;
  ModelShards shards;
};

/// Returns the COMP kernels of `work` in order of launch. `spec`: nullptr where the gpu is not known; times at its
/// peaks are then NaN. `model`: nullptr where nothing is stated. `shown` names the input in notes.
ComputeKernels keep_compute_kernels(const TraceTables& trace, const GpuWorkLabels& labels, const DeviceWork& work,
                                    const SelectedRows& selected, const GpuSpec* spec, const ModelFacts* model,
                                    std::string_view shown);

}  // namespace chopper
