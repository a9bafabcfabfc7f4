// SPDX-License-Identifier: Apache-2.0
#include "synth/counterfactual.h"

#include <algorithm>
#include <functional>

#include "base/parallel.h"
#include "synth/run_timeline.h"

namespace chopper::synth {
namespace {

std::vector<std::pair<float, float>> mean_clocks(const IterationTimes& times) {
  std::vector<std::pair<float, float>> row;
  for (const WorkTime& t : times.work) {
    const auto length = static_cast<double>(std::max<std::int64_t>(1, t.end_ns - t.start_ns));
    row.emplace_back(static_cast<float>(t.core_cycles / length), static_cast<float>(t.memory_cycles / length));
  }
  return row;
}

// `each_iteration` sees every iteration of every rank.
template <class Visitor>
Counterfactual simulate(const Job& job, const Programs& programs, const Scenario& scenario, std::string name,
                        const Visitor& each_iteration) {
  Counterfactual result;
  result.name = std::move(name);
  Simulation simulation(job, programs, scenario);
  const auto size = static_cast<std::size_t>(job.world_size);
  std::vector<std::vector<IterationBounds>> bounds(size);
  for (std::int64_t index = 0; index < job.warmup_iterations + job.num_iterations; index++) {
    simulation.run_until_complete(index);
    for (std::int64_t rank = 0; rank < job.world_size; rank++) {
      const IterationTimes& times = simulation.times(rank, index);
      each_iteration(rank, times);
      if (index < job.warmup_iterations) continue;
      const Program& program = programs.at(job, place_of(job, rank).stage, index);
      IterationBounds& own = bounds[static_cast<std::size_t>(rank)].emplace_back();
      for (std::size_t i = 0; i < times.work.size(); i++) {
        const Work& work = program.work[i];
        own.add(work.work_class, times.work[i].start_ns, times.work[i].end_ns);
        result.operations[{work.phase, work.operation}] += times.work[i].end_ns - times.work[i].start_ns;
      }
    }
    simulation.forget(index);
  }
  result.step_ns.assign(static_cast<std::size_t>(job.num_iterations), 0);
  for (const std::vector<IterationBounds>& rank : bounds) {
    const std::vector<std::int64_t> starts = window_starts(rank);
    for (std::size_t k = 0; k < rank.size(); k++) {
      result.step_ns[k] = std::max(result.step_ns[k], starts[k + 1] - starts[k]);
    }
    result.span_ns = std::max(result.span_ns, starts.back() - starts.front());
    for (const IterationBounds& each : rank) result.end_ns = std::max(result.end_ns, each.last_end_ns);
  }
  return result;
}

}  // namespace

Factual simulate_factual(const Job& job, const Programs& programs) {
  Factual result;
  result.clocks.resize(static_cast<std::size_t>(job.world_size));
  result.sums = simulate(job, programs, {}, "factual", [&](std::int64_t rank, const IterationTimes& times) {
    result.clocks[static_cast<std::size_t>(rank)].push_back(mean_clocks(times));
  });
  return result;
}

std::vector<Counterfactual> simulate_counterfactuals(const Job& job, const Programs& programs, unsigned threads) {
  const Factual factual = simulate_factual(job, programs);
  Scenario no_communication, no_launch, peak_clock, alone;
  no_communication.communication = false;
  no_communication.clocks = &factual.clocks;
  no_launch.host_cost = false;
  no_launch.clocks = &factual.clocks;
  peak_clock.peak_clock = true;
  alone.communication = false;
  alone.peak_clock = true;
  alone.host_cost = false;
  const std::vector<std::pair<std::string, Scenario>> all = {
      {"no_communication", no_communication}, {"peak_clock", peak_clock}, {"no_launch", no_launch}, {"alone", alone}};
  std::vector<Counterfactual> results(all.size() + 1);
  results[0] = factual.sums;
  std::vector<std::function<void()>> tasks;
  for (std::size_t i = 0; i < all.size(); i++) {
    tasks.push_back([&, i] {
      results[i + 1] = simulate(job, programs, all[i].second, all[i].first, [](std::int64_t, const IterationTimes&) {});
    });
  }
  run_tasks(threads, tasks);
  return results;
}

}  // namespace chopper::synth
