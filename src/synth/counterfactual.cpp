// SPDX-License-Identifier: Apache-2.0
#include "synth/counterfactual.h"

#include <algorithm>
#include <functional>
#include <limits>

#include "base/parallel.h"

namespace chopper::synth {
namespace {

std::int64_t first_compute(const Program& program, const IterationTimes& times) {
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  for (std::size_t i = 0; i < times.work.size(); i++) {
    const WorkClass c = program.work[i].work_class;
    const bool compute = c == WorkClass::gemm || c == WorkClass::attention || c == WorkClass::vector;
    if (compute) first = std::min(first, times.work[i].start_ns);
  }
  return first;
}

std::int64_t last_end(const IterationTimes& times) {
  std::int64_t last = 0;
  for (const WorkTime& each : times.work) last = std::max(last, each.end_ns);
  return last;
}

Counterfactual simulate(const Job& job, const Programs& programs, const Scenario& scenario, std::string name) {
  Counterfactual result;
  result.name = std::move(name);
  Simulation simulation(job, programs, scenario);
  const auto size = static_cast<std::size_t>(job.world_size);
  std::vector<std::int64_t> starts(size, 0);
  const std::int64_t total = job.warmup_iterations + job.num_iterations;
  const auto step = [&](const std::vector<std::int64_t>& next) {
    std::int64_t longest = 0;
    for (std::size_t rank = 0; rank < size; rank++) longest = std::max(longest, next[rank] - starts[rank]);
    result.step_ns.push_back(longest);
  };
  std::vector<std::int64_t> ends(size, 0);
  for (std::int64_t index = 0; index < total; index++) {
    simulation.run_until_complete(index);
    std::vector<std::int64_t> own(size, 0);
    for (std::int64_t rank = 0; rank < job.world_size; rank++) {
      const auto at = static_cast<std::size_t>(rank);
      const IterationTimes& times = simulation.times(rank, index);
      const Program& program = programs.at(job, place_of(job, rank).stage, index);
      own[at] = first_compute(program, times);
      ends[at] = std::max(ends[at], last_end(times));
      if (index < job.warmup_iterations) continue;
      for (std::size_t i = 0; i < times.work.size(); i++) {
        const Work& work = program.work[i];
        result.operations[{work.phase, work.operation}] += times.work[i].end_ns - times.work[i].start_ns;
      }
    }
    if (index > job.warmup_iterations) step(own);
    starts = std::move(own);
    simulation.forget(index);
  }
  step(ends);
  return result;
}

}  // namespace

HeldClocks clocks_of(const Job& job, const Programs& programs) {
  HeldClocks clocks(static_cast<std::size_t>(job.world_size));
  Simulation simulation(job, programs, {});
  for (std::int64_t index = 0; index < job.warmup_iterations + job.num_iterations; index++) {
    simulation.run_until_complete(index);
    for (std::int64_t rank = 0; rank < job.world_size; rank++) {
      std::vector<std::pair<float, float>> row;
      for (const WorkTime& t : simulation.times(rank, index).work) {
        const auto length = static_cast<double>(std::max<std::int64_t>(1, t.end_ns - t.start_ns));
        row.emplace_back(static_cast<float>(t.core_cycles / length), static_cast<float>(t.memory_cycles / length));
      }
      clocks[static_cast<std::size_t>(rank)].push_back(std::move(row));
    }
    simulation.forget(index);
  }
  return clocks;
}

std::vector<Counterfactual> simulate_counterfactuals(const Job& job, const Programs& programs, const HeldClocks& clocks,
                                                     unsigned threads) {
  Scenario no_communication, no_launch, peak_clock, alone;
  no_communication.communication = false;
  no_communication.clocks = &clocks;
  no_launch.host_cost = false;
  no_launch.clocks = &clocks;
  peak_clock.peak_clock = true;
  alone.communication = false;
  alone.peak_clock = true;
  alone.host_cost = false;
  const std::vector<std::pair<std::string, Scenario>> all = {
      {"no_communication", no_communication}, {"peak_clock", peak_clock}, {"no_launch", no_launch}, {"alone", alone}};
  std::vector<Counterfactual> results(all.size());
  std::vector<std::function<void()>> tasks;
  for (std::size_t i = 0; i < all.size(); i++) {
    tasks.push_back([&, i] { results[i] = simulate(job, programs, all[i].second, all[i].first); });
  }
  run_tasks(threads, tasks);
  return results;
}

}  // namespace chopper::synth
