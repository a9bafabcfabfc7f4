// SPDX-License-Identifier: Apache-2.0
// The FLOPs of one pass of an operation by the model the facts describe, for traces without recorded shapes
// (docs/reference/flops.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "catalog/group_dimensions.h"
#include "catalog/run_facts.h"
#include "model/trace.h"

namespace chopper {

/// Over how many gpus an operation is laid; 0: over several, and nothing tells how many.
struct ModelShards {
  std::int64_t tensor = 1, context = 1;
  std::int64_t pipeline = 1;  ///< of the layers; 0: several stages, and nothing tells how many
};

/// As the facts state; what they leave out, as the process groups of the trace say.
ModelShards model_shards(const RunFacts& facts, const TraceTables& trace, const GpuWorkLabels& labels,
                         const GroupDimensionRules& rules);

/// One pass (micro step) of an operation of one layer, on one gpu.
struct PassFlops {
  double forward = 0, backward = 0;
  bool is_attention = false;
  std::size_t least_backward = 1;  ///< kernels that its backward pass has at least: one for each gradient
};

/// Neither: the model has no such operation.
struct ModelAnswer {
  std::optional<PassFlops> flops;
  std::string refusal;  ///< why the work is not told, though it is an operation of the model
};

/// Whether the facts describe a model and its inputs at all.
bool describes_work(const RunFacts& facts);

/// `operation`: a canonical name of the Llama family.
ModelAnswer flops_of_pass(const RunFacts& facts, const ModelShards& shards, std::string_view operation);

/// Heads are this wide: stated, or hidden over heads; nullopt where neither is a whole number.
std::optional<std::int64_t> head_width(const RunFacts& facts);

}  // namespace chopper
