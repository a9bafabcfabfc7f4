// SPDX-License-Identifier: Apache-2.0
#include "attribute/links.h"

#include <algorithm>
#include <numeric>

#include "attribute/classes.h"

namespace chopper {
namespace {

constexpr std::uint32_t kNone = UINT32_MAX;

// Correlation id to the launch rows that carry it: open addressing to the first row, rows of one id chained in file
// order.
class CorrelationIndex {
 public:
  explicit CorrelationIndex(const LaunchTable& launches) : next_(num_rows(launches), kNone) {
    std::size_t slots = 16;
    while (slots < next_.size() * 2) slots *= 2;
    slots_.assign(slots, {kNoId, kNone});
    for (std::size_t i = next_.size(); i-- > 0;) {  // backwards, so that chains run forwards
      const std::int64_t id = launches.correlation[i];
      if (id == kNoId) continue;
      Slot& slot = find(id);
      slot.id = id;
      next_[i] = slot.first;
      slot.first = static_cast<std::uint32_t>(i);
    }
  }
  std::uint32_t first(std::int64_t id) const { return const_cast<CorrelationIndex*>(this)->find(id).first; }
  std::uint32_t next(std::uint32_t row) const { return next_[row]; }

 private:
  struct Slot {
    std::int64_t id;
    std::uint32_t first;
  };
  Slot& find(std::int64_t id) {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = (static_cast<std::uint64_t>(id) * 0x9e3779b97f4a7c15ull >> 20) & mask;
    while (slots_[at].first != kNone && slots_[at].id != id) at = (at + 1) & mask;
    return slots_[at];
  }
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> next_;
};

bool is_kernel_launch(std::string_view name) {
  const auto has = [&](std::string_view word) { return name.find(word) != std::string_view::npos; };
  return has("LaunchKernel") || has("LaunchCooperative") || has("GraphLaunch") || has("LaunchMultiKernel");
}

}  // namespace

LaunchLinks link_launches(const TraceTables& trace) {
  const GpuWorkTable& gpu = trace.gpu_work;
  const LaunchTable& calls = trace.launches;
  const CorrelationIndex index(calls);
  LaunchLinks links;
  links.launch.assign(num_rows(gpu), kNoRow);
  std::vector<std::uint8_t> answered(num_rows(calls), 0);
  for (std::size_t i = 0; i < links.launch.size(); i++) {
    if (gpu.correlation[i] == kNoId) continue;
    std::uint32_t best = kNone;
    std::uint64_t same_kind = 0;
    for (std::uint32_t row = index.first(gpu.correlation[i]); row != kNone; row = index.next(row)) {
      answered[row] = 1;
      if (best == kNone || calls.kind[row] < calls.kind[best]) {
        best = row;
        same_kind = 1;
        continue;
      }
      if (calls.kind[row] != calls.kind[best]) continue;
      same_kind++;
      // The nearest call that is not after the record; without one, the earliest.
      const bool row_before = calls.start_ns[row] <= gpu.start_ns[i];
      const bool best_before = calls.start_ns[best] <= gpu.start_ns[i];
      if (row_before != best_before
              ? row_before
              : (row_before ? calls.start_ns[row] > calls.start_ns[best] : calls.start_ns[row] < calls.start_ns[best]))
        best = row;
    }
    if (best == kNone) continue;
    links.launch[i] = RowId{best};
    if (same_kind > 1 && links.num_ambiguous++ == 0) links.first_ambiguous = i;
  }
  std::vector<std::uint8_t> known(trace.strings.size(), 2);
  for (std::size_t row = 0; row < answered.size(); row++) {
    if (answered[row] != 0) continue;
    std::uint8_t& is_launch = known[index_of(calls.name[row])];
    if (is_launch == 2) is_launch = is_kernel_launch(trace.strings.view(calls.name[row])) ? 1 : 0;
    if (is_launch == 1 && links.num_unanswered++ == 0) links.first_unanswered = row;
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
      ranges, trace.threads.size(), [&](std::size_t i) { return ranges.kind[i] != RangeKind::module; },
      [&](std::uint32_t a, std::uint32_t b) {
        if (ranges.start_ns[a] != ranges.start_ns[b]) return ranges.start_ns[a] < ranges.start_ns[b];
        const std::int64_t end_a = ranges.start_ns[a] + ranges.duration_ns[a];
        const std::int64_t end_b = ranges.start_ns[b] + ranges.duration_ns[b];
        return end_a != end_b ? end_a > end_b : ranges.offset[a] < ranges.offset[b];
      });
}

CallContext find_call_context(const TraceTables& trace, const RangeOrder& by_range,
                              const std::vector<std::uint8_t>& wanted, const ClassRules& rules) {
  const LaunchTable& calls = trace.launches;
  const HostRangeTable& ranges = trace.ranges;
  CallContext context;
  context.range.assign(num_rows(calls), kNoRow);
  context.operation.assign(num_rows(calls), kNoRow);
  context.comm_copy.assign(num_rows(calls), 0);
  const auto end_of = [&](std::uint32_t row) {
    return ranges.start_ns[row] + std::max<std::int64_t>(ranges.duration_ns[row], 1);
  };
  const RangeOrder by_call = order_by_thread(
      calls, trace.threads.size(), [&](std::size_t i) { return wanted[i] != 0; },
      [&](std::uint32_t a, std::uint32_t b) {
        return calls.start_ns[a] != calls.start_ns[b] ? calls.start_ns[a] < calls.start_ns[b] : a < b;
      });
  std::vector<std::uint8_t> copy_range(trace.strings.size(), 2);  // 2: not looked at yet
  struct Open {
    std::uint32_t row;
    std::int64_t end_ns;
    bool is_operation, is_copy, copy_below;  // copy_below: this or an earlier open range is a copy range
  };
  std::vector<Open> stack;
  for (std::size_t t = 0; t < trace.threads.size(); t++) {
    stack.clear();
    std::size_t next = by_range.begin[t];
    for (std::size_t c = by_call.begin[t]; c < by_call.begin[t + 1]; c++) {
      const std::uint32_t call = by_call.rows[c];
      const std::int64_t time = calls.start_ns[call];
      for (; next < by_range.begin[t + 1] && ranges.start_ns[by_range.rows[next]] <= time; next++) {
        const std::uint32_t row = by_range.rows[next];
        const std::int64_t end = end_of(row);
        while (!stack.empty() && stack.back().end_ns <= ranges.start_ns[row]) stack.pop_back();
        if (end <= time) continue;
        std::uint8_t& copy = copy_range[index_of(ranges.name[row])];
        if (copy == 2) copy = is_copy_range(rules, trace.strings.view(ranges.name[row])) ? 1 : 0;
        stack.push_back({row, end, ranges.kind[row] == RangeKind::operation, copy == 1,
                         copy == 1 || (!stack.empty() && stack.back().copy_below)});
      }
      while (!stack.empty() && stack.back().end_ns <= time) stack.pop_back();
      if (stack.empty()) continue;
      // The last opened range is open; those below it may have ended when ranges overlap without nesting.
      context.range[call] = RowId{stack.back().row};
      bool copy = false;
      for (std::size_t i = stack.size(); i-- > 0;) {
        if (stack[i].end_ns <= time) continue;
        if (stack[i].is_operation && context.operation[call] == kNoRow) context.operation[call] = RowId{stack[i].row};
        copy = copy || stack[i].is_copy;
        if (context.operation[call] != kNoRow && (copy || !stack[i].copy_below)) break;
      }
      context.comm_copy[call] = copy ? 1 : 0;
    }
  }
  return context;
}

}  // namespace chopper
