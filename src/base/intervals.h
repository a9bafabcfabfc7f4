// SPDX-License-Identifier: Apache-2.0
// Algebra of half-open intervals [start, end) in nanoseconds. A *cover* is a sorted list of disjoint, non-touching
// intervals.
//
//   a:  ----   ------         union length = 4 + 6, sum of lengths may be more
//   b:    -------
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace chopper {

struct Interval {
  std::int64_t start = 0;
  std::int64_t end = 0;

  friend bool operator==(const Interval&, const Interval&) = default;
};

/// Disjoint, sorted, non-empty intervals with a gap between neighbours.
using Cover = std::vector<Interval>;

/// Returns the union of `intervals` (any order, overlaps allowed, empty ones dropped).
Cover cover_of(std::vector<Interval> intervals);

/// Returns the total length |cover|.
std::int64_t length_of(std::span<const Interval> cover);

/// Returns a union b.
Cover unite(std::span<const Interval> a, std::span<const Interval> b);

/// Returns |a intersected with b| of two covers.
std::int64_t overlap_of(std::span<const Interval> a, std::span<const Interval> b);

/// Returns a intersected with b.
Cover intersect(std::span<const Interval> a, std::span<const Interval> b);

/// Adds [start, end) to a cover none of whose intervals starts after it.
inline void extend(Cover& cover, Interval next) {
  if (next.end <= next.start) return;
  if (!cover.empty() && next.start <= cover.back().end) {
    if (next.end > cover.back().end) cover.back().end = next.end;
  } else {
    cover.push_back(next);
  }
}

/// Returns |cover intersected with [bounds[i], bounds[i + 1])| for each i; `bounds` must not decrease.
std::vector<std::int64_t> lengths_between(std::span<const Interval> cover, std::span<const std::int64_t> bounds);

/// Returns the part of [start, end) that lies in the cover; prefix sums make each query logarithmic.
class CoverIndex {
 public:
  CoverIndex() = default;
  explicit CoverIndex(Cover cover);

  std::int64_t overlap(std::int64_t start, std::int64_t end) const;
  const Cover& cover() const { return cover_; }

 private:
  std::int64_t before(std::int64_t time) const;  // covered length in (-inf, time)

  Cover cover_;
  std::vector<std::int64_t> length_before_;  // covered length before interval i
};

/// Answers the same for intervals in order of start, mostly in a step or two.
class CoverWalk {
 public:
  explicit CoverWalk(const CoverIndex& index) : index_(index) {}

  /// `start` must not be before that of the call before.
  std::int64_t overlap(std::int64_t start, std::int64_t end);

 private:
  const CoverIndex& index_;
  std::size_t at_ = 0;  // first interval that ends after the last start
};

}  // namespace chopper
