// SPDX-License-Identifier: Apache-2.0
#include "analyze/model_work.h"

#include <gtest/gtest.h>

#include "analyze/throughput.h"
#include "support/hand_trace.h"
#include "support/llama_facts.h"

namespace chopper {
namespace {

// The width of its heads follows from hidden and heads.
RunFacts llama() {
  RunFacts facts = test::llama3_8b(2, 4096);
  facts.head_dim.reset();
  return facts;
}

PassFlops told(const RunFacts& facts, std::string_view operation, ModelShards shards = {}) {
  const ModelAnswer answer = flops_of_pass(facts, shards, operation);
  EXPECT_TRUE(answer.flops.has_value()) << operation << ": " << answer.refusal;
  return answer.flops.value_or(PassFlops());
}

TEST(ModelWork, CountsEachOperation) {
  const double tokens = 2 * 4096;
  EXPECT_EQ(told(llama(), "q_ip").forward, 2 * tokens * 4096 * 4096);
  EXPECT_EQ(told(llama(), "k_ip").forward, 2 * tokens * 4096 * 1024);
  EXPECT_EQ(told(llama(), "qkv_ip").forward, 2 * tokens * 4096 * 6144);
  EXPECT_EQ(told(llama(), "mlp_gp").forward, 2 * tokens * 4096 * 14336);
  EXPECT_EQ(told(llama(), "mlp_dp").backward, 4 * tokens * 4096 * 14336);
  EXPECT_EQ(told(llama(), "lp").forward, 2 * tokens * 4096 * 128256);
  const PassFlops attention = told(llama(), "attn_fa");
  EXPECT_EQ(attention.forward, 2.0 * 2 * 32 * 128 * 4096 * 4096);
  EXPECT_EQ(attention.backward, 2.5 * attention.forward);
  EXPECT_TRUE(attention.is_attention);
}

TEST(ModelWork, IsWhatThroughputCounts) {
  RunFacts facts = llama();
  double layer = 0;
  for (const char* operation : {"q_ip", "k_ip", "v_ip", "attn_fa", "attn_op", "mlp_gp", "mlp_up", "mlp_dp"})
    layer += told(facts, operation).forward;
  const double forward = 32 * layer + told(facts, "lp").forward;
  EXPECT_NEAR(forward / (2 * causal_flops(facts)->forward), 1, 1e-12);
}

TEST(ModelWork, DividesByTheRanksOfAnOperation) {
  EXPECT_EQ(told(llama(), "mlp_gp", {4, 1}).forward, told(llama(), "mlp_gp").forward / 4);
  EXPECT_EQ(told(llama(), "attn_fa", {8, 1}).backward, told(llama(), "attn_fa").backward / 8);
  EXPECT_EQ(told(llama(), "lp", {2, 2}).forward, told(llama(), "lp").forward / 4);
}

TEST(ModelWork, RefusesWhatIsNotStated) {
  const auto refusal = [](const RunFacts& facts, std::string_view operation, ModelShards shards = {}) {
    const ModelAnswer answer = flops_of_pass(facts, shards, operation);
    EXPECT_FALSE(answer.flops.has_value()) << operation;
    return answer.refusal;
  };
  EXPECT_EQ(refusal(llama(), "mlp_gs"), "");  // no product
  EXPECT_NE(refusal(llama(), "mlp_gp", {0, 1}).find("training.tensor_parallel"), std::string::npos);
  EXPECT_NE(refusal(llama(), "qkv_ip", {16, 1}).find("does not divide the heads"), std::string::npos);
  EXPECT_NE(refusal(llama(), "attn_fa", {1, 2}).find("context parallel"), std::string::npos);
  RunFacts facts = llama();
  facts.vocabulary.reset();
  EXPECT_EQ(refusal(facts, "lp"), "[model] lacks some of hidden and vocabulary");
  facts = llama();
  facts.batch.reset();
  EXPECT_FALSE(describes_work(facts));
  EXPECT_TRUE(describes_work(llama()));
}

TEST(ModelShards, FactsWinOverGroups) {
  test::HandTrace hand;
  CollectiveLabels& groups = hand.labels.collectives;
  const auto add = [&](std::string_view description, std::int64_t size, const char* kind = "all_reduce") {
    groups.gpu_row.push_back(hand.add({.start = 0, .end = 1, .gpu_class = GpuClass::comm, .operation = kind}));
    groups.group.push_back(kNoString);
    groups.description.push_back(hand.trace.strings.intern(description));
    groups.group_size.push_back(size);
  };
  const GroupDimensionRules rules = embedded_group_dimension_rules().value();
  const auto tensor = [&](const RunFacts& facts) { return model_shards(facts, hand.trace, hand.labels, rules).tensor; };
  EXPECT_EQ(tensor({}), 1);
  add("TENSOR_MODEL_PARALLEL_GROUP", 4);
  EXPECT_EQ(tensor({}), 4);
  add("TENSOR_MODEL_PARALLEL_GROUP", 2);
  EXPECT_EQ(tensor({}), 0);
  RunFacts stated;
  stated.tensor_parallel = 8;
  EXPECT_EQ(tensor(stated), 8);

  const auto pipeline = [&](const RunFacts& facts) {
    return model_shards(facts, hand.trace, hand.labels, rules).pipeline;
  };
  EXPECT_EQ(pipeline({}), 1);
  add("default_pg", 8, "p2p");  // stages, and their group does not tell how many
  EXPECT_EQ(pipeline({}), 0);
  stated.pipeline_parallel = 2;
  EXPECT_EQ(pipeline(stated), 2);
}

}  // namespace
}  // namespace chopper
