// SPDX-License-Identifier: Apache-2.0
// Layers that are not run eagerly: recomputed, captured in graphs, compiled.
#include <utility>

#include "synth/transformer.h"

namespace chopper::synth {

// Activation checkpointing: nothing is kept; the backward pass runs the forward again on the autograd thread.
void Transformer::layer_checkpointed(std::int64_t layer) {
  const std::int64_t sequence = b_.next_sequence();
  const Builder::Scope scope = b_.op("CheckpointFunction", {{{tokens_, hidden_}}, sequence});
  b_.set_records_tape(false);
  layer_eager(layer);
  b_.set_records_tape(true);
  b_.on_backward("CheckpointFunctionBackward", scope.range(), [this, layer] {
    std::vector<Builder::Node> outer = b_.take_tape();
    b_.set_records_tape(true);
    {
      Label label = b_.current();
      label.recompute = true;
      const Builder::Labelled again = b_.label_all(std::move(label));
      layer_eager(layer);
    }
    std::vector<Builder::Node> inner = b_.take_tape();
    b_.set_records_tape(false);
    b_.run_backward(std::move(inner));
    b_.put_tape(std::move(outer));
  });
}

// A captured graph for the layer's forward and one for its backward: one launch each.
void Transformer::layer_graphed(std::int64_t layer) {
  const std::int64_t sequence = b_.next_sequence();
  const Builder::Scope scope = b_.op("Graphed", {{{tokens_, hidden_}}, sequence});
  std::vector<Builder::Node> outer = b_.take_tape();
  b_.begin_graph();
  layer_eager(layer);
  b_.end_graph();
  std::vector<Builder::Node> inner = b_.take_tape();
  b_.put_tape(std::move(outer));
  std::vector<Builder::Node> gradients;
  for (Builder::Node& node : inner) {
    if (node.name == "torch::autograd::AccumulateGrad") gradients.push_back(std::move(node));
  }
  std::erase_if(inner, [](const Builder::Node& node) { return node.name.empty(); });
  b_.on_backward("GraphedBackward", scope.range(), [this, inner = std::move(inner), gradients = std::move(gradients)] {
    b_.begin_graph();
    b_.run_backward(inner);
    b_.end_graph();
    for (const Builder::Node& node : gradients) {
      if (node.run) node.run();
    }
  });
}

// What a compiler leaves of a layer: the products and attention, and fused kernels between them.
void Transformer::layer_compiled() {
  const ModelShape& m = job_.model;
  const std::int64_t width = (heads_ + 2 * kv_heads_) * m.head_dim;
  const auto n = static_cast<double>(tokens_ * hidden_), f = static_cast<double>(tokens_ * feed_);
  const auto q = static_cast<double>(tokens_ * width);
  const Builder::Scope region = b_.annotation("Torch-Compiled Region: 0/0");
  const std::int64_t sequence = b_.next_sequence();
  const Builder::Scope scope = b_.op("CompiledFunction", {{{tokens_, hidden_}}, sequence});
  fused_index_ = 0;
  const auto fuse = [this](std::string_view operation, std::string_view others, std::string_view kind,
                           std::string_view parts, double elements, double bytes) {
    const Builder::Labelled label = b_.label(operation);
    Work work = b_.kernels().fused(kind, parts, fused_index_++, elements, bytes);
    work.fused_with = others;
    const Builder::Scope op = b_.op(work.name);
    b_.launch(std::move(work));
  };
  const auto product = [this](std::string_view operation, std::int64_t rows, std::int64_t out, std::int64_t in) {
    const Builder::Labelled label = b_.label(operation);
    const Builder::Scope op = b_.op("aten::mm", {{{rows, in}, {in, out}}});
    this->product(b_.kernels().gemm(rows, out, in));
  };
  const std::int64_t heads_width = heads_ * m.head_dim;
  fuse("attn_n", "", "red", "_to_copy_add_mean_mul_pow_rsqrt", n, n * 4);
  product("qkv_ip", tokens_, width, hidden_);
  fuse("qkv_t", "qkv_re attn_i", "poi", "add_cat_clone_expand_mul_neg_slice", q, q * 6);
  {
    const Builder::Labelled label = b_.label("attn_fa");
    const std::vector<std::int64_t> rows{job_.batch, heads_, job_.sequence, m.head_dim};
    const Builder::Scope op = b_.op("aten::_scaled_dot_product_flash_attention", {{rows, rows, rows}});
    b_.launch(b_.kernels().attention_forward(job_.batch, heads_, kv_heads_, job_.sequence, job_.sequence));
  }
  product("attn_op", tokens_, hidden_, heads_width);
  fuse("attn_ra", "mlp_n", "red", "_to_copy_add_mean_mul_pow_rsqrt", n, n * 8);
  product("mlp_gp", tokens_, feed_, hidden_);
  product("mlp_up", tokens_, feed_, hidden_);
  fuse("mlp_gs", "mlp_gu", "poi", "mul_silu", f, f * 6);
  product("mlp_dp", tokens_, hidden_, feed_);
  fuse("mlp_ra", "", "poi", "add", n, n * 6);
  b_.accumulate_gradient(m.layer_parameters() * 2 / job_.tensor_parallel);
  b_.on_backward("CompiledFunctionBackward", scope.range(), [this, fuse, product, n, f, q, width, heads_width] {
    const auto both = [&](std::string_view operation, std::int64_t out, std::int64_t in) {
      product(operation, out, in, tokens_);
      product(operation, tokens_, in, out);
    };
    both("mlp_dp", hidden_, feed_);
    fuse("mlp_gs", "mlp_gu", "poi", "mul_silu_backward", f, f * 10);
    both("mlp_up", feed_, hidden_);
    both("mlp_gp", feed_, hidden_);
    fuse("mlp_n", "attn_ra mlp_ra", "red", "_to_copy_add_div_mul_pow_sum", n, n * 12);
    both("attn_op", hidden_, heads_width);
    {
      const Builder::Labelled label = b_.label("attn_fa");
      const std::vector<std::int64_t> rows{job_.batch, heads_, job_.sequence, job_.model.head_dim};
      const Builder::Scope op = b_.op("aten::_scaled_dot_product_flash_attention_backward",
                                      {{rows, rows, rows, rows, rows, {job_.batch, heads_, job_.sequence}}});
      b_.launch(b_.kernels().attention_backward_sums(job_.batch, heads_, job_.sequence));
      b_.launch(b_.kernels().attention_backward(job_.batch, heads_, kv_heads_, job_.sequence, job_.sequence));
    }
    fuse("qkv_re", "qkv_t attn_i", "poi", "add_clone_mul_neg_slice_backward_sum", q, q * 8);
    both("qkv_ip", width, hidden_);
    fuse("attn_n", "", "red", "_to_copy_add_div_mul_pow_sum", n, n * 12);
  });
}

}  // namespace chopper::synth
