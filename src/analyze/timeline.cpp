// SPDX-License-Identifier: Apache-2.0
#include "analyze/timeline.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <unordered_map>

#include "base/intervals.h"
#include "base/parallel.h"

namespace chopper {
namespace {

using Rows = std::vector<std::uint32_t>;

Interval interval_of(const GpuWorkTable& gpu, std::uint32_t row) {
  return {gpu.start_ns[row], gpu.start_ns[row] + gpu.duration_ns[row]};
}

// Rows of each device in order of (start, end, offset).
std::map<std::int32_t, Rows> rows_by_device(const GpuWorkTable& gpu) {
  std::map<std::int32_t, Rows> devices;
  Rows* last = nullptr;
  std::int32_t last_device = 0;
  for (std::uint32_t i = 0; i < num_rows(gpu); i++) {
    if (last == nullptr || gpu.device[i] != last_device) {
      last_device = gpu.device[i];
      last = &devices[last_device];
    }
    last->push_back(i);
  }
  for (auto& [device, rows] : devices) {
    static_cast<void>(device);
    struct Key {
      std::int64_t start_ns, duration_ns;
      std::uint64_t offset;
      std::uint32_t row;
    };
    std::vector<Key> keys;
    keys.reserve(rows.size());
    for (const std::uint32_t row : rows)
      keys.push_back({gpu.start_ns[row], gpu.duration_ns[row], gpu.offset[row], row});
    const auto less = [](const Key& a, const Key& b) {
      return std::tie(a.start_ns, a.duration_ns, a.offset) < std::tie(b.start_ns, b.duration_ns, b.offset);
    };
    if (!std::is_sorted(keys.begin(), keys.end(), less)) std::sort(keys.begin(), keys.end(), less);
    for (std::size_t i = 0; i < rows.size(); i++) rows[i] = keys[i].row;
  }
  return devices;
}

// Covers of the classes of one device.
struct DeviceCovers {
  Cover compute, compute_without_copy, comm, copies, comm_copy;
};

DeviceCovers covers_of(const GpuWorkTable& gpu, const GpuWorkLabels& labels, const Rows& rows) {
  std::vector<Interval> compute, strict, comm, copies, comm_copy;
  for (const std::uint32_t row : rows) {
    const GpuClass c = labels.gpu_class[row];
    const Interval i = interval_of(gpu, row);
    if (is_compute(c)) {
      compute.push_back(i);
      if (labels.comm_copy[row] == 0) strict.push_back(i);
    } else {
      (is_copy(c) ? copies : comm).push_back(i);
    }
    if (labels.comm_copy[row] != 0) comm_copy.push_back(i);
  }
  return {cover_of(std::move(compute)), cover_of(std::move(strict)), cover_of(std::move(comm)),
          cover_of(std::move(copies)), cover_of(std::move(comm_copy))};
}

// Equations 1 to 3 over the COMP kernels in start order:
//
//    ... earlier compute ]E        t_l = start of the launch call
//                         |-- prep --|----- call -----|[ kernel
//                         E         t_l              t_ks
//
// E is the running maximum of the ends before. The parts are intersected with device idle: only that is lost to
// launching.
void split_launches(const TraceTables& trace, const GpuWorkLabels& labels, const Rows& rows, const CoverIndex& busy,
                    const CoverIndex& comm, TimelineRow& line, std::vector<KernelTimes>* times) {
  const GpuWorkTable& gpu = trace.gpu_work;
  const auto idle_in = [&](std::int64_t start, std::int64_t end) { return end - start - busy.overlap(start, end); };
  bool first = true;
  std::int64_t ends = 0;  // E
  for (const std::uint32_t row : rows) {
    const Interval kernel = interval_of(gpu, row);
    if (times != nullptr) (*times)[row].overlap_ns = comm.overlap(kernel.start, kernel.end);
    if (!is_compute(labels.gpu_class[row]) || gpu.category[row] != GpuCategory::kernel) continue;
    const RowId launch = labels.launch[row];
    if (launch == kNoRow) line.num_no_launch++;
    if (first) {
      first = false;
      ends = kernel.end;
      if (times != nullptr) (*times)[row].first_of_chain = true;
      continue;
    }
    if (launch != kNoRow) {
      const std::int64_t gap = std::max<std::int64_t>(0, kernel.start - ends);
      const std::int64_t called = trace.launches.start_ns[index_of(launch)];
      const std::int64_t prep = std::min(std::max<std::int64_t>(called - ends, 0), gap);
      const std::int64_t call = gap - prep;
      line.prep_ns += prep;
      line.call_ns += call;
      if (gap > 0) {
        line.prep_idle_ns += idle_in(ends, ends + prep);
        line.call_idle_ns += idle_in(ends + prep, ends + gap);
      }
      if (times != nullptr) {
        (*times)[row].prep_ns = prep;
        (*times)[row].call_ns = call;
      }
    }
    ends = std::max(ends, kernel.end);
  }
}

void count_records(const GpuWorkTable& gpu, const GpuWorkLabels& labels, const Rows& rows, GpuSummary& summary) {
  const auto add = [](LabelCount& count, std::int64_t duration) {
    count.records++;
    count.duration_ns =
        static_cast<std::int64_t>(static_cast<std::uint64_t>(count.duration_ns) + static_cast<std::uint64_t>(duration));
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
    if (labels.iteration[row] != kNoIteration) add(summary.in_iteration, duration);
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

void group_kernels(const TraceTables& trace, const GpuWorkLabels& labels, const Rows& rows, GpuSummary& summary) {
  const GpuWorkTable& gpu = trace.gpu_work;
  std::unordered_map<GroupKey, std::vector<std::int64_t>, GroupHash> groups;
  for (const std::uint32_t row : rows) {
    if (gpu.category[row] != GpuCategory::kernel) continue;
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
void check_streams(const TraceTables& trace, const Rows& rows, std::string_view shown, HealthLog& health) {
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
    health.add(kind, std::string(shown) + " @ byte " + std::to_string(gpu.offset[row]),
               (gpu.stream[row] == kNoNumber ? "unknown stream" : "stream " + std::to_string(gpu.stream[row])) + ", " +
                   std::string(trace.strings.view(gpu.name[row]).substr(0, 60)),
               count);
  };
  add(HealthKind::overlapping_on_stream, overlapping, first_overlapping);
  add(HealthKind::duplicate_record, repeated, first_repeated);
}

std::optional<std::string> device_name(const TraceFacts& facts, std::int32_t device) {
  if (facts.devices.empty()) return std::nullopt;
  bool all_alike = true;
  for (const DeviceFacts& d : facts.devices) {
    if (d.id == device && !d.name.empty()) return d.name;
    all_alike = all_alike && d.name == facts.devices.front().name;
  }
  // AMD traces before 2026 count CPU sockets first (formats 1.7): ids do not match, but the devices are mostly the same
  // product.
  if (all_alike && !facts.devices.front().name.empty()) return facts.devices.front().name;
  return std::nullopt;
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

namespace {

// Covers, their lengths and overlaps, and the launch split.
void measure(const TraceTables& trace, const GpuWorkLabels& labels, const Rows& rows, TimelineRow& line,
             std::vector<KernelTimes>* times) {
  const GpuWorkTable& gpu = trace.gpu_work;
  const DeviceCovers covers = covers_of(gpu, labels, rows);
  const Cover compute_or_comm = unite(covers.compute, covers.comm);
  const CoverIndex busy(unite(compute_or_comm, covers.copies));
  const CoverIndex comm(covers.comm);
  std::int64_t last = std::numeric_limits<std::int64_t>::min();
  for (const std::uint32_t row : rows) last = std::max(last, gpu.start_ns[row] + gpu.duration_ns[row]);
  line.start_ns = gpu.start_ns[rows.front()];
  line.span_ns = last - gpu.start_ns[rows.front()];
  line.busy_ns = length_of(busy.cover());
  line.compute_ns = length_of(covers.compute);
  line.comm_ns = length_of(covers.comm);
  line.memcpy_ns = length_of(covers.copies);
  line.overlap_ns = overlap_of(covers.compute, covers.comm);
  line.exposed_comm_ns = line.comm_ns - line.overlap_ns;
  line.exposed_comm_strict_ns = line.comm_ns - overlap_of(covers.comm, covers.compute_without_copy);
  line.exposed_memcpy_ns = line.memcpy_ns - overlap_of(covers.copies, compute_or_comm);
  line.idle_ns = line.span_ns - line.busy_ns;
  line.comm_copy_ns = length_of(covers.comm_copy);
  CHOPPER_CHECK(line.compute_ns + line.exposed_comm_ns + line.exposed_memcpy_ns + line.idle_ns == line.span_ns);
  split_launches(trace, labels, rows, busy, comm, line, times);
  CHOPPER_CHECK(line.prep_idle_ns + line.call_idle_ns <= line.idle_ns);
}

}  // namespace

std::vector<GpuSummary> summarise_gpus(const TraceTables& trace, const GpuWorkLabels& labels, std::string_view shown,
                                       HealthLog& health, std::vector<KernelTimes>* times, unsigned threads) {
  const GpuWorkTable& gpu = trace.gpu_work;
  if (times != nullptr) times->assign(num_rows(gpu), {});
  std::vector<GpuSummary> summaries;
  for (const auto& [device, device_rows] : rows_by_device(gpu)) {
    GpuSummary& summary = summaries.emplace_back();
    const Rows& rows = device_rows;
    summary.device = device;
    summary.name = device_name(trace.facts, device);
    run_tasks(threads,
              {[&] { measure(trace, labels, rows, summary.timeline, times); },
               [&] { group_kernels(trace, labels, rows, summary); }, [&] { check_streams(trace, rows, shown, health); },
               [&] { count_records(gpu, labels, rows, summary); }});
  }
  return summaries;
}

}  // namespace chopper
