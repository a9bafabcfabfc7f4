// SPDX-License-Identifier: Apache-2.0
#include "analyze/compute_kernels.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <unordered_map>

#include "analyze/decomposition/concurrency.h"
#include "analyze/model_theory.h"
#include "analyze/timeline.h"
#include "analyze/work.h"

namespace chopper {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

// Work of the host operator of each kernel. Of several kernels each has the share of its duration: which of them does
// how much nobody records, and where counters of one are missing the others stand for it.
class OperatorWork {
 public:
  OperatorWork(const TraceTables& trace, const GpuWorkLabels& labels, const GpuSpec* spec)
      : trace_(trace), labels_(labels), spec_(spec), cache_(trace.strings) {}

  /// Of all kernels, before any is appended.
  void count(std::uint32_t row) {
    const RowId range = labels_.operation_range[row];
    if (range == kNoRow) return;
    Kernels& kernels = kernels_[index_of(range)];
    kernels.number++;
    kernels.duration_ns += static_cast<double>(trace_.gpu_work.duration_ns[row]);
  }

  void append(std::uint32_t row, ComputeKernelTable& table) {
    double flops = kUnknown, bytes = kUnknown, flops_ns = kUnknown, bytes_ns = kUnknown;
    TheorySource source = TheorySource::none;
    const RowId range = labels_.operation_range[row];
    if (range != kNoRow) {
      const std::uint32_t at = index_of(range);
      const HostRangeTable& ranges = trace_.ranges;
      if (ranges.shapes[at] != kNoString) {
        const std::optional<Work>& work =
            cache_.work_of(ranges.name[at], ranges.shapes[at], ranges.types[at], ranges.values[at]);
        if (work) tell(*work, share_of(row, at), flops, bytes, flops_ns, bytes_ns);
        if (work) source = TheorySource::shapes;
      }
    }
    table.theory.push_back(source);
    table.flops.push_back(flops);
    table.bytes.push_back(bytes);
    table.flops_ns.push_back(flops_ns);
    table.bytes_ns.push_back(bytes_ns);
  }

  /// What else the labels say of the kernel. Recorded shapes that tell nothing, and sequences of several lengths, are
  /// no work of the model.
  KernelOrigin origin_of(std::uint32_t row) const {
    KernelOrigin origin{labels_.operation_range[row], labels_.gpu_class[row], labels_.recompute[row] != 0, false};
    if (origin.operator_range == kNoRow) return origin;
    const std::uint32_t at = index_of(origin.operator_range);
    const std::string_view name = trace_.strings.view(trace_.ranges.name[at]);
    origin.shapes_differ = trace_.ranges.shapes[at] != kNoString || name.find("varlen") != std::string_view::npos;
    return origin;
  }

 private:
  struct Kernels {
    double duration_ns = 0;
    std::int64_t number = 0;
  };

  double share_of(std::uint32_t row, std::uint32_t range) const {
    const auto at = kernels_.find(range);
    if (at == kernels_.end() || at->second.number <= 1) return 1;
    const Kernels& kernels = at->second;
    return kernels.duration_ns > 0 ? static_cast<double>(trace_.gpu_work.duration_ns[row]) / kernels.duration_ns
                                   : 1 / static_cast<double>(kernels.number);
  }

  void tell(const Work& work, double share, double& flops, double& bytes, double& flops_ns, double& bytes_ns) const {
    flops = share * work.flops;
    if (work.bytes > 0) bytes = share * work.bytes;
    if (spec_ == nullptr) return;
    if (work.flops <= 0) {
      flops_ns = 0;
    } else if (const std::optional<double> peak = peak_flops(work.peak, *spec_)) {
      flops_ns = share * work.flops / *peak * 1e9;
    }
    if (work.bytes > 0) bytes_ns = share * work.bytes / spec_->memory_gb_per_s;
  }

  const TraceTables& trace_;
  const GpuWorkLabels& labels_;
  const GpuSpec* spec_;
  WorkCache cache_;
  std::unordered_map<std::uint32_t, Kernels> kernels_;  // by row of ranges
};

// The communication a kernel overlaps most: kernels are asked for in order of start.
class LargestOverlap {
 public:
  LargestOverlap(const TraceTables& trace, const GpuWorkLabels& labels, const DeviceWork& work)
      : gpu_(trace.gpu_work), labels_(labels) {
    for (const std::uint32_t row : work.rows) {
      if (labels.gpu_class[row] == GpuClass::comm) comm_.push_back(row);
    }
  }

  /// Operation of it, in labels.operations; kNoString where there is none.
  StringId of(Interval kernel) {
    while (next_ < comm_.size() && gpu_.start_ns[comm_[next_]] < kernel.end) running_.push_back(comm_[next_++]);
    std::erase_if(running_, [&](std::uint32_t row) { return interval_of(gpu_, row).end <= kernel.start; });
    std::int64_t most = 0;
    StringId operation = kNoString;
    for (const std::uint32_t row : running_) {
      const Interval comm = interval_of(gpu_, row);
      const std::int64_t overlap = std::min(comm.end, kernel.end) - std::max(comm.start, kernel.start);
      if (overlap <= most) continue;
      most = overlap;
      operation = labels_.operation[row];
    }
    return operation;
  }

 private:
  const GpuWorkTable& gpu_;
  const GpuWorkLabels& labels_;
  GpuRows comm_;  // in order of start
  std::size_t next_ = 0;
  GpuRows running_;  // those that may reach into the next kernel
};

// Threads of the grid modulo 2^32, and of a block.
void append_extents(const LaunchExtents& extents, ComputeKernelTable& table) {
  const auto product = [](const Extent& e) { return std::uint64_t{e.x} * e.y * e.z; };
  const bool has_block = extents.block.known();
  const std::uint64_t group = product(extents.block);
  table.group_items.push_back(has_block ? static_cast<std::int64_t>(group) : kNoNumber);
  const bool has_grid = has_block && extents.grid.known();
  table.work_items.push_back(has_grid ? static_cast<std::int64_t>(product(extents.grid) * group & 0xffffffffu)
                                      : kNoNumber);
}

std::int64_t launch_of(const TraceTables& trace, const GpuWorkLabels& labels, std::uint32_t row) {
  return labels.launch[row] == kNoRow ? trace.gpu_work.start_ns[row]
                                      : trace.launches.start_ns[index_of(labels.launch[row])];
}

// Rows of COMP kernels in order of (launch call or else start, start, offset).
GpuRows in_launch_order(const TraceTables& trace, const GpuWorkLabels& labels, const DeviceWork& work) {
  GpuRows rows;
  for (const std::uint32_t row : work.rows) {
    if (is_chain_kernel(trace.gpu_work, labels, row)) rows.push_back(row);
  }
  std::stable_sort(rows.begin(), rows.end(), [&](std::uint32_t a, std::uint32_t b) {
    return launch_of(trace, labels, a) < launch_of(trace, labels, b);
  });
  return rows;
}

// What each kernel takes of the windows of the iterations.
void add_windows(const DeviceWork& work, ComputeKernels& kept) {
  std::vector<Interval> kernels;
  for (std::size_t i = 0; i < num_rows(kept.table); i++)
    kernels.push_back({kept.table.start_ns[i], kept.table.start_ns[i] + kept.table.duration_ns[i]});
  std::vector<std::int64_t> bounds = work.windows.starts_ns;
  if (bounds.empty()) return;
  bounds.push_back(std::max(work.windows.end_ns, bounds.back()));
  for (const WindowWeight& part : concurrency_weights(kernels, bounds))
    kept.in_windows.push_back({static_cast<std::int32_t>(part.window), part.kernel, part.weight_ns});
}

}  // namespace

ComputeKernels keep_compute_kernels(const TraceTables& trace, const GpuWorkLabels& labels, const DeviceWork& work,
                                    const SelectedRows& selected, const GpuSpec* spec, const ModelFacts* model,
                                    std::string_view shown) {
  const GpuWorkTable& gpu = trace.gpu_work;
  ComputeKernels kept;
  ComputeKernelTable& table = kept.table;
  const auto operation_name = [&](StringId id) {
    return id == kNoString ? kNoString : kept.strings.intern(labels.operations.view(id));
  };
  // Overlaps are found in order of start, rows are kept in order of launch.
  std::vector<StringId> overlapped(num_rows(gpu), kNoString);
  LargestOverlap largest(trace, labels, work);
  for (const std::uint32_t row : work.rows) {
    if (is_chain_kernel(gpu, labels, row)) overlapped[row] = largest.of(interval_of(gpu, row));
  }
  OperatorWork operators(trace, labels, spec);
  const std::vector<std::uint8_t>& complete = work.windows.complete;
  const bool any_complete = std::any_of(complete.begin(), complete.end(), [](std::uint8_t c) { return c != 0; });
  const GpuRows rows = in_launch_order(trace, labels, work);
  for (const std::uint32_t row : rows) operators.count(row);
  std::vector<KernelOrigin> origins;
  for (const std::uint32_t row : rows) {
    const std::int32_t k = labels.iteration[row];
    const Interval kernel = interval_of(gpu, row);
    table.name.push_back(kept.strings.intern(trace.strings.view(gpu.name[row])));
    append_extents(launch_extents(trace, labels, row), table);
    table.launch_ns.push_back(launch_of(trace, labels, row));
    table.start_ns.push_back(kernel.start);
    table.duration_ns.push_back(gpu.duration_ns[row]);
    table.overlap_ns.push_back(work.comm.overlap(kernel.start, kernel.end));
    table.overlapped_with.push_back(operation_name(overlapped[row]));
    table.phase.push_back(labels.phase[row]);
    table.operation.push_back(operation_name(labels.operation[row]));
    table.layer.push_back(labels.layer[row]);
    table.iteration.push_back(k);
    table.instance.push_back(labels.instance[row]);
    table.selected.push_back(selected(row) ? 1 : 0);
    table.complete.push_back(k >= 0 && (!any_complete || complete[static_cast<std::size_t>(k)] != 0) ? 1 : 0);
    table.comm_copy.push_back(labels.comm_copy[row]);
    operators.append(row, table);
    origins.push_back(operators.origin_of(row));
    table.offset.push_back(gpu.offset[row]);
  }
  number_micro_steps(labels.iterations, model != nullptr ? model->facts.micro_steps : std::nullopt, origins, table);
  if (model != nullptr) add_model_work(model->facts, model->shards, spec, origins, shown, kept);
  add_windows(work, kept);
  return kept;
}

}  // namespace chopper
