// SPDX-License-Identifier: Apache-2.0
#include "engine/throughput_rows.h"

#include <algorithm>
#include <map>
#include <utility>

#include "analyze/throughput.h"
#include "engine/make_rows.h"

namespace chopper {
namespace {

// The gpu all rows agree on; nullptr when one is not known or they differ.
const GpuSpec* common_spec(const std::vector<const GpuRow*>& rows, std::span<const GpuSpec> known) {
  if (rows.empty() || !rows.front()->spec.present()) return nullptr;
  const std::string& key = rows.front()->spec.value();
  const bool same = std::all_of(rows.begin(), rows.end(), [&](const GpuRow* row) { return row->spec == key; });
  const auto found = std::find_if(known.begin(), known.end(), [&](const GpuSpec& gpu) { return gpu.key == key; });
  return same && found != known.end() ? &*found : nullptr;
}

// The steps of a job, which lie together.
std::span<const StepRow> steps_of(const std::vector<StepRow>& steps, const Field<std::int64_t>& job) {
  if (!job.present()) return steps;
  const auto first =
      std::partition_point(steps.begin(), steps.end(), [&](const StepRow& step) { return step.job < job; });
  const auto last =
      std::partition_point(first, steps.end(), [&](const StepRow& step) { return step.job == job.value(); });
  return {first, last};
}

// FLOPs of each gpu of a job. A rank may have several files, one after the other.
std::vector<GpuFlops> flops_of_gpus(const std::vector<InputSummary>& inputs, const Job& job) {
  std::map<std::pair<std::int64_t, std::int32_t>, GpuFlops> by_gpu;
  for (const std::size_t i : job.inputs) {
    for (const GpuSummary& gpu : inputs[i].gpus)
      by_gpu[{inputs[i].facts.rank.value_or(-1), gpu.device}] += flops_of(gpu);
  }
  std::vector<GpuFlops> flops;
  for (const auto& [key, of_gpu] : by_gpu) flops.push_back(of_gpu);
  return flops;
}

}  // namespace

std::vector<ThroughputRow> throughput_rows(const Answer& answer, const std::vector<InputSummary>& inputs,
                                           const std::vector<Job>& jobs, std::span<const GpuSpec> known) {
  std::vector<std::vector<const GpuRow*>> gpus(jobs.size());
  for (const GpuRow& row : answer.gpus) gpus[static_cast<std::size_t>(row.job)].push_back(&row);
  std::vector<ThroughputRow> rows;
  for (std::size_t j = 0; j < jobs.size(); j++) {
    const Field<std::int64_t> number = job_field(jobs, j);
    std::vector<const InputSummary*> members;
    for (const std::size_t i : jobs[j].inputs) members.push_back(&inputs[i]);
    const std::vector<GpuFlops> flops = flops_of_gpus(inputs, jobs[j]);
    const ThroughputInputs of_job = {.steps = steps_of(answer.steps, number),
                                     .facts = answer.facts,
                                     .gpu = common_spec(gpus[j], known),
                                     .num_gpus = static_cast<std::int64_t>(flops.size()),
                                     .world_size = jobs[j].world_size,
                                     .micro_steps = micro_steps_of(members),
                                     .flops = flops};
    for (ThroughputRow& row : throughput(of_job)) {
      row.job = number;
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

}  // namespace chopper
