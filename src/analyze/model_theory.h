// SPDX-License-Identifier: Apache-2.0
// Theory of kernels without recorded shapes from the model description, pass by pass (docs/reference/flops.md).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analyze/model_work.h"
#include "catalog/gpus.h"
#include "model/compute_kernels.h"

namespace chopper {

/// What the labels say of a kernel of a ComputeKernelTable besides its columns.
struct KernelOrigin {
  RowId operator_range = kNoRow;  ///< innermost operator
  GpuClass gpu_class = GpuClass::other;
  bool recompute = false;  ///< forward work repeated in the backward pass
  bool shapes_differ =
      false;  ///< the operator has shapes, or lengths, of its own: where they do not tell its work, the model must not
};

/// Sets ComputeKernelTable::micro_step: the executions of an operation of a layer in an iteration are those of its
/// passes, equally many each. `stated`: passes of an iteration; else as the marks count them.
void number_micro_steps(const IterationMarks& marks, std::optional<std::int64_t> stated,
                        std::span<const KernelOrigin> origins, ComputeKernelTable& table);

/// Gives the products and attention of operations without any shapes the FLOPs of the model, each pass parted among its
/// kernels by duration, at the BF16 peak of `spec` (nullptr: no times). Where shapes tell the work they stand, and what
/// disagrees is noted in `kept.notes`, as is what the model cannot tell.
void add_model_work(const RunFacts& facts, const ModelShards& shards, const GpuSpec* spec,
                    std::span<const KernelOrigin> origins, std::string_view shown, ComputeKernels& kept);

}  // namespace chopper
