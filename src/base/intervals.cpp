// SPDX-License-Identifier: Apache-2.0
#include "base/intervals.h"

#include <algorithm>

namespace chopper {

Cover cover_of(std::vector<Interval> intervals) {
  const auto by_start = [](const Interval& x, const Interval& y) { return x.start < y.start; };
  if (!std::is_sorted(intervals.begin(), intervals.end(), by_start)) {
    std::sort(intervals.begin(), intervals.end(), by_start);
  }
  std::size_t kept = 0;  // merged in place: kept <= i always
  for (std::size_t i = 0; i < intervals.size(); i++) {
    const Interval next = intervals[i];
    if (next.end <= next.start) continue;
    if (kept > 0 && next.start <= intervals[kept - 1].end) {
      intervals[kept - 1].end = std::max(intervals[kept - 1].end, next.end);
    } else {
      intervals[kept++] = next;
    }
  }
  intervals.resize(kept);
  return intervals;
}

std::int64_t length_of(std::span<const Interval> cover) {
  std::int64_t sum = 0;
  for (const Interval& i : cover) sum += i.end - i.start;
  return sum;
}

Cover unite(std::span<const Interval> a, std::span<const Interval> b) {
  std::vector<Interval> all(a.size() + b.size());
  std::merge(a.begin(), a.end(), b.begin(), b.end(), all.begin(),
             [](const Interval& x, const Interval& y) { return x.start < y.start; });
  return cover_of(std::move(all));
}

std::int64_t overlap_of(std::span<const Interval> a, std::span<const Interval> b) {
  std::int64_t sum = 0;
  std::size_t i = 0;
  std::size_t k = 0;
  while (i < a.size() && k < b.size()) {
    const std::int64_t start = std::max(a[i].start, b[k].start);
    const std::int64_t end = std::min(a[i].end, b[k].end);
    if (end > start) sum += end - start;
    if (a[i].end < b[k].end) {
      i++;
    } else {
      k++;
    }
  }
  return sum;
}

Cover intersect(std::span<const Interval> a, std::span<const Interval> b) {
  Cover both;
  std::size_t i = 0;
  std::size_t k = 0;
  while (i < a.size() && k < b.size()) {
    const std::int64_t start = std::max(a[i].start, b[k].start);
    const std::int64_t end = std::min(a[i].end, b[k].end);
    if (end > start) both.push_back({start, end});
    if (a[i].end < b[k].end) {
      i++;
    } else {
      k++;
    }
  }
  return both;
}

std::vector<std::int64_t> lengths_between(std::span<const Interval> cover, std::span<const std::int64_t> bounds) {
  std::vector<std::int64_t> lengths;
  lengths.reserve(bounds.empty() ? 0 : bounds.size() - 1);
  std::size_t i = 0;  // first interval that ends after the bound
  for (std::size_t b = 0; b + 1 < bounds.size(); b++) {
    std::int64_t length = 0;
    while (i < cover.size() && cover[i].end <= bounds[b]) i++;
    for (; i < cover.size() && cover[i].start < bounds[b + 1]; i++) {
      length += std::min(cover[i].end, bounds[b + 1]) - std::max(cover[i].start, bounds[b]);
      if (cover[i].end > bounds[b + 1]) break;
    }
    lengths.push_back(length);
  }
  return lengths;
}

CoverIndex::CoverIndex(Cover cover) : cover_(std::move(cover)) {
  length_before_.reserve(cover_.size());
  std::int64_t sum = 0;
  for (const Interval& i : cover_) {
    length_before_.push_back(sum);
    sum += i.end - i.start;
  }
}

std::int64_t CoverIndex::before(std::int64_t time) const {
  const auto after = std::upper_bound(cover_.begin(), cover_.end(), time,
                                      [](std::int64_t t, const Interval& i) { return t < i.start; });
  if (after == cover_.begin()) return 0;
  const auto last = static_cast<std::size_t>(after - cover_.begin()) - 1;
  return length_before_[last] + std::min(time, cover_[last].end) - cover_[last].start;
}

std::int64_t CoverIndex::overlap(std::int64_t start, std::int64_t end) const {
  return end > start ? before(end) - before(start) : 0;
}

std::int64_t CoverWalk::overlap(std::int64_t start, std::int64_t end) {
  constexpr std::size_t kSteps = 8;  // what lies further ahead is looked up, so that long intervals cost no more
  const Cover& cover = index_.cover();
  while (at_ < cover.size() && cover[at_].end <= start) at_++;
  if (end <= start) return 0;
  std::int64_t inside = 0;
  for (std::size_t i = at_; i < cover.size() && cover[i].start < end; i++) {
    if (i == at_ + kSteps) return index_.overlap(start, end);
    inside += std::min(cover[i].end, end) - std::max(cover[i].start, start);
  }
  return inside;
}

}  // namespace chopper
