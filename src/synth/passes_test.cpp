// SPDX-License-Identifier: Apache-2.0
// Counter passes: what is dispatched and when, and that counters, clocks and truth are of the same physics.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "synth/clock_sums.h"
#include "synth/counter_physics.h"
#include "synth/kernels.h"
#include "synth/parameters.h"
#include "synth/pass_execution.h"
#include "synth/pass_settings.h"
#include "synth/presets.h"

namespace chopper::synth {
namespace {

Job tiny() {
  Job job = make_job("tiny-fsdp2", "").value();
  job.num_iterations = 2;
  job.passes.is_on = true;
  return job;
}

struct Executed {
  std::vector<PassIteration> iterations;
  std::vector<std::string> names;  // of all dispatches: those of an iteration end with the execution
  std::size_t num_missing = 0, num_dispatches = 0;
};

Executed execute(const Job& job, std::int64_t pass, std::int64_t rank) {
  const Programs programs = build_programs(job);
  const RunContext context{job, programs, {}, 1};
  PassExecution execution(context, pass, rank);
  Executed all;
  PassIteration iteration;
  while (execution.next(iteration)) {
    for (PassDispatch& d : iteration.dispatches) {
      all.names.emplace_back(d.name);
      d.work = nullptr;
      d.name = {};
    }
    all.num_dispatches += iteration.dispatches.size();
    all.iterations.push_back(iteration);
  }
  all.num_missing = execution.missing().size();
  return all;
}

std::size_t num_compute(const Job& job) {
  const Program program = build_program(job, 0, true);
  return static_cast<std::size_t>(
      std::count_if(program.work.begin(), program.work.end(), [](const Work& w) { return w.is_compute(); }));
}

TEST(PassExecution, RunsTheComputingKernelsOneAfterTheOther) {
  const Job job = tiny();
  const Executed run = execute(job, 0, 1);
  ASSERT_EQ(run.iterations.size(), 5u);  // three to warm up, two of the trace
  std::int64_t now = 0, id = 1, number = job.first_iteration - 3;
  for (const PassIteration& iteration : run.iterations) {
    EXPECT_EQ(iteration.number, number++);
    EXPECT_EQ(iteration.dispatches.size(), num_compute(job));
    EXPECT_GE(iteration.mark_start_ns, now);
    std::int32_t order = 0;
    for (const PassDispatch& d : iteration.dispatches) {
      EXPECT_EQ(d.id, id++);
      EXPECT_EQ(d.order, order++);
      EXPECT_GT(d.start_ns, now);
      EXPECT_GT(d.end_ns, d.start_ns);
      EXPECT_GE(d.start_ns, iteration.mark_start_ns);
      EXPECT_LE(d.end_ns, iteration.mark_end_ns);
      EXPECT_NEAR(d.cycles / d.core_mhz * 1e3, static_cast<double>(d.end_ns - d.start_ns), 0.51);
      now = d.end_ns;
    }
  }
  EXPECT_EQ(run.num_missing, 0u);
  for (const std::string& name : run.names) EXPECT_EQ(name.find("nccl"), std::string::npos);
}

TEST(PassExecution, CountsItsOwnIterations) {
  Job job = tiny();
  job.passes.num_iterations = 2;
  job.passes.warmup = 1;
  const Executed run = execute(job, 0, 0);
  ASSERT_EQ(run.iterations.size(), 2u);
  EXPECT_EQ(run.iterations[0].number, job.first_iteration - 1);
  job.imperfections = {{"pass-warmup", 0, 2}};
  EXPECT_EQ(execute(job, 0, 0).iterations[0].number, job.first_iteration - 3);
  EXPECT_EQ(execute(job, 0, 1).iterations[0].number, job.first_iteration - 1);
  // No iteration has a number below 0.
  job.first_iteration = 0;
  EXPECT_EQ(execute(job, 0, 0).iterations[0].number, 0);
}

TEST(PassExecution, AHostThatDoesNotWaitEndsItsIterationEarlier) {
  Job job = tiny();
  job.reads_loss = false;
  const Executed run = execute(job, 0, 0);
  for (std::size_t i = 0; i < run.iterations.size(); i++) {
    const PassIteration& it = run.iterations[i];
    EXPECT_EQ(it.mark_end_ns, it.dispatches[it.dispatches.size() - 4].start_ns);
    if (i > 0) {
      EXPECT_GE(it.mark_start_ns, run.iterations[i - 1].mark_end_ns);
      EXPECT_LT(it.mark_start_ns, run.iterations[i - 1].dispatches.back().start_ns);
      EXPECT_GT(it.dispatches.front().start_ns, run.iterations[i - 1].dispatches.back().end_ns);
    }
  }
}

double mean_mhz(const Executed& run) {
  double cycles = 0, time_ns = 0;
  for (const PassIteration& iteration : run.iterations) {
    for (const PassDispatch& d : iteration.dispatches) {
      cycles += d.cycles;
      time_ns += static_cast<double>(d.end_ns - d.start_ns);
    }
  }
  return cycles * 1e3 / time_ns;
}

TEST(PassExecution, EachPassHasItsOwnClock) {
  Job job = tiny();
  ASSERT_EQ(num_passes(job), 4);
  const double first = mean_mhz(execute(job, 0, 0)), last = mean_mhz(execute(job, 3, 0));
  EXPECT_LE(first, job.gpu.max_clock_mhz);
  EXPECT_NEAR(last / first, 0.88, 0.005);
  job.imperfections = {{"pass-clocks", -1, 20}};
  EXPECT_NEAR(mean_mhz(execute(job, 0, 0)) / first, 0.80, 0.005);
  job.imperfections.clear();
  job.faults = {{"straggler", 0, 10}};
  EXPECT_NEAR(mean_mhz(execute(job, 0, 0)) / first, 0.90, 0.005);
  EXPECT_NEAR(mean_mhz(execute(job, 0, 1)) / first, 1.0, 0.02);
}

TEST(PassExecution, FlawsComeInTheirShare) {
  Job job = tiny();
  job.passes.num_iterations = 40;
  const std::size_t whole = execute(job, 1, 0).num_dispatches;
  const auto with = [&](const char* name, DispatchFlaw flaw) {
    job.imperfections = {{name, -1, 5}};
    const Executed run = execute(job, 1, 0);
    std::size_t count = run.num_missing;
    for (const PassIteration& iteration : run.iterations) {
      for (const PassDispatch& d : iteration.dispatches) count += d.flaw != DispatchFlaw::none && d.flaw == flaw;
    }
    return static_cast<double>(count) / static_cast<double>(whole);
  };
  EXPECT_NEAR(with("pass-missing", DispatchFlaw::none), 0.05, 0.01);
  EXPECT_NEAR(with("pass-extra", DispatchFlaw::extra), 0.05, 0.01);
  EXPECT_NEAR(with("pass-renamed", DispatchFlaw::renamed), 0.05, 0.01);
  EXPECT_NEAR(with("pass-reordered", DispatchFlaw::reordered), 0.10, 0.02);  // both of a pair
  // Another pass has its flaws elsewhere.
  job.imperfections = {{"pass-extra", -1, 5}};
  EXPECT_NE(execute(job, 1, 0).names, execute(job, 2, 0).names);
}

TEST(PassExecution, RenamedKernelsDifferBeforeTheirArguments) {
  Job job = tiny();
  const std::vector<std::string> plain = execute(job, 0, 0).names;
  job.imperfections = {{"pass-renamed", -1, 100}};
  const std::vector<std::string> renamed = execute(job, 0, 0).names;
  ASSERT_EQ(plain.size(), renamed.size());
  for (std::size_t i = 0; i < plain.size(); i++) {
    // Of "void at::native::(anonymous namespace)::f<int>(int)" the argument lists begin behind f.
    std::size_t at = plain[i].find("(anonymous namespace)");
    at = plain[i].find_first_of("<(", at == std::string::npos ? 0 : at + 21);
    at = std::min(at, plain[i].size());
    EXPECT_EQ(renamed[i], plain[i].substr(0, at) + "_alternative" + plain[i].substr(at));
  }
}

// The worked numbers of formats.md 8: C = 840,000 cycles at utilisation 0.5 are 510,720,000 busy cycles of 1,216 units.
TEST(CounterPhysics, BusyCyclesAreThoseOfTheUtilisation) {
  const Job job = tiny();
  Work work;
  work.work_class = WorkClass::gemm;
  work.bound = Bound::compute;
  work.executed_flops = 840'000.0 * 0.5 * static_cast<double>(job.gpu.num_units) * job.gpu.bf16_flop_per_clock;
  EXPECT_DOUBLE_EQ(matrix_busy_cycles(job, work), 510'720'000.0);
  work.rate = 1.25;  // busy units at four fifths of their rate are busy longer
  EXPECT_DOUBLE_EQ(matrix_busy_cycles(job, work), 638'400'000.0);
}

TEST(CounterPhysics, TimeFollowsBothClocks) {
  Job job = tiny();
  Work work;
  work.alone_ns = 100'000;
  work.insensitive = 0.25;
  job.physics.front_end_cycles = 0;
  EXPECT_DOUBLE_EQ(serialised_ns(job, work, {2100, 1}), 100'000);
  EXPECT_DOUBLE_EQ(serialised_ns(job, work, {1050, 1}), 175'000);
  EXPECT_DOUBLE_EQ(serialised_ns(job, work, {2100, 0.5}), 125'000);
  job.physics.front_end_cycles = 2100;
  EXPECT_DOUBLE_EQ(serialised_ns(job, work, {1050, 1}), 177'000);
}

TEST(CounterPhysics, InstancesAddUpAndRequestsAreTheBytes) {
  for (const char* gpu : {"mi300x", "mi250x", "mi355x"}) {
    const Job job = make_job("tiny-fsdp2", gpu).value();
    const Kernels kernels(job);
    const std::vector<double> dies = die_shares(job, 3);
    ASSERT_EQ(dies.size(), static_cast<std::size_t>(job.gpu.num_xccs)) << gpu;
    EXPECT_NEAR(std::accumulate(dies.begin(), dies.end(), 0.0), static_cast<double>(dies.size()), 1e-9);
    for (const Work& work : {kernels.gemm(4096, 1537, 4096), kernels.attention_backward(1, 8, 2, 2048, 2048),
                             kernels.elementwise("MulFunctor<float>", 1e7, 6e7), kernels.streaming("k", 10, 40)}) {
      for (const std::vector<Counter>& pass : counter_plan(job)) {
        EXPECT_NE(std::find(pass.begin(), pass.end(), Counter::gui_active), pass.end());
        for (const Counter counter : pass) {
          std::vector<std::int64_t> values;
          count_instances(job, dies, work, counter, 123'456.7, values);
          EXPECT_EQ(std::ssize(values), num_instances(job, block_of(counter)));
          EXPECT_EQ(std::accumulate(values.begin(), values.end(), std::int64_t{0}),
                    count_all(job, dies, work, counter, 123'456.7));
          for (const std::int64_t value : values) EXPECT_GE(value, 0) << counter_name(job, counter);
        }
      }
      const Traffic traffic = traffic_of(job, work);
      EXPECT_NEAR(static_cast<double>(traffic.read_bytes() + traffic.write_bytes()), work.executed_bytes, 32);
      EXPECT_EQ(traffic.read_128 > 0, std::string_view(gpu) != "mi250x" && work.executed_bytes > 1000) << gpu;
    }
  }
}

// A matrix unit that works belongs to a unit that has waves: both are told in cycles (data/counters/amd.toml).
TEST(CounterPhysics, UnitsAreBusyAtLeastAsLongAsTheirMatrixUnits) {
  for (const char* gpu : {"mi300x", "mi250x", "mi355x"}) {
    const Job job = make_job("tiny-fsdp2", gpu).value();
    const Kernels kernels(job);
    const std::vector<double> dies = die_shares(job, 0);
    for (const Work& work :
         {kernels.gemm(4096, 4096, 4096), kernels.gemm(4096, 1537, 4096), kernels.gemm(100, 200, 300),
          kernels.attention_forward(2, 32, 8, 4096, 4096), kernels.attention_backward(1, 8, 2, 2048, 2048)}) {
      const double cycles = work.alone_ns * job.gpu.clock_mhz * 1e-3;
      const double of_units = cycles * static_cast<double>(job.gpu.num_units);
      const double unit_busy = static_cast<double>(count_all(job, dies, work, Counter::busy_cu, cycles)) / of_units;
      const double utilisation = static_cast<double>(count_all(job, dies, work, Counter::mfma_busy, cycles)) /
                                 (of_units * static_cast<double>(job.gpu.matrix_units_per_unit));
      EXPECT_GE(unit_busy, utilisation) << gpu << " " << work.name;
      EXPECT_LE(unit_busy, 1) << gpu << " " << work.name;
    }
  }
}

// No pass holds more of a block than the hardware counts at once (formats.md 2.5); 6.2 keeps 512 instances.
TEST(CounterPhysics, PassesFitTheHardware) {
  Job job = tiny();
  for (const char* format : {"rocprofv3-7.0", "rocprofv3-6.2"}) {
    ASSERT_TRUE(apply_setting(job, std::string("counter_format=") + format).ok());
    std::set<Counter> all;
    for (const std::vector<Counter>& pass : counter_plan(job)) {
      std::int64_t of_block[3] = {}, instances = 0;
      for (const Counter counter : pass) {
        of_block[static_cast<std::size_t>(block_of(counter))]++;
        instances += num_instances(job, block_of(counter));
        all.insert(counter);
      }
      EXPECT_LE(of_block[0], 2);
      EXPECT_LE(of_block[1], 8);
      EXPECT_LE(of_block[2], 4);
      if (job.passes.format == CounterFormat::rocprofv3_6_2) {
        EXPECT_LE(instances, 512);
      }
    }
    EXPECT_EQ(all.size(), 19u);
  }
}

TEST(ClockSums, FactorsCloseAndOneClockStandsForAll) {
  Job job = tiny();
  const Kernels kernels(job);
  ClockSums sums;
  for (const double mhz : {1500.0, 1700.0, 2000.0}) {
    WorkTime time;
    time.end_ns = 500'000;
    time.core_cycles = mhz * 500'000;
    time.memory_cycles = 1200.0 * 500'000;
    sums.add(job, kernels.gemm(4096, 4096, 4096), time);
    sums.add(job, kernels.elementwise("MulFunctor<float>", 1e8, 6e8), time);
  }
  EXPECT_EQ(sums.num_kernels, 6);
  const double product =
      sums.theory_ns * sums.inst() * sums.util() * sums.rate() * sums.freq() * sums.mem_clock() * sums.contention();
  EXPECT_NEAR(product / static_cast<double>(sums.duration_ns), 1.0, 1e-12);
  const double f = sums.effective_mhz(job);
  EXPECT_GT(f, 1500);
  EXPECT_LT(f, sums.mean_mhz());  // harmonic
  const double all = 3 * (serialised_ns(job, kernels.gemm(4096, 4096, 4096), {f, 1}) +
                          serialised_ns(job, kernels.elementwise("MulFunctor<float>", 1e8, 6e8), {f, 1}));
  EXPECT_NEAR(all / sums.at_core_ns, 1.0, 1e-12);
}

TEST(PassSettings, AreAppliedOrRefused) {
  Job job = make_job("tiny-fsdp2", "").value();
  EXPECT_FALSE(job.passes.is_on);
  EXPECT_EQ(counter_format(job), CounterFormat::rocprofv3_7_0);
  for (const char* text : {"counters=on", "marks=off", "counter_gzip=on", "counter_warmup=5", "counter_iterations=9",
                           "counter_clock_range=20", "counter_format=rocprofv3-6.3"}) {
    EXPECT_TRUE(apply_setting(job, text).ok()) << text;
  }
  EXPECT_TRUE(job.passes.is_on && !job.passes.marks && job.passes.compressed);
  EXPECT_EQ(job.passes.warmup, 5);
  EXPECT_EQ(counter_format(job), CounterFormat::rocprofv3_6_3);
  for (const char* text : {"counters=yes", "counter_warmup=-1", "counter_warmup=x", "counter_warmup=", "marks=1",
                           "counter_clock_range=61", "counter_format=rocprofv3-5.0", "counter_format="}) {
    const Result<Done> refused = apply_setting(job, text);
    ASSERT_FALSE(refused.ok()) << text;
    EXPECT_EQ(refused.error().code, ErrorCode::usage) << text;
  }
  EXPECT_TRUE(check_job(job).ok());
  job.passes.format = CounterFormat::ncu;
  ASSERT_FALSE(check_job(job).ok());
  EXPECT_EQ(check_job(job).error().code, ErrorCode::usage);
  job.passes.is_on = false;  // nothing is written
  EXPECT_TRUE(check_job(job).ok());
}

}  // namespace
}  // namespace chopper::synth
