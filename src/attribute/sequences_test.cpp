// SPDX-License-Identifier: Apache-2.0
#include "attribute/sequences.h"

#include <gtest/gtest.h>

#include <string>

namespace chopper {
namespace {

// States of a test by name; kernels by the letter of their feature.
FeatureSet features_of_letter(char letter) {
  switch (letter) {
    case 'g':
      return bit(Feature::gemm);
    case 'a':
      return bit(Feature::attention);
    case 'v':
      return bit(Feature::vector);
    case 'l':
      return bit(Feature::loss) | bit(Feature::vector);
    case '+':
      return bit(Feature::add) | bit(Feature::vector);
    default:
      return 0;
  }
}

class Machine : public testing::Test {
 protected:
  KernelSequence sequence(std::string_view states) {
    OperationMaps maps;
    const Result<Done> done = add_operation_map(maps, "sequence = [{state = [" + std::string(states) + "]}]", "mine");
    EXPECT_TRUE(done.ok()) << (done.ok() ? "" : done.error().message);
    return maps.sequences.front();
  }
  // Kernels by letter; '|' begins another pass; "=name;" is a kernel that is called so already.
  std::string run(const KernelSequence& sequence, std::string_view kernels) {
    std::vector<SequenceItem> items;
    std::uint32_t pass = 0;
    for (std::size_t i = 0; i < kernels.size(); i++) {
      if (kernels[i] == '|') {
        pass++;
      } else if (kernels[i] == '=') {
        const std::size_t end = kernels.find(';', i);
        items.push_back({bit(Feature::vector), pass, operations_.intern(kernels.substr(i + 1, end - i - 1))});
        i = end;
      } else {
        items.push_back({features_of_letter(kernels[i]), pass, kNoString});
      }
    }
    result_ = run_sequence(sequence, items, operations_);
    std::string text;
    for (const SequenceLabel& label : result_.labels) {
      text += (text.empty() ? "" : " ") +
              std::string(label.operation == kNoString ? "-" : operations_.view(label.operation));
      if (label.layer >= 0) text += std::to_string(label.layer);
    }
    return text;
  }

  StringTable operations_;
  SequenceResult result_;
};

TEST_F(Machine, BlocksRepeat) {
  const KernelSequence s = sequence(R"(
    {name = "e", operation = "emb", accepts = "add", entry = true, next = ["n"]},
    {name = "n", operation = "norm", accepts = "vector", layer = true, entry = true, next = ["p"]},
    {name = "p", operation = "prod", accepts = "gemm", max = 1, next = ["n", "h"]},
    {name = "h", operation = "head", accepts = "gemm"})");
  EXPECT_EQ(run(s, "+vgvgg"), "emb norm0 prod0 norm1 prod1 head");
  EXPECT_EQ(result_.num_layers, 2u);
  EXPECT_EQ(result_.num_labelled, 6u);
  EXPECT_EQ(run(s, "vg|vgvg"), "norm0 prod0 norm0 prod0 norm1 prod1") << "layers begin at 0 in each pass";
  EXPECT_EQ(result_.num_layers, 3u);
}

TEST_F(Machine, WhatNoStateAcceptsHasNoName) {
  const KernelSequence s = sequence(R"(
    {name = "n", operation = "norm", accepts = "vector", layer = true, entry = true, next = ["p"]},
    {name = "p", operation = "prod", accepts = "gemm", max = 1, next = ["n"]})");
  EXPECT_EQ(run(s, "gvaagvg"), "- norm0 - - prod0 norm1 prod1");
  EXPECT_EQ(result_.num_labelled, 4u);
  EXPECT_EQ(run(s, ""), "");
}

TEST_F(Machine, MaxAndRejects) {
  const KernelSequence s = sequence(R"(
    {name = "n", operation = "norm", accepts = "vector", rejects = ["loss"], entry = true, next = ["p"]},
    {name = "p", operation = "prod", accepts = "gemm", max = 2, next = ["q", "l"]},
    {name = "q", operation = "more", accepts = "gemm", next = ["l"]},
    {name = "l", operation = "loss", accepts = "loss"})");
  EXPECT_EQ(run(s, "vvggggl"), "norm norm prod prod more more loss");
  EXPECT_EQ(run(s, "lvgl"), "- norm prod loss");
}

TEST_F(Machine, NamesByCount) {
  const KernelSequence s = sequence(R"(
    {name = "n", operation = "norm", accepts = "vector", entry = true, layer = true, next = ["q"]},
    {name = "q", operation = "qkv", accepts = "gemm", max = 4, by_count = ["qkv", "q kv", "q k v"], next = ["n"]})");
  EXPECT_EQ(run(s, "vg"), "norm0 qkv0");
  EXPECT_EQ(run(s, "vggv"), "norm0 q0 kv0 norm1");
  EXPECT_EQ(run(s, "vggg|vg"), "norm0 q0 k0 v0 norm0 qkv0");
  EXPECT_EQ(run(s, "vgggg"), "norm0 qkv0 qkv0 qkv0 qkv0") << "more than there are names for";
}

TEST_F(Machine, FollowedBy) {
  const KernelSequence s = sequence(R"(
    {name = "n", operation = "norm", accepts = "vector", entry = true, next = ["r"]},
    {name = "r", operation = "before", accepts = "vector", max = 1, followed_by = "gemm", next = ["p"]},
    {name = "p", operation = "prod", accepts = "gemm"})");
  EXPECT_EQ(run(s, "vvvg"), "norm norm before prod");
  EXPECT_EQ(run(s, "vv|g"), "norm norm -") << "the next kernel is one of the same pass";
  EXPECT_EQ(run(s, "vg"), "norm -");
}

TEST_F(Machine, AheadAndBefore) {
  const KernelSequence s = sequence(R"(
    {name = "n", operation = "norm", accepts = "vector", rejects = ["loss"], ahead = "attention", before = "loss", entry = true, layer = true, next = ["a"]},
    {name = "a", operation = "attn", accepts = "attention", next = ["n", "f"]},
    {name = "f", operation = "final", accepts = "vector", rejects = ["loss"], next = ["l"]},
    {name = "l", operation = "loss", accepts = "loss"})");
  EXPECT_EQ(run(s, "vavavl"), "norm0 attn0 norm1 attn1 final loss");
  EXPECT_EQ(run(s, "vavlva"), "norm0 attn0 final loss norm1 attn1") << "behind the loss an entry begins again";
  EXPECT_EQ(run(s, "va|v"), "norm0 attn0 -") << "ahead in the same pass";
}

TEST_F(Machine, KnownNamesAreFollowed) {
  const KernelSequence s = sequence(R"(
    {name = "n", operation = "norm", accepts = "vector", entry = true, layer = true, next = ["p"]},
    {name = "p", operation = "prod", accepts = "gemm", max = 1, by_count = ["one"], next = ["o"]},
    {name = "o", operation = "out", accepts = "gemm", max = 1, next = ["n"]})");
  EXPECT_EQ(run(s, "=norm;g=out;vg"), "norm0 one0 out0 norm1 one1");
  EXPECT_EQ(run(s, "=out;v"), "out norm0") << "before the first block";
  EXPECT_EQ(run(s, "v=other;g"), "norm0 - one0") << "a name of no state changes nothing";
  EXPECT_EQ(run(s, "v=one;g"), "norm0 one0 out0") << "names by count are names of the state";
}

TEST_F(Machine, OutsideIsWhatLeadsToNoBlockOrIsReachedFromNone) {
  const KernelSequence s = sequence(R"(
    {name = "e", operation = "emb", accepts = "add", entry = true, next = ["n"]},
    {name = "n", operation = "norm", accepts = "vector", rejects = ["add"], layer = true, next = ["p", "l"]},
    {name = "p", operation = "prod", accepts = "gemm", next = ["n"]},
    {name = "l", operation = "loss", accepts = "loss"})");
  EXPECT_EQ(run(s, "+vgv"), "emb norm0 prod0 norm1");
  EXPECT_EQ(result_.labels[0].layer, kOutsideLayers);
}

TEST(Features, OfKernels) {
  const FeatureRules rules = embedded_operation_maps().value().features;
  const FeatureSet vector = bit(Feature::vector);
  const struct {
    std::string_view operator_name, kernel;
    GpuClass gpu_class;
    FeatureSet features;
  } cases[] = {
      {"aten::mm", "k", GpuClass::gemm, bit(Feature::gemm)},
      {"aten::bmm", "k", GpuClass::gemm, bit(Feature::bmm)},
      {"aten::mul", "flash", GpuClass::attention, bit(Feature::attention)},
      {"aten::mul", "silu", GpuClass::vector, bit(Feature::multiply) | vector},
      {"aten::silu", "k", GpuClass::other, bit(Feature::activation) | vector},
      {"silu", "k", GpuClass::vector, vector},
      {"", "triton_poi_fused_add_mul_3", GpuClass::vector,
       bit(Feature::fused) | bit(Feature::add) | bit(Feature::multiply) | vector},
      {"", "triton_poi_fused_adder_3", GpuClass::vector, bit(Feature::fused) | vector},
      {"", "triton_add", GpuClass::vector, vector},
      {"", "void at::native::SILU_kernel", GpuClass::vector, bit(Feature::activation) | vector},
      {"", "CUDAFunctor_add", GpuClass::vector, bit(Feature::add) | vector},
      {"", "CUDAFunctorOnSelf_add", GpuClass::vector, vector},
      {"", "cunn_log_softmax", GpuClass::vector, bit(Feature::loss) | vector},
      {"", "softmax_warp", GpuClass::vector, bit(Feature::softmax) | vector},
      {"", "k", GpuClass::other, vector},
  };
  for (const auto& c : cases)
    EXPECT_EQ(features_of(rules, c.operator_name, c.kernel, c.gpu_class), c.features)
        << c.operator_name << " " << c.kernel;
}

}  // namespace
}  // namespace chopper
