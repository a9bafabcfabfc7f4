// SPDX-License-Identifier: Apache-2.0
// Pieces of gpu work from the shapes of operations: executed work with tile padding, utilisation by shape, time alone
// at peak clocks, and the name, grid and block a vendor's library would launch (formats.md 1.10, 4.7).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "synth/program.h"

namespace chopper::synth {

class Kernels {
 public:
  explicit Kernels(const Job& job);

  /// C[m, n] = A[m, k] B[k, n] in BF16.
  Work gemm(std::int64_t m, std::int64_t n, std::int64_t k) const;
  /// Causal attention over `sequence` tokens against `keys` of them.
  Work attention_forward(std::int64_t batch, std::int64_t heads, std::int64_t kv_heads, std::int64_t sequence,
                         std::int64_t keys) const;
  Work attention_backward(std::int64_t batch, std::int64_t heads, std::int64_t kv_heads, std::int64_t sequence,
                          std::int64_t keys) const;
  /// The small kernel before the backward of attention: sums of dO x O.
  Work attention_backward_sums(std::int64_t batch, std::int64_t heads, std::int64_t sequence) const;
  /// An elementwise kernel over `elements` that moves `bytes`; `functor` names it ("MulFunctor<float>").
  Work elementwise(std::string_view functor, double elements, double bytes) const;
  /// A reduction or another kernel that lives on bandwidth, by its full name.
  Work streaming(std::string_view name, double elements, double bytes) const;
  /// `work`, which memory bounds, where the operator needs no more than `bytes` at least: what its inputs and results
  /// hold, each once. What the kernel moves stays.
  Work with_least_bytes(Work work, double bytes) const;
  /// One kernel of a foreach operator.
  Work multi_tensor(std::string_view functor, double elements, double bytes) const;
  /// A fused kernel of the compiler.
  Work fused(std::string_view kind, std::string_view parts, std::int64_t index, double elements, double bytes) const;
  Work communication(const Collective& collective, std::int32_t index) const;
  Work copy_to_device(std::int64_t bytes) const;
  Work copy_to_host(std::int64_t bytes) const;
  Work copy_on_device(std::int64_t bytes) const;
  Work fill(std::int64_t bytes) const;

 private:
  void finish_memory_bound(Work& work) const;
  void finish_matrix_work(Work& work, double utilisation, double rate) const;
  double streaming_ns(double bytes) const;

  const Job& job_;
  double peak_flop_per_ns_ = 0;
  double peak_bytes_per_ns_ = 0;
  bool amd_ = false;
};

}  // namespace chopper::synth
