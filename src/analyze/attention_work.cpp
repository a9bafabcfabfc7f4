// SPDX-License-Identifier: Apache-2.0
// Attention: scores and their product with the values, 2 b H s_q s_k (d + d_v) FLOPs, half of it where causal; backward
// is 2.5 times that: five products, with the scores computed again. Several causal queries of more keys are unknown.
// Bytes: queries, keys, values and result once; backward these, the gradient of the result, and the three gradients.
#include <algorithm>
#include <array>

#include "analyze/work_rules.h"

namespace chopper {
namespace {

enum class Layout : std::uint8_t {
  heads_first,  // [b, H, s, d]
  tokens_first  // [b, s, H, d], and [tokens, H, d] of sequences packed end to end
};

constexpr int kNoArgument = -1;

struct Attention {
  std::string_view name;
  Layout layout;
  bool backward;                // queries, keys and values stand behind the gradient
  int mask;                     // argument that is added to the scores, or kNoArgument
  int sequence_ends;            // argument with the ends of packed sequences of queries, or kNoArgument
  int causal;                   // argument that says whether queries see the keys before them alone, or kNoArgument
  bool causal_is_kind = false;  // it is the kind of the mask, 0 for none, not a truth value
};

// Sorted by name.
// clang-format off
constexpr std::array kAttention = {
    Attention{"FlashAttnFunc",                                               Layout::tokens_first, false, kNoArgument, kNoArgument, kNoArgument},
    Attention{"aiter::_flash_attn_backward",                                 Layout::tokens_first, true,  kNoArgument, kNoArgument, kNoArgument},
    Attention{"aiter::_flash_attn_forward",                                  Layout::tokens_first, false, kNoArgument, kNoArgument, 5},
    Attention{"aiter::fmha_v3_bwd",                                          Layout::tokens_first, true,  kNoArgument, kNoArgument, kNoArgument},
    Attention{"aiter::fmha_v3_fwd",                                          Layout::tokens_first, false, kNoArgument, kNoArgument, kNoArgument},
    Attention{"aiter::mha_bwd",                                              Layout::tokens_first, true,  kNoArgument, kNoArgument, kNoArgument},
    Attention{"aiter::mha_fwd",                                              Layout::tokens_first, false, kNoArgument, kNoArgument, 5},
    Attention{"aten::_cudnn_attention_backward",                             Layout::heads_first,  true,  8, 9, 14},
    Attention{"aten::_cudnn_attention_forward",                              Layout::heads_first,  false, 3, 4, 10},
    Attention{"aten::_efficient_attention_backward",                         Layout::tokens_first, true,  4, 6, 14, true},
    Attention{"aten::_efficient_attention_forward",                          Layout::tokens_first, false, 3, 4, 9, true},
    Attention{"aten::_flash_attention_backward",                             Layout::tokens_first, true,  kNoArgument, 6, 11},
    Attention{"aten::_flash_attention_forward",                              Layout::tokens_first, false, kNoArgument, 3, 8},
    Attention{"aten::_scaled_dot_product_cudnn_attention",                   Layout::heads_first,  false, 3, kNoArgument, 6},
    Attention{"aten::_scaled_dot_product_cudnn_attention_backward",          Layout::heads_first,  true,  8, kNoArgument, 14},
    Attention{"aten::_scaled_dot_product_efficient_attention",               Layout::heads_first,  false, 3, kNoArgument, 6},
    Attention{"aten::_scaled_dot_product_efficient_attention_backward",      Layout::heads_first,  true,  4, kNoArgument, 11},
    Attention{"aten::_scaled_dot_product_flash_attention",                   Layout::heads_first,  false, kNoArgument, kNoArgument, 4},
    Attention{"aten::_scaled_dot_product_flash_attention_backward",          Layout::heads_first,  true,  kNoArgument, kNoArgument, 11},
    Attention{"aten::_scaled_dot_product_flash_attention_for_cpu",           Layout::heads_first,  false, kNoArgument, kNoArgument, 4},
    Attention{"aten::_scaled_dot_product_flash_attention_for_cpu_backward",  Layout::heads_first,  true,  kNoArgument, kNoArgument, 7},
    Attention{"aten::_scaled_dot_product_fused_attention_overrideable",      Layout::heads_first,  false, 3, kNoArgument, 5},
    Attention{"aten::_scaled_dot_product_fused_attention_overrideable_backward", Layout::heads_first, true, 4, kNoArgument, 13},
    Attention{"flash_attn::_flash_attn_backward",                            Layout::tokens_first, true,  kNoArgument, kNoArgument, 11},
    Attention{"flash_attn::_flash_attn_forward",                             Layout::tokens_first, false, kNoArgument, kNoArgument, 5},
    Attention{"flash_attn::_flash_attn_varlen_backward",                     Layout::tokens_first, true,  kNoArgument, 9, 15},
    Attention{"flash_attn::_flash_attn_varlen_forward",                      Layout::tokens_first, false, kNoArgument, 3, 9},
    Attention{"flash_attn_3::_flash_attn_backward",                          Layout::tokens_first, true,  kNoArgument, kNoArgument, kNoArgument},
    Attention{"flash_attn_3::_flash_attn_forward",                           Layout::tokens_first, false, kNoArgument, kNoArgument, kNoArgument},
    Attention{"flash_attn_3::bwd",                                           Layout::tokens_first, true,  kNoArgument, kNoArgument, kNoArgument},
    Attention{"flash_attn_3::fwd",                                           Layout::tokens_first, false, kNoArgument, kNoArgument, kNoArgument},
};
// clang-format on
static_assert(std::is_sorted(kAttention.begin(), kAttention.end(),
                             [](const Attention& a, const Attention& b) { return a.name < b.name; }));

// Sequences, heads, tokens of a sequence, width of a head.
struct Heads {
  double batch = 0, heads = 0, tokens = 0, width = 0;
};

// Three extents are packed sequences: one of them is a batch of one, of several the single lengths are data.
std::optional<Heads> heads_of(const Extents& e, Layout layout, bool one_sequence) {
  if (e.size() == 3 && one_sequence && layout == Layout::tokens_first)
    return Heads{1, static_cast<double>(e[1]), static_cast<double>(e[0]), static_cast<double>(e[2])};
  if (e.size() != 4) return std::nullopt;
  const std::size_t heads = layout == Layout::heads_first ? 1 : 2;
  return Heads{static_cast<double>(e[0]), static_cast<double>(e[heads]), static_cast<double>(e[3 - heads]),
               static_cast<double>(e[3])};
}

bool divides(double part, double whole) {
  return part > 0 && whole / part == static_cast<double>(static_cast<std::int64_t>(whole / part));
}

// Whether the call says that it is causal. What stands there instead in other releases says nothing.
std::optional<bool> stated_causal(const Attention& form, const OperatorInputs& inputs) {
  if (form.causal < 0) return std::nullopt;
  const std::string_view value = text_in_list(inputs.values, static_cast<std::size_t>(form.causal));
  if (form.causal_is_kind ? value == "1" || value == "2" : value == "True") return true;
  if (value == (form.causal_is_kind ? "0" : "False")) return false;
  return std::nullopt;
}

std::optional<Work> work_in(const Attention& form, const OperatorInputs& inputs, bool assume_causal) {
  const int first = form.backward ? 1 : 0;
  const OperatorInput* q = tensor_at(inputs, first);
  const OperatorInput* k = tensor_at(inputs, first + 1);
  const OperatorInput* v = tensor_at(inputs, first + 2);
  if (q == nullptr || k == nullptr || v == nullptr) return std::nullopt;
  const OperatorInput* ends = tensor_at(inputs, form.sequence_ends);
  // n sequences have n + 1 boundaries.
  if (ends != nullptr && ends->extents != Extents{2}) return std::nullopt;
  const auto queries = heads_of(q->extents, form.layout, ends != nullptr);
  const auto keys = heads_of(k->extents, form.layout, ends != nullptr);
  const auto values = heads_of(v->extents, form.layout, ends != nullptr);
  if (!queries || !keys || !values) return std::nullopt;
  const bool fits = queries->batch == keys->batch && keys->batch == values->batch && queries->width == keys->width &&
                    keys->tokens == values->tokens && divides(keys->heads, queries->heads) &&
                    divides(values->heads, queries->heads);
  if (!fits) return std::nullopt;
  const OperatorInput* mask = tensor_at(inputs, form.mask);
  const bool may_be_causal =
      stated_causal(form, inputs).value_or(assume_causal && mask == nullptr) && queries->tokens > 1;
  // Queries of a part of the sequence: which keys each of them sees depends on where that part lies.
  if (may_be_causal && keys->tokens > queries->tokens) return std::nullopt;
  const bool causal = may_be_causal && queries->tokens == keys->tokens;
  const double scores = queries->batch * queries->heads * queries->tokens * keys->tokens;
  const double forward = 2 * scores * (queries->width + values->width) * (causal ? 0.5 : 1);
  Work work;
  work.flops = form.backward ? 2.5 * forward : forward;
  if (q->type) {
    const double result = queries->batch * queries->heads * queries->tokens * values->width;
    const double operands = q->elements() + k->elements() + v->elements();
    work.bytes = q->type->bytes * (form.backward ? 2 * operands + 2 * result : operands + result);
    if (mask != nullptr && mask->type) work.bytes += mask->elements() * mask->type->bytes;
    work.peak = peak_of(*q->type, true);  // fused attention of floats runs in TF32 where there is any
  }
  return work;
}

}  // namespace

WorkAnswer attention_work(std::string_view name, const OperatorInputs& inputs, const WorkAssumptions& assumptions) {
  const Attention* found = find_rule(kAttention, name);
  if (found == nullptr) return {};
  return {true, work_in(*found, inputs, assumptions.causal)};
}

}  // namespace chopper
