// SPDX-License-Identifier: Apache-2.0
// Where ranks stand in the job's grid, and which program they run.
#include <algorithm>

#include "synth/collectives.h"
#include "synth/simulation.h"

namespace chopper::synth {

// Tensor-parallel ranks are neighbours (the fastest links), then context, data, and pipeline stages farthest apart.
Place place_of(const Job& job, std::int64_t rank) {
  Place place;
  place.tensor = rank % job.tensor_parallel;
  rank /= job.tensor_parallel;
  place.context = rank % job.context_parallel;
  rank /= job.context_parallel;
  place.data = rank % job.data_parallel();
  place.stage = rank / job.data_parallel();
  return place;
}

std::vector<std::int64_t> members_of(const Job& job, std::int64_t rank, Group group) {
  const Place own = place_of(job, rank);
  const std::int64_t per_stage = job.world_size / job.pipeline_parallel;
  std::vector<std::int64_t> members;
  switch (group) {
    case Group::none:
      return {rank};
    case Group::previous_stage:
      return own.stage == 0 ? std::vector{rank} : std::vector{rank - per_stage, rank};
    case Group::next_stage:
      return own.stage + 1 == job.pipeline_parallel ? std::vector{rank} : std::vector{rank, rank + per_stage};
    default:
      break;
  }
  for (std::int64_t other = 0; other < job.world_size; other++) {
    const Place place = place_of(job, other);
    const bool same_stage = place.stage == own.stage;
    bool joins = true;
    if (group == Group::data) joins = same_stage && place.tensor == own.tensor;
    if (group == Group::tensor) joins = same_stage && place.context == own.context && place.data == own.data;
    if (group == Group::context) joins = same_stage && place.tensor == own.tensor && place.data == own.data;
    if (joins) members.push_back(other);
  }
  return members;
}

bool has_optimizer_step(const Job& job, std::int64_t index) {
  switch (job.optimizer) {
    case OptimizerSteps::every:
      return true;
    case OptimizerSteps::never:
      return false;
    case OptimizerSteps::once:
      return index == job.warmup_iterations + job.num_iterations / 2;
  }
  return false;
}

Programs build_programs(const Job& job) {
  Programs programs;
  for (std::int64_t stage = 0; stage < job.pipeline_parallel; stage++) {
    programs.plain.push_back(build_program(job, stage, false));
    programs.with_optimizer.push_back(build_program(job, stage, true));
  }
  return programs;
}

const Program& Programs::at(const Job& job, std::int64_t stage, std::int64_t index) const {
  const std::vector<Program>& all = has_optimizer_step(job, index) ? with_optimizer : plain;
  return all[static_cast<std::size_t>(stage)];
}

}  // namespace chopper::synth
