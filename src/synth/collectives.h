// SPDX-License-Identifier: Apache-2.0
// Collectives as the host asks for them: c10d operator, record_param_comms, the range of the backend, the launch.
#pragma once

#include <cstdint>
#include <string>

#include "synth/builder.h"

namespace chopper::synth {

/// Returns the number of ranks of `group`.
std::int64_t group_size(const Job& job, Group group);

struct CollectiveRequest {
  std::string operation;  ///< "ag"
  Group group = Group::data;
  Stream stream = Stream::gather;
  std::int64_t elements = 0;    ///< of the larger side
  std::int64_t layer = -1;      ///< the layer it serves
  bool launched_there = false;  ///< launched in that layer, wherever the builder is
};

/// Each returns without doing anything when the group has one rank.
void all_gather(Builder& b, const CollectiveRequest& request);
void reduce_scatter(Builder& b, const CollectiveRequest& request);
void all_reduce(Builder& b, const CollectiveRequest& request, std::string data_type = "BFloat16");
/// One half of a transfer between neighbouring pipeline stages.
void send_or_receive(Builder& b, const CollectiveRequest& request, bool is_send);

}  // namespace chopper::synth
