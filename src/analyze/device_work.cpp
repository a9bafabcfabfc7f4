// SPDX-License-Identifier: Apache-2.0
#include "analyze/device_work.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "base/check.h"
#include "base/radix_sort.h"
#include "model/rows.h"

namespace chopper {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

void group_by_iteration(const GpuWorkLabels& labels, DeviceWork& work) {
  const std::size_t buckets = labels.iterations.marks.size() + static_cast<std::size_t>(kIterationBuckets);
  const auto bucket_of = [&](std::uint32_t row) {
    const auto bucket = static_cast<std::size_t>(labels.iteration[row] + kIterationBuckets);
    CHOPPER_CHECK(bucket < buckets);
    return bucket;
  };
  work.iteration_begin.assign(buckets + 1, 0);
  for (const std::uint32_t row : work.rows) work.iteration_begin[bucket_of(row) + 1]++;
  for (std::size_t b = 0; b < buckets; b++) work.iteration_begin[b + 1] += work.iteration_begin[b];
  std::vector<std::uint32_t> next(work.iteration_begin.begin(), work.iteration_begin.end() - 1);
  work.by_iteration.resize(work.rows.size());
  for (const std::uint32_t row : work.rows) work.by_iteration[next[bucket_of(row)]++] = row;
}

// S_k is the running maximum of the first COMP start launched in k, without any of the first work of k; iterations
// without work begin where the next one does, those behind the last one with work where it ends.
WindowBounds window_bounds(const GpuWorkTable& gpu, const GpuWorkLabels& labels, const DeviceWork& work) {
  WindowBounds bounds;
  const std::size_t marks = labels.iterations.marks.size();
  bounds.starts_ns.assign(marks, kNever);
  std::int64_t highest = std::numeric_limits<std::int64_t>::min();
  for (std::size_t k = 0; k < marks; k++) {
    const std::size_t bucket = k + static_cast<std::size_t>(kIterationBuckets);
    const std::uint32_t begin = work.iteration_begin[bucket], end = work.iteration_begin[bucket + 1];
    if (begin == end) continue;
    std::int64_t first = gpu.start_ns[work.by_iteration[begin]];
    for (std::uint32_t i = begin; i < end; i++) {
      const std::uint32_t row = work.by_iteration[i];
      if (!is_compute(labels.gpu_class[row])) continue;
      first = gpu.start_ns[row];
      break;
    }
    bounds.starts_ns[k] = highest = std::max(highest, first);
    bounds.last = k;
    bounds.end_ns = bounds.has_work ? bounds.end_ns : highest;
    bounds.has_work = true;
    for (std::uint32_t i = begin; i < end; i++)
      bounds.end_ns = std::max(bounds.end_ns, interval_of(gpu, work.by_iteration[i]).end);
  }
  if (!bounds.has_work) {
    // Nothing was launched in any iteration: they lie, empty, between the work before the first and that after the
    // last.
    const auto head = static_cast<std::size_t>(kHeadIteration + kIterationBuckets);
    bounds.end_ns = work.start_ns;
    for (std::uint32_t i = work.iteration_begin[head]; i < work.iteration_begin[head + 1]; i++)
      bounds.end_ns = std::max(bounds.end_ns, interval_of(gpu, work.by_iteration[i]).end);
  }
  std::int64_t next = bounds.end_ns;
  for (std::size_t k = marks; k-- > 0;) {
    if (bounds.starts_ns[k] == kNever) bounds.starts_ns[k] = next;
    next = bounds.starts_ns[k];
  }
  return bounds;
}

// The last clause of `complete` needs the kernels that start in each window.
void find_complete(const GpuWorkTable& gpu, const GpuWorkLabels& labels, const DeviceWork& work, WindowBounds& bounds) {
  const std::vector<IterationMarks::Mark>& marks = labels.iterations.marks;
  const auto at_least_99_percent = [](std::int64_t part, std::int64_t whole) { return part * 100 >= whole * 99; };
  bounds.complete.assign(marks.size(), 0);
  std::size_t at = 0;  // into work.rows
  for (std::size_t k = 0; k < marks.size(); k++) {
    const std::int64_t end = k + 1 < marks.size() ? bounds.starts_ns[k + 1] : bounds.end_ns;
    std::int64_t kernels = 0, launched = 0;
    while (at < work.rows.size() && gpu.start_ns[work.rows[at]] < bounds.starts_ns[k]) at++;
    for (; at < work.rows.size() && gpu.start_ns[work.rows[at]] < end; at++) {
      if (gpu.category[work.rows[at]] != GpuCategory::kernel) continue;
      kernels++;
      if (labels.launch[work.rows[at]] != kNoRow) launched++;
    }
    const IterationMarks::Mark& mark = marks[k];
    bounds.complete[k] = mark.closed &&
                         at_least_99_percent(mark.num_launches - mark.num_unanswered, mark.num_launches) &&
                         at_least_99_percent(launched, kernels);
  }
}

void find_gaps(const TraceTables& trace, const GpuWorkLabels& labels, DeviceWork& work) {
  const GpuWorkTable& gpu = trace.gpu_work;
  CoverWalk busy(work.busy);
  const auto idle_in = [&](std::int64_t start, std::int64_t end) { return end - start - busy.overlap(start, end); };
  std::int64_t ends = 0;  // E
  for (const std::uint32_t row : work.rows) {
    if (!is_chain_kernel(gpu, labels, row)) continue;
    const Interval kernel = interval_of(gpu, row);
    if (work.first_of_chain == UINT32_MAX) {
      work.first_of_chain = row;
      ends = kernel.end;
      continue;
    }
    const RowId launch = labels.launch[row];
    if (launch != kNoRow && kernel.start > ends) {
      const std::int64_t call = trace.launches.start_ns[index_of(launch)];
      LaunchGap& gap = work.gaps.emplace_back();
      gap.row = row;
      gap.from_ns = ends;
      gap.called_ns = std::clamp(call, ends, kernel.start);
      gap.to_ns = kernel.start;
      gap.prep_idle_ns = idle_in(gap.from_ns, gap.called_ns);
      gap.call_idle_ns = idle_in(gap.called_ns, gap.to_ns);
    }
    ends = std::max(ends, kernel.end);
  }
}

}  // namespace

void ClassCovers::add(Interval record, GpuClass gpu_class, bool is_comm_copy) {
  extend(busy, record);
  if (is_copy(gpu_class)) {
    extend(copies, record);
  } else {
    extend(compute_or_comm, record);
    if (is_compute(gpu_class)) {
      extend(compute, record);
      if (!is_comm_copy) extend(compute_without_copy, record);
    } else {
      extend(comm, record);
    }
  }
  if (is_comm_copy) extend(comm_copy, record);
}

void ClassCovers::clear() {
  for (Cover* cover : {&compute, &compute_without_copy, &comm, &copies, &comm_copy, &compute_or_comm, &busy})
    cover->clear();
}

CoverLengths lengths_of(const ClassCovers& covers) {
  CoverLengths l;
  l.busy_ns = length_of(covers.busy);
  l.compute_ns = length_of(covers.compute);
  l.comm_ns = length_of(covers.comm);
  l.memcpy_ns = length_of(covers.copies);
  l.overlap_ns = overlap_of(covers.compute, covers.comm);
  l.exposed_comm_ns = l.comm_ns - l.overlap_ns;
  l.exposed_comm_strict_ns = l.comm_ns - overlap_of(covers.comm, covers.compute_without_copy);
  l.exposed_memcpy_ns = l.memcpy_ns - overlap_of(covers.copies, covers.compute_or_comm);
  l.comm_copy_ns = length_of(covers.comm_copy);
  return l;
}

std::map<std::int32_t, GpuRows> rows_by_device(const GpuWorkTable& gpu) {
  std::map<std::int32_t, GpuRows> devices;
  GpuRows* last = nullptr;
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
    // By start first, which is most of the order; what ties is then in place by itself or nearly so.
    radix_sort(keys, [](const Key& k) { return static_cast<std::uint64_t>(k.start_ns) ^ (1ull << 63); });
    for (auto first = keys.begin(); first != keys.end();) {
      const auto end = std::find_if(first, keys.end(), [&](const Key& k) { return k.start_ns != first->start_ns; });
      if (end - first > 1) std::sort(first, end, less);
      first = end;
    }
    for (std::size_t i = 0; i < rows.size(); i++) rows[i] = keys[i].row;
  }
  return devices;
}

std::vector<std::uint8_t> steps_of(const WindowBounds& windows, const IterationMarks& marks,
                                   const Selection& selection) {
  const std::size_t num = windows.starts_ns.size();
  std::vector<std::uint8_t> flags(num, 0);
  for (const bool also_incomplete : {false, true}) {
    for (const bool also_last : {false, true}) {
      if (also_last && !also_incomplete) continue;
      bool any = false;
      for (std::size_t k = 0; k < num; k++) {
        const std::int64_t end = k + 1 < num ? windows.starts_ns[k + 1] : windows.end_ns;
        const bool is_last = !windows.has_work || k >= windows.last;
        const bool wanted = counts_as_step(also_incomplete || windows.complete[k] != 0, is_last && !also_last,
                                           end - windows.starts_ns[k]) &&
                            selection.holds_iteration(static_cast<std::int64_t>(k), marks.marks[k].number);
        flags[k] = wanted ? 1 : 0;
        any = any || wanted;
      }
      if (any) return flags;
    }
  }
  return flags;
}

DeviceWork prepare_device(const TraceTables& trace, const GpuWorkLabels& labels, GpuRows rows) {
  const GpuWorkTable& gpu = trace.gpu_work;
  DeviceWork work;
  work.rows = std::move(rows);
  work.start_ns = work.end_ns = gpu.start_ns[work.rows.front()];
  for (const std::uint32_t row : work.rows) {
    const Interval record = interval_of(gpu, row);
    work.end_ns = std::max(work.end_ns, record.end);
    work.covers.add(record, labels.gpu_class[row], labels.comm_copy[row] != 0);
  }
  work.busy = CoverIndex(work.covers.busy);
  work.comm = CoverIndex(work.covers.comm);
  work.compute = CoverIndex(work.covers.compute);
  group_by_iteration(labels, work);
  work.windows = window_bounds(gpu, labels, work);
  find_complete(gpu, labels, work, work.windows);
  work.windows.in_steps = steps_of(work.windows, labels.iterations, {});
  find_gaps(trace, labels, work);
  return work;
}

}  // namespace chopper
