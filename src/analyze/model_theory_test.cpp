// SPDX-License-Identifier: Apache-2.0
#include "analyze/model_theory.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

namespace chopper {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

// A model whose products have 2 x 8 x 4 x 16 = 1,024 FLOPs (gate, up, down), attention 2 x 2 x 1 x 4 x 4 x 4.
RunFacts facts() {
  RunFacts facts;
  facts.hidden = 4;
  facts.feed_forward = 16;
  facts.heads = 1;
  facts.vocabulary = 32;
  facts.batch = 2;
  facts.sequence = 4;
  return facts;
}
constexpr double kGate = 1024, kAttention = 256;

struct Kernel {
  std::string operation = "mlp_gp";
  Phase phase = Phase::forward;
  std::int64_t duration_ns = 10;
  std::uint32_t instance = 0;
  std::int32_t layer = 0;
  GpuClass gpu_class = GpuClass::gemm;
  std::int32_t range = -1;
  bool recompute = false;
  double flops = kUnknown;  // by shapes
};

struct Gpu {
  ComputeKernels kept;
  std::vector<KernelOrigin> origins;
  IterationMarks marks;

  explicit Gpu(std::int64_t micro_steps = 1) {
    marks.marks.resize(1);
    marks.marks[0].micro_steps = micro_steps;
  }
  void add(const Kernel& kernel) {
    ComputeKernelTable& table = kept.table;
    table.name.push_back(kept.strings.intern("kernel"));
    table.duration_ns.push_back(kernel.duration_ns);
    table.phase.push_back(kernel.phase);
    table.operation.push_back(kept.strings.intern(kernel.operation));
    table.layer.push_back(kernel.layer);
    table.iteration.push_back(0);
    table.complete.push_back(1);
    table.instance.push_back(kernel.instance);
    const bool known = !std::isnan(kernel.flops);
    table.theory.push_back(known ? TheorySource::shapes : TheorySource::none);
    table.flops.push_back(kernel.flops);
    table.flops_ns.push_back(kUnknown);
    KernelOrigin origin;
    if (kernel.range >= 0) origin.operator_range = RowId{static_cast<std::uint32_t>(kernel.range)};
    origin.gpu_class = kernel.gpu_class;
    origin.recompute = kernel.recompute;
    origin.shapes_differ = known;
    origins.push_back(origin);
  }
  void tell(const RunFacts& stated = facts(), const ModelShards& shards = {}) {
    number_micro_steps(marks, stated.micro_steps, origins, kept.table);
    GpuSpec spec;
    spec.num_units = 1;
    spec.clock_mhz = 1000;
    spec.bf16_flop_per_clock = 2;  // 2 FLOP/ns
    add_model_work(stated, shards, &spec, origins, "rank0.json", kept);
  }
  double flops(std::size_t i) const { return kept.table.flops[i]; }
  std::string note(HealthKind kind) const {
    const HealthEntry& entry = kept.notes.entry(kind);
    return entry.count == 0 ? "" : entry.examples.front().what;
  }
};

const Kernel kUp = {.operation = "mlp_up", .instance = 99};

TEST(ModelTheory, PartsAPassAmongItsKernels) {
  Gpu gpu;
  gpu.add({.duration_ns = 30, .range = 5});
  gpu.add({.duration_ns = 10, .gpu_class = GpuClass::vector, .range = 5});  // behind the product, of its operator
  gpu.add({.duration_ns = 10, .gpu_class = GpuClass::vector, .range = 6});  // of another: no product
  gpu.add(kUp);
  gpu.tell();
  EXPECT_DOUBLE_EQ(gpu.flops(0), kGate * 3 / 4);
  EXPECT_DOUBLE_EQ(gpu.flops(1), kGate / 4);
  EXPECT_DOUBLE_EQ(gpu.kept.table.flops_ns[1], kGate / 8);
  EXPECT_TRUE(std::isnan(gpu.flops(2)));
  EXPECT_EQ(gpu.kept.table.theory[0], TheorySource::model);
  EXPECT_EQ(gpu.kept.table.theory[2], TheorySource::none);
}

TEST(ModelTheory, BackwardIsTwoProductsAndRecomputedWorkIsForward) {
  Gpu gpu;
  gpu.add({.operation = "mlp_dp", .phase = Phase::backward, .instance = 1, .recompute = true});
  gpu.add({.operation = "mlp_dp", .phase = Phase::backward, .instance = 2});
  gpu.add({.operation = "mlp_dp", .phase = Phase::backward, .duration_ns = 30, .instance = 2});
  gpu.add({.operation = "attn_fa", .phase = Phase::backward, .instance = 3, .gpu_class = GpuClass::attention});
  gpu.tell();
  EXPECT_DOUBLE_EQ(gpu.flops(0), kGate);
  EXPECT_DOUBLE_EQ(gpu.flops(1), kGate / 2);
  EXPECT_DOUBLE_EQ(gpu.flops(2), kGate * 3 / 2);
  EXPECT_DOUBLE_EQ(gpu.flops(3), 2.5 * kAttention);
}

TEST(ModelTheory, EachMicroStepIsAPass) {
  Gpu gpu(2);
  for (const std::uint32_t instance : {1u, 2u, 3u, 4u}) gpu.add({.operation = "attn_op", .instance = instance});
  gpu.tell();
  EXPECT_EQ(gpu.kept.table.micro_step, (std::vector<std::int32_t>{0, 0, 1, 1}));
  EXPECT_DOUBLE_EQ(gpu.flops(0), gpu.flops(1));  // in two pieces
  EXPECT_DOUBLE_EQ(gpu.flops(0) + gpu.flops(1), flops_of_pass(facts(), {}, "attn_op").flops->forward);
}

// Two experts of a layer are two executions of what a dense model executes once.
TEST(ModelTheory, ExpertsAreNotTheDenseModel) {
  Gpu gpu;
  for (const std::uint32_t instance : {1u, 2u}) gpu.add({.operation = "mlp_dp", .instance = instance});
  gpu.add({.operation = "mlp_dp", .phase = Phase::backward, .instance = 3});
  gpu.add({.operation = "attn_op", .instance = 4});
  gpu.tell();
  EXPECT_TRUE(std::isnan(gpu.flops(0)));
  EXPECT_TRUE(std::isnan(gpu.flops(2)));
  EXPECT_GT(gpu.flops(3), 0);
  EXPECT_NE(gpu.note(HealthKind::model_tells_no_work).find("experts"), std::string::npos);
}

// A product that is split and summed takes two kernels, and is one gradient.
TEST(ModelTheory, KernelsOfOneProductAreOneGradient) {
  Gpu gpu;
  gpu.add({.operation = "attn_op", .phase = Phase::backward, .instance = 1, .range = 7});
  gpu.add({.operation = "attn_op", .phase = Phase::backward, .instance = 1, .range = 7});
  gpu.tell();
  EXPECT_TRUE(std::isnan(gpu.flops(0)));
  EXPECT_NE(gpu.note(HealthKind::model_tells_no_work).find("fewer kernels than gradients"), std::string::npos);
}

TEST(ModelTheory, RefusesWhatDoesNotFit) {
  Gpu uneven(2);
  for (const std::uint32_t instance : {1u, 2u, 3u}) uneven.add({.operation = "mlp_dp", .instance = instance});
  uneven.tell();
  EXPECT_TRUE(std::isnan(uneven.flops(0)));
  EXPECT_NE(uneven.note(HealthKind::model_tells_no_work).find("training.micro_steps"), std::string::npos);
  EXPECT_EQ(uneven.kept.notes.count(HealthKind::model_tells_no_work), 3u);

  Gpu frozen;
  frozen.add({.operation = "mlp_dp", .phase = Phase::backward});
  frozen.tell();
  EXPECT_NE(frozen.note(HealthKind::model_tells_no_work).find("fewer kernels than gradients"), std::string::npos);

  Gpu fused;
  fused.add({.operation = "mlp_up"});
  fused.tell();
  EXPECT_NE(fused.note(HealthKind::model_tells_no_work).find("gate and up"), std::string::npos);

  Gpu unfused;
  unfused.add({.operation = "attn_fa"});
  unfused.tell();
  EXPECT_NE(unfused.note(HealthKind::model_tells_no_work).find("not one fused kernel"), std::string::npos);

  Gpu unknown_layer;
  unknown_layer.add({.operation = "mlp_dp", .layer = kUnknownLayer});
  unknown_layer.tell();
  EXPECT_NE(unknown_layer.note(HealthKind::model_tells_no_work).find("layer"), std::string::npos);
}

TEST(ModelTheory, ShapesStandAndAreCompared) {
  Gpu same;
  same.add({.operation = "mlp_dp", .flops = 1.005 * kGate});
  same.tell();
  EXPECT_EQ(same.flops(0), 1.005 * kGate);
  EXPECT_EQ(same.kept.notes.count(HealthKind::model_disagrees), 0u);
  Gpu other;
  other.add({.operation = "mlp_dp", .flops = 2 * kGate});
  other.tell();
  EXPECT_EQ(other.flops(0), 2 * kGate);
  EXPECT_EQ(other.note(HealthKind::model_disagrees), "forward mlp_dp: shapes tell 2.00 times the FLOPs of the model");
  EXPECT_EQ(other.kept.table.theory[0], TheorySource::shapes);
}

TEST(ModelTheory, LayersAreCompared) {
  const auto note_of = [](std::int64_t layers, std::int64_t pipeline) {
    Gpu gpu;
    gpu.add({.operation = "mlp_dp", .layer = 0});
    gpu.add({.operation = "mlp_dp", .instance = 1, .layer = 1});
    RunFacts stated = facts();
    stated.layers = layers;
    gpu.tell(stated, {.pipeline = pipeline});
    return gpu.note(HealthKind::model_disagrees);
  };
  EXPECT_EQ(note_of(2, 1), "");
  EXPECT_EQ(note_of(32, 1), "an iteration runs 2 layers, model.layers is 32");
  EXPECT_EQ(note_of(32, 0), "");  // the other stages run the others
  EXPECT_EQ(note_of(32, 4), "");
}

TEST(ModelTheory, NothingIsToldWithoutAModel) {
  Gpu gpu;
  gpu.add({.operation = "mlp_dp"});
  gpu.tell({});
  EXPECT_TRUE(std::isnan(gpu.flops(0)));
  EXPECT_EQ(gpu.kept.notes.count(HealthKind::model_tells_no_work), 0u);
}

}  // namespace
}  // namespace chopper
