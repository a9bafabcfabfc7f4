// SPDX-License-Identifier: Apache-2.0
// The operators of a Llama-type model as PyTorch runs them eagerly: norms in FP32, fused QKV projection, rotary
// embedding, flash attention, gated MLP, cross entropy. Operation names are those of spec 5.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "synth/builder.h"

namespace chopper::synth {

class Transformer {
 public:
  explicit Transformer(Builder& builder);

  void embedding();
  void layer(std::int64_t layer);
  void head_and_loss();

 private:
  using Dims = std::vector<std::vector<std::int64_t>>;

  void layer_eager(std::int64_t layer);
  void layer_compiled();
  void layer_graphed(std::int64_t layer);
  void layer_checkpointed(std::int64_t layer);

  /// An operator with one kernel, the inputs it records and the bytes it needs at least: these inputs and its result,
  /// each once, as docs/reference/flops.md counts them.
  struct Step {
    std::string_view name;
    Operands operands;
    double bytes;
  };

  /// One differentiable operator: `forward` inside it, `backward` inside its node.
  void differentiable(std::string_view name, std::string_view node, const Dims& dims,
                      const std::function<void()>& forward, std::function<void()> backward);
  void differentiable(std::string_view name, std::string_view node, const Operands& operands,
                      const std::function<void()>& forward, std::function<void()> backward);
  /// A view: no work in either direction.
  void view(std::string_view name, std::string_view node, const Dims& dims);
  void elementwise(const Step& forward, std::string_view node, std::string_view functor, double elements,
                   std::vector<Step> backward);
  void to_dtype(double elements, bool to_float);
  void fill_zero(const Operand& tensor);
  void product(Work work);
  void transpose(std::int64_t rows, std::int64_t columns);
  void linear(std::int64_t out, std::int64_t in);
  void contiguous(double elements);
  void norm(std::string_view operation, std::int64_t index);
  void rotary();
  void attention();
  void residual(std::string_view operation);
  void tensor_parallel_reduce();
  void tensor_parallel_enter();
  void gather_keys();
  void run(std::string_view name, const Operands& operands, Work work, double bytes_out);

  Builder& b_;
  const Job& job_;
  std::int64_t tokens_, hidden_, heads_, kv_heads_, feed_;
  std::int64_t fused_index_ = 0;
};

}  // namespace chopper::synth
