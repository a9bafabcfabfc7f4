// SPDX-License-Identifier: Apache-2.0
#include "synth/simulation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "synth/counterfactual.h"
#include "synth/parameters.h"
#include "synth/presets.h"

namespace chopper::synth {
namespace {

Job tiny(const std::vector<const char*>& settings = {}) {
  Job job = make_job("tiny-fsdp2", "").value();
  job.num_iterations = 2;
  job.warmup_iterations = 1;
  for (const char* each : settings) EXPECT_TRUE(apply_setting(job, each).ok()) << each;
  EXPECT_TRUE(check_job(job).ok());
  return job;
}

void run_all(Simulation& simulation, const Job& job) {
  for (std::int64_t i = 0; i < job.warmup_iterations + job.num_iterations; i++) simulation.run_until_complete(i);
}

const Program& program_of(const Job& job, const Programs& programs, std::int64_t rank, std::int64_t index) {
  return programs.at(job, place_of(job, rank).stage, index);
}

// Work starts after its launch call began; a stream runs one piece at a time, in order of launch.
void check_causality(const Job& job) {
  const Programs programs = build_programs(job);
  Simulation simulation(job, programs, {});
  run_all(simulation, job);
  for (std::int64_t rank = 0; rank < job.world_size; rank++) {
    std::map<Stream, std::int64_t> free_ns;
    for (std::int64_t i = 0; i < job.warmup_iterations + job.num_iterations; i++) {
      const Program& p = program_of(job, programs, rank, i);
      const IterationTimes& t = simulation.times(rank, i);
      for (std::size_t w = 0; w < t.work.size(); w++) {
        const WorkTime& time = t.work[w];
        ASSERT_GT(time.start_ns, time.call_ns) << p.work[w].name;
        ASSERT_GT(time.end_ns, time.start_ns) << p.work[w].name;
        ASSERT_GE(time.start_ns, free_ns[p.work[w].stream]) << p.work[w].name;
        free_ns[p.work[w].stream] = time.end_ns;
      }
      for (std::size_t r = 0; r < t.ranges.size(); r++) {
        ASSERT_GT(t.ranges[r].end_ns, t.ranges[r].start_ns);
        const std::int32_t parent = p.ranges[r].parent;
        if (parent < 0) continue;
        ASSERT_GE(t.ranges[r].start_ns, t.ranges[static_cast<std::size_t>(parent)].start_ns);
        ASSERT_LE(t.ranges[r].end_ns, t.ranges[static_cast<std::size_t>(parent)].end_ns);
      }
    }
  }
}

TEST(Simulation, KeepsTheOrderOfCauses) {
  for (const auto& settings : std::vector<std::vector<const char*>>{
           {},
           {"sharding=fsdp1"},
           {"sharding=ddp"},
           {"reads_loss=off"},
           {"tensor_parallel=2"},
           {"context_parallel=2"},
           {"compiled=on"},
           {"checkpointing=on"},
           {"sharding=ddp", "graphs=on"},
           {"sharding=ddp", "pipeline_parallel=2", "micro_steps=1"},
           {"sharding=ddp", "pipeline_parallel=2", "micro_steps=5"},
           {"sharding=ddp", "world_size=8", "layers=8", "pipeline_parallel=8", "micro_steps=3"},
           {"micro_steps=3"},
           {"queue_depth=1"},
           {"world_size=1"}}) {
    check_causality(tiny(settings));
  }
}

// A collective ends after the last rank has arrived, on all ranks within the stated time.
TEST(Simulation, CollectivesMeet) {
  const Job job = tiny();
  const Programs programs = build_programs(job);
  Simulation simulation(job, programs, {});
  run_all(simulation, job);
  const Program& p = programs.at(job, 0, 1);
  int num_collectives = 0;
  for (std::size_t w = 0; w < p.work.size(); w++) {
    if (p.work[w].collective < 0) continue;
    num_collectives++;
    std::int64_t last_start = 0, first_end = INT64_MAX, last_end = 0;
    for (std::int64_t rank = 0; rank < job.world_size; rank++) {
      const WorkTime& t = simulation.times(rank, 1).work[w];
      last_start = std::max(last_start, t.start_ns);
      first_end = std::min(first_end, t.end_ns);
      last_end = std::max(last_end, t.end_ns);
    }
    for (std::int64_t rank = 0; rank < job.world_size; rank++) {
      EXPECT_EQ(simulation.times(rank, 1).work[w].all_arrived_ns, last_start);
    }
    EXPECT_GE(static_cast<double>(first_end - last_start), job.physics.collective_latency_ns * 0.99);
    EXPECT_LE(static_cast<double>(last_end - first_end), job.physics.exit_jitter_ns);
  }
  // Gathers of root and two layers, of one layer again in the backward pass (the last is prefetched), three reductions
  // and the norm of the gradients.
  EXPECT_EQ(num_collectives, 9);
}

// Where nothing disturbs, a kernel takes its time alone; with the clocks held, the law of spec 9 for those clocks.
TEST(Simulation, UndisturbedWorkFollowsTheLaw) {
  const Job job = tiny();
  const Programs programs = build_programs(job);
  const HeldClocks clocks = simulate_factual(job, programs).clocks;
  Scenario held, alone;
  held.communication = false;
  held.clocks = &clocks;
  alone.communication = false;
  alone.peak_clock = true;
  Simulation with_clocks(job, programs, held), at_peak(job, programs, alone);
  run_all(with_clocks, job);
  run_all(at_peak, job);
  for (std::int64_t rank = 0; rank < job.world_size; rank++) {
    const Program& p = program_of(job, programs, rank, 1);
    for (std::size_t w = 0; w < p.work.size(); w++) {
      const Work& work = p.work[w];
      if (work.collective >= 0) continue;
      const WorkTime& a = at_peak.times(rank, 1).work[w];
      const double peak = work.alone_ns * a.variation;
      EXPECT_NEAR(static_cast<double>(a.end_ns - a.start_ns), peak, 1.0) << work.name;
      const auto& [core, memory] = clocks[static_cast<std::size_t>(rank)][1][w];
      const double factor = (1 - work.insensitive) * job.gpu.clock_mhz / static_cast<double>(core) +
                            work.insensitive * job.gpu.memory_clock_mhz / static_cast<double>(memory);
      const WorkTime& h = with_clocks.times(rank, 1).work[w];
      EXPECT_NEAR(static_cast<double>(h.end_ns - h.start_ns), peak * factor, 1.0) << work.name;
    }
  }
}

// The factual run: the time is that law times a contention of at least 1, and 1 where no other work ran beside it.
TEST(Simulation, ContentionIsWhatOtherWorkCosts) {
  Job job = tiny({"kernel_jitter=0"});
  job.model = {2, 2048, 5632, 16, 8, 128, 32000};
  const Programs programs = build_programs(job);
  Simulation simulation(job, programs, {});
  run_all(simulation, job);
  int beside = 0, undisturbed = 0;
  for (std::int64_t rank = 0; rank < job.world_size; rank++) {
    const Program& p = program_of(job, programs, rank, 1);
    const IterationTimes& t = simulation.times(rank, 1);
    for (std::size_t w = 0; w < p.work.size(); w++) {
      const Work& work = p.work[w];
      if (work.bound == Bound::none || work.stream != Stream::compute) continue;
      const WorkTime& own = t.work[w];
      const auto length = static_cast<double>(own.end_ns - own.start_ns);
      const double alone = work.alone_ns * ((1 - work.insensitive) * job.gpu.clock_mhz / (own.core_cycles / length) +
                                            work.insensitive * job.gpu.memory_clock_mhz / (own.memory_cycles / length));
      bool meets = false;
      for (std::size_t o = 0; o < p.work.size(); o++) {
        const bool other = o != w && p.work[o].stream != Stream::compute;
        meets = meets || (other && t.work[o].start_ns < own.end_ns && own.start_ns < t.work[o].end_ns);
      }
      meets ? beside++ : undisturbed++;
      const double contention = length / alone;
      // Rounding to whole nanoseconds, and clocks that change while it runs: the mean of 1/f is not 1/mean of f.
      if (meets) {
        EXPECT_GT(contention, 1 - 2e-3 - 2 / length) << work.name;
        EXPECT_LT(contention, work.contention * job.physics.contention_copy + 2e-3 + 2 / length) << work.name;
      } else {
        EXPECT_NEAR(contention, 1.0, 2e-3 + 2 / length) << work.name;
      }
    }
  }
  EXPECT_GT(beside, 50);
  EXPECT_GT(undisturbed, 50);
}

// How the caller divides the run must not matter.
TEST(Simulation, DoesNotDependOnHowItIsAdvanced) {
  const Job job = tiny({"reads_loss=off"});
  const Programs programs = build_programs(job);
  Simulation at_once(job, programs, {}), step_by_step(job, programs, {});
  at_once.run_until_complete(2);
  for (std::int64_t i = 0; i < 3; i++) {
    step_by_step.run_until_complete(i);
    for (std::int64_t rank = 0; rank < job.world_size; rank++) {
      const IterationTimes &a = at_once.times(rank, i), &b = step_by_step.times(rank, i);
      ASSERT_EQ(a.work.size(), b.work.size());
      for (std::size_t w = 0; w < a.work.size(); w++) {
        ASSERT_EQ(a.work[w].start_ns, b.work[w].start_ns);
        ASSERT_EQ(a.work[w].end_ns, b.work[w].end_ns);
      }
    }
    step_by_step.forget(i);
  }
}

double mean_clock(const Job& job, std::int64_t rank) {
  const Programs programs = build_programs(job);
  Simulation simulation(job, programs, {});
  run_all(simulation, job);
  double sum = 0;
  const std::vector<ClockSample> samples = simulation.take_clocks(rank);
  for (const ClockSample& s : samples) sum += s.core_mhz;
  return sum / static_cast<double>(samples.size());
}

TEST(Simulation, FaultsDoWhatTheySay) {
  Job job = tiny();
  EXPECT_NEAR(mean_clock(job, 1), job.gpu.max_clock_mhz, 1);  // too little work to reach the cap
  job.faults = {{"straggler", 1, 10}};
  EXPECT_NEAR(mean_clock(job, 1), 0.9 * job.gpu.max_clock_mhz, 1);
  EXPECT_NEAR(mean_clock(job, 2), job.gpu.max_clock_mhz, 1);

  const auto step = [](const Job& j) {
    const Programs programs = build_programs(j);
    Simulation simulation(j, programs, {});
    run_all(simulation, j);
    return simulation.times(0, 2).start_ns - simulation.times(0, 1).start_ns;
  };
  job.faults = {};
  const std::int64_t usual = step(job);
  job.faults = {{"late-rank", 2, 5}};
  EXPECT_NEAR(static_cast<double>(step(job) - usual), 5e6, 1e6);  // all ranks wait for it
  job.faults = {{"data-loading", -1, 7}};
  EXPECT_NEAR(static_cast<double>(step(job) - usual), 7e6, 1e6);
  job.faults = {{"slow-link", 3, 300}};
  EXPECT_GT(step(job), usual);
  job.faults = {{"sync-calls", -1, 1}};
  EXPECT_GT(step(job), usual);
}

TEST(Counterfactual, RemovingACostNeverCosts) {
  const Job job = make_job("demo", "").value();
  const Programs programs = build_programs(job);
  const std::vector<Counterfactual> all = simulate_counterfactuals(job, programs, 2);
  ASSERT_EQ(all.size(), 5u);
  EXPECT_EQ(all[0].name, "factual");
  for (const Counterfactual& each : all) {
    ASSERT_EQ(each.step_ns.size(), 3u) << each.name;
    EXPECT_TRUE(each.name == "factual" || each.end_ns < all[0].end_ns) << each.name;
    EXPECT_LE(all[4].end_ns, each.end_ns) << each.name;  // "alone" leaves out all three
  }
}

}  // namespace
}  // namespace chopper::synth
