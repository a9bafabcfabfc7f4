// SPDX-License-Identifier: Apache-2.0
// Rows of operations and of like kernels.
#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "analyze/work.h"
#include "engine/make_rows.h"

namespace chopper {
namespace {

GpuClass class_of_most_time(const OperationSummary& sum) {
  const auto* most = std::max_element(std::begin(sum.class_ns), std::end(sum.class_ns));
  return static_cast<GpuClass>(most - std::begin(sum.class_ns));
}

Field<double> rate(double amount, std::int64_t duration_ns) {
  return duration_ns > 0 ? Field<double>(amount / static_cast<double>(duration_ns))
                         : Field<double>(Reason::zero_length);
}

// What collectives move, and what computation is known to do. Rates are over the records they are known of.
void set_work(const GpuSource& source, const OperationSummary& sum, OperationRow& row) {
  const GpuClass most = class_of_most_time(sum);
  if (most == GpuClass::comm) {
    row.bytes = row.gbps = Reason::no_shapes;
    if (sum.message_bytes <= 0) return;
    row.bytes = static_cast<double>(sum.message_bytes);
    row.gbps = rate(row.bytes.value(), sum.message_ns);
    return;
  }
  if (!is_compute(most)) return;
  row.flops = row.bytes = row.tflops = row.gbps = row.peak_share = Reason::no_shapes;
  row.bound = Reason::no_shapes;
  if (sum.known_ns <= 0 && sum.flops <= 0 && sum.bytes <= 0) return;
  row.flops = sum.flops;
  row.tflops = rate(sum.flops / 1e3, sum.known_ns);
  if (sum.bytes > 0) {
    row.bytes = sum.bytes;
    row.gbps = rate(sum.bytes, sum.known_ns);
  }
  if (sum.least_ns <= 0) {
    const Reason reason = source.spec == nullptr ? Reason::unknown_gpu : Reason::no_peak;
    row.peak_share = reason;
    row.bound = reason;
    return;
  }
  const Bound bound = 2 * sum.compute_bound_ns >= sum.least_ns ? Bound::compute : Bound::memory;
  row.bound = std::string(to_string(bound));
  row.peak_share = rate(sum.least_ns, sum.least_known_ns);
  // Memory can seem faster than it is, by caches; arithmetic cannot.
  if (bound == Bound::compute && row.peak_share.present() && row.peak_share.value() > 1)
    row.peak_share = Reason::peak_exceeded;
}

bool holds_in_any_iteration(const Selection& selection, const OperationKey& key) {
  return selection.holds_phase(key.phase) && selection.holds_operation(key.operation) &&
         (!selection.layers || selection.holds_layer(key.layer));
}

bool holds(const Selection& selection, const GpuSummary& gpu, const OperationKey& key) {
  if (!holds_in_any_iteration(selection, key)) return false;
  if (!selection.iterations) return true;
  const auto ordinal = static_cast<std::int32_t>(key.ordinal);
  const Field<std::int64_t> number = ordinal < 0 ? Field<std::int64_t>() : iteration_number(gpu, ordinal);
  return selection.holds_iteration(ordinal, number.present() ? number.value() : kNoNumber);
}

// The selected operations, as coarse as asked for. A selection may need a finer grain than the rows have.
std::map<OperationKey, OperationSummary> selected_operations(const GpuSummary& gpu, const RunOptions& options) {
  std::map<OperationKey, OperationSummary> selected;
  for (const auto& [key, sum] : gpu.operations) {
    if (!holds(options.selection, gpu, key)) continue;
    OperationKey coarse = key;
    coarse.in_steps = false;
    if (!options.grain_layer) coarse.layer = kNotGrouped;
    if (!options.grain_iteration) coarse.ordinal = kNotGrouped;
    selected[coarse].merge(sum);
  }
  return selected;
}

// Likewise of the iterations that step times are means of, by phase and operation. These are selected ones; the launch
// gaps are those that lie in their windows, also in front of kernels of the iteration behind.
std::map<OperationKey, OperationSummary> step_operations(const GpuSummary& gpu, const RunOptions& options) {
  std::map<OperationKey, OperationSummary> selected;
  for (const auto& [key, sum] : gpu.operations) {
    if (key.in_steps && holds_in_any_iteration(options.selection, key)) selected[{key.phase, key.operation}].merge(sum);
  }
  return selected;
}

OperationRow operation_row(const GpuSource& source, const OperationKey& key, const OperationSummary& sum) {
  OperationRow row;
  set_source(source, row);
  row.phase = to_string(key.phase);
  row.operation = key.operation;
  if (key.ordinal != kNotGrouped) {
    const auto ordinal = static_cast<std::int32_t>(key.ordinal);
    row.iteration = ordinal < 0 ? ordinal_field(ordinal) : iteration_number(source.gpu, ordinal);
  }
  if (key.layer != kNotGrouped) row.layer = layer_field(key.layer);
  row.layer_known = sum.num_layer_known == sum.num_kernels;
  row.gpu_class = to_string(class_of_most_time(sum));
  std::copy(std::begin(sum.class_ns), std::end(sum.class_ns), row.class_ns.begin());
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
  set_work(source, sum, row);
  return row;
}

}  // namespace

void add_operation_rows(const GpuSource& source, const RunOptions& options, Answer& answer) {
  for (const auto& [key, sum] : selected_operations(source.gpu, options))
    answer.operations.push_back(operation_row(source, key, sum));
  for (const auto& [key, sum] : step_operations(source.gpu, options))
    answer.step_operations.push_back(operation_row(source, key, sum));
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
