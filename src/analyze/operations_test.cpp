// SPDX-License-Identifier: Apache-2.0
#include "analyze/operations.h"

#include <gtest/gtest.h>

#include "support/hand_trace.h"

namespace chopper {
namespace {

GpuSummary summarise(const test::HandTrace& hand, const Grain& grain = {}) {
  const DeviceWork work = prepare_device(hand.trace, hand.labels, rows_by_device(hand.trace.gpu_work).begin()->second);
  GpuSummary summary;
  summarise_operations(hand.trace, hand.labels, work, grain, nullptr, summary);
  return summary;
}

// In steps and outside of them together.
std::map<OperationKey, OperationSummary> all_of(const GpuSummary& summary) {
  std::map<OperationKey, OperationSummary> all;
  for (const auto& [key, sum] : summary.operations) {
    OperationKey whole = key;
    whole.in_steps = false;
    all[whole].merge(sum);
  }
  return all;
}

test::HandTrace two_layers() {
  test::HandTrace hand;
  hand.mark(5);
  hand.mark(6);
  const auto add = [&](std::int32_t iteration, std::int32_t layer, std::int64_t instance, std::int64_t start,
                       std::int64_t end, GpuClass gpu_class) {
    hand.add({.start = start,
              .end = end,
              .gpu_class = gpu_class,
              .launched = start - 5,
              .iteration = iteration,
              .phase = Phase::forward,
              .operation = "mlp_up",
              .layer = layer,
              .instance = instance});
  };
  add(0, 0, 0, 0, 10, GpuClass::gemm);
  add(0, 0, 0, 20, 24, GpuClass::vector);
  add(0, 1, 1, 30, 50, GpuClass::gemm);
  add(1, 0, 2, 60, 80, GpuClass::gemm);
  hand.add({.start = 45,
            .end = 70,
            .gpu_class = GpuClass::comm,
            .launched = 40,
            .iteration = 0,
            .phase = Phase::forward,
            .operation = "ag"});
  hand.add({.start = 90, .end = 95, .operation = ""});
  return hand;
}

TEST(Operations, SumsAndInstances) {
  const std::map<OperationKey, OperationSummary> operations = all_of(summarise(two_layers()));
  ASSERT_EQ(operations.size(), 3u);
  const OperationSummary& up = operations.at({Phase::forward, "mlp_up"});
  EXPECT_EQ(up.num_kernels, 4);
  EXPECT_EQ(up.duration_ns, 54);
  EXPECT_EQ(up.elapsed_ns, 24 + 20 + 20);
  EXPECT_EQ(up.instances.count(), 3u);
  EXPECT_EQ(up.instances.min(), 14);
  EXPECT_EQ(up.instances.sum(), 54);
  EXPECT_EQ(up.overlap_ns, 5 + 10);
  EXPECT_EQ(up.class_ns[static_cast<int>(GpuClass::gemm)], 50);
  EXPECT_EQ(up.num_layer_known, 4);
  EXPECT_EQ(up.prep_ns, 5 + 1 + 5);  // gaps 10-20, 24-30, 50-60; launched at 15, 25, 55
  EXPECT_EQ(up.call_ns, 5 + 5 + 5);
  EXPECT_EQ(up.prep_idle_ns, 5 + 1);  // communication from 45 to 70
  EXPECT_EQ(up.call_idle_ns, 5 + 5);
  const OperationSummary& gather = operations.at({Phase::forward, "ag"});
  EXPECT_EQ(gather.overlap_ns, 0);
  EXPECT_EQ(gather.duration_ns, 25);
  const OperationSummary& rest = operations.at({Phase::unlabelled, "unlabelled"});
  EXPECT_EQ(rest.num_no_launch, 1);
  EXPECT_EQ(rest.num_layer_known, 0);
}

TEST(Operations, FinerGrains) {
  const test::HandTrace hand = two_layers();
  const auto by_layer = all_of(summarise(hand, {.layer = true}));
  EXPECT_EQ(by_layer.size(), 4u);
  EXPECT_EQ(by_layer.at({Phase::forward, "mlp_up", kNotGrouped, 0}).duration_ns, 34);
  EXPECT_EQ(by_layer.at({Phase::forward, "mlp_up", kNotGrouped, 1}).instances.count(), 1u);
  EXPECT_EQ(by_layer.at({Phase::unlabelled, "unlabelled", kNotGrouped, kUnknownLayer}).duration_ns, 5);
  const auto by_both = all_of(summarise(hand, {.layer = true, .iteration = true}));
  EXPECT_EQ(by_both.size(), 5u);
  EXPECT_EQ(by_both.at({Phase::forward, "mlp_up", 0, 0}).duration_ns, 14);
  EXPECT_EQ(by_both.at({Phase::forward, "mlp_up", 1, 0}).duration_ns, 20);
  EXPECT_EQ(by_both.at({Phase::unlabelled, "unlabelled", kNoIteration, kUnknownLayer}).duration_ns, 5);
}

TEST(Operations, WorkOfAnOperatorCountsOnce) {
  test::HandTrace hand;
  hand.mark(0);
  const RowId product =
      hand.add_range("aten::mm", 0, 10, 0, "[[10, 20], [20, 30]]", R"(["c10::BFloat16", "c10::BFloat16"])");
  const RowId unknown = hand.add_range("mine::fused", 20, 30, 0, "[[10, 20]]", R"(["c10::BFloat16"])");
  const auto add = [&](std::int64_t start, std::int64_t end, RowId range, GpuClass gpu_class = GpuClass::gemm) {
    return hand.add({.start = start,
                     .end = end,
                     .gpu_class = gpu_class,
                     .launched = start - 5,
                     .phase = Phase::forward,
                     .operation = "mlp_up",
                     .range = range});
  };
  add(100, 140, product);  // split-k: two kernels of one operator, another between them
  add(140, 150, unknown, GpuClass::vector);
  add(150, 160, product, GpuClass::vector);
  add(160, 170, product, GpuClass::memset);  // no computation
  hand.labels.recompute[hand.labels.recompute.size() - 4] = 1;
  const DeviceWork work = prepare_device(hand.trace, hand.labels, rows_by_device(hand.trace.gpu_work).begin()->second);
  GpuSpec spec;
  spec.num_units = 1;
  spec.clock_mhz = 1000;
  spec.bf16_flop_per_clock = 1000;  // 1e12 FLOP/s: 12 ns
  spec.memory_gb_per_s = 100;       // 2200 bytes: 22 ns
  GpuSummary summary;
  summarise_operations(hand.trace, hand.labels, work, {}, &spec, summary);
  const OperationSummary up = all_of(summary).at({Phase::forward, "mlp_up"});
  EXPECT_DOUBLE_EQ(up.flops, 2.0 * 10 * 20 * 30);
  EXPECT_DOUBLE_EQ(up.recompute_flops, up.flops);
  EXPECT_DOUBLE_EQ(up.bytes, 2.0 * (10 * 20 + 20 * 30 + 10 * 30));
  EXPECT_DOUBLE_EQ(up.least_ns, 22);
  EXPECT_DOUBLE_EQ(up.compute_bound_ns, 0);
  EXPECT_EQ(up.known_ns, 50);
  EXPECT_EQ(up.least_known_ns, 50);
  EXPECT_EQ(up.duration_ns, 70);
  GpuSummary without_gpu;
  summarise_operations(hand.trace, hand.labels, work, {}, nullptr, without_gpu);
  EXPECT_EQ(all_of(without_gpu).at({Phase::forward, "mlp_up"}).known_ns, 50);
  EXPECT_EQ(all_of(without_gpu).at({Phase::forward, "mlp_up"}).least_known_ns, 0);
}

// Products and attention of each iteration, whether an operator tells their work or not.
TEST(Operations, TimeOfKnownWork) {
  test::HandTrace hand;
  hand.mark(0);
  hand.mark(1);
  const std::string_view shapes = "[[10, 20], [20, 30]]", types = R"(["float", "float"])";
  const RowId product = hand.add_range("aten::mm", 0, 10, 0, shapes, types);
  const RowId convolution = hand.add_range("aten::convolution", 20, 30, 0, shapes, types);
  const auto add = [&](std::int64_t start, std::int64_t length, RowId range, GpuClass gpu_class,
                       std::int32_t iteration = 0) {
    return hand.add({.start = start,
                     .end = start + length,
                     .gpu_class = gpu_class,
                     .launched = start - 5,
                     .iteration = iteration,
                     .phase = Phase::forward,
                     .range = range});
  };
  add(100, 1, product, GpuClass::gemm);
  add(110, 2, convolution, GpuClass::gemm);
  add(120, 4, kNoRow, GpuClass::attention);
  hand.labels.recompute[add(130, 8, convolution, GpuClass::gemm)] = 1;
  add(140, 16, product, GpuClass::vector);
  add(160, 32, kNoRow, GpuClass::vector);
  add(200, 64, product, GpuClass::gemm, 1);
  add(300, 128, product, GpuClass::gemm, kTailIteration);
  add(500, 256, kNoRow, GpuClass::other, 1);  // who knows
  add(800, 512, product, GpuClass::other, 1);
  const std::vector<IterationFlops> flops = summarise(hand).flops;
  ASSERT_EQ(flops.size(), 2u);
  EXPECT_EQ(flops[0].product_ns, 1 + 2 + 4 + 8);
  EXPECT_EQ(flops[0].known_ns, 1);
  EXPECT_EQ(flops[0].repeated_ns, 8);
  EXPECT_EQ(flops[1].product_ns, 64 + 256);
  EXPECT_EQ(flops[1].known_ns, 64);
  EXPECT_EQ(flops[1].repeated_ns, 0);
}

TEST(Operations, CollectivesAddTheirMessages) {
  test::HandTrace hand;
  hand.mark(0);
  for (std::int64_t i = 0; i < 3; i++) {
    const std::uint32_t row = hand.add(
        {.start = i * 100, .end = i * 100 + 10, .gpu_class = GpuClass::comm, .launched = i * 100, .operation = "ag"});
    hand.labels.collectives.gpu_row.push_back(row);
    hand.labels.collectives.bytes.push_back(i == 1 ? kNoNumber : 1000);
  }
  const OperationSummary sum = all_of(summarise(hand)).at({Phase::other, "ag"});
  EXPECT_EQ(sum.message_bytes, 2000);
  EXPECT_EQ(sum.message_ns, 20);
  EXPECT_EQ(sum.known_ns, 0);
}

TEST(Operations, ComparisonOfGpusUsesCompleteIterations) {
  test::HandTrace hand = two_layers();
  EXPECT_EQ(summarise(hand).compute_by_operation.at({Phase::forward, "mlp_up"}), 54);
  hand.labels.iterations.marks[1].closed = false;
  EXPECT_EQ(summarise(hand).compute_by_operation.at({Phase::forward, "mlp_up"}), 34);
  EXPECT_EQ(summarise(hand).num_compared, 1);
  hand.labels.iterations.marks[0].closed = false;
  EXPECT_EQ(summarise(hand).compute_by_operation.at({Phase::forward, "mlp_up"}), 54);
}

TEST(Operations, StepsAreCompleteIterationsButTheLast) {
  test::HandTrace hand = two_layers();
  const auto in_steps = [&] {
    std::int64_t sum = 0;
    for (const auto& [key, operation] : summarise(hand).operations) {
      if (key.in_steps && key.operation == "mlp_up") sum += operation.duration_ns;
    }
    return sum;
  };
  EXPECT_EQ(in_steps(), 34);  // iteration 0; 1 is the last
  hand.labels.iterations.marks[0].closed = false;
  EXPECT_EQ(in_steps(), 34);  // none is complete: all but the last
  hand.mark(7);
  hand.labels.iterations.marks[0].closed = true;
  hand.add({.start = 82, .end = 89, .launched = 81, .iteration = 2, .operation = "mlp_up"});
  EXPECT_EQ(in_steps(), 54);  // 0 and 1
  hand.labels.iterations.marks[0].closed = false;
  EXPECT_EQ(in_steps(), 20);
}

TEST(Operations, StepsOfASelection) {
  const test::HandTrace hand = two_layers();
  const DeviceWork work = prepare_device(hand.trace, hand.labels, rows_by_device(hand.trace.gpu_work).begin()->second);
  const auto steps = [&](std::int64_t first, std::int64_t last) {
    Selection selection;
    selection.iterations = NumberRange{first, last};
    return steps_of(work.windows, hand.labels.iterations, selection);
  };
  EXPECT_EQ(steps(5, 6), (std::vector<std::uint8_t>{1, 0}));
  EXPECT_EQ(steps(6, 6), (std::vector<std::uint8_t>{0, 1}));  // the last, for want of others
  EXPECT_EQ(steps(7, 9), (std::vector<std::uint8_t>{0, 0}));
}

}  // namespace
}  // namespace chopper
