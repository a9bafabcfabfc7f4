// SPDX-License-Identifier: Apache-2.0
#include "synth/collectives.h"

#include <utility>

namespace chopper::synth {
namespace {

struct Names {
  const char* c10d;
  const char* kind;
  const char* range;
  const char* kernel;
};

void issue(Builder& b, const CollectiveRequest& request, const Names& names, Collective collective) {
  if (group_size(b.job(), request.group) < 2) return;
  collective.kind = names.kind;
  collective.range = names.range;
  collective.kernel = names.kernel;
  collective.group = request.group;
  collective.launch_layer = request.launched_there ? request.layer : b.current().layer;
  const auto index = static_cast<std::int32_t>(b.program().collectives.size());
  b.program().collectives.push_back(std::move(collective));

  const RangeOptions options{
      {{b.program().collectives.back().elements_out}, {b.program().collectives.back().elements_in}}, -1, false, 1.6};
  const Builder::Scope c10d = b.op(names.c10d, options);
  const Builder::Scope comms = b.op("record_param_comms", {{{b.program().collectives.back().elements_in}}});
  if (comms.range() >= 0) b.program().ranges[static_cast<std::size_t>(comms.range())].collective = index;
  Work work = b.kernels().communication(b.program().collectives[static_cast<std::size_t>(index)], index);
  work.stream = request.stream;
  work.operation = request.operation;
  const Builder::Scope range = b.annotation(names.range);
  b.call(Call::query);
  Label label = b.current();
  label.layer = request.layer;
  const Builder::Labelled labelled = b.label_all(std::move(label));
  b.launch(std::move(work));
}

double ring_share(const Builder& b, Group group) {
  const auto size = static_cast<double>(group_size(b.job(), group));
  return (size - 1) / size;
}

}  // namespace

std::int64_t group_size(const Job& job, Group group) {
  switch (group) {
    case Group::none:
      return 1;
    case Group::world:
      return job.world_size;
    case Group::data:
      return job.data_parallel() * job.context_parallel;
    case Group::tensor:
      return job.tensor_parallel;
    case Group::context:
      return job.context_parallel;
    case Group::previous_stage:
    case Group::next_stage:
      return 2;
  }
  return 1;
}

void all_gather(Builder& b, const CollectiveRequest& request) {
  Collective c;
  c.elements_out = request.elements;
  c.elements_in = request.elements / group_size(b.job(), request.group);
  c.bytes = 2 * request.elements;
  c.data_type = "BFloat16";
  c.traffic_share = ring_share(b, request.group);
  issue(b, request, {"c10d::_allgather_base_", "_allgather_base", "nccl:_all_gather_base", "AllGather_RING_LL"},
        std::move(c));
}

void reduce_scatter(Builder& b, const CollectiveRequest& request) {
  Collective c;
  c.elements_in = request.elements;
  c.elements_out = request.elements / group_size(b.job(), request.group);
  c.bytes = 2 * request.elements;
  c.data_type = "BFloat16";
  c.traffic_share = ring_share(b, request.group);
  issue(b, request,
        {"c10d::_reduce_scatter_base_", "_reduce_scatter_base", "nccl:_reduce_scatter_base",
         "ReduceScatter_Sum_bf16_RING_LL"},
        std::move(c));
}

void all_reduce(Builder& b, const CollectiveRequest& request, std::string data_type) {
  Collective c;
  c.elements_in = request.elements;
  c.elements_out = request.elements;
  c.bytes = (data_type == "Float" ? 4 : 2) * request.elements;
  c.traffic_share = 2 * ring_share(b, request.group);
  const char* kernel = data_type == "Float" ? "AllReduce_Sum_f32_RING_LL" : "AllReduce_Sum_bf16_RING_LL";
  c.data_type = std::move(data_type);
  issue(b, request, {"c10d::allreduce_", "allreduce", "nccl:all_reduce", kernel}, std::move(c));
}

void send_or_receive(Builder& b, const CollectiveRequest& request, bool is_send) {
  Collective c;
  c.elements_in = request.elements;
  c.elements_out = request.elements;
  c.bytes = 2 * request.elements;
  c.data_type = "BFloat16";
  if (is_send) {
    issue(b, request, {"c10d::send", "send", "nccl:send", "SendRecv"}, std::move(c));
  } else {
    issue(b, request, {"c10d::recv_", "recv", "nccl:recv", "SendRecv"}, std::move(c));
  }
}

}  // namespace chopper::synth
