// SPDX-License-Identifier: Apache-2.0
#include "attribute/iterations.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <unordered_map>

#include "attribute/range_facts.h"

namespace chopper {
namespace {

using Mark = IterationMarks::Mark;

// A range that is a mark of some kind.
struct Candidate {
  MarkName name;
  std::uint32_t row;
};

// The marks of one kind on the thread that has most of them, in order of start; of equally many the thread whose first
// comes first.
std::vector<Candidate> of_one_thread(const HostRangeTable& ranges, const std::vector<Candidate>& all, MarkKind kind) {
  std::map<std::uint32_t, std::vector<Candidate>> by_thread;
  for (const Candidate& candidate : all) {
    if (candidate.name.kind == kind) by_thread[index_of(ranges.thread[candidate.row])].push_back(candidate);
  }
  const auto starts_before = [&](const Candidate& a, const Candidate& b) {
    return std::tie(ranges.start_ns[a.row], ranges.offset[a.row]) <
           std::tie(ranges.start_ns[b.row], ranges.offset[b.row]);
  };
  std::vector<Candidate> best;
  for (auto& [thread, marks] : by_thread) {
    static_cast<void>(thread);
    std::sort(marks.begin(), marks.end(), starts_before);
    if (marks.size() > best.size() || (marks.size() == best.size() && starts_before(marks[0], best[0]))) best = marks;
  }
  return best;
}

// Optimizer steps inside another one do not count; of several names the one that occurs first does.
std::vector<Candidate> optimizer_steps(const HostRangeTable& ranges, std::vector<Candidate> marks) {
  std::int64_t open_until = INT64_MIN;
  std::erase_if(marks, [&](const Candidate& mark) {
    const std::int64_t end = ranges.start_ns[mark.row] + ranges.duration_ns[mark.row];
    const bool inside = ranges.start_ns[mark.row] < open_until && end <= open_until;
    open_until = std::max(open_until, end);
    return inside;
  });
  if (marks.empty()) return marks;
  const StringId name = ranges.name[marks.front().row];
  std::erase_if(marks, [&](const Candidate& mark) { return ranges.name[mark.row] != name; });
  return marks;
}

// The kernels that occur least often, at least three times, take turns in one order: the first of them begins each
// iteration. Where some kernel occurs less often, what repeats are parts of one iteration, its layers.
std::vector<std::int64_t> periodic_starts(std::span<const LaunchedKernel> launches) {
  std::unordered_map<StringId, std::size_t> counts;
  for (const LaunchedKernel& kernel : launches) counts[kernel.name]++;
  std::size_t least = SIZE_MAX, num_names = 0;
  for (const auto& [name, count] : counts) {
    static_cast<void>(name);
    if (count < least) num_names = 0;
    least = std::min(least, count);
    if (count == least) num_names++;
  }
  if (counts.empty() || least < 3 || num_names < 2) return {};
  std::vector<StringId> order;
  std::vector<std::int64_t> starts;
  std::size_t at = 0;
  for (const LaunchedKernel& kernel : launches) {
    if (counts[kernel.name] != least) continue;
    if (at == order.size() && at < num_names) order.push_back(kernel.name);
    if (order[at] != kernel.name) return {};
    if (at == 0) starts.push_back(kernel.time_ns);
    if (++at == num_names) at = 0;
  }
  return starts.size() == least ? starts : std::vector<std::int64_t>();
}

}  // namespace

IterationMarks find_marks(const TraceTables& trace, std::string_view user_mark,
                          const std::function<std::vector<LaunchedKernel>()>& compute_launches) {
  const HostRangeTable& ranges = trace.ranges;
  std::vector<std::int8_t> kinds(trace.strings.size(), -1);  // of each name; -1: not looked at
  std::vector<Candidate> candidates;
  for (std::uint32_t row = 0; row < num_rows(ranges); row++) {
    if (ranges.kind[row] == RangeKind::module) continue;
    std::int8_t& kind = kinds[index_of(ranges.name[row])];
    constexpr auto kNothing = static_cast<std::int8_t>(MarkKind::none);
    if (kind == kNothing) continue;
    const MarkName name = mark_of(trace.strings.view(ranges.name[row]), user_mark);
    kind = static_cast<std::int8_t>(name.kind);
    if (kind != kNothing) candidates.push_back({name, row});
  }
  IterationMarks found;
  for (const MarkKind kind : {MarkKind::user, MarkKind::iteration, MarkKind::profiler_step, MarkKind::optimizer}) {
    std::vector<Candidate> marks = of_one_thread(ranges, candidates, kind);
    if (kind == MarkKind::optimizer) marks = optimizer_steps(ranges, std::move(marks));
    if (marks.empty()) continue;
    found.kind = kind;
    for (const Candidate& mark : marks) {
      const std::int64_t start = ranges.start_ns[mark.row];
      found.marks.push_back(
          {.start_ns = start, .end_ns = start + ranges.duration_ns[mark.row], .number = mark.name.number});
    }
    return found;
  }
  std::int64_t first = INT64_MAX, last = INT64_MIN;
  for (std::size_t i = 0; i < num_rows(trace.launches); i++) {
    first = std::min(first, trace.launches.start_ns[i]);
    last = std::max(last, trace.launches.start_ns[i]);
  }
  if (first > last) return found;
  const std::vector<std::int64_t> starts = periodic_starts(compute_launches());
  if (!starts.empty()) {
    found.kind = MarkKind::periodic;
    for (std::size_t i = 0; i < starts.size(); i++)
      found.marks.push_back({.start_ns = starts[i],
                             .end_ns = i + 1 < starts.size() ? starts[i + 1] : last + 1,
                             .closed = i + 1 < starts.size()});
    return found;
  }
  found.marks.push_back({.start_ns = first, .end_ns = last + 1, .closed = false});
  return found;
}

std::int32_t iteration_at(const IterationMarks& marks, std::int64_t time_ns) {
  const auto after = std::upper_bound(marks.marks.begin(), marks.marks.end(), time_ns,
                                      [](std::int64_t time, const Mark& mark) { return time < mark.start_ns; });
  if (after == marks.marks.begin()) return kHeadIteration;
  if (after == marks.marks.end() && time_ns >= marks.marks.back().end_ns) return kTailIteration;
  return static_cast<std::int32_t>(after - marks.marks.begin() - 1);
}

std::vector<EnginePass> find_engine_passes(const TraceTables& trace, const RangeOrder& order) {
  const HostRangeTable& ranges = trace.ranges;
  std::vector<EnginePass> passes;
  for (std::size_t t = 0; t + 1 < order.begin.size(); t++) {
    std::map<std::int64_t, std::int64_t> last_numbers;  // by forward thread
    std::int64_t node_end = INT64_MIN;
    for (std::size_t i = order.begin[t]; i < order.begin[t + 1]; i++) {
      const std::uint32_t row = order.rows[i];
      if (ranges.forward_thread[row] <= 0 || ranges.sequence_number[row] == kNoNumber) continue;
      if (ranges.start_ns[row] < node_end) continue;  // inside a node
      node_end = ranges.start_ns[row] + ranges.duration_ns[row];
      const std::int64_t number = ranges.sequence_number[row];
      const auto [last, first] = last_numbers.try_emplace(ranges.forward_thread[row], number);
      if (first || number > last->second)
        passes.push_back({ranges.start_ns[row], ThreadId{static_cast<std::uint32_t>(t)}, ranges.forward_thread[row]});
      last->second = number;
    }
  }
  std::sort(passes.begin(), passes.end());
  return passes;
}

void count_in_iterations(const TraceTables& trace, std::span<const EnginePass> passes, const LaunchLinks& links,
                         IterationMarks& marks) {
  std::map<std::tuple<std::int32_t, std::uint32_t, std::int64_t>, std::int64_t> by_thread;
  for (const EnginePass& pass : passes)
    by_thread[{iteration_at(marks, pass.start_ns), index_of(pass.thread), pass.forward_thread}]++;
  for (const auto& [key, count] : by_thread) {
    if (std::get<0>(key) < 0) continue;
    Mark& mark = marks.marks[static_cast<std::size_t>(std::get<0>(key))];
    mark.micro_steps = std::max(mark.micro_steps, count);
  }
  std::vector<std::int8_t> is_launch(trace.strings.size(), -1);
  const auto launches = [&](std::uint32_t row) {
    std::int8_t& known = is_launch[index_of(trace.launches.name[row])];
    if (known < 0) known = is_kernel_launch(trace.strings.view(trace.launches.name[row])) ? 1 : 0;
    return known == 1;
  };
  const auto add = [&](std::uint32_t row, std::int64_t Mark::*count) {
    const std::int32_t at = iteration_at(marks, trace.launches.start_ns[row]);
    if (at >= 0) marks.marks[static_cast<std::size_t>(at)].*count += 1;
  };
  for (std::uint32_t row = 0; row < num_rows(trace.launches); row++) {
    if (launches(row)) add(row, &Mark::num_launches);
  }
  for (const std::uint32_t row : links.unanswered) add(row, &Mark::num_unanswered);
}

}  // namespace chopper
