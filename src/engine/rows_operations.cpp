// SPDX-License-Identifier: Apache-2.0
// Rows of operations and of like kernels.
#include <algorithm>
#include <iterator>
#include <utility>

#include "engine/make_rows.h"

namespace chopper {
namespace {

// The number of an iteration by our order.
Field<std::int64_t> iteration_field(const GpuSummary& gpu, std::int64_t ordinal) {
  if (ordinal < 0) return ordinal_field(static_cast<std::int32_t>(ordinal));
  return gpu.windows[static_cast<std::size_t>(ordinal) + 1].row.iteration;
}

GpuClass class_of_most_time(const OperationSummary& sum) {
  const auto* most = std::max_element(std::begin(sum.class_ns), std::end(sum.class_ns));
  return static_cast<GpuClass>(most - std::begin(sum.class_ns));
}

OperationRow operation_row(const GpuSource& source, const OperationKey& key, const OperationSummary& sum) {
  OperationRow row;
  set_source(source, row);
  row.phase = to_string(key.phase);
  row.operation = key.operation;
  if (key.ordinal != kNotGrouped) row.iteration = iteration_field(source.gpu, key.ordinal);
  if (key.layer != kNotGrouped) row.layer = layer_field(key.layer);
  row.layer_known = sum.num_layer_known == sum.num_kernels;
  row.gpu_class = to_string(class_of_most_time(sum));
  row.num_instances = static_cast<std::int64_t>(sum.instances.count());
  row.num_kernels = sum.num_kernels;
  row.duration_ns = sum.duration_ns;
  row.elapsed_ns = sum.elapsed_ns;
  row.overlap_ns = sum.overlap_ns;
  const std::int64_t comm_ns = sum.class_ns[static_cast<std::size_t>(GpuClass::comm)];
  if (sum.duration_ns == 0 || comm_ns != sum.duration_ns)
    row.overlap_ratio = share_field(sum.overlap_ns, sum.duration_ns - comm_ns, Reason::zero_length);
  row.prep_ns = sum.prep_ns;
  row.call_ns = sum.call_ns;
  row.prep_idle_ns = sum.prep_idle_ns;
  row.call_idle_ns = sum.call_idle_ns;
  row.num_no_launch = sum.num_no_launch;
  row.p05_ns = sum.instances.quantile(5, 100);
  row.p50_ns = sum.instances.quantile(50, 100);
  row.p95_ns = sum.instances.quantile(95, 100);
  row.flops = row.bytes = row.tflops = row.gbps = row.peak_share = Reason::no_shapes;
  row.bound = Reason::no_shapes;
  return row;
}

}  // namespace

void add_operation_rows(const GpuSource& source, Answer& answer) {
  for (const auto& [key, sum] : source.gpu.operations) answer.operations.push_back(operation_row(source, key, sum));
  for (const auto& [key, sketch] : source.gpu.kernels) {
    KernelSummaryRow kernel;
    set_source(source, kernel);
    kernel.name = key.name;
    kernel.gpu_class = to_string(key.gpu_class);
    kernel.operation = key.operation;
    kernel.grid = extent_field(key.grid);
    kernel.block = extent_field(key.block);
    kernel.num = static_cast<std::int64_t>(sketch.count());
    kernel.total_ns = sketch.sum();
    kernel.min_ns = sketch.min();
    kernel.max_ns = sketch.max();
    kernel.p50_ns = sketch.quantile(50, 100);
    kernel.p95_ns = sketch.quantile(95, 100);
    answer.kernel_summary.push_back(std::move(kernel));
  }
}

}  // namespace chopper
