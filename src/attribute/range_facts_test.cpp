// SPDX-License-Identifier: Apache-2.0
#include "attribute/range_facts.h"

#include <gtest/gtest.h>

namespace chopper {
namespace {

TEST(RangeNames, ModuleFrames) {
  const struct {
    std::string_view name, class_name;
    std::int32_t instance;
  } cases[] = {
      {"nn.Module: LlamaMLP_3", "LlamaMLP", 3},        {"nn.Module: BatchNorm2d_0", "BatchNorm2d", 0},
      {"nn.Module: My_Layer_12", "My_Layer", 12},      {"nn.Module: NoNumber", "NoNumber", -1},
      {"nn.Module: Not_a_number", "Not_a_number", -1}, {"nn.Module: Too_1234567890", "Too_1234567890", -1},
  };
  for (const auto& c : cases) {
    const std::optional<ModuleName> found = module_of(c.name);
    ASSERT_TRUE(found) << c.name;
    EXPECT_EQ(found->class_name, c.class_name);
    EXPECT_EQ(found->instance, c.instance) << c.name;
  }
  EXPECT_FALSE(module_of("train.py(3): step"));
  EXPECT_FALSE(module_of("nn.Module:LlamaMLP_3"));
}

TEST(RangeNames, IterationMarks) {
  const struct {
    std::string_view name;
    MarkKind kind;
    std::int64_t number;
  } cases[] = {
      {"ProfilerStep#12", MarkKind::profiler_step, 12},
      {"ProfilerStep#", MarkKind::none, kNoNumber},
      {"ProfilerStep#1x", MarkKind::none, kNoNumber},
      {"ProfilerStep 12", MarkKind::none, kNoNumber},
      {"Iteration 7", MarkKind::iteration, 7},
      {"iteration7", MarkKind::iteration, 7},
      {"ITERATION_007", MarkKind::iteration, 7},
      {"Iteration<7>", MarkKind::iteration, 7},
      {"Iteration7>", MarkKind::iteration, 7},
      {"Iteration  7", MarkKind::none, kNoNumber},
      {"Iteration/7", MarkKind::none, kNoNumber},
      {"Iteration 7 ", MarkKind::none, kNoNumber},
      {"Iteration", MarkKind::none, kNoNumber},
      {"Iteration 1234567890123456789", MarkKind::none, kNoNumber},
      {"Iteration 1234567890", MarkKind::iteration, 1234567890},
      {"Iteration 999999999", MarkKind::iteration, 999999999},
      {"Optimizer.step#AdamW.step", MarkKind::optimizer, kNoNumber},
      {"Optimizer.zero_grad#AdamW.zero_grad", MarkKind::none, kNoNumber},
      {"", MarkKind::none, kNoNumber},
  };
  for (const auto& c : cases) {
    const MarkName found = mark_of(c.name, "");
    EXPECT_EQ(found.kind, c.kind) << c.name;
    EXPECT_EQ(found.number, c.number) << c.name;
  }
}

TEST(RangeNames, MarksOfTheUser) {
  const struct {
    std::string_view name, mark;
    MarkKind kind;
    std::int64_t number;
  } cases[] = {
      {"train step 7 of 9", "train", MarkKind::user, 7},
      {"train", "train", MarkKind::user, kNoNumber},
      {"step42", "step4", MarkKind::user, 2},
      {"my train 7", "train", MarkKind::none, kNoNumber},
      {"Iteration 3", "train", MarkKind::iteration, 3},
      {"Iteration 3", "Iter", MarkKind::user, 3},
      {"train 12345678901", "train", MarkKind::user, 12345678901},
      {"train 1234567890123456789", "train", MarkKind::user, kNoNumber},
  };
  for (const auto& c : cases) {
    const MarkName found = mark_of(c.name, c.mark);
    EXPECT_EQ(found.kind, c.kind) << c.name;
    EXPECT_EQ(found.number, c.number) << c.name;
  }
}

TEST(RangeNames, ModulePaths) {
  const struct {
    std::string_view name, path;
    std::int32_t layer;
  } cases[] = {
      {"model.layers.12.mlp", "model.layers.12.mlp", 12},
      {"layers.3", "layers.3", 3},
      {"model.layers.3.experts.7", "model.layers.3.experts.7", 3},
      {"FSDP::pre_forward (model.layers.3)", "model.layers.3", 3},
      {"gather for model.layers.4", "model.layers.4", 4},
      {"model.norm", "model.norm", -1},
      {"model.layer12.x", "model.layer12.x", -1},
      {"epoch.3", "epoch.3", -1},
      {"double_blocks.3", "double_blocks.3", 3},
      {"h.3", "h.3", 3},
      {"12.x", "", -1},
      {"model..x", "", -1},
      {".x", "", -1},
      {"model.x.", "", -1},
      {"model", "", -1},
      {"a b.c", "", -1},
      {"f(x", "", -1},
      {"", "", -1},
  };
  for (const auto& c : cases) {
    const std::string_view path = module_path_of(c.name);
    EXPECT_EQ(path, c.path) << c.name;
    EXPECT_EQ(layer_of_path(path).value_or(-1), c.layer) << c.name;
  }
}

TEST(RangeNames, LayersOfAnnotations) {
  const struct {
    std::string_view name;
    std::int32_t layer;
  } cases[] = {
      {"Layer3", 3},  {"layer 12", 12}, {"LAYER_0", 0},     {"Block<5>", 5}, {"block-7", 7},
      {"layer#8", 8}, {"layers 3", -1}, {"my layer 3", -1}, {"Layer", -1},   {"Layer3 mlp", -1},
      {"L3", -1},     {"Layer 3:", -1}, {"Layer:3", 3},
  };
  for (const auto& c : cases) EXPECT_EQ(layer_of_annotation(c.name).value_or(-1), c.layer) << c.name;
}

TEST(RangeNames, KindsOfCollectives) {
  const struct {
    std::string_view name, kind;
  } cases[] = {
      {"_allgather_base", "ag"},
      {"all_gather_into_tensor_coalesced", "ag"},
      {"nccl:_reduce_scatter_base", "rs"},
      {"allreduce_coalesced", "ar"},
      {"c10d::allreduce_", "ar"},
      {"all_to_allv", "a2a"},
      {"ncclDevKernel_AllReduce_Sum_bf16_RING_LL", "ar"},
      {"void vllm::cross_device_reduce_1stage<float>", "ar"},
      {"Broadcast", "bc"},
      {"barrier", "barrier"},
      {"ncclDevKernel_SendRecv", "p2p"},
      {"send", "p2p"},
      {"recv 3<-2", "p2p"},
      {"gather", "gather"},
      {"scatter", "scatter"},
      {"reduce", "reduce"},
      {"ncclDevKernel_Generic", ""},
      {"wait", ""},
      {"", ""},
  };
  for (const auto& c : cases) EXPECT_EQ(collective_kind(c.name), c.kind) << c.name;
}

class Facts : public testing::Test {
 protected:
  Facts() {
    classes_ = embedded_class_rules().value();
    phases_ = embedded_phase_rules().value();
    maps_ = embedded_operation_maps().value();
  }
  RangeFacts of(std::string_view name, RangeKind kind = RangeKind::annotation) {
    StringTable names;
    const StringId id = names.intern(name);
    RangeNames table(names, classes_, phases_, maps_, operations_);
    return table.facts(id, kind);
  }
  std::string_view text(StringId id) const { return id == kNoString ? std::string_view("-") : operations_.view(id); }

  ClassRules classes_;
  PhaseRules phases_;
  OperationMaps maps_;
  StringTable operations_;
};

TEST_F(Facts, Operations) {
  const struct {
    std::string_view name, operation;
    LabelRule rule;
    bool forward, backward;
  } cases[] = {
      {"mlp_up", "mlp_up", LabelRule::annotation, false, false},
      {"fc_up", "mlp_up", LabelRule::annotation, false, false},
      {"f_ffn_dp", "mlp_dp", LabelRule::annotation, true, false},
      {"b_attn_n", "attn_n", LabelRule::annotation, false, true},
      {"b_ga", "b_ga", LabelRule::annotation, false, true},
      {"fc_", "-", LabelRule::none, false, false},
      {"f_", "-", LabelRule::none, false, false},
      {"mlp", "-", LabelRule::none, false, false},
      {"model.layers.1.self_attn.q_proj", "q_ip", LabelRule::module_path, false, false},
      {"model.layers.1.xself_attn.q_proj", "-", LabelRule::none, false, false},
      {"FSDP::pre_forward (layers.1.attention.wq)", "-", LabelRule::none, true, false},
      {"Optimizer.step#SGD.step", "opt_step", LabelRule::optimizer, false, false},
      {"fsdp::chunk_cat", "rs_in", LabelRule::collective, false, false},
      {"FSDP::post_backward_accumulate", "b_ga", LabelRule::collective, false, true},
  };
  for (const auto& c : cases) {
    const RangeFacts facts = of(c.name);
    EXPECT_EQ(text(facts.operation), c.operation) << c.name;
    EXPECT_EQ(facts.operation_rule, c.rule) << c.name;
    EXPECT_EQ(facts.forward, c.forward) << c.name;
    EXPECT_EQ(facts.backward, c.backward) << c.name;
  }
}

TEST_F(Facts, OperatorsNameNothingOfTheModel) {
  EXPECT_EQ(of("mlp_up", RangeKind::operation).operation, kNoString);
  EXPECT_EQ(of("Layer3", RangeKind::operation).layer, kUnknownLayer);
  EXPECT_FALSE(of("forward", RangeKind::operation).forward);
  EXPECT_EQ(of("FSDP::pre_forward (layers.4)", RangeKind::operation).layer, 4);
}

TEST_F(Facts, ANameMayBeOfSeveralKinds) {
  StringTable names;
  const StringId id = names.intern("FSDP::all_gather_copy_in (layers.4)");
  RangeNames table(names, classes_, phases_, maps_, operations_);
  EXPECT_FALSE(table.facts(id, RangeKind::module).copy);
  EXPECT_TRUE(table.facts(id, RangeKind::operation).copy);
  EXPECT_EQ(table.facts(id, RangeKind::annotation).layer, 4);
  EXPECT_FALSE(table.facts(id, RangeKind::module).copy);
}

TEST_F(Facts, WordsOfAnnotations) {
  EXPECT_TRUE(of("## forward ##").forward);
  EXPECT_TRUE(of("## forward ##").root);
  EXPECT_TRUE(of("Backward:2").backward);
  EXPECT_TRUE(of("optimizer_step").optimizer);
  EXPECT_FALSE(of("forwarding").forward);
  EXPECT_FALSE(of("a forward").forward);
  EXPECT_FALSE(of("").forward);
}

TEST_F(Facts, Engine) {
  EXPECT_TRUE(of("autograd::engine::evaluate_function: MmBackward0", RangeKind::operation).engine);
  const RangeFacts accumulate =
      of("autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", RangeKind::operation);
  EXPECT_TRUE(accumulate.engine && accumulate.accumulate);
  EXPECT_EQ(text(accumulate.operation), "b_ga");
  EXPECT_FALSE(of("MmBackward0", RangeKind::operation).engine);
  EXPECT_TRUE(of("FSDP::pre_backward (layers.2)").before_node);
  EXPECT_TRUE(of("FullyShardedDataParallel._pre_backward_prefetch").prefetch);
}

TEST_F(Facts, Collectives) {
  EXPECT_EQ(text(of("nccl:all_reduce").kind), "ar");
  EXPECT_EQ(text(of("c10d::_allgather_base_", RangeKind::operation).kind), "ag");
  EXPECT_EQ(of("all_reduce").kind, kNoString) << "a word of the user is no collective";
  EXPECT_TRUE(of("record_param_comms", RangeKind::operation).param_comms);
  EXPECT_TRUE(of("fsdp::all_gather_copy_in", RangeKind::operation).copy);
}

TEST_F(Facts, LastPartsOfPathsNeedALayer) {
  EXPECT_EQ(text(of("model.layers.2.adapter").path_end), "adapter");
  EXPECT_EQ(text(of("model.adapter").path_end), "-");
  EXPECT_EQ(text(of("model.layers.2.mlp.up_proj").path_end), "-") << "it has a name";
}

}  // namespace
}  // namespace chopper
