// SPDX-License-Identifier: Apache-2.0
#include "synth/transformer.h"

#include <fmt/format.h>

#include <utility>

#include "synth/collectives.h"

namespace chopper::synth {

Transformer::Transformer(Builder& builder)
    : b_(builder),
      job_(builder.job()),
      tokens_(job_.tokens()),
      hidden_(job_.model.hidden),
      heads_(job_.model.num_heads / job_.tensor_parallel),
      kv_heads_(job_.model.num_kv_heads / job_.tensor_parallel),
      feed_(job_.model.feed_forward / job_.tensor_parallel) {}

// Pieces --------------------------------------------------------------------------------------------------------------

void Transformer::differentiable(std::string_view name, std::string_view node, const Dims& dims,
                                 const std::function<void()>& forward, std::function<void()> backward) {
  const std::int64_t sequence = b_.next_sequence();
  const Builder::Scope scope = b_.op(name, {dims, sequence});
  forward();
  b_.on_backward(node, scope.range(), std::move(backward));
}

void Transformer::view(std::string_view name, std::string_view node, const Dims& dims) {
  differentiable(
      name, node, dims, [] {}, [this, dims] { b_.view("aten::view", {dims}); });
}

// One operator that launches `work` and writes `bytes_out`.
void Transformer::run(std::string_view name, Work work, double bytes_out) {
  const auto elements = static_cast<std::int64_t>(bytes_out / 2);
  const Builder::Scope scope = b_.op(name, {{{tokens_, elements / tokens_}}});
  const std::uint32_t block = b_.allocate(static_cast<std::int64_t>(bytes_out));
  b_.launch(std::move(work));
  b_.release(block);
}

void Transformer::elementwise(std::string_view name, std::string_view node, std::string_view functor, double elements,
                              double bytes, double backward_bytes, int backward_kernels) {
  const std::string text(functor), operator_name(name);
  const auto columns = static_cast<std::int64_t>(elements) / tokens_;
  const auto output = static_cast<std::int64_t>(elements * 2);
  const std::uint32_t block = b_.allocate(output);
  differentiable(
      name, node, {{tokens_, columns}, {tokens_, columns}},
      [&] { b_.launch(b_.kernels().elementwise(text, elements, bytes)); },
      [this, text, operator_name, elements, backward_bytes, backward_kernels, block] {
        for (int i = 0; i < backward_kernels; i++) {
          run(i == 0 ? "aten::mul" : "aten::add_",
              b_.kernels().elementwise(text, elements, backward_bytes / backward_kernels), elements * 2);
        }
        b_.release(block);
      });
  if (!b_.records_tape()) b_.release(block);
}

void Transformer::to_dtype(double elements, bool to_float) {
  const auto cast = [this, elements](bool wide) {
    return b_.kernels().elementwise(wide ? "float_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda(float)#1}"
                                         : "bfloat16_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda(float)#1}",
                                    elements, elements * 6);
  };
  const auto columns = static_cast<std::int64_t>(elements) / tokens_;
  const Builder::Scope to = b_.op("aten::to", {{{tokens_, columns}}, b_.peek_sequence()});
  differentiable(
      "aten::_to_copy", "ToCopyBackward0", {{tokens_, columns}},
      [&] {
        b_.view("aten::empty_strided", {{{}}});
        const Builder::Scope copy = b_.op("aten::copy_", {{{tokens_, columns}, {tokens_, columns}}});
        b_.launch(cast(to_float));
      },
      [this, cast, to_float, columns] {
        const Builder::Scope back = b_.op("aten::to");
        const Builder::Scope inner = b_.op("aten::_to_copy", {{{tokens_, columns}}});
        b_.view("aten::empty_strided", {{{}}});
        const Builder::Scope copy = b_.op("aten::copy_", {{{tokens_, columns}, {tokens_, columns}}});
        b_.launch(cast(!to_float));
      });
}

void Transformer::transpose(std::int64_t rows, std::int64_t columns) {
  const Builder::Scope scope = b_.op("aten::transpose", {{{rows, columns}}, -1, false, 0.4});
  b_.view("aten::as_strided", {{{rows, columns}}});
}

void Transformer::fill_zero(double elements, double bytes_per_element) {
  const Builder::Scope zero = b_.op("aten::zero_");
  const Builder::Scope fill = b_.op("aten::fill_");
  b_.launch(b_.kernels().elementwise(bytes_per_element > 2 ? "FillFunctor<float>" : "FillFunctor<c10::BFloat16>",
                                     elements, elements * bytes_per_element));
}

// A product whose parts are added up needs its workspace zeroed.
void Transformer::product(Work work) {
  if (work.workspace_bytes > 0) b_.launch(b_.kernels().fill(work.workspace_bytes));
  b_.launch(std::move(work));
}

// y = x W^T: one product forward; the gradients of the weight and of the input backward.
void Transformer::linear(std::int64_t out, std::int64_t in) {
  const std::int64_t t = tokens_;
  const Builder::Scope scope =
      b_.op("aten::linear", {{{job_.batch, t / job_.batch, in}, {out, in}}, b_.peek_sequence(), false, 0.8});
  b_.accumulate_gradient(out * in * 2);
  differentiable(
      "aten::t", "TBackward0", {{out, in}}, [&] { transpose(out, in); },
      [this, out, in] {
        const Builder::Scope back = b_.op("aten::t", {{{in, out}}});
        transpose(in, out);
      });
  const Builder::Scope matmul =
      b_.op("aten::matmul", {{{job_.batch, t / job_.batch, in}, {in, out}}, b_.peek_sequence(), false, 0.8});
  view("aten::view", "ViewBackward0", {{job_.batch, t / job_.batch, in}});
  const std::uint32_t block = b_.allocate(t * out * 2);
  differentiable(
      "aten::mm", "MmBackward0", {{t, in}, {in, out}},
      [&] {
        b_.call(Call::occupancy);
        product(b_.kernels().gemm(t, out, in));
      },
      [this, t, out, in, block] {
        {
          const Builder::Scope transposed = b_.op("aten::t", {{{t, out}}});
          transpose(t, out);
        }
        {
          const Builder::Scope weight = b_.op("aten::mm", {{{out, t}, {t, in}}});
          b_.call(Call::occupancy);
          product(b_.kernels().gemm(out, in, t));
        }
        {
          const Builder::Scope transposed = b_.op("aten::t", {{{in, out}}});
          transpose(in, out);
        }
        {
          const Builder::Scope input = b_.op("aten::mm", {{{t, out}, {out, in}}});
          b_.call(Call::occupancy);
          product(b_.kernels().gemm(t, in, out));
        }
        b_.release(block);
      });
  if (!b_.records_tape()) b_.release(block);
  view("aten::_unsafe_view", "UnsafeViewBackward0", {{t, out}});
}

void Transformer::contiguous(double elements) {
  const auto columns = static_cast<std::int64_t>(elements) / tokens_;
  const auto copy = [this, elements] {
    return b_.kernels().streaming(
        "void at::native::elementwise_kernel_manual_unroll<128, 8, "
        "at::native::gpu_kernel_impl_nocast<at::native::direct_copy_kernel_cuda"
        "(at::TensorIteratorBase&)::{lambda(c10::BFloat16)#1}>(int, at::native::direct_copy_kernel_cuda)",
        elements, elements * 4);
  };
  const Builder::Scope scope = b_.op("aten::contiguous", {{{tokens_, columns}}, b_.peek_sequence()});
  differentiable(
      "aten::clone", "CloneBackward0", {{tokens_, columns}},
      [&] {
        b_.view("aten::empty_like", {{{tokens_, columns}}});
        const Builder::Scope inner = b_.op("aten::copy_", {{{tokens_, columns}, {tokens_, columns}}});
        b_.launch(copy());
      },
      [this, copy] { run("aten::copy_", copy(), static_cast<double>(tokens_) * 2); });
}

// x / rms(x) * weight, in FP32 as Hugging Face writes it.
void Transformer::norm(std::string_view operation, std::int64_t index) {
  const Builder::Labelled label = b_.label(operation);
  const Builder::Scope module = b_.module("LlamaRMSNorm", index);
  const Builder::Scope frame = b_.python("modeling_llama.py(70): forward");
  const auto n = static_cast<double>(tokens_ * hidden_);
  const auto rows = static_cast<double>(tokens_);
  b_.accumulate_gradient(hidden_ * 2);
  to_dtype(n, true);
  elementwise("aten::pow", "PowBackward0",
              "pow_tensor_scalar_kernel_impl<float, float>(at::TensorIteratorBase&, float)::{lambda(float)#1}", n,
              n * 8, n * 12);
  differentiable(
      "aten::mean", "MeanBackward1", {{tokens_, hidden_}},
      [&] {
        b_.launch(
            b_.kernels().streaming("void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, "
                                   "at::native::MeanOps<float, float, float, float>, unsigned int, "
                                   "float, 4, 4> >(at::native::ReduceOp<float, at::native::MeanOps<float, float, "
                                   "float, float>, unsigned int, float, 4, 4>)",
                                   n, n * 4));
      },
      [this, n] {
        b_.view("aten::expand", {{{tokens_, 1}}});
        run("aten::div",
            b_.kernels().elementwise(
                "BUnaryFunctor<float, float, float, at::native::binary_internal::MulFunctor<float> >", n, n * 4),
            n * 4);
      });
  elementwise("aten::add", "AddBackward0", "CUDAFunctorOnSelf_add<float>", rows, rows * 8, rows * 8, 0);
  elementwise("aten::rsqrt", "RsqrtBackward0", "rsqrt_kernel_cuda(at::TensorIteratorBase&)::{lambda(float)#1}", rows,
              rows * 8, rows * 12, 2);
  elementwise("aten::mul", "MulBackward0",
              "BinaryFunctor<float, float, float, at::native::binary_internal::MulFunctor<float> >", n, n * 8, n * 24,
              2);
  to_dtype(n, false);
  elementwise(
      "aten::mul", "MulBackward0",
      "BinaryFunctor<c10::BFloat16, c10::BFloat16, c10::BFloat16, at::native::binary_internal::MulFunctor<float> >", n,
      n * 4, n * 10, 2);
}

void Transformer::rotary() {
  const Builder::Labelled label = b_.label("qkv_re");
  const Builder::Scope frame = b_.python("modeling_llama.py(137): apply_rotary_pos_emb");
  constexpr std::string_view kMul =
      "BinaryFunctor<c10::BFloat16, c10::BFloat16, c10::BFloat16, at::native::binary_internal::MulFunctor<float> >";
  for (const std::int64_t heads : {heads_, kv_heads_}) {
    const auto n = static_cast<double>(tokens_ * heads * job_.model.head_dim);
    elementwise("aten::mul", "MulBackward0", kMul, n, n * 4, n * 4);
    view("aten::slice", "SliceBackward0", {{tokens_, heads, job_.model.head_dim}});
    elementwise("aten::neg", "NegBackward0", "neg_kernel_cuda(at::TensorIteratorBase&)::{lambda(c10::BFloat16)#1}",
                n / 2, n * 2, n * 2);
    differentiable(
        "aten::cat", "CatBackward0",
        {{tokens_, heads, job_.model.head_dim / 2}, {tokens_, heads, job_.model.head_dim / 2}},
        [&] {
          b_.launch(b_.kernels().streaming(
              "void at::native::(anonymous namespace)::CatArrayBatchedCopy<at::native::(anonymous "
              "namespace)::OpaqueType<2u>, "
              "unsigned int, 4, 64, 64>(at::native::(anonymous namespace)::OpaqueType<2u>*, unsigned int)",
              n, n * 4));
        },
        [this] {
          b_.view("aten::narrow", {{{tokens_, heads_, job_.model.head_dim}}});
        });
    elementwise("aten::mul", "MulBackward0", kMul, n, n * 4, n * 4);
    elementwise("aten::add", "AddBackward0", "CUDAFunctor_add<c10::BFloat16>", n, n * 6, n * 4, 0);
  }
}

void Transformer::gather_keys() {
  if (job_.context_parallel < 2) return;
  const std::int64_t elements = 2 * tokens_ * job_.context_parallel * kv_heads_ * job_.model.head_dim;
  const std::int64_t layer = b_.current().layer;
  const auto meet = [this, elements, layer](bool gathers) {
    const std::uint32_t ready = b_.new_event(), done = b_.new_event();
    b_.record(ready, Stream::compute);
    b_.wait(ready, Stream::context);
    const CollectiveRequest request{gathers ? "ag" : "rs", Group::context, Stream::context, elements, layer};
    gathers ? all_gather(b_, request) : reduce_scatter(b_, request);
    b_.record(done, Stream::context);
    b_.wait(done, Stream::compute);
  };
  differentiable(
      "_AllGather", "_AllGatherBackward", {{tokens_, kv_heads_, job_.model.head_dim}}, [&] { meet(true); },
      [meet] { meet(false); });
}

void Transformer::attention() {
  const Builder::Labelled label = b_.label("attn_fa");
  const std::int64_t keys = job_.sequence, queries = job_.sequence / job_.context_parallel;
  const Dims dims{{job_.batch, heads_, queries, job_.model.head_dim},
                  {job_.batch, heads_, keys, job_.model.head_dim},
                  {job_.batch, heads_, keys, job_.model.head_dim}};
  // The flash operators have tokens before heads; backward ones the gradient first, result and sums of the scores last.
  const Dims tokens_first{{job_.batch, queries, heads_, job_.model.head_dim},
                          {job_.batch, keys, heads_, job_.model.head_dim},
                          {job_.batch, keys, heads_, job_.model.head_dim}};
  const auto backward = [this, queries](const Dims& d) {
    return Dims{d[0], d[0], d[1], d[2], d[0], {job_.batch, heads_, queries}};
  };
  const Builder::Scope frame = b_.python("sdpa_attention.py(40): sdpa_attention_forward");
  const Builder::Scope scope = b_.op("aten::scaled_dot_product_attention", {dims, b_.peek_sequence()});
  differentiable(
      "aten::_scaled_dot_product_flash_attention", "ScaledDotProductFlashAttentionBackward0", dims,
      [&] {
        b_.view("aten::transpose", {dims});
        b_.view("aten::transpose", {dims});
        const Builder::Scope inner = b_.op("aten::_flash_attention_forward", {tokens_first});
        b_.view("aten::empty_like", {tokens_first});
        b_.launch(b_.kernels().attention_forward(job_.batch, heads_, kv_heads_, queries, keys));
      },
      [this, dims, tokens_first, backward, queries, keys] {
        const Builder::Scope outer = b_.op("aten::_scaled_dot_product_flash_attention_backward", {backward(dims)});
        const Builder::Scope inner = b_.op("aten::_flash_attention_backward", {backward(tokens_first)});
        b_.view("aten::empty_like", {tokens_first});
        b_.launch(b_.kernels().attention_backward_sums(job_.batch, heads_, queries));
        b_.launch(b_.kernels().attention_backward(job_.batch, heads_, kv_heads_, queries, keys));
      });
}

void Transformer::residual(std::string_view operation) {
  const Builder::Labelled label = b_.label(operation);
  const auto n = static_cast<double>(tokens_ * hidden_);
  differentiable(
      "aten::add", "AddBackward0", {{tokens_, hidden_}, {tokens_, hidden_}},
      [&] { b_.launch(b_.kernels().elementwise("CUDAFunctor_add<c10::BFloat16>", n, n * 6)); },
      [this, n] { run("aten::add_", b_.kernels().elementwise("CUDAFunctor_add<c10::BFloat16>", n, n * 6), n * 2); });
}

// The sum over the tensor-parallel ranks after a row-parallel product; the compute stream waits for it.
void Transformer::tensor_parallel_reduce() {
  if (job_.tensor_parallel < 2) return;
  const std::uint32_t ready = b_.new_event(), done = b_.new_event();
  b_.record(ready, Stream::compute);
  b_.wait(ready, Stream::tensor);
  all_reduce(b_, {"ar", Group::tensor, Stream::tensor, tokens_ * hidden_, b_.current().layer});
  b_.record(done, Stream::tensor);
  b_.wait(done, Stream::compute);
}

// Before a column-parallel product nothing happens forward; backward its input gradients are summed.
void Transformer::tensor_parallel_enter() {
  if (job_.tensor_parallel < 2) return;
  differentiable(
      "_CopyToModelParallelRegion", "_CopyToModelParallelRegionBackward", {{tokens_, hidden_}}, [] {},
      [this] { tensor_parallel_reduce(); });
}

// Model ---------------------------------------------------------------------------------------------------------------

void Transformer::embedding() {
  const Builder::Labelled label = b_.label("ie");
  const Builder::Scope module = b_.module("Embedding", 0);
  const auto n = static_cast<double>(tokens_ * hidden_);
  b_.accumulate_gradient(job_.model.vocabulary * hidden_ * 2 / job_.tensor_parallel);
  differentiable(
      "aten::embedding", "EmbeddingBackward0", {{job_.model.vocabulary, hidden_}, {job_.batch, tokens_ / job_.batch}},
      [&] {
        b_.view("aten::reshape", {{{tokens_}}});
        const Builder::Scope inner = b_.op("aten::index_select", {{{job_.model.vocabulary, hidden_}, {}, {tokens_}}});
        b_.launch(
            b_.kernels().streaming("void at::native::(anonymous namespace)::indexSelectLargeIndex<c10::BFloat16, long, "
                                   "unsigned int, 2, 2, -2, true>"
                                   "(at::cuda::detail::TensorInfo<c10::BFloat16, unsigned int>)",
                                   n, n * 4));
      },
      [this, n] {
        const Builder::Scope inner = b_.op("aten::embedding_dense_backward", {{{tokens_, hidden_}, {tokens_}}});
        fill_zero(static_cast<double>(job_.model.vocabulary * hidden_ / job_.tensor_parallel), 2);
        b_.launch(b_.kernels().streaming(
            "void at::native::(anonymous namespace)::embedding_backward_feature_kernel<c10::BFloat16, float, long>"
            "(long const*, c10::BFloat16 const*, c10::BFloat16*, int, long, int)",
            n, n * 12));
      });
}

void Transformer::layer(std::int64_t layer) {
  Label label = b_.current();
  label.layer = layer;
  label.operation.clear();
  const Builder::Labelled labelled = b_.label_all(label);
  const Builder::Scope module = b_.module("LlamaDecoderLayer", layer);
  for (const Fault& fault : job_.faults) {
    if (fault.name == "sync-calls") b_.drain();
  }
  if (job_.graphs) return layer_graphed(layer);
  if (job_.checkpointing) return layer_checkpointed(layer);
  if (job_.compiled) return layer_compiled();
  layer_eager(layer);
}

void Transformer::layer_eager(std::int64_t layer) {
  const ModelShape& m = job_.model;
  const std::int64_t width = (heads_ + 2 * kv_heads_) * m.head_dim;
  norm("attn_n", 2 * layer);
  {
    const Builder::Scope attention_module = b_.module("LlamaAttention", layer);
    const Builder::Scope frame = b_.python("modeling_llama.py(262): forward");
    {
      const Builder::Labelled label = b_.label("qkv_ip");
      const Builder::Scope module = b_.module("Linear", 5 * layer);
      tensor_parallel_enter();
      linear(width, hidden_);
    }
    {
      const Builder::Labelled label = b_.label("qkv_s");
      view("aten::split_with_sizes", "SplitWithSizesBackward0", {{tokens_, width}});
    }
    {
      const Builder::Labelled label = b_.label("qkv_t");
      view("aten::transpose", "TransposeBackward0", {{job_.batch, tokens_ / job_.batch, heads_, m.head_dim}});
      contiguous(static_cast<double>(tokens_ * heads_ * m.head_dim));
    }
    rotary();
    {
      const Builder::Labelled label = b_.label("attn_i");
      gather_keys();
      for (int i = 0; i < 2; i++) contiguous(static_cast<double>(tokens_ * heads_ * m.head_dim));
    }
    attention();
    {
      const Builder::Labelled label = b_.label("attn_or");
      view("aten::transpose", "TransposeBackward0", {{job_.batch, heads_, tokens_ / job_.batch, m.head_dim}});
      contiguous(static_cast<double>(tokens_ * heads_ * m.head_dim));
    }
    {
      const Builder::Labelled label = b_.label("attn_op");
      const Builder::Scope module = b_.module("Linear", 5 * layer + 1);
      linear(hidden_, heads_ * m.head_dim);
      tensor_parallel_reduce();
    }
  }
  residual("attn_ra");
  norm("mlp_n", 2 * layer + 1);
  {
    const Builder::Scope mlp_module = b_.module("LlamaMLP", layer);
    const Builder::Scope frame = b_.python("modeling_llama.py(175): forward");
    const auto n = static_cast<double>(tokens_ * feed_);
    {
      const Builder::Labelled label = b_.label("mlp_gp");
      const Builder::Scope module = b_.module("Linear", 5 * layer + 2);
      tensor_parallel_enter();
      linear(feed_, hidden_);
    }
    {
      const Builder::Labelled label = b_.label("mlp_gs");
      elementwise("aten::silu", "SiluBackward0", "silu_kernel(at::TensorIteratorBase&)::{lambda(c10::BFloat16)#1}", n,
                  n * 4, n * 6);
    }
    {
      const Builder::Labelled label = b_.label("mlp_up");
      const Builder::Scope module = b_.module("Linear", 5 * layer + 3);
      linear(feed_, hidden_);
    }
    {
      const Builder::Labelled label = b_.label("mlp_gu");
      elementwise(
          "aten::mul", "MulBackward0",
          "BinaryFunctor<c10::BFloat16, c10::BFloat16, c10::BFloat16, at::native::binary_internal::MulFunctor<float> >",
          n, n * 6, n * 12, 2);
    }
    {
      const Builder::Labelled label = b_.label("mlp_dp");
      const Builder::Scope module = b_.module("Linear", 5 * layer + 4);
      linear(hidden_, feed_);
      tensor_parallel_reduce();
    }
  }
  residual("mlp_ra");
}

void Transformer::head_and_loss() {
  norm("ln", 2 * job_.model.num_layers);
  const std::int64_t vocabulary = job_.model.vocabulary / job_.tensor_parallel;
  const auto n = static_cast<double>(tokens_ * vocabulary);
  {
    const Builder::Labelled label = b_.label("lp");
    const Builder::Scope module = b_.module("Linear", 5 * job_.model.num_layers);
    linear(vocabulary, hidden_);
  }
  const Builder::Labelled label = b_.label("cel");
  to_dtype(n, true);
  const Builder::Scope scope =
      b_.op("aten::cross_entropy_loss", {{{tokens_, vocabulary}, {tokens_}}, b_.peek_sequence()});
  differentiable(
      "aten::log_softmax", "LogSoftmaxBackward0", {{tokens_, vocabulary}},
      [&] {
        const Builder::Scope inner = b_.op("aten::_log_softmax", {{{tokens_, vocabulary}}});
        b_.launch(
            b_.kernels().streaming("void at::native::(anonymous namespace)::cunn_SoftMaxForward<4, float, float, "
                                   "float, at::native::(anonymous namespace)::"
                                   "LogSoftMaxForwardEpilogue>(float*, float const*, int)",
                                   n, n * 8));
      },
      [this, n, vocabulary] {
        const Builder::Scope inner =
            b_.op("aten::_log_softmax_backward_data", {{{tokens_, vocabulary}, {tokens_, vocabulary}}});
        b_.launch(
            b_.kernels().streaming("void at::native::(anonymous namespace)::cunn_SoftMaxBackward<4, float, float, "
                                   "float, at::native::(anonymous namespace)::"
                                   "LogSoftMaxBackwardEpilogue>(float*, float const*, float const*, int)",
                                   n, n * 12));
      });
  differentiable(
      "aten::nll_loss_nd", "NllLossBackward0", {{tokens_, vocabulary}, {tokens_}},
      [&] {
        const Builder::Scope inner = b_.op("aten::nll_loss_forward", {{{tokens_, vocabulary}, {tokens_}}});
        b_.launch(b_.kernels().streaming(
            "void at::native::(anonymous namespace)::nll_loss_forward_reduce_cuda_kernel_2d<float, float, "
            "long>(float*, float*, "
            "float const*, long const*, float const*, bool, long, long, long, long)",
            static_cast<double>(tokens_), static_cast<double>(tokens_) * 64));
      },
      [this, n, vocabulary] {
        const Builder::Scope inner = b_.op("aten::nll_loss_backward", {{{}, {tokens_, vocabulary}, {tokens_}}});
        fill_zero(n, 4);
        b_.launch(b_.kernels().streaming(
            "void at::native::(anonymous namespace)::nll_loss_backward_reduce_cuda_kernel_2d<float, long>(float*, "
            "float const*, "
            "long const*, float const*, float const*, bool, int, int, long, long)",
            static_cast<double>(tokens_), static_cast<double>(tokens_) * 64));
      });
}

}  // namespace chopper::synth
