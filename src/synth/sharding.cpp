// SPDX-License-Identifier: Apache-2.0
#include "synth/sharding.h"

#include <fmt/format.h>

#include <utility>

namespace chopper::synth {
namespace {

// DDP starts an all-reduce when this much is ready (its default bucket).
constexpr std::int64_t kBucketBytes = 25 * 1024 * 1024;

}  // namespace

Sharder::Sharder(Builder& builder, std::int64_t first_layer, std::int64_t num_layers, bool has_embedding, bool has_head)
    : b_(builder),
      job_(builder.job()),
      first_layer_(first_layer),
      num_layers_(num_layers),
      root_elements_(((has_embedding ? job_.model.vocabulary * job_.model.hidden : 0) +
                      (has_head ? job_.model.vocabulary * job_.model.hidden + job_.model.hidden : 0)) /
                     job_.tensor_parallel),
      layer_events_(static_cast<std::size_t>(num_layers)) {
  for (Events* each = layer_events_.data(); each != layer_events_.data() + num_layers; each++) {
    *each = {b_.new_event(), b_.new_event(), b_.new_event(), b_.new_event(), false};
  }
  root_events_ = {b_.new_event(), b_.new_event(), b_.new_event(), b_.new_event(), false};
  if (job_.sharding == Sharding::ddp) b_.set_gradient_hook([this](std::int64_t bytes) { gradient_ready(bytes); });
}

Sharder::Events& Sharder::events(std::int64_t layer) {
  return layer == kRoot ? root_events_ : layer_events_[static_cast<std::size_t>(layer - first_layer_)];
}

std::int64_t Sharder::elements_of(std::int64_t layer) const {
  return layer == kRoot ? root_elements_ : job_.model.layer_parameters() / job_.tensor_parallel;
}

std::int64_t Sharder::shard_elements() const {
  const std::int64_t all = root_elements_ + num_layers_ * elements_of(first_layer_);
  return job_.sharding == Sharding::ddp ? all : all / group_size(job_, Group::data);
}

std::string Sharder::name_of(std::string_view what, std::int64_t layer) const {
  if (job_.sharding == Sharding::fsdp1) return fmt::format("FullyShardedDataParallel.{}", what);
  return layer == kRoot ? fmt::format("FSDP::{}", what) : fmt::format("FSDP::{} (model.layers.{})", what, layer);
}

// FSDP 2 packs the shards of all parameters of a layer into one buffer, gathers, and unpacks on the compute stream;
// buffers are few, so a gather waits until an earlier one has been unpacked. FSDP 1 keeps them flat.
void Sharder::gather(std::int64_t layer) {
  events(layer).is_gathered = true;
  if (events(layer).block == Builder::kNoBlock) events(layer).block = b_.allocate(2 * elements_of(layer), true);
  const CollectiveRequest request{"ag", Group::data, Stream::gather, elements_of(layer), layer};
  if (job_.sharding == Sharding::fsdp1) {
    limit_rate(layer);
    all_gather(b_, request);
    b_.record(events(layer).gathered, Stream::gather);
    return;
  }
  const auto shard = static_cast<double>(elements_of(layer) / group_size(job_, Group::data));
  const Builder::Scope range = b_.annotation(name_of("all_gather", layer));
  // Forward, the unpacking of one layer may run beside the gather of the next: it waits for the one before.
  const std::uint32_t unpacked = b_.current().phase == Phase::forward ? copy_out_before_ : last_copy_out_;
  if (unpacked != kNoEvent) {
    b_.wait(unpacked, Stream::copy_in);
    b_.wait(unpacked, Stream::gather);
  }
  {
    const Builder::Scope op = b_.op("fsdp::all_gather_copy_in", {{{elements_of(layer)}}, -1, false, 1.5});
    const Builder::Scope inner = b_.op("aten::_foreach_copy_");
    Work work = b_.kernels().multi_tensor("Copy<c10::BFloat16, c10::BFloat16>", shard, shard * 4);
    work.operation = "ag_in";
    work.comm_copy = true;
    work.stream = Stream::copy_in;
    Label label = b_.current();
    label.layer = layer;
    const Builder::Labelled labelled = b_.label_all(std::move(label));
    b_.launch(std::move(work));
  }
  const std::uint32_t packed = b_.new_event();
  b_.record(packed, Stream::copy_in);
  b_.wait(packed, Stream::gather);
  all_gather(b_, request);
  b_.record(events(layer).gathered, Stream::gather);
}

void Sharder::copy_out(std::int64_t layer) {
  if (job_.sharding == Sharding::fsdp1) {
    b_.wait(events(layer).gathered, Stream::compute);
    return;
  }
  const Builder::Scope range = b_.annotation(name_of("all_gather_copy_out", layer));
  b_.wait(events(layer).gathered, Stream::compute);
  {
    const Builder::Scope op = b_.op("fsdp::split_with_sizes_copy", {{{elements_of(layer)}}, -1, false, 1.5});
    const Builder::Scope inner = b_.op("aten::split_with_sizes_copy", {{{elements_of(layer)}}});
    const auto elements = static_cast<double>(elements_of(layer));
    Work work = b_.kernels().streaming(
        "void at::native::detail::split_with_sizes_copy_out_contiguous_no_cast_kernel<long, unsigned int>(char**, "
        "char**, long*, long*, long*, "
        "long, long, long)",
        elements, elements * 4);
    work.operation = "ag_out";
    work.comm_copy = true;
    Label label = b_.current();
    label.layer = layer;
    const Builder::Labelled labelled = b_.label_all(std::move(label));
    b_.launch(std::move(work));
  }
  b_.record(events(layer).copied_out, Stream::compute);
  copy_out_before_ = std::exchange(last_copy_out_, events(layer).copied_out);
}

// FSDP 2 gives the memory back at once. FSDP 1's buffer is known to a second stream, so it can be used again only
// later: the next gather finds it still taken.
void Sharder::free_gathered(std::int64_t layer) {
  events(layer).is_gathered = false;
  std::uint32_t block = std::exchange(events(layer).block, Builder::kNoBlock);
  if (job_.sharding == Sharding::fsdp1) std::swap(block, held_block_);
  b_.release(block);
}

// FSDP 1 keeps at most two layers gathered ahead: the host waits.
void Sharder::limit_rate(std::int64_t layer) {
  const bool is_forward = b_.current().phase == Phase::forward;
  const std::int64_t earlier = is_forward ? layer - 2 : layer + 2;
  if (layer == kRoot || earlier < first_layer_ || earlier >= first_layer_ + num_layers_) return;
  const Builder::Scope range = b_.annotation("FullyShardedDataParallel.rate_limiter");
  b_.synchronise(events(earlier).released);
}

void Sharder::root_pre_forward() {
  copy_out_before_ = last_copy_out_ = kNoEvent;
  if (job_.sharding == Sharding::ddp) {
    b_.host_work(9000);
    return;
  }
  const Builder::Scope range = b_.annotation(
      job_.sharding == Sharding::fsdp1 ? "FullyShardedDataParallel._root_pre_forward" : "FSDP::root_pre_forward");
  b_.host_work(14000);
  // The parameters must have been written: gathers wait for the optimizer of the iteration before.
  const std::uint32_t written = b_.new_event();
  b_.record(written, Stream::compute);
  if (job_.sharding == Sharding::fsdp2) b_.wait(written, Stream::copy_in);
  b_.wait(written, Stream::gather);
  if (root_elements_ == 0) return;
  gather(kRoot);
  copy_out(kRoot);
}

void Sharder::pre_forward(std::int64_t layer) {
  if (job_.sharding == Sharding::ddp) return;
  {
    const Builder::Scope range =
        b_.annotation(name_of(job_.sharding == Sharding::fsdp1 ? "_pre_forward" : "pre_forward", layer));
    b_.host_work(18000);
    gather(layer);
    copy_out(layer);
  }
  b_.hook([this, layer] { post_backward(layer); });
}

void Sharder::post_forward(std::int64_t layer) {
  if (job_.sharding == Sharding::ddp) return;
  {
    const Builder::Scope range =
        b_.annotation(name_of(job_.sharding == Sharding::fsdp1 ? "_post_forward" : "post_forward", layer));
    b_.host_work(6000);
    free_gathered(layer);
    b_.record(events(layer).released, Stream::compute);
  }
  b_.hook([this, layer] { pre_backward(layer); });
}

void Sharder::pre_backward(std::int64_t layer) {
  const bool first_version = job_.sharding == Sharding::fsdp1;
  const Builder::Scope range = b_.annotation(name_of(first_version ? "_pre_backward_hook" : "pre_backward", layer));
  b_.host_work(7000);
  if (!events(layer).is_gathered) gather(layer);
  copy_out(layer);
  if (layer == first_layer_) return;
  const Builder::Scope prefetch =
      b_.annotation(first_version ? std::string("FullyShardedDataParallel._pre_backward_prefetch")
                                  : fmt::format("FSDP::backward_prefetch for model.layers.{}", layer - 1));
  gather(layer - 1);
}

void Sharder::post_backward(std::int64_t layer) {
  free_gathered(layer);
  if (job_.sharding == Sharding::fsdp1) {
    const Builder::Scope range = b_.annotation("FullyShardedDataParallel._post_backward_hook");
    b_.host_work(9000);
    b_.record(events(layer).released, Stream::compute);
    if (synchronises_) reduce(layer);
    return;
  }
  {
    const Builder::Scope accumulate = b_.annotation(name_of("post_backward_accumulate", layer));
    b_.host_work(4000);
  }
  {
    const Builder::Scope reshard = b_.annotation(name_of("post_backward_reshard", layer));
    b_.host_work(5000);
  }
  if (!synchronises_) return;
  const Builder::Scope range = b_.annotation(name_of("post_backward_reduce", layer));
  reduce(layer);
}

void Sharder::reduce(std::int64_t layer) {
  // FSDP 2 packs the gradients on the compute stream, where they were made, and then reduces; FSDP 1 scales them on the
  // stream of the reduction.
  const std::uint32_t ready = b_.new_event();
  const auto elements = static_cast<double>(elements_of(layer));
  const bool packs = job_.sharding == Sharding::fsdp2;
  if (packs && has_reduced_) b_.wait(last_reduced_, Stream::compute);
  if (!packs) {
    b_.record(ready, Stream::compute);
    b_.wait(ready, Stream::reduce);
  }
  {
    const Builder::Scope op = b_.op(packs ? "fsdp::chunk_cat" : "aten::div_", {{{elements_of(layer)}}, -1, false, 1.4});
    const Builder::Scope inner = b_.op(packs ? "aten::_chunk_cat" : "aten::mul_", {{{elements_of(layer)}}});
    Work work = packs ? b_.kernels().streaming(
                            "void at::native::detail::chunk_cat_cuda_kernel<c10::BFloat16, "
                            "c10::BFloat16>(c10::BFloat16**, c10::BFloat16*, "
                            "long*, long*, long*, long*, long, long, long)",
                            elements, elements * 4)
                      : b_.kernels().elementwise(
                            "BUnaryFunctor<c10::BFloat16, c10::BFloat16, c10::BFloat16, "
                            "at::native::binary_internal::MulFunctor<float> >",
                            elements, elements * 4);
    work.operation = "rs_in";
    work.comm_copy = packs;
    work.stream = packs ? Stream::compute : Stream::reduce;
    Label label = b_.current();
    label.layer = layer;
    const Builder::Labelled labelled = b_.label_all(std::move(label));
    b_.launch(std::move(work));
  }
  if (packs) {
    b_.record(ready, Stream::compute);
    b_.wait(ready, Stream::reduce);
  }
  reduce_scatter(b_, {"rs", Group::data, Stream::reduce, elements_of(layer), layer});
  b_.record(events(layer).reduced, Stream::reduce);
  last_reduced_ = events(layer).reduced;
  has_reduced_ = true;
}

void Sharder::gradient_ready(std::int64_t bytes) {
  if (!synchronises_) return;
  bucket_bytes_ += bytes;
  bucket_layer_ = b_.current().layer;
  if (bucket_bytes_ >= kBucketBytes) reduce_bucket();
}

void Sharder::reduce_bucket() {
  const std::uint32_t ready = b_.new_event();
  b_.record(ready, Stream::compute);
  b_.wait(ready, Stream::reduce);
  all_reduce(b_, {"ar", Group::data, Stream::reduce, std::exchange(bucket_bytes_, 0) / 2, bucket_layer_, true});
  last_reduced_ = b_.new_event();
  b_.record(last_reduced_, Stream::reduce);
  has_reduced_ = true;
}

void Sharder::finish_backward() {
  if (!synchronises_) return;
  if (job_.sharding == Sharding::ddp) {
    if (bucket_bytes_ > 0) reduce_bucket();
    if (has_reduced_) b_.wait(last_reduced_, Stream::compute);
    has_reduced_ = false;
    return;
  }
  const Builder::Scope range =
      b_.annotation(job_.sharding == Sharding::fsdp1 ? "FullyShardedDataParallel._post_backward_final_callback"
                                                     : "FSDP::root_post_backward_callback");
  b_.host_work(9000);
  free_gathered(kRoot);
  b_.release(std::exchange(held_block_, Builder::kNoBlock));
  if (root_elements_ > 0) reduce(kRoot);
  if (has_reduced_) b_.wait(last_reduced_, Stream::compute);
  has_reduced_ = false;
}

}  // namespace chopper::synth
