// SPDX-License-Identifier: Apache-2.0
#include "analyze/timeline.h"

#include <algorithm>
#include <functional>
#include <unordered_map>
#include <utility>

#include "analyze/collectives.h"
#include "analyze/compute_kernels.h"
#include "analyze/device_work.h"
#include "analyze/host_blockers.h"
#include "analyze/launches.h"
#include "analyze/windows.h"
#include "base/intervals.h"
#include "base/parallel.h"
#include "base/wrapping.h"

namespace chopper {
namespace {

// Launch split and overlap of every gpu record.
void set_times(const TraceTables& trace, const GpuWorkLabels& labels, const DeviceWork& work,
               std::vector<KernelTimes>& times) {
  CoverWalk comm(work.comm);
  for (const std::uint32_t row : work.rows) {
    const Interval record = interval_of(trace.gpu_work, row);
    times[row].overlap_ns = comm.overlap(record.start, record.end);
    if (!is_chain_kernel(trace.gpu_work, labels, row)) continue;
    times[row].first_of_chain = row == work.first_of_chain;
    if (!times[row].first_of_chain && labels.launch[row] != kNoRow) times[row].prep_ns = times[row].call_ns = 0;
  }
  for (const LaunchGap& gap : work.gaps) {
    times[gap.row].prep_ns = gap.prep_ns();
    times[gap.row].call_ns = gap.call_ns();
  }
}

void count_records(const GpuWorkTable& gpu, const GpuWorkLabels& labels, const GpuRows& rows, GpuSummary& summary) {
  const auto add = [](LabelCount& count, std::int64_t duration) {
    count.records++;
    add_wrapping(count.duration_ns, duration);
  };
  LabelCount rules[3][kNumLabelRules];
  for (const std::uint32_t row : rows) {
    switch (gpu.category[row]) {
      case GpuCategory::kernel:
        summary.num_kernels++;
        if (labels.gpu_class[row] == GpuClass::comm) summary.num_comm_kernels++;
        break;
      case GpuCategory::memcpy:
        summary.num_memcpy++;
        break;
      case GpuCategory::memset:
        summary.num_memset++;
        break;
    }
    const std::int64_t duration = gpu.duration_ns[row];
    add(summary.all, duration);
    if (labels.launch[row] != kNoRow) add(summary.launched, duration);
    if (labels.range[row] != kNoRow) add(summary.in_range, duration);
    if (labels.operation_range[row] != kNoRow) add(summary.in_operation, duration);
    if (labels.gpu_class[row] != GpuClass::other) add(summary.classed, duration);
    if (labels.iteration[row] >= 0) add(summary.in_iteration, duration);
    if (labels.phase[row] != Phase::unlabelled) add(summary.with_phase, duration);
    if (labels.layer[row] != kUnknownLayer) add(summary.with_layer, duration);
    if (labels.operation[row] != kNoString) add(summary.with_operation, duration);
    add(rules[0][static_cast<std::size_t>(labels.phase_rule[row])], duration);
    add(rules[1][static_cast<std::size_t>(labels.layer_rule[row])], duration);
    add(rules[2][static_cast<std::size_t>(labels.operation_rule[row])], duration);
  }
  constexpr std::string_view kKinds[] = {"phase", "layer", "operation"};
  for (std::size_t kind = 0; kind < 3; kind++) {
    for (std::size_t rule = 0; rule < kNumLabelRules; rule++) {
      if (rules[kind][rule].records == 0) continue;
      summary.label_rules[{std::string(kKinds[kind]), static_cast<LabelRule>(rule)}] = rules[kind][rule];
    }
  }
}

struct GroupKey {
  StringId name;
  GpuClass gpu_class;
  StringId operation;
  Extent grid, block;
  friend bool operator==(const GroupKey&, const GroupKey&) = default;
};
struct GroupHash {
  std::size_t operator()(const GroupKey& k) const {
    std::uint64_t h = index_of(k.name) * 0x9e3779b97f4a7c15ull + static_cast<std::uint64_t>(k.gpu_class);
    h = (h ^ index_of(k.operation)) * 0xc2b2ae3d27d4eb4full;
    for (const std::uint32_t v : {k.grid.x, k.grid.y, k.grid.z, k.block.x, k.block.y, k.block.z})
      h = (h ^ v) * 0xd6e8feb86659fd93ull;
    return h ^ h >> 32;
  }
};

void group_kernels(const TraceTables& trace, const GpuWorkLabels& labels, const GpuRows& rows,
                   const SelectedRows& selected, GpuSummary& summary) {
  const GpuWorkTable& gpu = trace.gpu_work;
  std::unordered_map<GroupKey, std::vector<std::int64_t>, GroupHash> groups;
  for (const std::uint32_t row : rows) {
    if (gpu.category[row] != GpuCategory::kernel || !selected(row)) continue;
    const LaunchExtents extents = launch_extents(trace, labels, row);
    groups[{gpu.name[row], labels.gpu_class[row], labels.operation[row], extents.grid, extents.block}].push_back(
        gpu.duration_ns[row]);
  }
  for (const auto& [key, durations] : groups) {  // the order of the hash map does not matter: the target is sorted
    const std::string_view operation =
        key.operation == kNoString ? std::string_view("unlabelled") : labels.operations.view(key.operation);
    summary
        .kernels[{std::string(trace.strings.view(key.name)), key.gpu_class, std::string(operation), key.grid,
                  key.block}]
        .add_all(durations);
  }
}

// Neighbours on one stream or queue: overlaps beyond the quantum, and records repeated in every field.
void check_streams(const TraceTables& trace, const GpuRows& rows, std::string_view shown, HealthLog& health) {
  const GpuWorkTable& gpu = trace.gpu_work;
  struct Last {
    std::uint32_t row;
    std::int64_t end_ns;
  };
  std::unordered_map<std::int64_t, Last> last;
  std::uint64_t overlapping = 0, repeated = 0;
  std::uint32_t first_overlapping = 0, first_repeated = 0;
  for (const std::uint32_t row : rows) {
    const Interval now = interval_of(gpu, row);
    const auto [at, inserted] = last.try_emplace(gpu.stream[row], Last{row, now.end});
    if (inserted) continue;
    const std::uint32_t before = at->second.row;
    if (gpu.correlation[row] != kNoId && gpu.correlation[row] == gpu.correlation[before] &&
        gpu.start_ns[row] == gpu.start_ns[before] && gpu.duration_ns[row] == gpu.duration_ns[before] &&
        gpu.name[row] == gpu.name[before] && gpu.category[row] == gpu.category[before]) {
      if (repeated++ == 0) first_repeated = row;
    } else if (now.start < at->second.end_ns - trace.facts.quantum_ns) {
      if (overlapping++ == 0) first_overlapping = row;
    }
    at->second.row = row;
    at->second.end_ns = std::max(at->second.end_ns, now.end);
  }
  const auto add = [&](HealthKind kind, std::uint64_t count, std::uint32_t row) {
    if (count == 0) return;
    health.add(kind, place_of(shown, trace.facts, gpu.offset[row]),
               (gpu.stream[row] == kNoNumber ? "unknown stream" : "stream " + std::to_string(gpu.stream[row])) + ", " +
                   std::string(trace.strings.view(gpu.name[row]).substr(0, 60)),
               count);
  };
  add(HealthKind::overlapping_on_stream, overlapping, first_overlapping);
  add(HealthKind::duplicate_record, repeated, first_repeated);
}

// What the trace says of a device; nullptr where nothing is sure.
const DeviceFacts* facts_of_device(const TraceFacts& facts, std::int32_t device) {
  if (facts.devices.empty()) return nullptr;
  bool all_alike = true;
  for (const DeviceFacts& d : facts.devices) {
    if (d.id == device && !d.name.empty()) return &d;
    all_alike = all_alike && d.name == facts.devices.front().name;
  }
  // AMD traces before 2026 count CPU sockets first (formats 1.7): ids do not match, but the devices are mostly the same
  // product.
  return all_alike && !facts.devices.front().name.empty() ? &facts.devices.front() : nullptr;
}

// AMD's runtime fills in the same numbers, which do not name its architectures.
std::string architecture_of(const DeviceFacts& device, Vendor vendor) {
  const bool is_known =
      device.compute_major > 0 && device.compute_major < 100 && device.compute_minor >= 0 && device.compute_minor < 10;
  if (vendor != Vendor::nvidia || !is_known) return {};
  return "sm_" + std::to_string(device.compute_major) + std::to_string(device.compute_minor);
}

}  // namespace

LaunchExtents launch_extents(const TraceTables& trace, const GpuWorkLabels& labels, std::size_t row) {
  LaunchExtents extents{trace.gpu_work.grid[row], trace.gpu_work.block[row]};
  if (labels.launch[row] == kNoRow || !extents.grid.known() || !extents.block.known()) return extents;
  const std::string_view call = trace.strings.view(trace.launches.name[index_of(labels.launch[row])]);
  if (call != "hipExtModuleLaunchKernel" && call != "hipHccModuleLaunchKernel") return extents;
  const auto divide = [](std::uint32_t items, std::uint32_t block) {
    return block == 0 ? items : items / block + (items % block != 0 ? 1u : 0u);
  };
  extents.grid = {divide(extents.grid.x, extents.block.x), divide(extents.grid.y, extents.block.y),
                  divide(extents.grid.z, extents.block.z)};
  return extents;
}

std::vector<GpuSummary> summarise_gpus(const TraceTables& trace, const GpuWorkLabels& labels,
                                       const SummaryOptions& options, HealthLog& health,
                                       std::vector<KernelTimes>* times) {
  const GpuWorkTable& gpu = trace.gpu_work;
  if (times != nullptr) times->assign(num_rows(gpu), {});
  std::vector<GpuSummary> summaries;
  const SelectedRows selected(options.selection, labels);
  HostBlockers blockers;
  if (options.blockers != nullptr) blockers = find_host_blockers(trace, labels, *options.blockers);
  std::optional<ModelFacts> model;
  if (options.keep_compute && options.facts != nullptr && options.dimensions != nullptr)
    model.emplace(ModelFacts{*options.facts, model_shards(*options.facts, trace, labels, *options.dimensions)});
  for (auto& [device, rows] : rows_by_device(gpu)) {
    GpuSummary& summary = summaries.emplace_back();
    summary.device = device;
    if (const DeviceFacts* stated = facts_of_device(trace.facts, device)) {
      summary.name = stated->name;
      summary.architecture = architecture_of(*stated, trace.facts.vendor);
      summary.num_units = stated->num_units;
    }
    const GpuSpec* spec = find_gpu(options.known, options.gpu_spec, summary.name);
    DeviceWork work = prepare_device(trace, labels, std::move(rows));
    work.windows.in_steps = steps_of(work.windows, labels.iterations, options.selection);
    std::vector<std::function<void()>> tasks = {
        [&] { group_kernels(trace, labels, work.rows, selected, summary); },
        [&] { summarise_operations(trace, labels, work, options.grain, spec, summary); },
        [&] {
          summary.timeline = trace_timeline(trace, labels, work);
          summary.windows = summarise_windows(trace, labels, work);
        },
        [&] { summarise_launches(trace, labels, work, selected, summary); },
        [&] { list_collectives(trace, labels, work, summary); },
        [&] { charge_host_blockers(trace, labels, work, blockers, selected, summary); },
        [&] { check_streams(trace, work.rows, options.shown, health); },
        [&] { count_records(gpu, labels, work.rows, summary); },
    };
    if (times != nullptr) tasks.emplace_back([&] { set_times(trace, labels, work, *times); });
    if (options.keep_compute) {
      tasks.emplace_back([&] {
        summary.compute_kernels = std::make_shared<const ComputeKernels>(
            keep_compute_kernels(trace, labels, work, selected, spec, model ? &*model : nullptr, options.shown));
      });
    }
    run_tasks(options.threads, tasks);
    if (summary.compute_kernels != nullptr) health.merge(summary.compute_kernels->notes);
  }
  return summaries;
}

}  // namespace chopper
