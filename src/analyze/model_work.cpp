// SPDX-License-Identifier: Apache-2.0
#include "analyze/model_work.h"

#include <algorithm>
#include <array>
#include <vector>

namespace chopper {
namespace {

double real(std::int64_t value) { return static_cast<double>(value); }

// The matrix of a product: what it takes and gives of a token.
struct Matrix {
  std::optional<double> in, out;
  std::string_view needs;  // keys of [model]
};

// Facts may be anything below 10^15: only doubles hold their products.
std::optional<double> times(std::optional<double> a, std::optional<double> b) {
  if (!a || !b) return std::nullopt;
  return *a * *b;
}

std::optional<double> real(const std::optional<std::int64_t>& value) {
  return value ? std::optional(real(*value)) : std::nullopt;
}

std::optional<Matrix> matrix_of(const RunFacts& facts, std::string_view operation) {
  const auto width = real(head_width(facts));
  const auto queries = times(real(facts.heads), width);
  const auto keys = times(real(facts.kv_heads ? facts.kv_heads : facts.heads), width);
  const auto hidden = real(facts.hidden), feed_forward = real(facts.feed_forward);
  constexpr std::string_view kHeads = "hidden, heads and head_dim";
  if (operation == "q_ip") return Matrix{hidden, queries, kHeads};
  if (operation == "k_ip" || operation == "v_ip") return Matrix{hidden, keys, kHeads};
  if (operation == "kv_ip") return Matrix{hidden, times(keys, 2.0), kHeads};
  if (operation == "qkv_ip")
    return Matrix{hidden, queries && keys ? std::optional(*queries + 2 * *keys) : std::nullopt, kHeads};
  if (operation == "attn_op") return Matrix{queries, hidden, kHeads};
  if (operation == "mlp_gp" || operation == "mlp_up") return Matrix{hidden, feed_forward, "hidden and feed_forward"};
  if (operation == "mlp_dp") return Matrix{feed_forward, hidden, "hidden and feed_forward"};
  if (operation == "lp") return Matrix{hidden, real(facts.vocabulary), "hidden and vocabulary"};
  return std::nullopt;
}

std::string lacks(std::string_view keys) { return "[model] lacks some of " + std::string(keys); }

bool is_of_heads(std::string_view operation) {
  constexpr std::array<std::string_view, 7> kOfHeads = {"q_ip",   "k_ip",    "v_ip",   "kv_ip",
                                                        "qkv_ip", "attn_fa", "attn_op"};
  return std::find(kOfHeads.begin(), kOfHeads.end(), operation) != kOfHeads.end();
}

// Why ranks do not have equal parts of the operation; empty where they do.
std::string uneven(const RunFacts& facts, const ModelShards& shards, std::string_view operation) {
  if (shards.tensor == 0) return "how many ranks are tensor parallel is not known: training.tensor_parallel";
  if (shards.context == 0) return "how many ranks are context parallel is not known: training.context_parallel";
  const std::int64_t heads = facts.heads.value_or(0);
  const std::int64_t kv_heads = facts.kv_heads.value_or(heads);
  if (is_of_heads(operation) && (heads % shards.tensor != 0 || kv_heads % shards.tensor != 0))
    return "training.tensor_parallel does not divide the heads: some are on several ranks";
  if (facts.sequence.value_or(0) % shards.context != 0) return "training.context_parallel does not divide the sequence";
  if (operation == "attn_fa" && shards.context > 1) return "which keys a context parallel rank sees is not stated";
  return {};
}

}  // namespace

std::optional<std::int64_t> head_width(const RunFacts& facts) {
  if (facts.head_dim) return facts.head_dim;
  if (!facts.hidden || !facts.heads || *facts.hidden % *facts.heads != 0) return std::nullopt;
  return *facts.hidden / *facts.heads;
}

ModelShards model_shards(const RunFacts& facts, const TraceTables& trace, const GpuWorkLabels& labels,
                         const GroupDimensionRules& rules) {
  ModelShards shards;
  const CollectiveLabels& groups = labels.collectives;
  const auto see = [](std::int64_t size, std::int64_t& shard) {
    if (size == 1) return;  // of whatever dimension, it shares nothing
    if (size == kNoNumber || size < 1 || (shard > 1 && shard != size)) {
      shard = 0;
    } else if (shard != 0) {
      shard = size;
    }
  };
  for (std::size_t i = 0; i < groups.gpu_row.size(); i++) {
    for (const StringId text : {groups.description[i], groups.group[i]}) {
      if (text == kNoString) continue;
      const std::string_view dimension = dimension_of_name(rules, trace.strings.view(text));
      if (dimension == "tensor") see(groups.group_size[i], shards.tensor);
      if (dimension == "context") see(groups.group_size[i], shards.context);
      if (dimension == "pipeline") see(groups.group_size[i], shards.pipeline);
      if (!dimension.empty()) break;
    }
    // Stages may send to each other in the group of all ranks, whose name tells nothing.
    const StringId kind = labels.operation[groups.gpu_row[i]];
    if (shards.pipeline == 1 && kind != kNoString && labels.operations.view(kind) == "p2p") shards.pipeline = 0;
  }
  shards.tensor = facts.tensor_parallel.value_or(shards.tensor);
  shards.context = facts.context_parallel.value_or(shards.context);
  shards.pipeline = facts.pipeline_parallel.value_or(shards.pipeline);
  return shards;
}

bool describes_work(const RunFacts& facts) {
  const bool has_model = facts.hidden || facts.feed_forward || facts.heads || facts.vocabulary;
  return has_model && facts.batch && facts.sequence;
}

ModelAnswer flops_of_pass(const RunFacts& facts, const ModelShards& shards, std::string_view operation) {
  const std::optional<Matrix> matrix = matrix_of(facts, operation);
  const bool is_attention = operation == "attn_fa";
  if (!matrix && !is_attention) return {};
  if (std::string why = uneven(facts, shards, operation); !why.empty()) return {std::nullopt, std::move(why)};
  const double sequences = real(*facts.batch), length = real(*facts.sequence);
  PassFlops flops;
  if (is_attention) {
    const auto width = head_width(facts);
    if (!facts.heads || !width) return {std::nullopt, lacks("hidden, heads and head_dim")};
    // Two products of s x s x d for each head, half of them masked; five of them in the backward pass.
    flops.is_attention = true;
    flops.forward = 2 * sequences * real(*facts.heads) / real(shards.tensor) * length * length * real(*width);
    flops.backward = 2.5 * flops.forward;
    return {flops, {}};
  }
  if (!matrix->in || !matrix->out) return {std::nullopt, lacks(matrix->needs)};
  const double tokens = sequences * length / real(shards.context);
  flops.forward = 2 * tokens * *matrix->in * *matrix->out / real(shards.tensor);
  flops.backward = 2 * flops.forward;  // of the input and of the weight
  flops.least_backward = 2;
  return {flops, {}};
}

}  // namespace chopper
