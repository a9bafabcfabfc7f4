// SPDX-License-Identifier: Apache-2.0
// What a run achieves: step time, tokens/s, and model (MFU) and hardware (HFU) FLOP utilisation by three conventions
// (docs/reference/flops.md).
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "catalog/gpus.h"
#include "catalog/run_facts.h"
#include "model/rows.h"
#include "model/summary.h"

namespace chopper {

/// FLOPs from the recorded shapes of one gpu, of all its files, summed over its iterations of some steps.
struct GpuFlops {
  IterationFlops sum;
  std::int64_t num_iterations = 0;
  bool has_shapes = false;  ///< FLOPs of any of its iterations are known, whether in `sum` or not
};

/// Keys of the steps whose FLOPs are those of a step: the ones that step_time_ns is the median of; where there are none
/// the complete ones, else all.
std::set<std::int64_t> flops_steps(std::span<const StepRow> steps);

/// The passes of every complete iteration with gpu work; nullopt when there is none, or they differ.
std::optional<std::int64_t> micro_steps_of(std::span<const InputSummary* const> inputs);

/// FLOPs of one sequence through a model of the Llama family, attention causal.
struct SequenceFlops {
  double forward = 0, backward = 0;  ///< without anything computed twice
  double scores = 0;                 ///< the scores, which fused attention computes again in the backward phase
};
/// nullopt when the facts do not describe the model or the sequence.
std::optional<SequenceFlops> causal_flops(const RunFacts& facts);

/// 6N + 12 L H d s for each token of one sequence (PaLM, appendix B), forward and backward.
std::optional<double> palm_flops(const RunFacts& facts);

struct ThroughputInputs {
  std::span<const StepRow> steps = {};
  const RunFacts& facts;
  const GpuSpec* gpu = nullptr;                  ///< nullptr: not known, or not the same everywhere
  std::int64_t num_gpus = 0;                     ///< gpus the traces show
  std::optional<std::int64_t> world_size = {};   ///< ranks of the job, as the traces state
  std::optional<std::int64_t> micro_steps = {};  ///< as counted in the traces; the facts win
  std::span<const GpuFlops> flops = {};          ///< one a gpu of the steps, of `flops_steps`
};

/// One row a convention, sorted: causal, palm, shapes. None without steps.
std::vector<ThroughputRow> throughput(const ThroughputInputs& inputs);

}  // namespace chopper
