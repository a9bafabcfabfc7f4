// SPDX-License-Identifier: Apache-2.0
#include "analyze/host_blockers.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/wrapping.h"

namespace chopper {
namespace {

using Kind = HostBlockers::Kind;
using Occurrence = HostBlockers::Occurrence;

bool any_exact(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}
bool any_prefix(const std::vector<std::string>& prefixes, std::string_view name) {
  return std::any_of(prefixes.begin(), prefixes.end(), [&](const std::string& p) { return name.starts_with(p); });
}

std::optional<Kind> kind_of_call(const HostBlockerRules& rules, std::string_view name) {
  if (any_exact(rules.synchronise_calls, name)) return Kind::synchronise;
  if (any_exact(rules.allocator_calls, name)) return Kind::allocator;
  return std::nullopt;
}
std::optional<Kind> kind_of_range(const HostBlockerRules& rules, std::string_view name) {
  if (any_exact(rules.item_exact, name)) return Kind::item;
  if (any_prefix(rules.data_loading_prefix, name)) return Kind::data_loading;
  if (any_exact(rules.garbage_collection_exact, name)) return Kind::garbage_collection;
  return std::nullopt;
}

// Decides by name once a name, and numbers the groups.
class Finder {
 public:
  Finder(const TraceTables& trace, HostBlockers& found) : trace_(trace), found_(found) {
    found.by_thread.resize(trace.threads.size());
  }

  template <class Rule>
  void find(const std::vector<StringId>& names, const std::vector<std::int64_t>& starts,
            const std::vector<std::int64_t>& durations, const std::vector<ThreadId>& threads, Rule&& rule) {
    constexpr std::uint32_t kUnknown = UINT32_MAX, kNone = UINT32_MAX - 1;
    std::vector<std::uint32_t> group_of_name(trace_.strings.size(), kUnknown);
    for (std::size_t i = 0; i < names.size(); i++) {
      std::uint32_t& group = group_of_name[index_of(names[i])];
      if (group == kUnknown) {
        const std::optional<Kind> kind = rule(trace_.strings.view(names[i]));
        group = kind ? group_of(*kind, names[i]) : kNone;
      }
      if (group != kNone) add(threads[i], {{starts[i], starts[i] + durations[i]}, group});
    }
  }

  std::uint32_t group_of(Kind kind, StringId name) {
    const auto [at, inserted] =
        groups_.try_emplace({kind, index_of(name)}, static_cast<std::uint32_t>(found_.groups.size()));
    if (inserted) found_.groups.push_back({kind, name});
    return at->second;
  }
  void add(ThreadId thread, Occurrence occurrence) { found_.by_thread[index_of(thread)].push_back(occurrence); }

 private:
  const TraceTables& trace_;
  HostBlockers& found_;
  std::map<std::pair<Kind, std::uint32_t>, std::uint32_t> groups_;
};

// Cuts nested occurrences into pieces that follow each other, each of the innermost one:
//
//   item   |-------------------|
//   sync         |--------|
//   pieces | item|  sync  |item|
std::vector<Occurrence> innermost_pieces(std::span<const Occurrence> occurrences) {
  std::vector<Occurrence> pieces, open;
  std::int64_t now = 0;
  const auto advance = [&](std::int64_t until) {
    if (!open.empty() && until > now) pieces.push_back({{now, until}, open.back().group});
    now = std::max(now, until);
  };
  const auto close = [&](std::int64_t until) {
    while (!open.empty() && open.back().time.end <= until) {
      advance(open.back().time.end);
      open.pop_back();
    }
  };
  for (const Occurrence& next : occurrences) {
    close(next.time.start);
    if (open.empty()) now = next.time.start;
    advance(next.time.start);
    open.push_back(next);
  }
  close(INT64_MAX);
  return pieces;
}

// Charges idle time on one thread; intervals come in order of time and do not overlap.
class ThreadCharges {
 public:
  explicit ThreadCharges(std::vector<Occurrence> pieces) : pieces_(std::move(pieces)) {}

  void charge(Interval idle, bool in_steps, std::vector<BlockerSummary>& groups) {
    while (at_ < pieces_.size() && pieces_[at_].time.end <= idle.start) at_++;
    for (std::size_t i = at_; i < pieces_.size() && pieces_[i].time.start < idle.end; i++) {
      const Interval& piece = pieces_[i].time;
      const std::int64_t length = std::min(piece.end, idle.end) - std::max(piece.start, idle.start);
      groups[pieces_[i].group].idle_ns += length;
      if (in_steps) groups[pieces_[i].group].step_idle_ns += length;
    }
  }

 private:
  std::vector<Occurrence> pieces_;
  std::size_t at_ = 0;
};

// Calls `use(idle)` for the parts of [start, end) outside the cover; calls come in order of time.
class IdleParts {
 public:
  explicit IdleParts(const Cover& busy) : busy_(busy) {}

  template <class F>
  void in(std::int64_t start, std::int64_t end, F&& use) {
    while (at_ < busy_.size() && busy_[at_].end <= start) at_++;
    for (std::size_t i = at_; start < end; i++) {
      const bool more = i < busy_.size() && busy_[i].start < end;
      const std::int64_t until = more ? busy_[i].start : end;
      if (until > start) use(Interval{start, until});
      if (!more) return;
      start = std::max(start, busy_[i].end);
    }
  }

 private:
  const Cover& busy_;
  std::size_t at_ = 0;
};

}  // namespace

std::string_view to_string(HostBlockers::Kind kind) {
  switch (kind) {
    case Kind::synchronise:
      return "synchronise";
    case Kind::copy_to_host:
      return "copy_to_host";
    case Kind::item:
      return "item";
    case Kind::data_loading:
      return "data_loading";
    case Kind::allocator:
      return "allocator";
    case Kind::garbage_collection:
      return "garbage_collection";
  }
  return "synchronise";
}

HostBlockers find_host_blockers(const TraceTables& trace, const GpuWorkLabels& labels, const HostBlockerRules& rules) {
  HostBlockers found;
  Finder finder(trace, found);
  const LaunchTable& calls = trace.launches;
  finder.find(calls.name, calls.start_ns, calls.duration_ns, calls.thread,
              [&](std::string_view name) { return kind_of_call(rules, name); });
  const HostRangeTable& ranges = trace.ranges;
  finder.find(ranges.name, ranges.start_ns, ranges.duration_ns, ranges.thread,
              [&](std::string_view name) { return kind_of_range(rules, name); });
  // A copy to the host blocks when its call returns no earlier than the copy ends.
  const GpuWorkTable& gpu = trace.gpu_work;
  std::unordered_map<std::uint32_t, bool> to_host;  // by name
  for (std::uint32_t row = 0; row < num_rows(gpu); row++) {
    if (!is_copy(labels.gpu_class[row]) || labels.launch[row] == kNoRow) continue;
    const auto [at, inserted] = to_host.try_emplace(index_of(gpu.name[row]), false);
    if (inserted) at->second = any_prefix(rules.copy_to_host_prefix, trace.strings.view(gpu.name[row]));
    const std::uint32_t call = index_of(labels.launch[row]);
    const Interval time{calls.start_ns[call], calls.start_ns[call] + calls.duration_ns[call]};
    if (!at->second || time.end < interval_of(gpu, row).end) continue;
    finder.add(calls.thread[call], {time, finder.group_of(Kind::copy_to_host, calls.name[call])});
  }
  for (std::vector<Occurrence>& thread : found.by_thread) {
    std::sort(thread.begin(), thread.end(), [](const Occurrence& a, const Occurrence& b) {
      if (a.time.start != b.time.start) return a.time.start < b.time.start;
      return a.time.end != b.time.end ? a.time.end > b.time.end : a.group < b.group;
    });
  }
  return found;
}

void charge_host_blockers(const TraceTables& trace, const GpuWorkLabels& labels, const DeviceWork& work,
                          const HostBlockers& blockers, const SelectedRows& selected, GpuSummary& summary) {
  if (blockers.groups.empty()) return;
  const auto thread_of = [&](std::uint32_t row) {
    return index_of(trace.launches.thread[index_of(labels.launch[row])]);
  };
  std::vector<bool> launches(blockers.by_thread.size(), false);
  for (const std::uint32_t row : work.rows) {
    if (labels.launch[row] != kNoRow) launches[thread_of(row)] = true;
  }
  std::vector<BlockerSummary> groups(blockers.groups.size());
  std::vector<std::optional<ThreadCharges>> charges(blockers.by_thread.size());
  bool any = false;
  for (std::size_t thread = 0; thread < launches.size(); thread++) {
    if (!launches[thread] || blockers.by_thread[thread].empty()) continue;
    any = true;
    charges[thread].emplace(innermost_pieces(blockers.by_thread[thread]));
    for (const Occurrence& o : blockers.by_thread[thread]) {
      groups[o.group].num++;
      add_wrapping(groups[o.group].duration_ns, o.time.end - o.time.start);
    }
  }
  if (!any) return;
  IdleParts idle(work.covers.busy);
  StepWindows steps(work.windows);
  for (const LaunchGap& gap : work.gaps) {
    if (gap.prep_idle_ns == 0) continue;
    std::optional<ThreadCharges>& thread = charges[thread_of(gap.row)];
    if (!thread) continue;
    const bool in_steps = steps.hold(gap.from_ns) && selected.in_any_iteration(gap.row);
    idle.in(gap.from_ns, gap.called_ns, [&](Interval part) { thread->charge(part, in_steps, groups); });
  }
  for (std::size_t g = 0; g < groups.size(); g++) {
    if (groups[g].num == 0) continue;
    const HostBlockers::Group& group = blockers.groups[g];
    summary.blockers[{std::string(to_string(group.kind)), std::string(trace.strings.view(group.name))}] = groups[g];
  }
}

}  // namespace chopper
