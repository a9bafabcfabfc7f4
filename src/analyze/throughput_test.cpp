// SPDX-License-Identifier: Apache-2.0
#include "analyze/throughput.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "support/llama_facts.h"

namespace chopper {
namespace {

using test::llama3_8b;

StepRow step(std::int64_t ordinal, std::int64_t step_ns, bool complete = true, bool last = false) {
  StepRow row;
  row.ordinal = row.key = ordinal;
  row.step_ns = step_ns;
  row.complete = complete;
  row.last = last;
  return row;
}

// 100 TFLOP/s.
GpuSpec round_gpu() {
  GpuSpec gpu;
  gpu.num_units = 100;
  gpu.clock_mhz = 1000;
  gpu.bf16_flop_per_clock = 1000;
  return gpu;
}

TEST(ModelFlops, MatchTheVectorsOfLlama3) {
  struct Vector {
    std::int64_t batch, sequence;
    double with_scores, palm;  // as printed, five digits
  };
  for (const Vector& v : {Vector{1, 4096, 1.9983e14, 2.2374e14}, Vector{2, 4096, 3.9966e14, 4.4748e14},
                          Vector{4, 4096, 7.9931e14, 8.9496e14}, Vector{1, 8192, 4.3044e14, 5.0026e14},
                          Vector{2, 8192, 8.6088e14, 1.0005e15}}) {
    const RunFacts facts = llama3_8b(v.batch, v.sequence);
    const auto causal = causal_flops(facts);
    const auto palm = palm_flops(facts);
    ASSERT_TRUE(causal && palm);
    const auto batch = static_cast<double>(v.batch);
    EXPECT_NEAR(batch * (causal->forward + causal->backward + causal->scores) / v.with_scores, 1, 3e-5);
    EXPECT_NEAR(batch * *palm / v.palm, 1, 3e-5);
  }
  // b1 s4096 by hand: products 61478 GFLOP and causal attention 32 x 137.4 GFLOP forward.
  const auto causal = causal_flops(llama3_8b(1, 4096));
  EXPECT_DOUBLE_EQ(causal->forward, 8192.0 * (32 * 218103808.0 + 4096 * 128256.0) + 32 * 137438953472.0);
  EXPECT_DOUBLE_EQ(causal->backward, 2 * causal->forward);
  EXPECT_DOUBLE_EQ(causal->scores, 16 * 137438953472.0);
}

TEST(ModelFlops, NeedTheModel) {
  RunFacts facts = llama3_8b(1, 4096);
  const auto whole = causal_flops(facts);
  facts.head_dim.reset();  // hidden / heads is 128 as well
  EXPECT_DOUBLE_EQ(causal_flops(facts)->forward, whole->forward);
  facts.vocabulary.reset();
  EXPECT_FALSE(causal_flops(facts).has_value());
  EXPECT_TRUE(palm_flops(facts).has_value());
  facts.parameters.reset();
  EXPECT_FALSE(palm_flops(facts).has_value());
}

TEST(Throughput, IsTheMedianOverCompleteStepsButTheLast) {
  const GpuSpec gpu = round_gpu();
  RunFacts facts = llama3_8b(2, 4096);
  facts.data_parallel = 8;
  // 3 s is the lower median of 3 and 4: 2 is incomplete, 1 is the last.
  const std::vector<StepRow> steps = {step(0, 4'000'000'000), step(1, 2'000'000'000, false), step(2, 3'000'000'000),
                                      step(3, 1'000'000'000, true, true)};
  // Of two gpus: 2e14 FLOPs a step each, a tenth of them recomputed, which is a third of the forward pass.
  const std::vector<GpuFlops> flops = {{{4e14, 1.2e14, 4e13}, 2, true}, {{4e14, 1.2e14, 4e13}, 2, true}, {{}, 2}};
  const auto rows = throughput({.steps = steps, .facts = facts, .gpu = &gpu, .num_gpus = 3, .flops = flops});
  ASSERT_EQ(rows.size(), 3u);
  for (const ThroughputRow& row : rows) {
    EXPECT_EQ(row.step_time_ns, 3'000'000'000);
    EXPECT_EQ(row.num_steps, 2);
    EXPECT_EQ(row.tokens_per_step, 65536);
    EXPECT_DOUBLE_EQ(row.tokens_per_s.value(), 65536 / 3.0);
    EXPECT_DOUBLE_EQ(row.tokens_per_s_per_gpu.value(), 8192 / 3.0);
    EXPECT_DOUBLE_EQ(row.peak_tflops.value(), 100);
  }
  const auto one = causal_flops(facts);
  EXPECT_EQ(rows[0].convention, "causal");
  EXPECT_DOUBLE_EQ(rows[0].flops_per_step.value(), 16 * 3 * one->forward);
  EXPECT_DOUBLE_EQ(rows[0].mfu.value(), 2 * 3 * one->forward / 3e14);
  EXPECT_DOUBLE_EQ(rows[0].hfu.value(), 2 * ((3 + 1 / 3.0) * one->forward + one->scores) / 3e14);
  EXPECT_EQ(rows[1].convention, "palm");
  EXPECT_DOUBLE_EQ(rows[1].flops_per_step.value(), 16 * *palm_flops(facts));
  EXPECT_DOUBLE_EQ(rows[1].mfu.value(), 2 * *palm_flops(facts) / 3e14);
  EXPECT_DOUBLE_EQ(rows[1].hfu.value(), 2 * *palm_flops(facts) * (1 + 1 / 9.0) / 3e14);
  EXPECT_EQ(rows[2].convention, "shapes");
  EXPECT_DOUBLE_EQ(rows[2].flops_per_step.value(), 3.6e14);
  EXPECT_DOUBLE_EQ(rows[2].mfu.value(), 1.8e14 / 3.5e14);  // over the mean of the steps that the FLOPs are of
  EXPECT_DOUBLE_EQ(rows[2].hfu.value(), 2e14 / 3.5e14);
}

// An iteration without gpu work is complete, and takes no time.
TEST(Throughput, StepsWithoutTimeDoNotCount) {
  const RunFacts facts = llama3_8b(1, 4096);
  const std::vector<StepRow> steps = {step(0, 100), step(1, 0), step(2, 0), step(3, 200, true, true)};
  const auto rows = throughput({.steps = steps, .facts = facts, .num_gpus = 1});
  EXPECT_EQ(rows[0].step_time_ns, 100);
  EXPECT_EQ(rows[0].num_steps, 1);
}

// The mean over a step like the first and one that does the work of nine: no median goes with it.
TEST(Throughput, ShapesAreOverTheTimeOfTheSameSteps) {
  const GpuSpec gpu = round_gpu();
  const RunFacts facts = llama3_8b(1, 4096);
  const std::vector<StepRow> steps = {step(0, 1'000'000'000), step(1, 9'000'000'000)};
  const std::vector<GpuFlops> flops = {{{.total = 5e14}, 2, true}, {{.total = 0}, 2, true}};
  const auto rows = throughput({.steps = steps, .facts = facts, .gpu = &gpu, .num_gpus = 2, .flops = flops});
  EXPECT_EQ(rows[2].step_time_ns, 1'000'000'000);
  EXPECT_DOUBLE_EQ(rows[2].flops_per_step.value(), 2.5e14);
  // The second gpu has no FLOPs in these steps, but elsewhere.
  EXPECT_DOUBLE_EQ(rows[2].mfu.value(), 5e14 / (10 * 1e14 * 2));
  EXPECT_DOUBLE_EQ(rows[0].mfu.value(), rows[0].flops_per_step.value() / 2e14);
}

// 8N and 16 L H d s in place of 6N and 12 L H d s.
TEST(Throughput, FullRecomputationIsPalmsEightN) {
  const GpuSpec gpu = round_gpu();
  const RunFacts facts = llama3_8b(1, 4096);
  const std::vector<StepRow> steps = {step(0, 1'000'000'000)};
  const std::vector<GpuFlops> flops = {{{4e14, 1e14, 1e14}, 1, true}};
  const auto rows = throughput({.steps = steps, .facts = facts, .gpu = &gpu, .num_gpus = 1, .flops = flops});
  EXPECT_NEAR(rows[1].hfu.value(), 4096 * (8 * 8030261248.0 + 16.0 * 32 * 4096 * 4096) / 1e14, 1e-12);
}

TEST(Throughput, TracesFillInWhatTheFactsLeaveOut) {
  RunFacts facts = llama3_8b(2, 4096);
  facts.micro_steps.reset();
  facts.tensor_parallel = 4;
  const std::vector<StepRow> steps = {step(0, 1'000'000'000)};
  const auto tokens = [&](std::optional<std::int64_t> world, std::optional<std::int64_t> micro_steps) {
    return throughput({.steps = steps, .facts = facts, .num_gpus = 4, .world_size = world, .micro_steps = micro_steps})
        .front()
        .tokens_per_step;
  };
  EXPECT_EQ(tokens(16, 3), 2 * 4096 * 3 * 4);  // 16 ranks are 4 groups of 4
  EXPECT_EQ(tokens(std::nullopt, 3), 2 * 4096 * 3);
  EXPECT_EQ(tokens(16, std::nullopt).reason(), Reason::no_batch);
  EXPECT_EQ(tokens(10, 3).reason(), Reason::no_batch);  // 10 ranks are no groups of 4
  facts.micro_steps = 5;
  EXPECT_EQ(tokens(16, 3), 2 * 4096 * 5 * 4);
  facts.batch = facts.sequence = facts.micro_steps = 1'000'000'000'000'000;
  EXPECT_EQ(tokens(16, 3).reason(), Reason::no_batch);
}

TEST(Throughput, SaysWhatIsMissing) {
  const GpuSpec gpu = round_gpu();
  const RunFacts none, all = llama3_8b(1, 4096);
  const std::vector<StepRow> steps = {step(0, 1'000'000'000)}, incomplete = {step(0, 5, false), step(1, 5, true, true)};
  const std::vector<GpuFlops> flops = {{{4e14, 1e14, 0}, 1, true}};
  EXPECT_TRUE(throughput({.facts = all}).empty());

  auto rows = throughput({.steps = steps, .facts = none, .gpu = &gpu, .num_gpus = 1, .flops = flops});
  EXPECT_EQ(rows[0].tokens_per_s.reason(), Reason::no_batch);
  EXPECT_EQ(rows[0].mfu.reason(), Reason::no_model);
  EXPECT_EQ(rows[1].hfu.reason(), Reason::no_model);
  EXPECT_DOUBLE_EQ(rows[2].mfu.value(), 4);  // shapes need no facts

  rows = throughput({.steps = incomplete, .facts = all, .gpu = &gpu, .num_gpus = 1, .flops = flops});
  EXPECT_EQ(rows[0].step_time_ns.reason(), Reason::no_complete_iteration);
  EXPECT_EQ(rows[0].tokens_per_s.reason(), Reason::no_complete_iteration);
  EXPECT_EQ(rows[2].mfu.reason(), Reason::no_complete_iteration);
  EXPECT_TRUE(rows[0].flops_per_step.present());

  rows = throughput({.steps = steps, .facts = all, .num_gpus = 1, .flops = flops});
  EXPECT_EQ(rows[0].mfu.reason(), Reason::no_peak);
  EXPECT_EQ(rows[2].hfu.reason(), Reason::no_peak);

  rows = throughput({.steps = steps, .facts = all, .gpu = &gpu, .num_gpus = 1});
  EXPECT_EQ(rows[2].mfu.reason(), Reason::no_shapes);
  EXPECT_TRUE(rows[0].mfu.present());
  EXPECT_EQ(rows[0].hfu.reason(), Reason::no_shapes);  // whether anything is recomputed is not known
}

// Forward convolutions are unknown, for example: the FLOPs of the rest are not those of a step.
TEST(Throughput, ShapesNeedTheWorkOfNearlyAllProducts) {
  const GpuSpec gpu = round_gpu();
  const RunFacts facts = llama3_8b(1, 4096);
  const std::vector<StepRow> steps = {step(0, 1'000'000'000)};
  const auto rows_of = [&](const std::vector<GpuFlops>& flops) {
    return throughput({.steps = steps, .facts = facts, .gpu = &gpu, .num_gpus = 2, .flops = flops});
  };
  const GpuFlops nearly_all{{.total = 4e13, .forward = 1e13, .product_ns = 1000, .known_ns = 950}, 1, true};
  GpuFlops too_little = nearly_all;
  too_little.sum.known_ns = 949;
  auto rows = rows_of({nearly_all});
  EXPECT_DOUBLE_EQ(rows[2].mfu.value(), 0.4);
  EXPECT_DOUBLE_EQ(rows[2].flops_per_step.value(), 4e13);
  rows = rows_of({too_little});
  EXPECT_EQ(rows[2].mfu.reason(), Reason::no_shapes);
  EXPECT_EQ(rows[2].hfu.reason(), Reason::no_shapes);
  EXPECT_EQ(rows[2].flops_per_step.reason(), Reason::no_shapes);
  // Nothing is computed again, whatever the shapes tell.
  EXPECT_TRUE(rows[0].mfu.present());
  EXPECT_DOUBLE_EQ(rows[1].hfu.value(), rows[1].mfu.value());
  too_little.sum.repeated_ns = 1;
  rows = rows_of({too_little});
  EXPECT_TRUE(rows[1].mfu.present());
  EXPECT_EQ(rows[1].hfu.reason(), Reason::no_shapes);
  // Of all gpus together; those without any shapes do not count.
  EXPECT_TRUE(rows_of({too_little, nearly_all, nearly_all}).back().mfu.reason() == Reason::no_shapes);
  EXPECT_DOUBLE_EQ(rows_of({nearly_all, {{.product_ns = 1'000'000}, 1}})[2].mfu.value(), 0.4);
}

TEST(FlopsSteps, AreThoseOfTheStepTime) {
  using Keys = std::set<std::int64_t>;
  const StepRow incomplete = step(0, 10, false), empty = step(1, 0), usual = step(2, 10),
                last = step(3, 10, true, true);
  EXPECT_EQ(flops_steps(std::vector{incomplete, empty, usual, last}), Keys{2});
  // Without a step time FLOPs are told as well.
  EXPECT_EQ(flops_steps(std::vector{incomplete, empty, last}), (Keys{1, 3}));
  EXPECT_EQ(flops_steps(std::vector{incomplete}), Keys{0});
  EXPECT_EQ(flops_steps({}), Keys{});
}

TEST(IterationFlops, AddUp) {
  IterationFlops flops{135, 110, 5, 1000, 900, 70};
  flops += {1, 2, 3, 4, 5, 6};
  EXPECT_EQ(flops.total, 136);
  EXPECT_EQ(flops.forward, 112);
  EXPECT_EQ(flops.recompute, 8);
  EXPECT_EQ(flops.product_ns, 1004);
  EXPECT_EQ(flops.known_ns, 905);
  EXPECT_EQ(flops.repeated_ns, 76);
}

TEST(MicroStepsOf, AreThoseOfEveryCompleteIteration) {
  GpuSummary gpu;
  for (const char* scope : {"head", "iteration", "iteration", "tail"}) {
    gpu.windows.emplace_back();
    gpu.windows.back().row.scope = scope;
    gpu.windows.back().row.complete = true;
    gpu.windows.back().row.micro_steps = 4;
    gpu.windows.back().row.window_ns = 100;
  }
  std::vector<InputSummary> inputs(1);
  inputs[0].gpus.push_back(gpu);
  const std::vector<const InputSummary*> one = {&inputs[0]};
  EXPECT_EQ(micro_steps_of(one), 4);
  inputs[0].gpus[0].windows[1].row.micro_steps = 3;
  EXPECT_EQ(micro_steps_of(one), std::nullopt);
  inputs[0].gpus[0].windows[1].row.complete = false;
  EXPECT_EQ(micro_steps_of(one), 4);
  inputs[0].gpus[0].windows[2].row.micro_steps = 0;
  EXPECT_EQ(micro_steps_of(one), std::nullopt);
  inputs[0].gpus[0].windows[1].row.complete = true;
  inputs[0].gpus[0].windows[1].row.micro_steps = 4;
  inputs[0].gpus[0].windows[2].row.window_ns = 0;  // without gpu work
  EXPECT_EQ(micro_steps_of(one), 4);
}

}  // namespace
}  // namespace chopper
