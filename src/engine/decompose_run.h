// SPDX-License-Identifier: Apache-2.0
// From aligned counter passes to the rows of metrics and decomposition.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyze/decomposition/decompose.h"
#include "analyze/decomposition/paper_mode.h"
#include "analyze/decomposition/roofline.h"
#include "engine/engine.h"
#include "engine/job.h"
#include "engine/match_collectives.h"
#include "engine/pass_values.h"

namespace chopper {

using OperationName = std::pair<Phase, std::string>;

/// An operation of a job over the selection.
struct DecomposedOperation {
  std::vector<KernelSample> samples;         ///< gone once decomposed
  std::int64_t num_instances = 0;            ///< executions
  bool by_shapes = false, by_model = false;  ///< what tells the work
  Decomposition measured;
  PaperDecomposition paper;
  Roofline roofline;
};

/// Clock facts of one gpu. Gpus of several products have peaks at several clocks: cycles and clocks of each are brought
/// to those of a gpu whose peaks are quoted at DecomposedJob::peak_mhz, which leaves times and ratios of clocks as they
/// are.
struct GpuClocks {
  GpuPlace place;
  double scale = 1;  ///< reference over the peak clock of the gpu
  std::optional<std::int64_t> rank;
  std::int32_t device = 0;
};

/// All operations of a job that have theory.
struct DecomposedJob {
  std::size_t job = 0;
  double peak_mhz = kNotMeasured;           ///< of the first selected gpu that is known
  std::vector<GpuClocks> gpus;              ///< the selected ones, in order of the job
  std::size_t num_measured_iterations = 0;  ///< that have dispatches of their own, of the gpu with fewest
  std::size_t num_gpus = 0, num_gpus_with_counters = 0;
  std::map<OperationName, DecomposedOperation> operations;
};

/// Decomposes the operations of every job that has counters: complete iterations of its selected gpus. `values` as
/// pass_values gives them.
std::vector<DecomposedJob> decompose_run(const std::vector<InputSummary>& inputs, const std::vector<Job>& jobs,
                                         const std::vector<GpuCounters>& values, const std::vector<GpuSpec>& known,
                                         const RunOptions& options);

/// What trace, counters and facts say of a kernel, by row of its table; gpu, iteration and collective are not set.
/// `counters`: nullptr where the gpu has none.
KernelSample sample_of(const ComputeKernels& kernels, const GpuCounters* counters, std::size_t kernel,
                       const GpuClocks& gpu, const RunFacts& facts);
/// The counters of a gpu; nullptr where it has none.
const GpuCounters* find_counters(const std::vector<GpuCounters>& values, const GpuPlace& place);
/// Whether --rank and --gpu leave the gpu in.
bool is_selected(const RunOptions& options, const InputSummary& input, const GpuSummary& gpu);

/// The budget of every window of the selected gpus of a job; nothing where a part of the work is selected.
void add_budget_rows(const std::vector<InputSummary>& inputs, const DecomposedJob& decomposed,
                     const std::vector<GpuCounters>& values, const MatchedCollectives& matched,
                     const RunOptions& options, Answer& answer);

/// One row an operation and mode.
void add_decomposition_rows(const DecomposedJob& job, const Field<std::int64_t>& number, Answer& answer);

/// One row a metric that has values, and of those asked for (RunOptions::metrics) the others too, with what they need.
void add_metric_rows(const std::vector<InputSummary>& inputs, const GpuCounters& counters, const RunOptions& options,
                     Answer& answer);

}  // namespace chopper
