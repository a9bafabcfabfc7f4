// SPDX-License-Identifier: Apache-2.0
// Quantiles from fixed logarithmic buckets with integer counts: merging is adding, so results do not depend on order,
// threads or machines (spec 11).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace chopper {

/// Counts of non-negative values in buckets: exact below 1024, above in 1024 buckets per power of two (at most 0.1 %
/// wide).
class QuantileSketch {
 public:
  void add(std::int64_t value);
  /// Adds many values at once, much faster than one by one.
  void add_all(std::span<const std::int64_t> values);
  void merge(const QuantileSketch& other);

  std::uint64_t count() const { return count_; }
  std::int64_t min() const { return min_; }
  std::int64_t max() const { return max_; }
  std::int64_t sum() const { return sum_; }

  /// Returns the nearest-rank quantile (rank = ceil(numerator / denominator x count), at least 1): the middle of the
  /// bucket that holds it, clamped to the true minimum and maximum. 0 when empty.
  std::int64_t quantile(std::uint64_t numerator, std::uint64_t denominator) const;

 private:
  struct Bucket {
    std::uint32_t index;
    std::uint64_t count;
  };
  std::vector<Bucket> buckets_;  // sorted by index
  std::uint64_t count_ = 0;
  std::int64_t min_ = 0;
  std::int64_t max_ = 0;
  std::int64_t sum_ = 0;
};

}  // namespace chopper
