// SPDX-License-Identifier: Apache-2.0
// How parameters and gradients travel between data-parallel ranks: FSDP 1, FSDP 2 and DDP, with the ranges, streams and
// events of PyTorch. The hooks stand on the tape around each layer:
//
//   forward:   [pre_forward i] layer i [post_forward i]      tape:  post_backward i, layer i ..., pre_backward i
//   backward:  [pre_backward i] layer i [post_backward i]    (the tape read from its end)
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "synth/builder.h"
#include "synth/collectives.h"

namespace chopper::synth {

class Sharder {
 public:
  Sharder(Builder& builder, std::int64_t first_layer, std::int64_t num_layers, bool has_embedding, bool has_head);

  void root_pre_forward();
  void pre_forward(std::int64_t layer);
  void post_forward(std::int64_t layer);
  /// Reduces what is left and lets the compute stream wait for all gradients.
  void finish_backward();
  /// Whether gradients are reduced in this micro step.
  void set_synchronises(bool on) { synchronises_ = on; }
  /// Elements of parameters that one rank updates.
  std::int64_t shard_elements() const;

 private:
  struct Events {
    std::uint32_t gathered = 0;
    std::uint32_t copied_out = 0;
    std::uint32_t released = 0;  // FSDP 1: the layer's memory may be used again
    std::uint32_t reduced = 0;
    bool is_gathered = false;
    std::uint32_t block = Builder::kNoBlock;  // memory of the gathered parameters
  };

  void gather(std::int64_t layer);
  void copy_out(std::int64_t layer);
  void reduce(std::int64_t layer);
  void pre_backward(std::int64_t layer);
  void post_backward(std::int64_t layer);
  void free_gathered(std::int64_t layer);
  void limit_rate(std::int64_t layer);
  void gradient_ready(std::int64_t bytes);
  void reduce_bucket();
  std::int64_t elements_of(std::int64_t layer) const;
  std::string name_of(std::string_view what, std::int64_t layer) const;
  Events& events(std::int64_t layer);

  static constexpr std::int64_t kRoot = -1;

  Builder& b_;
  const Job& job_;
  std::int64_t first_layer_;
  std::int64_t num_layers_;
  std::int64_t root_elements_;
  std::vector<Events> layer_events_;
  Events root_events_;
  std::uint32_t held_block_ = Builder::kNoBlock;
  static constexpr std::uint32_t kNoEvent = 0xffffffffu;
  std::uint32_t last_copy_out_ = kNoEvent;
  std::uint32_t copy_out_before_ = kNoEvent;
  std::uint32_t last_reduced_ = 0;
  std::int64_t bucket_bytes_ = 0;
  std::int64_t bucket_layer_ = -1;  ///< of the gradient that filled it last
  bool has_reduced_ = false;
  bool synchronises_ = true;
};

}  // namespace chopper::synth
