// SPDX-License-Identifier: Apache-2.0
#include "attribute/partners.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace chopper {

ForwardPartners::ForwardPartners(const TraceTables& trace) : ranges_(trace.ranges) {
  struct Backward {
    std::int64_t thread_id;
    std::int64_t number;
    auto operator<=>(const Backward&) const = default;
  };
  std::vector<Backward> backward;
  for (std::uint32_t row = 0; row < num_rows(ranges_); row++) {
    if (ranges_.sequence_number[row] == kNoNumber || ranges_.kind[row] == RangeKind::module) continue;
    const std::int64_t number = ranges_.sequence_number[row];
    if (ranges_.forward_thread[row] > 0) {
      backward.push_back({ranges_.forward_thread[row], number});
    } else {
      forward_.push_back({index_of(ranges_.thread[row]), number, ranges_.start_ns[row], row});
    }
  }
  if (!std::is_sorted(forward_.begin(), forward_.end())) std::sort(forward_.begin(), forward_.end());
  std::sort(backward.begin(), backward.end());
  backward.erase(std::unique(backward.begin(), backward.end()), backward.end());
  // Ids of threads in records are not the tid of events: each goes to the thread that has most of its numbers.
  std::map<std::int64_t, std::map<std::uint32_t, std::size_t>> votes;
  for (const Forward& f : forward_) {
    if (forward_threads_.empty() || forward_threads_.back() != f.thread) forward_threads_.push_back(f.thread);
  }
  const auto has = [&](std::uint32_t thread, std::int64_t number) {
    const auto at = std::lower_bound(forward_.begin(), forward_.end(), Forward{thread, number, INT64_MIN, 0});
    return at != forward_.end() && at->thread == thread && at->number == number;
  };
  for (const Backward& b : backward) {
    for (const std::uint32_t thread : forward_threads_) {
      if (has(thread, b.number)) votes[b.thread_id][thread]++;
    }
  }
  for (const auto& [id, counts] : votes) {
    const auto best = std::max_element(counts.begin(), counts.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    threads_[id] = best->first;
  }
  for (const Backward& b : backward) {
    const auto at = threads_.find(b.thread_id);
    if (at == threads_.end()) continue;
    if (has(at->second, b.number)) {
      named_.push_back({at->second, b.number});
      continue;
    }
    for (const std::uint32_t other : forward_threads_) {
      if (has(other, b.number)) named_.push_back({other, b.number});
    }
  }
  std::sort(named_.begin(), named_.end());
}

RowId ForwardPartners::partner_of(RowId backward) const {
  const std::uint32_t row = index_of(backward);
  const auto thread = threads_.find(ranges_.forward_thread[row]);
  if (thread == threads_.end()) return kNoRow;
  const std::int64_t number = ranges_.sequence_number[row];
  if (const RowId found = latest(thread->second, number, ranges_.start_ns[row]); found != kNoRow) return found;
  // Forward work repeated on another thread may go on with the numbers of the first one.
  for (const std::uint32_t other : forward_threads_) {
    if (const RowId found = latest(other, number, ranges_.start_ns[row]); found != kNoRow) return found;
  }
  return kNoRow;
}

// Of nested operators with one number the one that starts last, and not after the backward operator.
RowId ForwardPartners::latest(std::uint32_t thread, std::int64_t number, std::int64_t time) const {
  const auto at =
      std::upper_bound(forward_.begin(), forward_.end(), Forward{thread, number, time, UINT32_MAX});
  if (at == forward_.begin()) return kNoRow;
  const Forward& found = *std::prev(at);
  return found.thread == thread && found.number == number ? RowId{found.row} : kNoRow;
}

bool ForwardPartners::has_partner(RowId forward) const {
  const std::uint32_t row = index_of(forward);
  return std::binary_search(named_.begin(), named_.end(),
                            Named{index_of(ranges_.thread[row]), ranges_.sequence_number[row]});
}

}  // namespace chopper
