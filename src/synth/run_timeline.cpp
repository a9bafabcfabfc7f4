// SPDX-License-Identifier: Apache-2.0
#include "synth/run_timeline.h"

#include <algorithm>

namespace chopper::synth {
namespace {

struct Covers {
  Cover compute, comm, copies;
};

Covers covers_of(const std::vector<Placed>& placed) {
  std::vector<Interval> compute, comm, copies;
  for (const Placed& p : placed) {
    std::vector<Interval>& target = is_compute(p.work_class)          ? compute
                                    : p.work_class == WorkClass::comm ? comm
                                                                      : copies;
    target.push_back({p.start_ns, p.end_ns});
  }
  return {cover_of(std::move(compute)), cover_of(std::move(comm)), cover_of(std::move(copies))};
}

// The intervals of `cover` inside [start, end).
Cover clip(const Cover& cover, std::int64_t start, std::int64_t end) {
  Cover inside;
  auto at = std::partition_point(cover.begin(), cover.end(), [&](const Interval& i) { return i.end <= start; });
  for (; at != cover.end() && at->start < end; ++at)
    inside.push_back({std::max(at->start, start), std::min(at->end, end)});
  return inside;
}

Lengths lengths_of(const Covers& covers, std::int64_t start, std::int64_t end) {
  const Cover compute = clip(covers.compute, start, end), comm = clip(covers.comm, start, end),
              copies = clip(covers.copies, start, end);
  const Cover kernels = unite(compute, comm);
  Lengths l;
  l.total = end - start;
  l.compute = length_of(compute);
  l.comm = length_of(comm);
  l.memcpy_time = length_of(copies);
  l.overlap = overlap_of(compute, comm);
  l.busy = length_of(unite(kernels, copies));
  l.exposed_comm = l.comm - l.overlap;
  l.exposed_memcpy = l.memcpy_time - overlap_of(copies, kernels);
  l.idle = l.total - l.busy;
  return l;
}

std::vector<Window> windows_of(const std::vector<Placed>& placed, const Covers& covers, std::int64_t first,
                               std::int64_t last, std::int64_t start, std::int64_t end) {
  const auto count = static_cast<std::size_t>(last - first + 1);
  std::vector<IterationBounds> bounds(count);
  for (const Placed& p : placed) {
    bounds[static_cast<std::size_t>(p.iteration - first)].add(p.work_class, p.start_ns, p.end_ns);
  }
  const std::vector<std::int64_t> starts = window_starts(bounds);
  std::vector<Window> windows;
  const auto add = [&](std::int64_t iteration, std::int64_t from, std::int64_t to, bool is_last) {
    windows.push_back({iteration, from, to, lengths_of(covers, from, to), is_last});
  };
  if (start < starts[0]) add(-1, start, starts[0], false);
  for (std::size_t k = 0; k < count; k++)
    add(first + static_cast<std::int64_t>(k), starts[k], starts[k + 1], k + 1 == count);
  if (starts[count] < end) add(-1, starts[count], end, false);
  return windows;
}

}  // namespace

void IterationBounds::add(WorkClass work_class, std::int64_t start_ns, std::int64_t end_ns) {
  first_any_ns = std::min(first_any_ns, start_ns);
  last_end_ns = std::max(last_end_ns, end_ns);
  if (is_compute(work_class)) first_compute_ns = std::min(first_compute_ns, start_ns);
}

// Running maximum of the first compute start launched in k; without compute the first work of k; without any the next
// one's.
std::vector<std::int64_t> window_starts(std::span<const IterationBounds> iterations) {
  constexpr std::int64_t kNone = IterationBounds::kNone;
  const std::size_t count = iterations.size();
  std::vector<std::int64_t> starts(count + 1, kNone);
  std::int64_t highest = INT64_MIN, last_end = INT64_MIN;
  for (std::size_t k = 0; k < count; k++) {
    last_end = std::max(last_end, iterations[k].last_end_ns);
    const bool computes = iterations[k].first_compute_ns != kNone;
    const std::int64_t own = computes ? iterations[k].first_compute_ns : iterations[k].first_any_ns;
    if (own == kNone) continue;
    highest = std::max(highest, own);
    starts[k] = highest;
  }
  starts[count] = std::max(last_end, highest);
  for (std::size_t k = count; k > 0; k--) {
    if (starts[k - 1] == kNone) starts[k - 1] = starts[k];
  }
  return starts;
}

RunTimeline timeline_of(std::vector<Placed> placed, std::int64_t first, std::int64_t last) {
  RunTimeline result;
  if (placed.empty()) return result;
  std::sort(placed.begin(), placed.end(), [](const Placed& a, const Placed& b) {
    if (a.start_ns != b.start_ns) return a.start_ns < b.start_ns;
    return a.end_ns != b.end_ns ? a.end_ns < b.end_ns : a.order < b.order;
  });
  result.start_ns = placed.front().start_ns;
  for (const Placed& p : placed) result.end_ns = std::max(result.end_ns, p.end_ns);
  const Covers covers = covers_of(placed);
  result.trace = lengths_of(covers, result.start_ns, result.end_ns);
  result.windows = windows_of(placed, covers, first, last, result.start_ns, result.end_ns);
  bool has_previous = false;
  std::int64_t previous_end = 0;
  for (const Placed& p : placed) {
    if (!is_compute(p.work_class)) continue;
    const std::int64_t gap = has_previous ? std::max<std::int64_t>(0, p.start_ns - previous_end) : 0;
    if (gap > 0) {
      const std::int64_t prep = std::min(std::max<std::int64_t>(p.call_ns - previous_end, 0), gap);
      result.gaps.push_back({p.iteration, p.work, prep, gap - prep, prep > 0 ? p.prep_cause : GapCause::none,
                             gap > prep ? p.call_cause : GapCause::none});
      result.prep_ns += prep;
      result.call_ns += gap - prep;
    }
    previous_end = has_previous ? std::max(previous_end, p.end_ns) : p.end_ns;
    has_previous = true;
  }
  return result;
}

}  // namespace chopper::synth
