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

void Transformer::differentiable(std::string_view name, std::string_view node, const Operands& operands,
                                 const std::function<void()>& forward, std::function<void()> backward) {
  const std::int64_t sequence = b_.next_sequence();
  const Builder::Scope scope = b_.op(name, shown(operands, sequence));
  forward();
  b_.on_backward(node, scope.range(), std::move(backward));
}

void Transformer::view(std::string_view name, std::string_view node, const Dims& dims) {
  differentiable(
      name, node, dims, [] {}, [this, dims] { b_.view("aten::view", {dims}); });
}

// One operator that launches `work` and writes `bytes_out`.
void Transformer::run(std::string_view name, const Operands& operands, Work work, double bytes_out) {
  const Builder::Scope scope = b_.op(name, shown(operands));
  const std::uint32_t block = b_.allocate(static_cast<std::int64_t>(bytes_out));
  b_.launch(std::move(work));
  b_.release(block);
}

void Transformer::elementwise(const Step& forward, std::string_view node, std::string_view functor, double elements,
                              std::vector<Step> backward) {
  const std::string text(functor);
  const auto output = static_cast<std::int64_t>(elements * 2);
  const std::uint32_t block = b_.allocate(output);
  differentiable(
      forward.name, node, forward.operands, [&] { b_.launch(b_.kernels().elementwise(text, elements, forward.bytes)); },
      [this, text, elements, block, backward = std::move(backward)] {
        for (const Step& step : backward)
          run(step.name, step.operands, b_.kernels().elementwise(text, elements, step.bytes), elements * 2);
        b_.release(block);
      });
  if (!b_.records_tape()) b_.release(block);
}

void Transformer::to_dtype(double elements, bool to_float) {
  const auto columns = static_cast<std::int64_t>(elements) / tokens_;
  const auto operands = [this, columns](bool wide) {
    const Operand narrow_one{{tokens_, columns}, kBFloat16}, wide_one{{tokens_, columns}, kFloat};
    return wide ? Operands{wide_one, narrow_one, {{}, kScalar}} : Operands{narrow_one, wide_one, {{}, kScalar}};
  };
  const auto source = [operands](bool wide, std::string_view second, std::size_t count) {
    Operands all{operands(wide)[1], {{}, second}};
    all.resize(count, {{}, ""});
    return all;
  };
  const auto copy = [this, elements, operands](bool wide) {
    b_.view("aten::empty_strided", {{{}}});
    const Builder::Scope inner = b_.op("aten::copy_", shown(operands(wide)));
    b_.launch(b_.kernels().elementwise(wide ? "float_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda(float)#1}"
                                            : "bfloat16_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda(float)#1}",
                                       elements, elements * 6));
  };
  const Builder::Scope to = b_.op("aten::to", shown(source(to_float, kScalar, 5), b_.peek_sequence()));
  differentiable(
      "aten::_to_copy", "ToCopyBackward0", source(to_float, kScalar, 7), [&] { copy(to_float); },
      [this, copy, source, to_float] {
        const Builder::Scope back = b_.op("aten::to");
        const Builder::Scope inner = b_.op("aten::_to_copy", shown(source(!to_float, kScalar, 7)));
        copy(!to_float);
      });
}

void Transformer::transpose(std::int64_t rows, std::int64_t columns) {
  const Builder::Scope scope = b_.op("aten::transpose", {{{rows, columns}}, -1, false, 0.4});
  b_.view("aten::as_strided", {{{rows, columns}}});
}

void Transformer::fill_zero(const Operand& tensor) {
  const Builder::Scope zero = b_.op("aten::zero_", shown({tensor}));
  const Builder::Scope fill = b_.op("aten::fill_", shown({tensor, {{}, kScalar}}));
  double elements = 1;
  for (const std::int64_t extent : tensor.shape) elements *= static_cast<double>(extent);
  const bool is_float = tensor.type == kFloat;
  b_.launch(b_.kernels().elementwise(is_float ? "FillFunctor<float>" : "FillFunctor<c10::BFloat16>", elements,
                                     elements * (is_float ? 4 : 2)));
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
  const Operand tensor{{tokens_, columns}};
  const Operands both{tensor, tensor, {{}, kScalar}};
  const Builder::Scope scope = b_.op("aten::contiguous", shown({tensor, {{}, kScalar}}, b_.peek_sequence()));
  differentiable(
      "aten::clone", "CloneBackward0", Operands{tensor, {{}, kScalar}},
      [&] {
        b_.view("aten::empty_like", {{{tokens_, columns}}});
        const Builder::Scope inner = b_.op("aten::copy_", shown(both));
        b_.launch(copy());
      },
      [this, copy, both] { run("aten::copy_", both, copy(), static_cast<double>(tokens_) * 2); });
}

// x / rms(x) * weight, in FP32 as Hugging Face writes it.
void Transformer::norm(std::string_view operation, std::int64_t index) {
  const Builder::Labelled label = b_.label(operation);
  const Builder::Scope module = b_.module("LlamaRMSNorm", index);
  const Builder::Scope frame = b_.python("modeling_llama.py(70): forward");
  const auto n = static_cast<double>(tokens_ * hidden_);
  const auto rows = static_cast<double>(tokens_);
  b_.accumulate_gradient(hidden_ * 2);
  const Operand wide{{tokens_, hidden_}, kFloat}, narrow{{tokens_, 1}, kFloat}, scalar{{}, kScalar};
  const Operand normed{{tokens_, hidden_}}, weight{{hidden_}};
  const auto weight_bytes = static_cast<double>(hidden_) * 2;
  to_dtype(n, true);
  elementwise({"aten::pow", {wide, scalar}, n * 8}, "PowBackward0",
              "pow_tensor_scalar_kernel_impl<float, float>(at::TensorIteratorBase&, float)::{lambda(float)#1}", n,
              {{"aten::mul", {wide, wide}, n * 12}});
  differentiable(
      "aten::mean", "MeanBackward1", Operands{wide, {{}, "ScalarList"}, scalar, {{}, ""}},
      [&] {
        b_.launch(
            b_.kernels().streaming("void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, "
                                   "at::native::MeanOps<float, float, float, float>, unsigned int, "
                                   "float, 4, 4> >(at::native::ReduceOp<float, at::native::MeanOps<float, float, "
                                   "float, float>, unsigned int, float, 4, 4>)",
                                   n, n * 4));
      },
      [this, n, wide, scalar] {
        b_.view("aten::expand", {{{tokens_, 1}}});
        // The gradient of a row is expanded over it: its shape is that of the result, its memory one number a row.
        run("aten::div", {wide, scalar},
            b_.kernels().with_least_bytes(
                b_.kernels().elementwise(
                    "BUnaryFunctor<float, float, float, at::native::binary_internal::MulFunctor<float> >", n, n * 4),
                n * 8),
            n * 4);
      });
  elementwise({"aten::add", {narrow, scalar, scalar}, rows * 8}, "AddBackward0", "CUDAFunctorOnSelf_add<float>", rows,
              {});
  elementwise({"aten::rsqrt", {narrow}, rows * 8}, "RsqrtBackward0",
              "rsqrt_kernel_cuda(at::TensorIteratorBase&)::{lambda(float)#1}", rows,
              {{"aten::mul", {narrow, scalar}, rows * 8}, {"aten::mul", {narrow, narrow}, rows * 12}});
  // The input has a gradient through the product and one through the mean: they are added.
  elementwise({"aten::mul", {wide, narrow}, n * 8 + rows * 4}, "MulBackward0",
              "BinaryFunctor<float, float, float, at::native::binary_internal::MulFunctor<float> >", n,
              {{"aten::mul", {wide, wide}, n * 12}, {"aten::add_", {wide, wide, scalar}, n * 12}});
  to_dtype(n, false);
  elementwise(
      {"aten::mul", {weight, normed}, n * 4 + weight_bytes}, "MulBackward0",
      "BinaryFunctor<c10::BFloat16, c10::BFloat16, c10::BFloat16, at::native::binary_internal::MulFunctor<float> >", n,
      {{"aten::mul", {normed, weight}, n * 4 + weight_bytes}, {"aten::mul", {normed, normed}, n * 6}});
}

void Transformer::rotary() {
  const Builder::Labelled label = b_.label("qkv_re");
  const Builder::Scope frame = b_.python("modeling_llama.py(137): apply_rotary_pos_emb");
  constexpr std::string_view kMul =
      "BinaryFunctor<c10::BFloat16, c10::BFloat16, c10::BFloat16, at::native::binary_internal::MulFunctor<float> >";
  const std::int64_t dim = job_.model.head_dim;
  for (const std::int64_t heads : {heads_, kv_heads_}) {
    const auto n = static_cast<double>(tokens_ * heads * dim);
    const Operand states{{tokens_, heads, dim}}, half{{tokens_, heads, dim / 2}}, angles{{tokens_, 1, dim}};
    const double product_bytes = n * 4 + static_cast<double>(tokens_ * dim) * 2;
    const Step product{"aten::mul", {states, angles}, product_bytes};
    elementwise(product, "MulBackward0", kMul, n, {product});
    view("aten::slice", "SliceBackward0", {{tokens_, heads, dim}});
    elementwise({"aten::neg", {half}, n * 2}, "NegBackward0",
                "neg_kernel_cuda(at::TensorIteratorBase&)::{lambda(c10::BFloat16)#1}", n / 2,
                {{"aten::neg", {half}, n * 2}});
    differentiable(
        "aten::cat", "CatBackward0", Operands{{half.shape, kTensorList}, {{}, kScalar}},
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
    elementwise(product, "MulBackward0", kMul, n, {product});
    elementwise({"aten::add", {states, states, {{}, kScalar}}, n * 6}, "AddBackward0", "CUDAFunctor_add<c10::BFloat16>",
                n, {});
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
  const Operand states{{tokens_, hidden_}};
  const Operands sum{states, states, {{}, kScalar}};
  differentiable(
      "aten::add", "AddBackward0", sum,
      [&] { b_.launch(b_.kernels().elementwise("CUDAFunctor_add<c10::BFloat16>", n, n * 6)); },
      [this, n, sum] {
        run("aten::add_", sum, b_.kernels().elementwise("CUDAFunctor_add<c10::BFloat16>", n, n * 6), n * 2);
      });
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
  const Operand table{{job_.model.vocabulary, hidden_}}, indices{{tokens_}, kLong}, scalar{{}, kScalar};
  const Operand gradient{{tokens_, hidden_}};
  const double least = n * 4 + static_cast<double>(tokens_) * 8;
  differentiable(
      "aten::embedding", "EmbeddingBackward0",
      Operands{table, {{job_.batch, tokens_ / job_.batch}, kLong}, scalar, scalar, scalar},
      [&] {
        b_.view("aten::reshape", {{{tokens_}}});
        const Builder::Scope inner = b_.op("aten::index_select", shown({table, scalar, indices}));
        b_.launch(
            b_.kernels().streaming("void at::native::(anonymous namespace)::indexSelectLargeIndex<c10::BFloat16, long, "
                                   "unsigned int, 2, 2, -2, true>"
                                   "(at::cuda::detail::TensorInfo<c10::BFloat16, unsigned int>)",
                                   n, least));
      },
      [this, n, least, gradient, indices, scalar] {
        const Builder::Scope inner =
            b_.op("aten::embedding_dense_backward", shown({gradient, indices, scalar, scalar, scalar}));
        fill_zero({{job_.model.vocabulary / job_.tensor_parallel, hidden_}});
        // Rows of the table are read, added to and written, for each token again.
        b_.launch(b_.kernels().with_least_bytes(
            b_.kernels().streaming(
                "void at::native::(anonymous namespace)::embedding_backward_feature_kernel<c10::BFloat16, float, long>"
                "(long const*, c10::BFloat16 const*, c10::BFloat16*, int, long, int)",
                n, n * 12),
            least));
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
    const Operand states{{tokens_, feed_}};
    {
      const Builder::Labelled label = b_.label("mlp_gp");
      const Builder::Scope module = b_.module("Linear", 5 * layer + 2);
      tensor_parallel_enter();
      linear(feed_, hidden_);
    }
    {
      const Builder::Labelled label = b_.label("mlp_gs");
      elementwise({"aten::silu", {states}, n * 4}, "SiluBackward0",
                  "silu_kernel(at::TensorIteratorBase&)::{lambda(c10::BFloat16)#1}", n,
                  {{"aten::silu_backward", {states, states}, n * 6}});
    }
    {
      const Builder::Labelled label = b_.label("mlp_up");
      const Builder::Scope module = b_.module("Linear", 5 * layer + 3);
      linear(feed_, hidden_);
    }
    {
      const Builder::Labelled label = b_.label("mlp_gu");
      const Step product{"aten::mul", {states, states}, n * 6};
      elementwise(
          product, "MulBackward0",
          "BinaryFunctor<c10::BFloat16, c10::BFloat16, c10::BFloat16, at::native::binary_internal::MulFunctor<float> >",
          n, {product, product});
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
  const Operand scores{{tokens_, vocabulary}, kFloat}, targets{{tokens_}, kLong}, scalar{{}, kScalar};
  const Operand loss{{}, kFloat};
  const Builder::Scope scope =
      b_.op("aten::cross_entropy_loss", shown({scores, targets, {{}, ""}, scalar, scalar, scalar}, b_.peek_sequence()));
  differentiable(
      "aten::log_softmax", "LogSoftmaxBackward0", Operands{scores, scalar, scalar},
      [&] {
        const Builder::Scope inner = b_.op("aten::_log_softmax", shown({scores, scalar, scalar}));
        b_.launch(
            b_.kernels().streaming("void at::native::(anonymous namespace)::cunn_SoftMaxForward<4, float, float, "
                                   "float, at::native::(anonymous namespace)::"
                                   "LogSoftMaxForwardEpilogue>(float*, float const*, int)",
                                   n, n * 8));
      },
      [this, n, scores, scalar] {
        const Builder::Scope inner = b_.op("aten::_log_softmax_backward_data", shown({scores, scores, scalar, scalar}));
        b_.launch(
            b_.kernels().streaming("void at::native::(anonymous namespace)::cunn_SoftMaxBackward<4, float, float, "
                                   "float, at::native::(anonymous namespace)::"
                                   "LogSoftMaxBackwardEpilogue>(float*, float const*, float const*, int)",
                                   n, n * 12));
      });
  differentiable(
      "aten::nll_loss_nd", "NllLossBackward0", Operands{scores, targets, {{}, ""}, scalar, scalar},
      [&] {
        const Builder::Scope inner =
            b_.op("aten::nll_loss_forward", shown({scores, targets, {{}, ""}, scalar, scalar}));
        b_.launch(b_.kernels().streaming(
            "void at::native::(anonymous namespace)::nll_loss_forward_reduce_cuda_kernel_2d<float, float, "
            "long>(float*, float*, "
            "float const*, long const*, float const*, bool, long, long, long, long)",
            static_cast<double>(tokens_), static_cast<double>(tokens_) * 64));
      },
      [this, scores, targets, scalar, loss] {
        const Builder::Scope inner =
            b_.op("aten::nll_loss_backward", shown({loss, scores, targets, {{}, ""}, scalar, scalar, loss}));
        fill_zero(scores);
        b_.launch(b_.kernels().streaming(
            "void at::native::(anonymous namespace)::nll_loss_backward_reduce_cuda_kernel_2d<float, long>(float*, "
            "float const*, "
            "long const*, float const*, float const*, bool, int, int, long, long)",
            static_cast<double>(tokens_), static_cast<double>(tokens_) * 64));
      });
}

}  // namespace chopper::synth
