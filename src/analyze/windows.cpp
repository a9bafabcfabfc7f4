// SPDX-License-Identifier: Apache-2.0
#include "analyze/windows.h"

#include <algorithm>
#include <span>
#include <string_view>

#include "base/check.h"

namespace chopper {
namespace {

// Boundaries of head, iterations and tail: one more than there are windows.
std::vector<std::int64_t> boundaries_of(const DeviceWork& work) {
  std::vector<std::int64_t> bounds;
  bounds.reserve(work.windows.starts_ns.size() + 3);
  bounds.push_back(work.start_ns);
  bounds.insert(bounds.end(), work.windows.starts_ns.begin(), work.windows.starts_ns.end());
  bounds.push_back(work.windows.end_ns);
  bounds.push_back(work.end_ns);
  CHOPPER_CHECK(std::is_sorted(bounds.begin(), bounds.end()));
  return bounds;
}

void set_lengths(const CoverLengths& lengths, TimelineRow& row) {
  row.busy_ns = lengths.busy_ns;
  row.compute_ns = lengths.compute_ns;
  row.comm_ns = lengths.comm_ns;
  row.memcpy_ns = lengths.memcpy_ns;
  row.overlap_ns = lengths.overlap_ns;
  row.exposed_comm_ns = lengths.exposed_comm_ns;
  row.exposed_comm_strict_ns = lengths.exposed_comm_strict_ns;
  row.exposed_memcpy_ns = lengths.exposed_memcpy_ns;
  row.idle_ns = row.span_ns - row.busy_ns;
  row.comm_copy_ns = lengths.comm_copy_ns;
  CHOPPER_CHECK(row.compute_ns + row.exposed_comm_ns + row.exposed_memcpy_ns + row.idle_ns == row.span_ns);
}

// All gpu work, clipped to each window.
void set_window_lengths(const DeviceWork& work, std::span<const std::int64_t> bounds, std::span<TimelineRow*> rows) {
  const ClassCovers& c = work.covers;
  const auto busy = lengths_between(c.busy, bounds), compute = lengths_between(c.compute, bounds),
             comm = lengths_between(c.comm, bounds), copies = lengths_between(c.copies, bounds),
             comm_copy = lengths_between(c.comm_copy, bounds),
             overlap = lengths_between(intersect(c.compute, c.comm), bounds),
             strict_overlap = lengths_between(intersect(c.compute_without_copy, c.comm), bounds),
             covered_copies = lengths_between(intersect(c.copies, c.compute_or_comm), bounds);
  for (std::size_t w = 0; w < rows.size(); w++) {
    TimelineRow& row = *rows[w];
    const std::int64_t length = bounds[w + 1] - bounds[w];
    const std::int64_t exposed_comm = comm[w] - overlap[w], exposed_copies = copies[w] - covered_copies[w],
                       idle = length - busy[w];
    row.window_start_ns = bounds[w];
    row.window_ns = length;
    row.window_busy_ns = busy[w];
    row.window_compute_ns = compute[w];
    row.window_comm_ns = comm[w];
    row.window_memcpy_ns = copies[w];
    row.window_overlap_ns = overlap[w];
    row.window_exposed_comm_ns = exposed_comm;
    row.window_exposed_comm_strict_ns = comm[w] - strict_overlap[w];
    row.window_exposed_memcpy_ns = exposed_copies;
    row.window_idle_ns = idle;
    row.window_comm_copy_ns = comm_copy[w];
    CHOPPER_CHECK(compute[w] + exposed_comm + exposed_copies + idle == length);
  }
}

// prep and call of a gap belong to the iteration of its kernel; in time they lie in one window, rarely in several.
void set_window_gaps(const DeviceWork& work, std::span<const std::int64_t> bounds, std::span<TimelineRow*> rows) {
  std::vector<std::int64_t> prep(rows.size(), 0), call(rows.size(), 0);
  std::size_t w = 0;
  for (const LaunchGap& gap : work.gaps) {
    while (w + 1 < rows.size() && bounds[w + 1] <= gap.from_ns) w++;
    if (gap.to_ns <= bounds[w + 1]) {
      prep[w] += gap.prep_idle_ns;
      call[w] += gap.call_idle_ns;
      continue;
    }
    for (std::size_t v = w; v < rows.size() && bounds[v] < gap.to_ns; v++) {
      const auto idle_in = [&](std::int64_t start, std::int64_t end) {
        start = std::max(start, bounds[v]);
        end = std::min(end, bounds[v + 1]);
        return end > start ? end - start - work.busy.overlap(start, end) : 0;
      };
      prep[v] += idle_in(gap.from_ns, gap.called_ns);
      call[v] += idle_in(gap.called_ns, gap.to_ns);
    }
  }
  for (std::size_t v = 0; v < rows.size(); v++) {
    rows[v]->window_prep_idle_ns = prep[v];
    rows[v]->window_call_idle_ns = call[v];
  }
}

// Whether a window starts in (from, to].
class WindowStarts {
 public:
  explicit WindowStarts(const WindowBounds& bounds) : bounds_(bounds) {}
  // Gaps come in order of time.
  bool lie_in(const LaunchGap& gap) {
    if (!bounds_.has_work) return false;
    const std::vector<std::int64_t>& starts = bounds_.starts_ns;
    while (at_ < starts.size() && starts[at_] <= gap.from_ns) at_++;
    return at_ < starts.size() && starts[at_] <= gap.to_ns;
  }

 private:
  const WindowBounds& bounds_;
  std::size_t at_ = 0;
};

void add_gap(const LaunchGap& gap, bool spans_window_start, TimelineRow& row) {
  row.prep_ns += gap.prep_ns();
  row.call_ns += gap.call_ns();
  row.prep_idle_ns += gap.prep_idle_ns;
  row.call_idle_ns += gap.call_idle_ns;
  if (spans_window_start) row.inter_iteration_ns += gap.to_ns - gap.from_ns;
}

// The work launched in one iteration, or outside all.
struct LaunchedWork {
  std::int64_t first_ns = 0, last_ns = 0;  // first start, last end
  bool any = false;
};

}  // namespace

TimelineRow trace_timeline(const TraceTables& trace, const GpuWorkLabels& labels, const DeviceWork& work) {
  TimelineRow row;
  row.start_ns = work.start_ns;
  row.span_ns = work.end_ns - work.start_ns;
  set_lengths(lengths_of(work.covers), row);
  WindowStarts starts(work.windows);
  for (const LaunchGap& gap : work.gaps) add_gap(gap, starts.lie_in(gap), row);
  for (const std::uint32_t r : work.rows) {
    if (labels.launch[r] == kNoRow && is_chain_kernel(trace.gpu_work, labels, r)) row.num_no_launch++;
  }
  CHOPPER_CHECK(row.prep_idle_ns + row.call_idle_ns <= row.idle_ns);
  return row;
}

std::vector<WindowSummary> summarise_windows(const TraceTables& trace, const GpuWorkLabels& labels,
                                             const DeviceWork& work) {
  const GpuWorkTable& gpu = trace.gpu_work;
  const std::vector<IterationMarks::Mark>& marks = labels.iterations.marks;
  const std::size_t num_windows = marks.size() + 2;
  const auto bucket_of = [](std::int32_t iteration) { return static_cast<std::size_t>(iteration + kIterationBuckets); };
  const auto is_empty = [&](std::size_t bucket) {
    return work.iteration_begin[bucket] == work.iteration_begin[bucket + 1];
  };
  const bool has_unlabelled = !is_empty(bucket_of(kNoIteration));
  std::vector<WindowSummary> windows(num_windows + (has_unlabelled ? 1 : 0));
  const auto place_of = [&](std::int32_t iteration) -> std::size_t {
    if (iteration >= 0) return static_cast<std::size_t>(iteration) + 1;
    return iteration == kHeadIteration ? 0 : iteration == kTailIteration ? num_windows - 1 : num_windows;
  };

  const std::vector<std::int64_t> bounds = boundaries_of(work);
  std::vector<TimelineRow*> timed;
  for (std::size_t w = 0; w < num_windows; w++) timed.push_back(&windows[w].row);
  set_window_lengths(work, bounds, timed);
  set_window_gaps(work, bounds, timed);

  for (const std::uint32_t r : work.rows) {
    if (labels.launch[r] != kNoRow || !is_chain_kernel(gpu, labels, r)) continue;
    const auto behind = std::upper_bound(bounds.begin() + 1, bounds.end() - 1, gpu.start_ns[r]);
    windows[static_cast<std::size_t>(behind - bounds.begin()) - 1].row.window_no_launch++;
  }

  // The work launched in each, by itself.
  std::vector<LaunchedWork> launched(windows.size());
  ClassCovers covers;
  const std::size_t num_buckets = work.iteration_begin.size() - 1;
  for (std::size_t bucket = 0; bucket < num_buckets; bucket++) {
    const std::int32_t iteration = static_cast<std::int32_t>(bucket) - kIterationBuckets;
    if (iteration == kNoIteration && !has_unlabelled) continue;
    const std::size_t place = place_of(iteration);
    TimelineRow& row = windows[place].row;
    row.scope = iteration >= 0                ? "iteration"
                : iteration == kHeadIteration ? "head"
                : iteration == kTailIteration ? "tail"
                                              : "unlabelled";
    row.start_ns = Reason::no_records;
    covers.clear();
    LaunchedWork& own = launched[place];
    for (std::uint32_t i = work.iteration_begin[bucket]; i < work.iteration_begin[bucket + 1]; i++) {
      const std::uint32_t r = work.by_iteration[i];
      const Interval record = interval_of(gpu, r);
      covers.add(record, labels.gpu_class[r], labels.comm_copy[r] != 0);
      if (!own.any) own = {record.start, record.end, true};
      own.last_ns = std::max(own.last_ns, record.end);
      if (labels.launch[r] == kNoRow && is_chain_kernel(gpu, labels, r)) row.num_no_launch++;
    }
    if (own.any) {
      row.start_ns = own.first_ns;
      row.span_ns = own.last_ns - own.first_ns;
    }
    set_lengths(lengths_of(covers), row);
    if (place >= num_windows) continue;
    const std::int64_t clip[] = {bounds[place], bounds[place + 1]};
    row.foreign_ns = row.window_busy_ns.value() - lengths_between(covers.busy, clip).front();
  }

  WindowStarts starts(work.windows);
  for (const LaunchGap& gap : work.gaps)
    add_gap(gap, starts.lie_in(gap), windows[place_of(labels.iteration[gap.row])].row);

  for (std::size_t k = 0; k < marks.size(); k++) {
    TimelineRow& row = windows[k + 1].row;
    row.ordinal = static_cast<std::int64_t>(k);
    row.iteration =
        marks[k].number == kNoNumber ? Field<std::int64_t>(Reason::no_mark) : Field<std::int64_t>(marks[k].number);
    row.micro_steps = marks[k].micro_steps;
    row.complete = work.windows.complete[k] != 0;
    row.last = work.windows.has_work ? k >= work.windows.last : true;
    if (k + 1 == marks.size()) continue;
    const LaunchedWork &own = launched[k + 1], &next = launched[k + 2];
    row.gap_to_next_ns = own.any && next.any ? Field<std::int64_t>(next.first_ns - own.last_ns)
                                             : Field<std::int64_t>(Reason::no_records);
  }
  return windows;
}

}  // namespace chopper
