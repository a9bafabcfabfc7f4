// SPDX-License-Identifier: Apache-2.0
#include "attribute/links.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>
#include <unordered_map>

#include "base/id_index.h"

namespace chopper {
namespace {

constexpr std::uint32_t kNone = IdIndex::kNone;

// The calls that share one correlation id, by kind and process, in order of (start, row). Made once for each id that
// has several calls.
class SharedCorrelations {
 public:
  struct Call {
    CallKind kind;
    std::uint32_t process;
    std::int64_t start_ns;
    std::uint32_t row;
    friend bool operator<(const Call& a, const Call& b) {
      return std::tie(a.kind, a.process, a.start_ns, a.row) < std::tie(b.kind, b.process, b.start_ns, b.row);
    }
  };

  const std::vector<Call>& calls(const LaunchTable& launches, const IdIndex& index,
                                 const std::vector<std::uint32_t>& process_of, std::int64_t id) {
    const auto [at, inserted] = calls_.try_emplace(id);
    if (inserted) {
      for (std::uint32_t row = index.first(id); row != kNone; row = index.next(row)) {
        at->second.push_back(
            {launches.kind[row], process_of[index_of(launches.thread[row])], launches.start_ns[row], row});
      }
      std::sort(at->second.begin(), at->second.end());
    }
    return at->second;
  }

 private:
  std::unordered_map<std::int64_t, std::vector<Call>> calls_;
};

bool several_processes(const LaunchTable& calls, const std::vector<std::uint32_t>& process_of) {
  for (std::size_t i = 1; i < num_rows(calls); i++) {
    if (calls.thread[i] != calls.thread[0] &&
        process_of[index_of(calls.thread[i])] != process_of[index_of(calls.thread[0])])
      return true;
  }
  return false;
}

// A gpu record does not say which process launched it. In a file of several processes each device belongs to the one
// that most of its unambiguous records point to; kNone where there is no majority.
std::unordered_map<std::int32_t, std::uint32_t> processes_of_devices(const TraceTables& trace, const IdIndex& index,
                                                                     const std::vector<std::uint32_t>& process_of) {
  std::unordered_map<std::int32_t, std::map<std::uint32_t, std::uint64_t>> votes;
  for (std::size_t i = 0; i < num_rows(trace.gpu_work); i++) {
    const std::uint32_t first =
        trace.gpu_work.correlation[i] == kNoId ? kNone : index.first(trace.gpu_work.correlation[i]);
    if (first == kNone) continue;
    const std::uint32_t process = process_of[index_of(trace.launches.thread[first])];
    bool unanimous = true;  // a vote needs no more than a look: an id shared by many calls hardly is of one process
    for (std::uint32_t row = index.next(first), seen = 0; row != kNone && unanimous && seen < 64;
         row = index.next(row), seen++) {
      unanimous = process_of[index_of(trace.launches.thread[row])] == process;
    }
    if (unanimous) votes[trace.gpu_work.device[i]][process]++;
  }
  std::unordered_map<std::int32_t, std::uint32_t> result;
  for (const auto& [device, counts] : votes) {
    std::uint64_t all = 0;
    for (const auto& [process, count] : counts) all += count;
    std::uint32_t owner = kNone;
    for (const auto& [process, count] : counts) {
      if (count * 2 > all) owner = process;
    }
    result[device] = owner;
  }
  return result;
}

}  // namespace

// Numbers the processes by their pid.
std::vector<std::uint32_t> processes_of_threads(const TraceTables& trace) {
  std::vector<std::uint32_t> process;
  std::unordered_map<std::string_view, std::uint32_t> ids;
  for (const Thread& thread : trace.threads)
    process.push_back(ids.try_emplace(thread.pid, static_cast<std::uint32_t>(ids.size())).first->second);
  return process;
}

bool is_kernel_launch(std::string_view name) {
  const auto has = [&](std::string_view word) { return name.find(word) != std::string_view::npos; };
  return has("LaunchKernel") || has("LaunchCooperative") || has("GraphLaunch") || has("LaunchMultiKernel");
}

LaunchLinks link_launches(const TraceTables& trace) {
  const GpuWorkTable& gpu = trace.gpu_work;
  const LaunchTable& calls = trace.launches;
  const IdIndex index(calls.correlation, kNoId);
  const std::vector<std::uint32_t> process_of = processes_of_threads(trace);
  const bool merged = !trace.facts.unique_correlations && several_processes(calls, process_of);
  const auto owner_of =
      merged ? processes_of_devices(trace, index, process_of) : std::unordered_map<std::int32_t, std::uint32_t>();
  SharedCorrelations shared;
  LaunchLinks links;
  links.launch.assign(num_rows(gpu), kNoRow);
  std::vector<std::uint8_t> answered(num_rows(calls), 0);
  for (std::size_t i = 0; i < links.launch.size(); i++) {
    const std::int64_t id = gpu.correlation[i];
    const std::uint32_t first = id == kNoId ? kNone : index.first(id);
    if (first == kNone) continue;
    std::uint32_t owner = kNone;
    if (merged) {
      const auto at = owner_of.find(gpu.device[i]);
      if (at != owner_of.end()) owner = at->second;
    }
    if (index.next(first) == kNone) {  // the usual case: one call
      if (owner != kNone && process_of[index_of(calls.thread[first])] != owner) continue;
      answered[first] = 1;
      links.launch[i] = RowId{first};
      continue;
    }
    const std::uint32_t second = index.next(first);
    if (!merged && index.next(second) == kNone &&
        calls.kind[first] != calls.kind[second]) {  // a runtime call and its driver call
      answered[first] = answered[second] = 1;
      links.launch[i] = RowId{calls.kind[first] == CallKind::runtime ? first : second};
      continue;
    }
    const std::vector<SharedCorrelations::Call>& all = shared.calls(calls, index, process_of, id);
    if (merged && owner == kNone) {
      if (std::any_of(all.begin(), all.end(), [&](const auto& c) { return c.process != all.front().process; }))
        continue;
      owner = all.front().process;
    }
    if (!merged) owner = all.front().process;
    for (const CallKind kind : {CallKind::runtime, CallKind::driver}) {
      // The nearest call that is not after the record; without one, the earliest. Of equal starts the first in the
      // file.
      const auto begin = std::lower_bound(
          all.begin(), all.end(), SharedCorrelations::Call{kind, owner, std::numeric_limits<std::int64_t>::min(), 0});
      const auto end = std::lower_bound(
          begin, all.end(), SharedCorrelations::Call{kind, owner + 1, std::numeric_limits<std::int64_t>::min(), 0});
      if (begin == end) continue;
      auto after = std::upper_bound(begin, end, SharedCorrelations::Call{kind, owner, gpu.start_ns[i], kNone});
      const auto nearest = after == begin ? begin : std::prev(after);
      const auto best = std::lower_bound(begin, end, SharedCorrelations::Call{kind, owner, nearest->start_ns, 0});
      links.launch[i] = RowId{best->row};
      if (end - begin > 1 && links.num_ambiguous++ == 0) links.first_ambiguous = i;
      break;
    }
    if (answered[all.front().row] == 0) {
      for (const auto& call : all) answered[call.row] = 1;
    }
  }
  std::vector<std::uint8_t> known(trace.strings.size(), 2);
  for (std::size_t row = 0; row < answered.size(); row++) {
    if (answered[row] != 0) continue;
    std::uint8_t& is_launch = known[index_of(calls.name[row])];
    if (is_launch == 2) is_launch = is_kernel_launch(trace.strings.view(calls.name[row])) ? 1 : 0;
    if (is_launch == 1) links.unanswered.push_back(static_cast<std::uint32_t>(row));
  }
  return links;
}

namespace {

// Groups the rows for which `keep` holds by thread, and sorts each thread by `less`.
template <class Table, class Keep, class Less>
RangeOrder order_by_thread(const Table& table, std::size_t num_threads, Keep&& keep, Less&& less) {
  RangeOrder order;
  order.begin.assign(num_threads + 1, 0);
  for (std::size_t i = 0; i < num_rows(table); i++) {
    if (keep(i)) order.begin[index_of(table.thread[i]) + 1]++;
  }
  std::partial_sum(order.begin.begin(), order.begin.end(), order.begin.begin());
  order.rows.resize(order.begin.back());
  std::vector<std::size_t> fill(order.begin.begin(), order.begin.end() - 1);
  for (std::size_t i = 0; i < num_rows(table); i++) {
    if (keep(i)) order.rows[fill[index_of(table.thread[i])]++] = static_cast<std::uint32_t>(i);
  }
  for (std::size_t t = 0; t < num_threads; t++) {
    const auto first = order.rows.begin() + static_cast<std::ptrdiff_t>(order.begin[t]);
    const auto last = order.rows.begin() + static_cast<std::ptrdiff_t>(order.begin[t + 1]);
    if (!std::is_sorted(first, last, less)) std::sort(first, last, less);
  }
  return order;
}

}  // namespace

RangeOrder order_ranges(const TraceTables& trace) {
  const HostRangeTable& ranges = trace.ranges;
  return order_by_thread(
      ranges, trace.threads.size(), [](std::size_t) { return true; },
      [&](std::uint32_t a, std::uint32_t b) {
        if (ranges.start_ns[a] != ranges.start_ns[b]) return ranges.start_ns[a] < ranges.start_ns[b];
        const std::int64_t end_a = ranges.start_ns[a] + ranges.duration_ns[a];
        const std::int64_t end_b = ranges.start_ns[b] + ranges.duration_ns[b];
        return end_a != end_b ? end_a > end_b : ranges.offset[a] < ranges.offset[b];
      });
}

RangeOrder order_calls(const TraceTables& trace, const std::vector<std::uint8_t>& wanted) {
  const LaunchTable& calls = trace.launches;
  return order_by_thread(
      calls, trace.threads.size(), [&](std::size_t i) { return wanted[i] != 0; },
      [&](std::uint32_t a, std::uint32_t b) {
        return calls.start_ns[a] != calls.start_ns[b] ? calls.start_ns[a] < calls.start_ns[b] : a < b;
      });
}

}  // namespace chopper
