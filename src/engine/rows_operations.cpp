// SPDX-License-Identifier: Apache-2.0
// Rows of operations and of like kernels.
#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "analyze/work.h"
#include "base/wrapping.h"
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
  row.peak_share = rate(sum.least_ns, sum.least_known_ns);
  row.bound = std::string(to_string(2 * sum.compute_bound_ns >= sum.least_ns ? Bound::compute : Bound::memory));
}

void merge(const OperationSummary& from, OperationSummary& into) {
  into.num_kernels += from.num_kernels;
  into.prep_ns += from.prep_ns;
  into.call_ns += from.call_ns;
  into.prep_idle_ns += from.prep_idle_ns;
  into.call_idle_ns += from.call_idle_ns;
  into.num_no_launch += from.num_no_launch;
  into.num_layer_known += from.num_layer_known;
  for (std::int64_t OperationSummary::*const sum :
       {&OperationSummary::duration_ns, &OperationSummary::elapsed_ns, &OperationSummary::overlap_ns,
        &OperationSummary::compute_ns, &OperationSummary::known_ns, &OperationSummary::least_known_ns,
        &OperationSummary::message_bytes, &OperationSummary::message_ns}) {
    add_wrapping(into.*sum, from.*sum);
  }
  for (std::size_t c = 0; c < std::size(into.class_ns); c++) add_wrapping(into.class_ns[c], from.class_ns[c]);
  into.flops += from.flops;
  into.bytes += from.bytes;
  into.recompute_flops += from.recompute_flops;
  into.least_ns += from.least_ns;
  into.compute_bound_ns += from.compute_bound_ns;
  into.instances.merge(from.instances);
}

// The selected operations, in rows of the grain asked for.
std::map<OperationKey, OperationSummary> selected_operations(const GpuSummary& gpu, const RunOptions& options) {
  const Selection& selection = options.selection;
  std::map<OperationKey, OperationSummary> selected;
  for (const auto& [key, sum] : gpu.operations) {
    if (!selection.holds_phase(key.phase) || !selection.holds_operation(key.operation)) continue;
    if (selection.layers && !selection.holds_layer(key.layer)) continue;
    if (selection.iterations) {
      const auto ordinal = static_cast<std::int32_t>(key.ordinal);
      const Field<std::int64_t> number = ordinal < 0 ? Field<std::int64_t>() : iteration_number(gpu, ordinal);
      if (!selection.holds_iteration(ordinal, number.present() ? number.value() : kNoNumber)) continue;
    }
    OperationKey coarse = key;
    if (!options.grain_layer) coarse.layer = kNotGrouped;
    if (!options.grain_iteration) coarse.ordinal = kNotGrouped;
    merge(sum, selected[coarse]);
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
  // A selection may need a finer grain than the rows have.
  const bool is_whole = options.selection.is_everything();
  const auto selected =
      is_whole ? std::map<OperationKey, OperationSummary>() : selected_operations(source.gpu, options);
  for (const auto& [key, sum] : is_whole ? source.gpu.operations : selected)
    answer.operations.push_back(operation_row(source, key, sum));
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
