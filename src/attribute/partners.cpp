// SPDX-License-Identifier: Apache-2.0
#include "attribute/partners.h"

#include <algorithm>
#include <map>

namespace chopper {
namespace {

// Thread and number in one id. Numbers use 48 bits in any real trace; larger ones only share ids, which `latest` tells apart.
std::int64_t key_of(std::uint32_t thread, std::int64_t number) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(number) ^ static_cast<std::uint64_t>(thread + 1) << 48);
}

}  // namespace

ForwardPartners::ForwardPartners(const TraceTables& trace) : ranges_(trace.ranges) {
  std::vector<std::int64_t> first_start(trace.threads.size(), INT64_MAX);  // of forward operators
  named_.assign(num_rows(ranges_), 0);
  for (std::uint32_t row = 0; row < num_rows(ranges_); row++) {
    if (ranges_.sequence_number[row] == kNoNumber || ranges_.kind[row] == RangeKind::module) continue;
    if (ranges_.forward_thread[row] > 0) {
      backward_.push_back(row);
    } else {
      rows_.push_back(row);
      keys_.push_back(key_of(index_of(ranges_.thread[row]), ranges_.sequence_number[row]));
      std::int64_t& first = first_start[index_of(ranges_.thread[row])];
      first = std::min(first, ranges_.start_ns[row]);
    }
  }
  if (backward_.empty() || rows_.empty()) return;
  for (std::uint32_t thread = 0; thread < first_start.size(); thread++) {
    if (first_start[thread] != INT64_MAX) forward_threads_.push_back(thread);
  }
  // Of threads that fit equally well the one that began first, wherever it stands in the file.
  std::stable_sort(forward_threads_.begin(), forward_threads_.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return first_start[a] < first_start[b]; });
  index_.emplace(keys_, 0);
  find_threads();
  mark_named();
}

// Ids of threads in records are not the tid of events: each goes to the thread that has most of its numbers.
void ForwardPartners::find_threads() {
  if (forward_threads_.size() == 1) {
    for (const std::uint32_t row : backward_) threads_[ranges_.forward_thread[row]] = forward_threads_[0];
    return;
  }
  std::map<std::int64_t, std::map<std::size_t, std::size_t>> votes;  // by id and place in forward_threads_
  for (const std::uint32_t row : backward_) {
    for (std::size_t place = 0; place < forward_threads_.size(); place++) {
      if (index_->first(key_of(forward_threads_[place], ranges_.sequence_number[row])) != IdIndex::kNone)
        votes[ranges_.forward_thread[row]][place]++;
    }
  }
  for (const auto& [id, counts] : votes) {
    const auto best = std::max_element(counts.begin(), counts.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    threads_[id] = forward_threads_[best->first];
  }
}

void ForwardPartners::mark_named() {
  for (const std::uint32_t row : backward_) {
    const auto thread = threads_.find(ranges_.forward_thread[row]);
    if (thread == threads_.end()) continue;
    const auto mark = [&](std::uint32_t t) {
      const RowId forward = latest(t, ranges_.sequence_number[row], ranges_.start_ns[row]);
      if (forward != kNoRow) named_[index_of(forward)] = 1;
      return forward != kNoRow;
    };
    if (mark(thread->second)) continue;
    for (const std::uint32_t other : forward_threads_) {
      if (mark(other)) break;
    }
  }
}

RowId ForwardPartners::partner_of(RowId backward) const {
  if (!index_) return kNoRow;
  const std::uint32_t row = index_of(backward);
  const auto thread = threads_.find(ranges_.forward_thread[row]);
  if (thread == threads_.end()) return kNoRow;
  const std::int64_t number = ranges_.sequence_number[row];
  const std::int64_t time = ranges_.start_ns[row];
  if (const RowId found = latest(thread->second, number, time); found != kNoRow) return found;
  // Forward work repeated on another thread may go on with the numbers of the first one.
  for (const std::uint32_t other : forward_threads_) {
    if (const RowId found = latest(other, number, time); found != kNoRow) return found;
  }
  return kNoRow;
}

// Of nested operators with one number the one that starts last, and not after the backward operator.
RowId ForwardPartners::latest(std::uint32_t thread, std::int64_t number, std::int64_t time) const {
  RowId found = kNoRow;
  for (std::uint32_t at = index_->first(key_of(thread, number)); at != IdIndex::kNone; at = index_->next(at)) {
    const std::uint32_t row = rows_[at];
    if (index_of(ranges_.thread[row]) != thread || ranges_.sequence_number[row] != number || ranges_.start_ns[row] > time)
      continue;
    if (found == kNoRow || ranges_.start_ns[row] >= ranges_.start_ns[index_of(found)]) found = RowId{row};
  }
  return found;
}

}  // namespace chopper
