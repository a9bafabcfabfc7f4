// SPDX-License-Identifier: Apache-2.0
#include "model/summary.h"

#include <iterator>

#include "base/wrapping.h"

namespace chopper {

void OperationSummary::merge(const OperationSummary& from) {
  num_kernels += from.num_kernels;
  prep_ns += from.prep_ns;
  call_ns += from.call_ns;
  prep_idle_ns += from.prep_idle_ns;
  call_idle_ns += from.call_idle_ns;
  num_no_launch += from.num_no_launch;
  num_layer_known += from.num_layer_known;
  for (std::int64_t OperationSummary::*const sum :
       {&OperationSummary::duration_ns, &OperationSummary::elapsed_ns, &OperationSummary::overlap_ns,
        &OperationSummary::compute_ns, &OperationSummary::known_ns, &OperationSummary::least_known_ns,
        &OperationSummary::message_bytes, &OperationSummary::message_ns}) {
    add_wrapping(this->*sum, from.*sum);
  }
  for (std::size_t c = 0; c < std::size(class_ns); c++) add_wrapping(class_ns[c], from.class_ns[c]);
  flops += from.flops;
  bytes += from.bytes;
  recompute_flops += from.recompute_flops;
  least_ns += from.least_ns;
  compute_bound_ns += from.compute_bound_ns;
  instances.merge(from.instances);
}

IterationFlops& IterationFlops::operator+=(const IterationFlops& other) {
  total += other.total;
  forward += other.forward;
  recompute += other.recompute;
  add_wrapping(product_ns, other.product_ns);
  add_wrapping(known_ns, other.known_ns);
  add_wrapping(repeated_ns, other.repeated_ns);
  return *this;
}

}  // namespace chopper
