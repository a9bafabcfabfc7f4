// SPDX-License-Identifier: Apache-2.0
#include "engine/decompose_run.h"

#include <gtest/gtest.h>

#include <cmath>
#include <initializer_list>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/facts.h"

namespace chopper {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

// Two products: their peaks are quoted at 2,000 and at 1,000 MHz.
std::vector<GpuSpec> products() {
  GpuSpec fast, slow;
  fast.key = "fast";
  fast.name = "Fast";
  fast.device_names = {"fast"};
  fast.clock_mhz = fast.max_clock_mhz = 2000;
  slow.key = "slow";
  slow.name = "Slow";
  slow.device_names = {"slow"};
  slow.clock_mhz = slow.max_clock_mhz = 1000;
  return {fast, slow};
}

struct KernelOf {
  std::string operation = "mlp_gp";
  std::int64_t start_ns = 0, duration_ns = 2250;
  std::int32_t iteration = 0, layer = 0, micro_step = 0;
  double theory_ns = 1000;
  bool comm_copy = false;
};

// One gpu with its counters, made by hand. A kernel that has theory executes 1.1 of a million FLOPs, its matrix units
// are busy for 0.8 of the cycles, and it takes 1.5 times its theory alone at the peak clock.
struct GpuOf {
  InputSummary input;
  ComputeKernels kernels;
  GpuCounters counters;
  double peak_mhz;

  GpuOf(std::int64_t rank, const std::string& product, double peak, std::size_t num_iterations) : peak_mhz(peak) {
    input.path = "rank" + std::to_string(rank) + ".json";
    input.facts.rank = rank;
    input.facts.world_size = 2;
    input.mark_kind = MarkKind::iteration;
    GpuSummary& gpu = input.gpus.emplace_back();
    gpu.device = static_cast<std::int32_t>(rank);
    gpu.name = product;
    gpu.windows.emplace_back().row.scope = "head";
    for (std::size_t k = 0; k < num_iterations; k++) {
      TimelineRow& row = gpu.windows.emplace_back().row;
      row.scope = "iteration";
      row.ordinal = row.iteration = static_cast<std::int64_t>(k);
      row.window_start_ns = static_cast<std::int64_t>(k) * 100'000;
      row.window_ns = 10'000;
      row.window_compute_ns = 0;
      row.window_exposed_comm_ns = 300;
      row.window_exposed_memcpy_ns = 20;
      row.window_prep_idle_ns = 40;
      row.window_call_idle_ns = 5;
      row.complete = true;
      row.last = false;
    }
    gpu.windows.emplace_back().row.scope = "tail";
    counters.input = static_cast<std::size_t>(rank);
  }

  void add(const KernelOf& kernel) {
    ComputeKernelTable& table = kernels.table;
    table.name.push_back(kernels.strings.intern("kernel"));
    table.start_ns.push_back(kernel.start_ns);
    table.duration_ns.push_back(kernel.duration_ns);
    table.overlap_ns.push_back(0);
    table.overlapped_with.push_back(kNoString);
    table.phase.push_back(Phase::forward);
    table.operation.push_back(kernels.strings.intern(kernel.operation));
    table.layer.push_back(kernel.layer);
    table.iteration.push_back(kernel.iteration);
    table.instance.push_back(static_cast<std::uint32_t>(table.instance.size()));
    table.micro_step.push_back(kernel.micro_step);
    table.selected.push_back(1);
    table.complete.push_back(1);
    table.comm_copy.push_back(kernel.comm_copy ? 1 : 0);
    const bool known = !std::isnan(kernel.theory_ns);
    table.theory.push_back(known ? TheorySource::shapes : TheorySource::none);
    table.flops.push_back(1000 * kernel.theory_ns);
    table.flops_ns.push_back(kernel.theory_ns);
    table.bytes.push_back(kUnknown);
    table.bytes_ns.push_back(kUnknown);
    const double cycles = 1.5e-3 * kernel.theory_ns * peak_mhz;
    counters.executed_flops.push_back(1100 * kernel.theory_ns);
    counters.executed_bytes.push_back(kUnknown);
    counters.matrix_busy_cycles.push_back(0.8 * cycles);
    counters.matrix_cycles.push_back(cycles);
    counters.gpu_cycles.push_back(cycles);
    counters.pass_duration_ns.push_back(1e3 * cycles / (0.9 * peak_mhz));
    counters.measured_iterations.insert(kernel.iteration);
    const std::int32_t ordinal = kernel.iteration;
    kernels.in_windows.push_back({ordinal, static_cast<std::uint32_t>(table.name.size() - 1), kernel.duration_ns});
    TimelineRow& row = input.gpus[0].windows[static_cast<std::size_t>(ordinal) + 1].row;
    row.window_compute_ns = row.window_compute_ns.value() + kernel.duration_ns;
    row.window_idle_ns = 10'000 - 300 - 20 - row.window_compute_ns.value();
  }
};

struct Decomposed {
  std::vector<InputSummary> inputs;
  std::vector<DecomposedJob> jobs;
  Answer answer;

  /// Takes the gpus.
  Decomposed(std::initializer_list<GpuOf*> gpus, const RunOptions& options) {
    std::vector<GpuCounters> values;
    for (GpuOf* gpu : gpus) {
      gpu->input.gpus[0].compute_kernels = std::make_shared<const ComputeKernels>(std::move(gpu->kernels));
      inputs.push_back(std::move(gpu->input));
      values.push_back(std::move(gpu->counters));
    }
    const std::vector<Job> found = find_jobs(inputs);
    jobs = decompose_run(inputs, found, values, products(), options);
    for (const DecomposedJob& job : jobs) {
      add_decomposition_rows(job, {}, answer);
      add_budget_rows(inputs, job, values, match_collectives(inputs, found), options, answer);
    }
  }
  const Decomposition& of(const std::string& operation) const {
    return jobs.at(0).operations.at({Phase::forward, operation}).measured;
  }
};

RunOptions with_clocks(const std::string& text) {
  RunOptions options;
  options.threads = 1;
  options.facts = parse_run_facts(text, "chopper.toml").value();
  return options;
}

void expect_factors(const Decomposition& d) {
  EXPECT_NEAR(d[Factor::inst].value, 1.1, 1e-12);
  EXPECT_NEAR(d[Factor::util].value, 1.25, 1e-12);
  EXPECT_NEAR(d[Factor::rate].value, 1.5 / 1.375, 1e-12);
  EXPECT_NEAR(d[Factor::contention].value, 1.2, 1e-12);
  EXPECT_NEAR(d[Factor::freq].value, 1.25, 1e-12);
}

TEST(DecomposeRun, HandMadeNumbers) {
  GpuOf gpu(0, "fast", 2000, 1);
  gpu.add({});
  const Decomposed run({&gpu}, with_clocks("[clock]\nf_eff_mhz = 1600"));
  EXPECT_EQ(run.of("mlp_gp").d_thr_ns, 1000);
  EXPECT_EQ(run.of("mlp_gp").d_act_ns, 2250);
  expect_factors(run.of("mlp_gp"));
  ASSERT_EQ(run.answer.decomposition.size(), 2u);
  EXPECT_EQ(run.answer.decomposition[0].theory_source, "shapes");
}

// Each product at 0.8 of its own peak clock: the factors of one are those of both.
TEST(DecomposeRun, EachGpuHasItsOwnPeakClock) {
  const std::string clocks = "[[clock.of]]\ngpu = 0\nf_eff_mhz = 1600\n[[clock.of]]\ngpu = 1\nf_eff_mhz = 800\n";
  GpuOf fast(0, "fast", 2000, 1), slow(1, "slow", 1000, 1);
  fast.add({});
  slow.add({.duration_ns = 4500, .theory_ns = 2000});
  const Decomposed run({&fast, &slow}, with_clocks(clocks));
  EXPECT_EQ(run.jobs.at(0).num_gpus, 2u);
  EXPECT_EQ(run.of("mlp_gp").d_thr_ns, 3000);
  expect_factors(run.of("mlp_gp"));
  // At the peak clock of each a window is shorter by 1 - 1 / 1.25 of its kernels.
  ASSERT_EQ(run.answer.budget.size(), 2u);
  EXPECT_EQ(run.answer.budget[0].at_peak_clock_ns, 10'000 - 450);
  EXPECT_EQ(run.answer.budget[1].at_peak_clock_ns, 10'000 - 900);
}

// A gpu of an unknown product has no theory: it does not take the clock from the others.
TEST(DecomposeRun, AnUnknownProductHasNoPart) {
  GpuOf fast(0, "fast", 2000, 1), other(1, "never seen", 1000, 1);
  fast.add({});
  other.add({.theory_ns = kUnknown});
  const Decomposed run({&fast, &other}, with_clocks("[clock]\nf_eff_mhz = 1600"));
  expect_factors(run.of("mlp_gp"));
  EXPECT_EQ(run.of("mlp_gp").duration_without_theory_ns, 2250);
}

TEST(DecomposeRun, TheMostSpecificClockHolds) {
  const RunOptions options = with_clocks(
      "[clock]\nf_eff_mhz = 1000\n[[clock.of]]\noperation = \"mlp_gp\"\nf_eff_mhz = 1900\n"
      "[[clock.of]]\ngpu = 0\nphase = \"forward\"\noperation = \"mlp_gp\"\nf_eff_mhz = 1600\n");
  GpuOf gpu(0, "fast", 2000, 1);
  gpu.add({});
  gpu.add({.operation = "mlp_up", .start_ns = 5000});
  const Decomposed run({&gpu}, options);
  expect_factors(run.of("mlp_gp"));
  EXPECT_NEAR(run.of("mlp_up")[Factor::freq].value, 2, 1e-12);
}

TEST(DecomposeRun, AnInstanceIsAPassOfALayer) {
  GpuOf gpu(0, "fast", 2000, 2);
  for (const std::int32_t iteration : {0, 1}) {
    for (const std::int32_t micro_step : {0, 1})
      gpu.add({.start_ns = 100'000 * iteration + 3000 * micro_step, .iteration = iteration, .micro_step = micro_step});
  }
  const Decomposed run({&gpu}, with_clocks(""));
  ASSERT_EQ(run.answer.decomposition.size(), 2u);
  const DecompositionRow& paper = run.answer.decomposition[1];
  EXPECT_EQ(paper.mode, "paper");
  EXPECT_EQ(paper.num_instances, 4);
  EXPECT_EQ(paper.num_iterations, 2);
  EXPECT_EQ(paper.d_act_ns, 2250);
  EXPECT_EQ(run.of("mlp_gp").num_instances, 4u);
}

// 2,250 ns of 1,000 in theory; 700 ns without theory; 100 ns that pack buffers. L = 1250 / ln 2.25.
TEST(BudgetRows, TermsSumToTheWindow) {
  GpuOf gpu(0, "fast", 2000, 1);
  gpu.add({});
  gpu.add({.operation = "norm", .start_ns = 3000, .duration_ns = 700, .theory_ns = kUnknown});
  gpu.add({.operation = "ag_in", .start_ns = 4000, .duration_ns = 100, .theory_ns = kUnknown, .comm_copy = true});
  const Decomposed run({&gpu}, with_clocks("[clock]\nf_eff_mhz = 1600"));
  ASSERT_EQ(run.answer.budget.size(), 1u);
  const BudgetRow& row = run.answer.budget[0];
  const double mean = 1250 / std::log(2.25);
  const auto expect_term = [](std::int64_t term, double exact) {
    EXPECT_LE(std::abs(static_cast<double>(term) - exact), 1) << exact;
  };
  expect_term(row.theory_ns, 1000);
  expect_term(row.inst_ns, mean * std::log(1.1));
  expect_term(row.util_ns, mean * std::log(1.25));
  expect_term(row.rate_ns, mean * std::log(1.5 / 1.375));
  expect_term(row.contention_ns, mean * std::log(1.2));
  expect_term(row.freq_ns, mean * std::log(1.25));
  EXPECT_EQ(row.mem_clock_ns, 0);
  EXPECT_EQ(row.remainder_ns, 0);
  EXPECT_EQ(row.compute_undecomposed_ns, 700);
  EXPECT_EQ(row.comm_copy_kernels_ns, 100);
  EXPECT_EQ(row.theory_ns + row.inst_ns + row.util_ns + row.rate_ns + row.contention_ns + row.freq_ns, 2250);
  EXPECT_EQ(row.exposed_comm_transfer_ns, 300);
  EXPECT_EQ(row.exposed_memcpy_ns, 20);
  EXPECT_EQ(row.prep_idle_ns, 40);
  EXPECT_EQ(row.call_idle_ns, 5);
  EXPECT_EQ(row.other_idle_ns, 10'000 - 300 - 20 - 3050 - 45);
  EXPECT_EQ(row.unexplained_ns, 700 + row.other_idle_ns);
  EXPECT_EQ(row.at_peak_clock_ns, 10'000 - 450);
}

TEST(StatedClocks, AreCheckedAgainstTheGpuTheyHoldFor) {
  GpuOf fast(0, "fast", 2000, 1), slow(1, "slow", 1000, 1);
  std::vector<InputSummary> inputs;
  inputs.push_back(std::move(fast.input));
  inputs.push_back(std::move(slow.input));
  const auto check = [&](const std::string& text) {
    return check_stated_clocks(parse_run_facts(text, "chopper.toml").value(), inputs, products());
  };
  EXPECT_TRUE(check("[clock]\nf_eff_mhz = 1200").ok());
  const auto all = check("\n[clock]\nf_eff_mhz = 1201");
  ASSERT_FALSE(all.ok());
  EXPECT_EQ(all.error().where, "chopper.toml:3");
  EXPECT_EQ(all.error().message, "f_eff_mhz = 1201 is above 1.2 times the highest clock of Slow, 1000 MHz");
  EXPECT_TRUE(check("[[clock.of]]\ngpu = 0\nf_eff_mhz = 2400").ok());
  EXPECT_FALSE(check("[[clock.of]]\nrank = 1\nf_eff_mhz = 2400").ok());
}

}  // namespace
}  // namespace chopper
