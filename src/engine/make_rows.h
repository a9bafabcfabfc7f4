// SPDX-License-Identifier: Apache-2.0
// From summaries to rows of the answer, one function a subject. Whoever calls them sorts.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "catalog/gpus.h"
#include "catalog/group_dimensions.h"
#include "engine/align_passes.h"
#include "engine/engine.h"
#include "engine/job.h"
#include "engine/match_collectives.h"

namespace chopper {

/// One gpu of one input.
struct GpuSource {
  std::size_t index;  ///< of the input
  std::size_t job;    ///< of the input
  const InputSummary& input;
  const GpuSummary& gpu;
  const GpuSpec* spec;  ///< nullptr: not known
};

/// Number of a job; absent when it is the only one.
Field<std::int64_t> job_field(const std::vector<Job>& jobs, std::size_t job);
Field<std::int64_t> rank_field(const InputSummary& input);
Field<std::int64_t> gpu_field(std::int32_t device);
Field<ExtentList> extent_field(const Extent& extent);
Field<std::int64_t> ordinal_field(std::int32_t ordinal);
Field<std::int64_t> number_field(std::int64_t number);
Field<std::int64_t> layer_field(std::int64_t layer);
Field<double> share_field(std::int64_t part, std::int64_t whole, Reason reason);

/// Sets the columns that say which gpu of which input a row is about.
template <class Row>
void set_source(const GpuSource& source, Row& row) {
  row.input = static_cast<std::int64_t>(source.index);
  row.rank = rank_field(source.input);
  row.gpu = gpu_field(source.gpu.device);
  if constexpr (requires { row.job; }) row.job = static_cast<std::int64_t>(source.job);
}

void add_health_rows(const HealthLog& log, const Field<std::int64_t>& input, Answer& answer);
/// `job`: of the input; absent when there is one only.
void add_input_row(std::size_t index, const InputSummary& input, const Field<std::int64_t>& job, Answer& answer);
/// Tables gpus, coverage, label_rules.
void add_gpu_rows(const GpuSource& source, Answer& answer);
/// Tables timeline and windows.
void add_timeline_rows(const GpuSource& source, const Selection& selection, Answer& answer);
/// Tables operations, at the grain asked for, and kernel_summary.
void add_operation_rows(const GpuSource& source, const RunOptions& options, Answer& answer);
void add_launch_rows(const GpuSource& source, Answer& answer);
void add_host_blocker_rows(const GpuSource& source, Answer& answer);
void add_memory_rows(std::size_t index, const InputSummary& input, std::optional<std::int64_t> only_gpu,
                     const Selection& selection, Answer& answer);
/// `matched`: one for each collective of the gpu.
void add_collective_rows(const GpuSource& source, std::span<const MatchedCollective> matched,
                         const GroupDimensionRules& rules, const Selection& selection, Answer& answer);
/// Tables alignment and alignment_gaps. Needs the compute kernels of the trace and the tables of the pass.
void add_alignment_rows(const std::vector<InputSummary>& inputs, const PassAlignment& alignment, Answer& answer);
/// The steps of a job: of all its gpus, whichever are selected. `number`: of the job; absent when there is one only.
void add_step_rows(const std::vector<InputSummary>& inputs, const Job& job, const Field<std::int64_t>& number,
                   const Selection& selection, Answer& answer);
/// One row for each of `sources`, compared with all gpus of its job.
void add_rank_rows(const std::vector<GpuSource>& sources, const std::vector<InputSummary>& inputs,
                   const std::vector<Job>& jobs, const MatchedCollectives& matched, const Selection& selection,
                   Answer& answer);

}  // namespace chopper
