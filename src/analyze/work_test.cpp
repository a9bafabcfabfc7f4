// SPDX-License-Identifier: Apache-2.0
#include "analyze/work.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analyze/operator_inputs.h"

namespace chopper {
namespace {

struct Case {
  std::string name, shapes, types;
  Work work;
};

std::string types_of(std::size_t count, const std::string& type) {
  std::string text = "[";
  for (std::size_t i = 0; i < count; i++) text += (i > 0 ? ", \"" : "\"") + type + "\"";
  return text + "]";
}
const std::string kTwo = types_of(2, "c10::BFloat16"), kThree = types_of(3, "c10::BFloat16");

TEST(WorkOf, MatrixProductsCountOperandsAndResultOnce) {
  // Elements by hand: [2, 3] x [3, 4] has 6 + 12 operands, 8 results, 2*2*3*4 = 48 FLOPs.
  const std::vector<Case> cases = {
      {"aten::mm", "[[2, 3], [3, 4]]", kTwo, {48, 52, PeakKind::bf16}},
      {"aten::mm", "[[2,3],[3,4]]", R"(["c10::Half","c10::Half"])", {48, 52, PeakKind::bf16}},
      {"aten::mm", "[[2, 3], [3, 4], [2, 4]]", kThree, {48, 52, PeakKind::bf16}},  // the result handed in
      {"aten::mm", "[[2, 3], [3, 4]]", R"(["float", "float"])", {48, 104, PeakKind::fp32}},
      {"aten::mm", "[[2, 3], [3, 4]]", R"(["double", "double"])", {48, 208, PeakKind::fp64}},
      {"aten::mm", "[[2, 3], [3, 4]]", "", {48, 0, PeakKind::none}},
      {"aten::addmm",
       "[[4], [2, 3], [3, 4], [], []]",
       R"(["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "Scalar", "Scalar"])",
       {48, 60, PeakKind::bf16}},
      {"aten::_addmm_activation", "[[4], [2, 3], [3, 4]]", kThree, {48, 60, PeakKind::bf16}},
      {"aten::bmm", "[[5, 2, 3], [5, 3, 4]]", kTwo, {240, 260, PeakKind::bf16}},
      {"aten::baddbmm", "[[5, 2, 4], [5, 2, 3], [5, 3, 4]]", kThree, {240, 340, PeakKind::bf16}},
      {"aten::addbmm", "[[2, 4], [5, 2, 3], [5, 3, 4]]", kThree, {240, 212, PeakKind::bf16}},
      {"aten::_scaled_mm",
       "[[2, 3], [3, 4], [], []]",
       R"(["c10::Float8_e4m3fn", "c10::Float8_e4m3fn", "float", "float"])",
       {48, 34, PeakKind::fp8}},
      {"aten::_int_mm", "[[2, 3], [3, 4]]", R"(["signed char", "signed char"])", {48, 50, PeakKind::none}},
      {"aten::_grouped_mm",
       "[[6, 3], [2, 3, 4], [2]]",
       R"(["c10::BFloat16", "c10::BFloat16", "int"])",
       {144, 132, PeakKind::bf16}},
      {"aten::_grouped_mm",
       "[[2, 5, 3], [3, 6], [2]]",
       R"(["c10::BFloat16", "c10::BFloat16", "int"])",
       {180, 156, PeakKind::bf16}},
      {"aten::_grouped_mm",
       "[[5, 6], [6, 4], [2]]",
       R"(["c10::BFloat16", "c10::BFloat16", "int"])",
       {240, 188, PeakKind::bf16}},
      {"aten::_grouped_mm", "[[2, 5, 3], [2, 3, 4]]", kTwo, {240, 188, PeakKind::bf16}},
      {"aten::_scaled_grouped_mm",
       "[[5, 6], [6, 4], [5], [4], [2]]",
       R"(["c10::Float8_e4m3fn", "c10::Float8_e4m3fn", "float", "float", "int"])",
       {240, 134, PeakKind::fp8}},
      {"aten::linear", "[[7, 2, 3], [4, 3], [4]]", kThree, {336, 228, PeakKind::bf16}},
      {"aten::linear",
       "[[7, 2, 3], [4, 3], []]",
       R"(["c10::BFloat16", "c10::BFloat16", ""])",
       {336, 220, PeakKind::bf16}},
      {"fbgemm::f8f8bf16_rowwise",
       "[[2, 3], [4, 3], [2], [4]]",
       R"(["c10::Float8_e4m3fn", "c10::Float8_e4m3fn", "float", "float"])",
       {48, 34 + 8, PeakKind::fp8}},
      {"aten::matmul", "[[5, 2, 3], [3, 4]]", kTwo, {240, 164, PeakKind::bf16}},
      {"aten::matmul", "[[5, 1, 2, 3], [6, 3, 4]]", kTwo, {1440, 684, PeakKind::bf16}},
      {"aten::matmul", "[[3], [3, 4]]", kTwo, {24, 38, PeakKind::bf16}},
      {"aten::mv", "[[2, 3], [3]]", kTwo, {12, 22, PeakKind::bf16}},
      {"aten::addmv", "[[2], [2, 3], [3]]", kThree, {12, 26, PeakKind::bf16}},
      {"aten::dot", "[[3], [3]]", kTwo, {6, 14, PeakKind::bf16}},
      {"aten::mm", "[[2, 0], [0, 4]]", kTwo, {0, 16, PeakKind::bf16}},
  };
  for (const Case& c : cases) {
    const auto work = work_of(c.name, c.shapes, c.types);
    ASSERT_TRUE(work.has_value()) << c.name << c.shapes;
    EXPECT_EQ(work->flops, c.work.flops) << c.name << c.shapes;
    EXPECT_EQ(work->peak, c.work.peak) << c.name << c.shapes;
    EXPECT_EQ(work->bytes, c.work.bytes) << c.name << c.shapes;
  }
}

TEST(WorkOf, Tf32IsAnAssumption) {
  const std::string floats = R"(["float", "float"])";
  EXPECT_EQ(work_of("aten::mm", "[[2, 3], [3, 4]]", floats, {.tf32_products = true})->peak, PeakKind::tf32);
}

// Backward convolutions: 2 x 2 x |gradient| x |a row of the weight|.
TEST(WorkOf, BackwardConvolutions) {
  const std::string types =
      R"(["float", "float", "float", "ScalarList", "ScalarList", "ScalarList", "ScalarList", "Scalar", "ScalarList", "Scalar", "ScalarList"])";
  // Gradient [2, 8, 5, 5], weight [8, 4, 3, 3]: 400 x 36 x 2 x 2.
  const auto both = work_of("aten::convolution_backward",
                            "[[2, 8, 5, 5], [2, 4, 10, 10], [8, 4, 3, 3], [], [], [], [], [], [], [], []]", types);
  ASSERT_TRUE(both.has_value());
  EXPECT_EQ(*both, (Work{57600, (400 + 800 + 288 + 800 + 288) * 4, PeakKind::tf32}));
  // Depthwise: weight [8, 1, 3, 3].
  EXPECT_EQ(work_of("aten::convolution_backward", "[[2, 8, 5, 5], [2, 8, 5, 5], [8, 1, 3, 3]]", "")->flops,
            4 * 400 * 9);
  // Transposed, square in channels: the grid grows, so that the input counts.
  EXPECT_EQ(work_of("aten::convolution_backward", "[[2, 8, 10, 10], [2, 8, 5, 5], [8, 8, 2, 2]]", "")->flops,
            4 * 400 * 32);
  EXPECT_EQ(work_of("aten::cudnn_convolution_backward", "[[2, 4, 10, 10], [2, 8, 5, 5], [8, 4, 3, 3]]", "")->flops,
            57600);
  EXPECT_EQ(work_of("aten::cudnn_convolution_backward_input", "[[], [2, 8, 5, 5], [8, 4, 3, 3], []]",
                    R"(["GenericList", "float", "float", "GenericList"])")
                ->flops,
            28800);
  EXPECT_FALSE(work_of("aten::convolution", "[[2, 4, 10, 10], [8, 4, 3, 3]]", "").has_value());
  EXPECT_FALSE(
      work_of("aten::cudnn_convolution_backward_weight", "[[], [2, 8, 5, 5], [2, 4, 10, 10]]", "").has_value());
  EXPECT_FALSE(work_of("aten::convolution_backward", "[[2, 8, 5, 5], [2, 4, 10, 10], [7, 4, 3, 3]]", "").has_value());
}

// The first layer of a network needs no gradient of its input; the call says which were asked for.
TEST(WorkOf, BackwardConvolutionsCountWhatWasAskedFor) {
  const std::string shapes = "[[2, 8, 5, 5], [2, 4, 10, 10], [8, 4, 3, 3], [], [], [], [], [], [], [], []]";
  const std::string types =
      R"(["float", "float", "float", "", "ScalarList", "ScalarList", "ScalarList", "Scalar", "ScalarList", "Scalar", ""])";
  const auto asked = [&](const std::string& mask) {
    return work_of("aten::convolution_backward", shapes, types, {},
                   R"(["", "", "", "[0]", "[2, 2]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "1", ")" + mask + "\"]");
  };
  EXPECT_EQ(*asked("[True, True, False]"), (Work{57600, (400 + 2 * 800 + 2 * 288) * 4, PeakKind::tf32}));
  EXPECT_EQ(*asked("[False, True, False]"), (Work{28800, (400 + 800 + 288) * 4, PeakKind::tf32}));
  EXPECT_EQ(*asked("[True, False, False]"), (Work{28800, (400 + 800 + 288) * 4, PeakKind::tf32}));
  EXPECT_EQ(*asked("[False, False, True]"), (Work{0, 400 * 4, PeakKind::tf32}));  // of the bias: a sum
}

// Forward convolutions: 2 x |result| x |a row of the weight|, transposed 2 x |input| x |a row|. The first of ResNet-50:
// 7 x 7 of 3 channels to 64 at stride 2, 224 x 224 to 112 x 112: 118,013,952 multiplications an image.
TEST(WorkOf, ForwardConvolutionsFromTheirValues) {
  const std::string types =
      R"(["c10::BFloat16", "c10::BFloat16", "", "ScalarList", "ScalarList", "ScalarList", "Scalar"])";
  const std::string first = "[[1, 3, 224, 224], [64, 3, 7, 7], [], [], [], [], []]";
  const std::string values = R"(["", "", "", "[2, 2]", "[3, 3]", "[1, 1]", "1"])";
  const auto work = work_of("aten::conv2d", first, types, {}, values);
  ASSERT_TRUE(work.has_value());
  EXPECT_EQ(*work, (Work{2 * 118013952.0, 2.0 * (3 * 224 * 224 + 64 * 3 * 49 + 64 * 112 * 112), PeakKind::bf16}));
  // The same in the order of arguments of the library's own operators.
  EXPECT_EQ(work_of("aten::miopen_convolution", "[[1, 3, 224, 224], [64, 3, 7, 7], [], [], [], [], []]", types, {},
                    R"(["", "", "", "[3, 3]", "[2, 2]", "[1, 1]", "1"])"),
            work);
  EXPECT_EQ(work_of("aten::cudnn_convolution", "[[1, 3, 224, 224], [64, 3, 7, 7], [], [], [], []]",
                    R"(["c10::BFloat16", "c10::BFloat16", "ScalarList", "ScalarList", "ScalarList", "Scalar"])", {},
                    R"(["", "", "[3, 3]", "[2, 2]", "[1, 1]", "1"])"),
            work);
  // One number for all dimensions; dilation 2 makes 3 reach as far as 5: 10 - 5 + 1 = 6.
  EXPECT_EQ(work_of("aten::conv2d", "[[2, 4, 10, 10], [8, 4, 3, 3], [], [], [], [], []]", "", {},
                    R"(["", "", "", "[1]", "[0]", "[2]", "1"])")
                ->flops,
            2 * (2 * 8 * 36) * 36);
  // Two groups: a row of the weight has half of the channels. The bias is read, too.
  EXPECT_EQ(
      work_of(
          "aten::convolution", "[[2, 4, 10, 10], [8, 2, 3, 3], [8], [], [], [], [], [], []]",
          R"(["float", "float", "float", "ScalarList", "ScalarList", "ScalarList", "Scalar", "ScalarList", "Scalar"])",
          {}, R"(["", "", "", "[1, 1]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "2"])"),
      std::optional(Work{2.0 * 1600 * 18, 4.0 * (800 + 144 + 8 + 1600), PeakKind::tf32}));
  // Transposed, 5 x 5 to (5 - 1) 2 + 2 = 10: inputs meet the weight.
  const auto transposed =
      work_of("aten::convolution", "[[2, 8, 5, 5], [8, 3, 2, 2], [], [], [], [], [], [], []]",
              R"(["float", "float", "", "ScalarList", "ScalarList", "ScalarList", "Scalar", "ScalarList", "Scalar"])",
              {}, R"(["", "", "", "[2, 2]", "[0, 0]", "[1, 1]", "True", "[0, 0]", "2"])");
  EXPECT_EQ(*transposed, (Work{2.0 * 400 * 12, 4.0 * (400 + 96 + 2 * 6 * 100), PeakKind::tf32}));
  // Sequences without a batch.
  EXPECT_EQ(work_of("aten::conv1d", "[[4, 100], [8, 4, 3], [], [], [], [], []]", "", {},
                    R"(["", "", "", "[1]", "[1]", "[1]", "1"])")
                ->flops,
            2 * 800 * 12);
}

TEST(WorkOf, ForwardConvolutionsThatDoNotFitAreUnknown) {
  const std::string shapes = "[[2, 4, 10, 10], [8, 4, 3, 3], [], [], [], [], []]";
  const auto known = [&](const std::string& values, const std::string& of = "aten::conv2d") {
    return work_of(of, shapes, "", {}, values).has_value();
  };
  EXPECT_TRUE(known(R"(["", "", "", "[1, 1]", "[0, 0]", "[1, 1]", "1"])"));
  EXPECT_FALSE(known(""));                                                       // not recorded
  EXPECT_FALSE(known(R"(["", "", "", "[1, 1]", "same", "[1, 1]", "1"])"));       // a word
  EXPECT_FALSE(known(R"(["", "", "", "[0, 0]", "[0, 0]", "[1, 1]", "1"])"));     // no step
  EXPECT_FALSE(known(R"(["", "", "", "[1, 1, 1]", "[0, 0]", "[1, 1]", "1"])"));  // of three dimensions
  EXPECT_FALSE(known(R"(["", "", "", "[1, 1]", "[0, 0]", "[9, 9]", "1"])"));     // reaches beyond the input
  EXPECT_FALSE(known(R"(["", "", "", "[1, -1]", "[0, 0]", "[1, 1]", "1"])"));
  EXPECT_FALSE(known(R"(["", "", "", "[1, 99999999999999999999]", "[0, 0]", "[1, 1]", "1"])"));
  EXPECT_FALSE(known(R"(["", "", "", "[1, 1]", "[0, 0]", "[1, 1]"])", "aten::convolution"));  // transposed or not
  // Extents and steps whose product no integer holds.
  EXPECT_FALSE(work_of("aten::conv2d", "[[1, 1, 1, 1], [1, 1, 999999999999999, 1], [], [], [], [], []]", "", {},
                       R"(["", "", "", "[1, 1]", "[0, 0]", "[4294967296, 1]", "1"])")
                   .has_value());
  EXPECT_FALSE(work_of("aten::conv_transpose2d",
                       "[[1, 999999999999999, 999999999999999, 1], [999999999999999, 999999999999999, 1, 1], [], [], "
                       "[], [], [], []]",
                       "", {}, R"(["", "", "", "[4294967296, 1]", "[0, 0]", "[0, 0]", "999999999999999", "[1, 1]"])")
                   .has_value());
  EXPECT_FALSE(work_of("aten::conv2d", "[[2, 5, 10, 10], [8, 4, 3, 3], [], [], [], [], []]", "", {},
                       R"(["", "", "", "[1, 1]", "[0, 0]", "[1, 1]", "1"])")
                   .has_value());
}

// Llama 3 8B, formats 4.8: hidden 4096, feed-forward 14336, 32 heads, 8 of keys, width 128, vocabulary 128256.
TEST(WorkOf, MatchesTheVectorsOfLlama3) {
  const auto product = [](std::int64_t tokens, std::int64_t in, std::int64_t out) {
    const std::string t = std::to_string(tokens), i = std::to_string(in), o = std::to_string(out);
    return work_of("aten::mm", "[[" + t + ", " + i + "], [" + i + ", " + o + "]]", kTwo)->flops;
  };
  EXPECT_EQ(product(4096, 4096, 4096), 137438953472.0);     // Q and O
  EXPECT_EQ(product(4096, 4096, 1024), 34359738368.0);      // K and V
  EXPECT_EQ(product(4096, 4096, 14336), 481036337152.0);    // gate, up
  EXPECT_EQ(product(4096, 14336, 4096), 481036337152.0);    // down
  EXPECT_EQ(product(4096, 4096, 128256), 4303557230592.0);  // logits
  EXPECT_EQ(product(16384, 4096, 14336), 4 * 481036337152.0);
  const std::string shapes = "[[1, 32, 4096, 128], [1, 8, 4096, 128], [1, 8, 4096, 128], [], [], [], []]";
  const std::string types =
      R"(["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "Scalar", "Scalar", "Scalar", "Scalar"])";
  const auto attention = work_of("aten::_scaled_dot_product_flash_attention", shapes, types);
  ASSERT_TRUE(attention.has_value());
  // Bytes: 2 T d (2H + 2K).
  EXPECT_EQ(*attention, (Work{137438953472.0, 2.0 * 4096 * 128 * 80, PeakKind::bf16}));
  EXPECT_EQ(work_of("aten::_scaled_dot_product_flash_attention", shapes, types, {.causal = false})->flops,
            2 * 137438953472.0);
  const std::string longer = "[[2, 8192, 32, 128], [2, 8192, 8, 128], [2, 8192, 8, 128]]";
  EXPECT_EQ(work_of("aten::_flash_attention_forward", longer, kThree)->flops, 1099511627776.0);
}

TEST(WorkOf, BackwardAttentionIsTwoAndAHalfTimesForward) {
  const std::string t = types_of(6, "c10::BFloat16");
  const std::string heads = "[1, 32, 4096, 128]", keys = "[1, 8, 4096, 128]";
  const std::string shapes = "[" + heads + ", " + heads + ", " + keys + ", " + keys + ", " + heads + ", [1, 32, 4096]]";
  const auto work = work_of("aten::_scaled_dot_product_flash_attention_backward", shapes, t);
  ASSERT_TRUE(work.has_value());
  EXPECT_EQ(*work, (Work{2.5 * 137438953472.0, 2.0 * 4096 * 128 * (4 * 32 + 4 * 8), PeakKind::bf16}));
  const std::string q = "[1, 4096, 32, 128]", k = "[1, 4096, 8, 128]";
  const std::string tokens_first = "[" + q + ", " + q + ", " + k + ", " + k + ", " + q + ", [1, 32, 4096]]";
  for (const char* name :
       {"aten::_flash_attention_backward", "flash_attn::_flash_attn_backward", "flash_attn_3::bwd", "aiter::mha_bwd"})
    EXPECT_EQ(work_of(name, tokens_first, t)->flops, 2.5 * 137438953472.0) << name;
}

TEST(WorkOf, CausalityNeedsEqualLengthsAndNoMask) {
  const auto flops = [](const std::string& name, const std::string& shapes, const std::string& types) {
    const auto work = work_of(name, shapes, types);
    return work ? work->flops : -1;
  };
  const std::string sdpa = "aten::_scaled_dot_product_efficient_attention";
  const std::string q = "[2, 4, 16, 8]";
  const std::string with_mask = R"(["float", "float", "float", "float", "Scalar"])";
  const std::string without = R"(["float", "float", "float", "", "Scalar"])";
  const double whole = 4.0 * 2 * 4 * 16 * 16 * 8;
  EXPECT_EQ(flops(sdpa, "[" + q + "," + q + "," + q + ", [2, 4, 16, 16], []]", with_mask), whole);
  EXPECT_EQ(flops(sdpa, "[" + q + "," + q + "," + q + ", [], []]", without), whole / 2);
  EXPECT_EQ(flops(sdpa, "[[2, 4, 1, 8], [2, 4, 1, 8], [2, 4, 1, 8], [], []]", without), 256.0);  // nothing to mask
  // Values may be of another width; queries and keys may not.
  EXPECT_EQ(flops(sdpa, "[" + q + "," + q + ", [2, 4, 16, 4], [], []]", without), whole / 2 * 12 / 16);
  EXPECT_EQ(flops(sdpa, "[" + q + ", [2, 4, 16, 4]," + q + ", [], []]", without), -1);
  EXPECT_EQ(flops(sdpa, "[" + q + ", [2, 3, 16, 8], [2, 3, 16, 8], [], []]", without), -1);
}

// Of several queries that meet more keys each sees as many as its place in the sequence says: no shape tells it.
TEST(WorkOf, SeveralQueriesOfMoreKeysAreUnknown) {
  const auto flops = [](const std::string& name, const std::vector<std::string>& shapes,
                        const WorkAssumptions& assumptions = {}) {
    std::string text;
    for (const std::string& shape : shapes) text += (text.empty() ? "[" : ", ") + shape;
    const auto work = work_of(name, text + "]", types_of(shapes.size(), "float"), assumptions);
    return work ? work->flops : -1;
  };
  const std::string flash = "aten::_scaled_dot_product_flash_attention", backward = flash + "_backward";
  const std::string one = "[2, 4, 1, 8]", some = "[2, 4, 8, 8]", more = "[2, 4, 16, 8]", sums = "[2, 4, 8]";
  const double whole = 4.0 * 2 * 4 * 8 * 16 * 8;
  EXPECT_EQ(flops(flash, {some, more, more}), -1);
  EXPECT_EQ(flops(backward, {some, some, more, more, some, sums}), -1);
  EXPECT_EQ(flops("aten::_flash_attention_forward", {"[2, 8, 4, 8]", "[2, 16, 4, 8]", "[2, 16, 4, 8]"}), -1);
  EXPECT_EQ(flops(flash, {some, more, more}, {.causal = false}), whole);
  EXPECT_EQ(flops(backward, {some, some, more, more, some, sums}, {.causal = false}), 2.5 * whole);
  EXPECT_EQ(flops(flash, {one, more, more}), whole / 8);  // a step of decoding sees all of them
  // Fewer keys are those of another sequence.
  EXPECT_EQ(flops(flash, {more, some, some}), whole);
  EXPECT_EQ(flops(backward, {more, more, some, some, more, "[2, 4, 16]"}), 2.5 * whole);
  // With a mask of its own all scores are computed.
  EXPECT_EQ(flops("aten::_scaled_dot_product_efficient_attention", {some, more, more, "[2, 4, 8, 16]"}), whole);
}

TEST(WorkOf, AttentionSaysWhetherItIsCausal) {
  const std::string_view equal = "[[2, 4, 16, 8], [2, 4, 16, 8], [2, 4, 16, 8]]", types = kThree;
  const std::string_view more_keys = "[[2, 4, 8, 8], [2, 4, 16, 8], [2, 4, 16, 8]]";
  const auto flops = [&](std::string_view name, std::string_view shapes, std::string_view values, bool causal = true) {
    const auto work = work_of(name, shapes, types, {.causal = causal}, values);
    return work ? work->flops : -1.0;
  };
  const double whole = 4.0 * 2 * 4 * 16 * 16 * 8;
  const std::string_view flash = "aten::_scaled_dot_product_flash_attention";
  EXPECT_EQ(flops(flash, equal, R"(["", "", "", "0.", "False", "False", "0.125"])"), whole);
  EXPECT_EQ(flops(flash, equal, R"(["", "", "", "0.", "True", "False", "0.125"])"), whole / 2);
  EXPECT_EQ(flops(flash, equal, R"(["", "", "", "0.", "True", "False", "0.125"])", false), whole / 2);
  EXPECT_EQ(flops(flash, equal, R"(["", "", "", "0.", ""])"), whole / 2);
  EXPECT_EQ(flops(flash, equal, R"(["a \" b", "", "", "0.", "False"])"), whole);
  EXPECT_EQ(flops(flash, equal, R"(["", "", "", "0.", "False)"), whole / 2);  // damaged
  EXPECT_EQ(flops(flash, more_keys, R"(["", "", "", "0.", "False"])"), whole / 2);
  EXPECT_EQ(flops(flash, more_keys, R"(["", "", "", "0.", "True"])"), -1);
  EXPECT_EQ(flops("aten::_flash_attention_forward", "[[2, 16, 4, 8], [2, 16, 4, 8], [2, 16, 4, 8]]",
                  R"(["", "", "", "", "", "16", "16", "0.", "False", "False"])"),
            whole);
  // The kind of its mask: 0 is none.
  const std::string_view efficient = "aten::_efficient_attention_forward";
  const std::string_view tokens_first = "[[2, 16, 4, 8], [2, 16, 4, 8], [2, 16, 4, 8]]";
  EXPECT_EQ(flops(efficient, tokens_first, R"(["", "", "", "", "", "", "", "", "0.", "0"])"), whole);
  EXPECT_EQ(flops(efficient, tokens_first, R"(["", "", "", "", "", "", "", "", "0.", "1"])"), whole / 2);
  // Other releases have another argument there.
  EXPECT_EQ(flops(efficient, tokens_first, R"(["", "", "", "", "", "", "", "0.", "0", "False"])"), whole / 2);
  EXPECT_EQ(flops(flash, equal, R"(["", "", "", "0.", "0"])"), whole / 2);
}

TEST(WorkOf, PackedSequencesAreKnownWhenThereIsOne) {
  const std::string types = R"(["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "int", "int", "Scalar", "Scalar"])";
  const std::string packed = "[[64, 4, 8], [64, 2, 8], [64, 2, 8], ";
  EXPECT_EQ(work_of("flash_attn::_flash_attn_varlen_forward", packed + "[2], [2], [], []]", types)->flops,
            2.0 * 4 * 64 * 64 * 8);
  EXPECT_FALSE(work_of("flash_attn::_flash_attn_varlen_forward", packed + "[5], [5], [], []]", types).has_value());
  EXPECT_FALSE(work_of("flash_attn::_flash_attn_forward", packed + "[], []]", "").has_value());
}

TEST(WorkOf, VectorOperatorsHaveBytesOnly) {
  const std::vector<Case> cases = {
      {"aten::add", "[[4, 6], [4, 6], []]", R"(["float", "float", "Scalar"])", {0, 288}},
      {"aten::add_", "[[4, 6], [6], []]", R"(["float", "float", "Scalar"])", {0, 96 + 24 + 96}},
      {"aten::mul", "[[4, 6], [1, 6]]", kTwo, {0, 48 + 12 + 48}},
      {"aten::mul", "[[4, 6], []]", R"(["c10::BFloat16", "double"])", {0, 48 + 8 + 48}},
      {"aten::mul", "[[4, 6], [4, 6]]", R"(["c10::BFloat16", "float"])", {0, 48 + 96 + 96}},
      {"aten::mul", "[[4, 6], [4, 6]]", R"(["c10::Half", "long int"])", {0, 48 + 192 + 48}},
      {"aten::mul", "[[4, 6], [], [4, 6]]", R"(["float", "double", "float"])", {0, 96 + 8 + 96}},
      {"aten::eq", "[[4, 6], []]", R"(["long int", "Scalar"])", {0, 192 + 24}},
      {"aten::where", "[[4, 6], [4, 6], []]", R"(["bool", "float", "float"])", {0, 24 + 96 + 4 + 96}},
      {"aten::copy_", "[[4, 6], [4, 6], []]", R"(["float", "c10::BFloat16", "Scalar"])", {0, 144}},
      {"aten::fill_", "[[4, 6], []]", R"(["float", "Scalar"])", {0, 96}},
      {"aten::zero_", "[[4, 6]]", R"(["float"])", {0, 96}},
      {"aten::sum", "[[4, 6], [], []]", R"(["float", "ScalarList", "Scalar"])", {0, 96}},
      {"aten::mean", "[[4, 6]]", R"(["c10::BFloat16"])", {0, 48}},
      {"aten::_softmax", "[[4, 6], [], []]", R"(["float", "Scalar", "Scalar"])", {0, 192}},
      {"aten::_log_softmax_backward_data",
       "[[4, 6], [4, 6], [], []]",
       R"(["float", "float", "Scalar", "Scalar"])",
       {0, 288}},
      {"aten::native_layer_norm",
       "[[4, 6], [], [6], [6], []]",
       R"(["float", "ScalarList", "float", "float", "Scalar"])",
       {0, 96 + 48 + 96}},
      {"aten::native_dropout", "[[4, 6], [], []]", R"(["float", "Scalar", "Scalar"])", {0, 216}},
      {"aten::embedding",
       "[[1000, 6], [2, 3], [], []]",
       R"(["float", "long int", "Scalar", "Scalar"])",
       {0, 48 + 2 * 6 * 24}},
      {"aten::index_select", "[[1000, 6], [], [6]]", R"(["float", "Scalar", "long int"])", {0, 48 + 2 * 6 * 24}},
      {"aten::gather", "[[10, 6], [], [2, 6], []]", R"(["float", "Scalar", "long int", "Scalar"])", {0, 96 + 2 * 48}},
      {"aten::silu_backward", "[[4, 6], [4, 6]]", kTwo, {0, 144}},
  };
  for (const Case& c : cases) {
    const auto work = work_of(c.name, c.shapes, c.types);
    ASSERT_TRUE(work.has_value()) << c.name << c.shapes;
    EXPECT_EQ(work->flops, 0) << c.name;
    EXPECT_EQ(work->bytes, c.work.bytes) << c.name << c.shapes << c.types;
    EXPECT_EQ(work->peak, PeakKind::none) << c.name;
  }
}

TEST(WorkOf, WhatShapesDoNotTellIsUnknown) {
  EXPECT_FALSE(work_of("aten::mm", "", "").has_value());
  EXPECT_FALSE(work_of("aten::mm", "[[2, 3], [4, 5]]", kTwo).has_value());
  EXPECT_FALSE(work_of("aten::mm", "[[2, 3]]", R"(["float"])").has_value());
  EXPECT_FALSE(work_of("aten::mm", "[]", "[]").has_value());
  EXPECT_FALSE(
      work_of("aten::mm", "[[2, 3], [3, 4]]", R"(["c10::complex<float>", "c10::complex<float>"])").has_value());
  EXPECT_FALSE(work_of("aten::add", "[[4, 6], [4, 6]]", "").has_value());  // no sizes of elements
  EXPECT_FALSE(work_of("aten::add", "[[4, 6], [5]]", kTwo).has_value());   // do not broadcast
  EXPECT_FALSE(work_of("aten::cat", "[[[2], [3]], []]", R"(["TensorList", "Scalar"])").has_value());
  EXPECT_FALSE(
      work_of("aten::_foreach_add_", "[[[2], [3]], [[2], [3]], []]", R"(["TensorList", "TensorList", "Scalar"])")
          .has_value());
  EXPECT_FALSE(work_of("aten::view", "[[4, 6], []]", R"(["float", "ScalarList"])").has_value());
  EXPECT_FALSE(work_of("triton_poi_fused_0", "[[32], [32]]", kTwo).has_value());
}

TEST(WorkOf, MalformedTextIsUnknown) {
  const std::string good = "[[2, 3], [3, 4]]";
  ASSERT_TRUE(work_of("aten::mm", good, kTwo).has_value());
  for (std::size_t i = 1; i < good.size(); i++)
    EXPECT_FALSE(work_of("aten::mm", good.substr(0, i), kTwo).has_value()) << good.substr(0, i);
  for (std::size_t i = 1; i < kTwo.size(); i++)
    EXPECT_FALSE(work_of("aten::mm", good, kTwo.substr(0, i)).has_value()) << kTwo.substr(0, i);
  for (const char* bad :
       {"[[2, 3], [3, 4]] x", "[[2, 3], [3, -4]]", "[[2, 3], [3, 4.5]]", "[[2, 3], [3, [4]]]", "[[[2], 3], [3, 4]]",
        "[[2, 3], [3, 4],]", "{}", "\"[]\"", "[2, 3]", "[[2, 3], [3, 9999999999999999999999]]"})
    EXPECT_FALSE(work_of("aten::mm", bad, kTwo).has_value()) << bad;
  for (const char* bad :
       {R"(["float"])", R"(["float", "float", "float"])", R"(["float", 7])", R"(["float", "flo\"at"])"})
    EXPECT_FALSE(work_of("aten::mm", good, bad).has_value()) << bad;
  // More than a double holds: 22 extents of 15 digits.
  std::string absurd = "[[999999999999999";
  for (int i = 0; i < 21; i++) absurd += ", 999999999999999";
  EXPECT_FALSE(work_of("aten::sigmoid", absurd + "]]", R"(["float"])").has_value());
}

TEST(WorkCache, AnswersAsWorkOfDoes) {
  StringTable strings;
  const StringId mm = strings.intern("aten::mm"), view = strings.intern("aten::view");
  const StringId shapes = strings.intern("[[2, 3], [3, 4]]"), types = strings.intern(kTwo);
  WorkCache cache(strings);
  for (int i = 0; i < 2; i++) {
    EXPECT_EQ(cache.work_of(mm, shapes, types, kNoString), (Work{48, 52, PeakKind::bf16}));
    EXPECT_EQ(cache.work_of(mm, shapes, kNoString, kNoString), (Work{48, 0, PeakKind::none}));
    EXPECT_FALSE(cache.work_of(mm, kNoString, kNoString, kNoString).has_value());
    EXPECT_FALSE(cache.work_of(view, shapes, types, kNoString).has_value());
  }
}

GpuSpec gpu_of_round_numbers() {
  GpuSpec gpu;
  gpu.num_units = 100;
  gpu.clock_mhz = 1000;
  gpu.bf16_flop_per_clock = 1000;  // 100 TFLOP/s
  gpu.fp32_flop_per_clock = 100;
  gpu.memory_gb_per_s = 1000;
  return gpu;
}

TEST(LeastNs, IsTheLongerOfComputeAndMemory) {
  const GpuSpec gpu = gpu_of_round_numbers();
  const auto compute = least_ns({1e9, 1e6, PeakKind::bf16}, gpu);
  ASSERT_TRUE(compute.has_value());
  EXPECT_DOUBLE_EQ(compute->ns, 10000);
  EXPECT_EQ(compute->bound, Bound::compute);
  const auto memory = least_ns({1e9, 1e8, PeakKind::bf16}, gpu);
  ASSERT_TRUE(memory.has_value());
  EXPECT_DOUBLE_EQ(memory->ns, 1e5);
  EXPECT_EQ(memory->bound, Bound::memory);
  EXPECT_DOUBLE_EQ(least_ns({1e9, 0, PeakKind::tf32}, gpu)->ns, 1e5);  // no TF32: FP32
  EXPECT_DOUBLE_EQ(least_ns({0, 1e6, PeakKind::none}, gpu)->ns, 1000);
  EXPECT_FALSE(least_ns({1e9, 1e6, PeakKind::fp8}, gpu).has_value());
  EXPECT_FALSE(least_ns({1e9, 1e6, PeakKind::none}, gpu).has_value());
  EXPECT_FALSE(least_ns({0, 0, PeakKind::none}, gpu).has_value());
}

TEST(LeastNs, MatchesTheVectorsOfMi300x) {
  const auto gpus = embedded_gpus();
  ASSERT_TRUE(gpus.ok());
  const GpuSpec* gpu = find_gpu(gpus.value(), "AMD Instinct MI300X");
  ASSERT_NE(gpu, nullptr);
  EXPECT_NEAR(least_ns(*work_of("aten::mm", "[[4096, 4096], [4096, 14336]]", kTwo), *gpu)->ns, 367900, 50);
  EXPECT_NEAR(least_ns(*work_of("aten::mm", "[[4096, 4096], [4096, 4096]]", kTwo), *gpu)->ns, 105100, 50);
}

}  // namespace
}  // namespace chopper
