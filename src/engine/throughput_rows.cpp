// SPDX-License-Identifier: Apache-2.0
#include "engine/throughput_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "analyze/throughput.h"
#include "engine/make_rows.h"

namespace chopper {
namespace {

// What all gpus of a job are, shown or not; nullptr when one is not known or they differ.
const GpuSpec* common_spec(const RunFacts& facts, const std::vector<InputSummary>& inputs, const Job& job,
                           std::span<const GpuSpec> known) {
  const GpuSpec* common = nullptr;
  for (const std::size_t i : job.inputs) {
    for (const GpuSummary& gpu : inputs[i].gpus) {
      const GpuSpec* spec = find_gpu(known, facts.gpu_spec, gpu.name);
      if (spec == nullptr || (common != nullptr && spec != common)) return nullptr;
      common = spec;
    }
  }
  return common;
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

// A rank may have several files, one after the other.
using GpuKey = std::pair<std::int64_t, std::int32_t>;
GpuKey key_of(const InputSummary& input, const GpuSummary& gpu) { return {input.facts.rank.value_or(-1), gpu.device}; }

std::int64_t num_gpus_of(const std::vector<InputSummary>& inputs, const Job& job) {
  std::set<GpuKey> gpus;
  for (const std::size_t i : job.inputs) {
    for (const GpuSummary& gpu : inputs[i].gpus) gpus.insert(key_of(inputs[i], gpu));
  }
  return static_cast<std::int64_t>(gpus.size());
}

// FLOPs in these steps of each gpu that the steps of the job are of.
std::vector<GpuFlops> flops_of(const std::set<std::int64_t>& steps, const std::vector<InputSummary>& inputs,
                               const Job& job) {
  std::map<GpuKey, GpuFlops> by_gpu;
  for (const GpuPlace& place : job.gpus) {
    const GpuSummary& gpu = inputs[place.input].gpus[place.gpu];
    GpuFlops& of_gpu = by_gpu[key_of(inputs[place.input], gpu)];
    for (std::size_t k = 0; k < gpu.flops.size(); k++) {
      of_gpu.has_shapes = of_gpu.has_shapes || gpu.flops[k].total > 0;
      if (!steps.contains(*iteration_key(job, place, gpu, static_cast<std::int32_t>(k)))) continue;
      of_gpu.sum += gpu.flops[k];
      of_gpu.num_iterations++;
    }
  }
  std::vector<GpuFlops> flops;
  for (const auto& [key, of_gpu] : by_gpu) flops.push_back(of_gpu);
  return flops;
}

std::string place_of(const Field<std::int64_t>& job) {
  return job.present() ? fmt::format("job {}", job.value()) : "the run";
}

// HFU is never below MFU: where both are too large, one says it.
void note_impossible(const ThroughputRow& row, HealthLog& notes) {
  for (const auto& [name, share] : {std::pair{"MFU", row.mfu}, std::pair{"HFU", row.hfu}}) {
    if (!share.present() || share.value() <= 1) continue;
    notes.add(HealthKind::impossible_mfu, place_of(row.job),
              fmt::format("{} {:.1f} % by convention {}", name, 100 * share.value(), row.convention));
    return;
  }
}

void note_micro_steps(const ThroughputInputs& of_job, const std::string& where, HealthLog& notes) {
  const auto& stated = of_job.facts.micro_steps;
  if (!stated || !of_job.micro_steps || *stated == *of_job.micro_steps) return;
  notes.add(HealthKind::model_disagrees, where,
            fmt::format("micro steps of an iteration: {}, training.micro_steps is {}", *of_job.micro_steps, *stated));
}

void note_ranks(const ThroughputInputs& of_job, const std::string& where, HealthLog& notes) {
  const RunFacts& facts = of_job.facts;
  if (!facts.data_parallel || !of_job.world_size) return;
  const std::int64_t stated = *facts.data_parallel * facts.tensor_parallel.value_or(1) *
                              facts.pipeline_parallel.value_or(1) * facts.context_parallel.value_or(1);
  if (stated == *of_job.world_size) return;
  notes.add(HealthKind::model_disagrees, where,
            fmt::format("[training] states {} ranks, the job has {}", stated, *of_job.world_size));
}

}  // namespace

std::vector<ThroughputRow> throughput_rows(const Answer& answer, const std::vector<InputSummary>& inputs,
                                           const std::vector<Job>& jobs, std::span<const GpuSpec> known,
                                           HealthLog& notes) {
  std::vector<ThroughputRow> rows;
  for (std::size_t j = 0; j < jobs.size(); j++) {
    const Field<std::int64_t> number = job_field(jobs, j);
    std::vector<const InputSummary*> members;
    for (const std::size_t i : jobs[j].inputs) members.push_back(&inputs[i]);
    const std::span<const StepRow> steps = steps_of(answer.steps, number);
    const std::vector<GpuFlops> flops = flops_of(flops_steps(steps), inputs, jobs[j]);
    const ThroughputInputs of_job = {.steps = steps,
                                     .facts = answer.facts,
                                     .gpu = common_spec(answer.facts, inputs, jobs[j], known),
                                     .num_gpus = num_gpus_of(inputs, jobs[j]),
                                     .world_size = jobs[j].world_size,
                                     .micro_steps = micro_steps_of(members),
                                     .flops = flops};
    note_micro_steps(of_job, place_of(number), notes);
    note_ranks(of_job, place_of(number), notes);
    for (ThroughputRow& row : throughput(of_job)) {
      row.job = number;
      note_impossible(row, notes);
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

}  // namespace chopper
