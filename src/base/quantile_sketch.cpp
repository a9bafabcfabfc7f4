// SPDX-License-Identifier: Apache-2.0
#include "base/quantile_sketch.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/radix_sort.h"

namespace chopper {
namespace {

constexpr int kMantissaBits = 10;  // 2^10 buckets per power of two: each at most 1/1024 = 0.098 % wide

std::uint32_t bucket_index(std::uint64_t value) {
  if (value < (1u << kMantissaBits)) return static_cast<std::uint32_t>(value);
  const int shift = static_cast<int>(std::bit_width(value)) - 1 - kMantissaBits;
  const auto mantissa = static_cast<std::uint32_t>(value >> shift) - (1u << kMantissaBits);
  return (static_cast<std::uint32_t>(shift + 1) << kMantissaBits) + mantissa;
}

std::uint32_t bucket_of(std::int64_t value) {
  return bucket_index(static_cast<std::uint64_t>(std::max<std::int64_t>(value, 0)));
}

std::int64_t bucket_middle(std::uint32_t index) {
  if (index < (1u << kMantissaBits)) return index;
  const std::uint32_t shift = (index >> kMantissaBits) - 1;
  const std::uint64_t low = static_cast<std::uint64_t>((index & ((1u << kMantissaBits) - 1)) + (1u << kMantissaBits))
                            << shift;
  return static_cast<std::int64_t>(low + ((std::uint64_t{1} << shift) >> 1));
}

}  // namespace

void QuantileSketch::add(std::int64_t value) {
  const std::uint32_t index = bucket_of(value);
  const auto at = std::lower_bound(buckets_.begin(), buckets_.end(), index,
                                   [](const Bucket& b, std::uint32_t i) { return b.index < i; });
  if (at != buckets_.end() && at->index == index) {
    at->count++;
  } else {
    buckets_.insert(at, {index, 1});
  }
  min_ = count_ == 0 ? value : std::min(min_, value);
  max_ = count_ == 0 ? value : std::max(max_, value);
  count_++;
  sum_ = static_cast<std::int64_t>(static_cast<std::uint64_t>(sum_) +
                                   static_cast<std::uint64_t>(value));  // wraps, never traps
}

void QuantileSketch::add_all(std::span<const std::int64_t> values) {
  if (values.empty()) return;
  QuantileSketch added;
  std::vector<std::uint32_t> indices;
  indices.reserve(values.size());
  added.min_ = added.max_ = values[0];
  std::uint64_t sum = 0;
  for (const std::int64_t value : values) {
    indices.push_back(bucket_of(value));
    added.min_ = std::min(added.min_, value);
    added.max_ = std::max(added.max_, value);
    sum += static_cast<std::uint64_t>(value);
  }
  added.sum_ = static_cast<std::int64_t>(sum);
  added.count_ = values.size();
  // Many values in few buckets, as durations of one kernel are, are counted; others are sorted.
  const std::uint32_t lowest = bucket_of(added.min_);
  const std::size_t num_indices = bucket_of(added.max_) - lowest + std::size_t{1};
  if (num_indices <= 2 * indices.size()) {
    std::vector<std::uint64_t> counts(num_indices, 0);
    for (const std::uint32_t index : indices) counts[index - lowest]++;
    for (std::size_t i = 0; i < num_indices; i++) {
      if (counts[i] > 0) added.buckets_.push_back({lowest + static_cast<std::uint32_t>(i), counts[i]});
    }
  } else {
    radix_sort(indices, [](std::uint32_t index) { return index; });
    for (const std::uint32_t index : indices) {
      if (added.buckets_.empty() || added.buckets_.back().index != index) added.buckets_.push_back({index, 0});
      added.buckets_.back().count++;
    }
  }
  if (count_ == 0) {
    *this = std::move(added);
  } else {
    merge(added);
  }
}

void QuantileSketch::merge(const QuantileSketch& other) {
  if (other.count_ == 0) return;
  std::vector<Bucket> merged;
  merged.reserve(buckets_.size() + other.buckets_.size());
  auto a = buckets_.begin();
  auto b = other.buckets_.begin();
  while (a != buckets_.end() || b != other.buckets_.end()) {
    if (b == other.buckets_.end() || (a != buckets_.end() && a->index < b->index)) {
      merged.push_back(*a++);
    } else if (a == buckets_.end() || b->index < a->index) {
      merged.push_back(*b++);
    } else {
      merged.push_back({a->index, a->count + b->count});
      ++a;
      ++b;
    }
  }
  buckets_ = std::move(merged);
  min_ = count_ == 0 ? other.min_ : std::min(min_, other.min_);
  max_ = count_ == 0 ? other.max_ : std::max(max_, other.max_);
  count_ += other.count_;
  sum_ = static_cast<std::int64_t>(static_cast<std::uint64_t>(sum_) + static_cast<std::uint64_t>(other.sum_));
}

std::int64_t QuantileSketch::quantile(std::uint64_t numerator, std::uint64_t denominator) const {
  if (count_ == 0) return 0;
  const std::uint64_t rank = std::max<std::uint64_t>(1, (count_ * numerator + denominator - 1) / denominator);
  std::uint64_t seen = 0;
  for (const Bucket& b : buckets_) {
    seen += b.count;
    if (seen >= rank) return std::clamp(bucket_middle(b.index), min_, max_);
  }
  return max_;
}

}  // namespace chopper
