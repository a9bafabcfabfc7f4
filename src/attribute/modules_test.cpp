// SPDX-License-Identifier: Apache-2.0
#include "attribute/modules.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "attribute/range_facts.h"

namespace chopper {
namespace {

// Frames by depth and name, in order of call: {0, "Model_0"}, {1, "Layer_0"}.
struct Frame {
  std::size_t depth;
  std::string_view name;
};

class Modules : public testing::Test {
 protected:
  Modules() : phases_(embedded_phase_rules().value()), maps_(embedded_operation_maps().value()) {}

  void label(const std::vector<Frame>& frames) {
    std::vector<std::uint32_t> open;
    for (const Frame& frame : frames) {
      open.resize(frame.depth);
      const std::string text = "nn.Module: " + std::string(frame.name);
      const ModuleName name = *module_of(text);
      ModuleFrame made;
      made.row = static_cast<std::uint32_t>(stacks_.frames.size());
      made.parent = open.empty() ? kNoIndex : open.back();
      made.depth = static_cast<std::uint32_t>(frame.depth);
      made.class_name = operations_.intern(name.class_name);
      made.instance = name.instance;
      open.push_back(made.row);
      stacks_.frames.push_back(made);
    }
    labels_.emplace(stacks_, phases_, maps_, operations_);
  }
  std::string blocks() const {
    std::string text;
    for (std::uint32_t f = 0; f < stacks_.frames.size(); f++) {
      const std::uint32_t block = labels_->block_of(f);
      text +=
          (f > 0 ? " " : "") + (block == kNoIndex ? std::string("-") : std::to_string(stacks_.frames[block].instance));
    }
    return text;
  }
  std::string operations() const {
    std::string text;
    for (std::uint32_t f = 0; f < stacks_.frames.size(); f++) {
      const StringId operation = labels_->operation_of(f);
      text += (f > 0 ? " " : "") + std::string(operation == kNoString ? "-" : operations_.view(operation));
    }
    return text;
  }

  PhaseRules phases_;
  OperationMaps maps_;
  StringTable operations_;
  Stacks stacks_;
  std::optional<ModuleLabels> labels_;
};

TEST_F(Modules, NothingWithoutFrames) {
  label({});
  EXPECT_EQ(labels_->block_of(kNoIndex), kNoIndex);
  EXPECT_EQ(labels_->operation_of(kNoIndex), kNoString);
}

TEST_F(Modules, BlocksAreCalledSo) {
  label({{0, "Model_0"},
         {1, "DecoderLayer_0"},
         {2, "Linear_0"},
         {1, "DecoderLayer_1"},
         {2, "Linear_1"},
         {1, "Linear_2"}});
  EXPECT_EQ(blocks(), "- 0 0 1 1 -");
}

TEST_F(Modules, OfNestedBlocksTheOuter) {
  label({{0, "Stack_0"}, {1, "TBlock_0"}, {2, "TLayerFF_0"}, {1, "TBlock_1"}, {2, "TLayerFF_1"}});
  EXPECT_EQ(blocks(), "- 0 0 1 1");
}

TEST_F(Modules, NormsAndContainersAreNoBlocks) {
  label({{0, "Model_0"},
         {1, "Sequential_0"},
         {2, "Cell_0"},
         {3, "LayerNorm_0"},
         {1, "Sequential_1"},
         {2, "Cell_1"},
         {3, "LayerNorm_1"}});
  EXPECT_EQ(blocks(), "- - 0 0 - 1 1");
}

TEST_F(Modules, AClassThatHoldsItselfIsNone) {
  label({{0, "Tree_0"}, {1, "Tree_1"}, {2, "Leaf_0"}, {1, "Tree_2"}, {2, "Leaf_1"}});
  EXPECT_EQ(blocks(), "- - 0 - 1");
}

TEST_F(Modules, OneInstanceIsNoRepetition) {
  label({{0, "DecoderLayer_0"}, {1, "Part_0"}, {0, "DecoderLayer_0"}, {1, "Part_0"}});
  EXPECT_EQ(blocks(), "- - - -");
}

TEST_F(Modules, AttentionByNumberOfProjections) {
  label({{0, "LlamaAttention_0"}, {1, "Linear_0"}, {1, "Linear_1"}, {1, "Linear_2"}, {1, "Linear_3"}});
  EXPECT_EQ(operations(), "- q_ip k_ip v_ip attn_op");
}

TEST_F(Modules, FusedProjections) {
  label({{0, "Attention_0"}, {1, "Linear_0"}, {1, "Linear_1"}});
  EXPECT_EQ(operations(), "- qkv_ip attn_op");
}

TEST_F(Modules, ThreeProjectionsAreNoKnownAttention) {
  label({{0, "Attention_0"}, {1, "Linear_0"}, {1, "Linear_1"}, {1, "Linear_2"}});
  EXPECT_EQ(operations(), "- - - -");
}

TEST_F(Modules, ACalledAgainModuleIsNoOther) {
  label({{0, "MLP_0"}, {1, "Linear_0"}, {1, "Linear_1"}, {1, "Linear_0"}});
  EXPECT_EQ(operations(), "- mlp_up mlp_dp mlp_up");
}

TEST_F(Modules, WhatIsInsideHasTheOperationOfItsModule) {
  label({{0, "LlamaDecoderLayer_0"}, {1, "LlamaRMSNorm_0"}, {2, "Impl_0"}, {0, "LlamaDecoderLayer_1"}});
  EXPECT_EQ(operations(), "- attn_n attn_n -");
}

TEST_F(Modules, WorkOfAttentionItself) {
  label({{0, "LlamaAttention_0"}, {1, "Linear_0"}});
  ASSERT_EQ(labels_->work_rules_of(0).size(), 1u);
  EXPECT_EQ(operations_.view(labels_->work_rules_of(0)[0].operation), "attn_fa");
  EXPECT_NE(labels_->work_rules_of(0)[0].accepts & bit(Feature::softmax), 0u);
  EXPECT_TRUE(labels_->work_rules_of(1).empty());
}

}  // namespace
}  // namespace chopper
