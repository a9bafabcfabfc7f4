// SPDX-License-Identifier: Apache-2.0
// From an id to the rows that carry it: a table of the first row of each id, by the id itself where ids are dense, else
// by open addressing; rows of one id are chained in ascending order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace chopper {

class IdIndex {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  /// Indexes `ids`; rows whose id is `ignored` are left out.
  IdIndex(std::span<const std::int64_t> ids, std::int64_t ignored) : next_(ids.size(), kNone) {
    if (index_dense(ids, ignored)) return;
    std::size_t slots = 16;
    while (slots < ids.size() * 2) slots *= 2;
    slots_.assign(slots, {0, kNone});
    for (std::size_t i = ids.size(); i-- > 0;) {  // backwards, so that chains run forwards
      if (ids[i] == ignored) continue;
      Slot& slot = slots_[slot_of(ids[i])];
      slot.id = ids[i];
      next_[i] = slot.first;
      slot.first = static_cast<std::uint32_t>(i);
    }
  }
  /// The first row with `id`, or kNone.
  std::uint32_t first(std::int64_t id) const {
    if (slots_.empty()) {
      const std::uint64_t at = static_cast<std::uint64_t>(id) - lowest_;
      return at < first_.size() ? first_[at] : kNone;
    }
    return slots_[slot_of(id)].first;
  }
  /// The next row with the id of `row`, or kNone.
  std::uint32_t next(std::uint32_t row) const { return next_[row]; }

 private:
  struct Slot {
    std::int64_t id;
    std::uint32_t first;
  };
  // Ids that count up, as those of launch calls mostly do, need no search.
  bool index_dense(std::span<const std::int64_t> ids, std::int64_t ignored) {
    std::int64_t lowest = INT64_MAX, highest = INT64_MIN;
    for (const std::int64_t id : ids) {
      if (id == ignored) continue;
      lowest = std::min(lowest, id);
      highest = std::max(highest, id);
    }
    if (lowest > highest) return true;
    lowest_ = static_cast<std::uint64_t>(lowest);
    const std::uint64_t last = static_cast<std::uint64_t>(highest) - lowest_;
    if (last / 4 >= ids.size()) return false;  // more memory than open addressing takes
    first_.assign(static_cast<std::size_t>(last) + 1, kNone);
    for (std::size_t i = ids.size(); i-- > 0;) {
      if (ids[i] == ignored) continue;
      std::uint32_t& first = first_[static_cast<std::uint64_t>(ids[i]) - lowest_];
      next_[i] = first;
      first = static_cast<std::uint32_t>(i);
    }
    return true;
  }
  std::size_t slot_of(std::int64_t id) const {
    const std::size_t mask = slots_.size() - 1;
    // Ids are mostly consecutive, but any pattern must spread: both halves are mixed in before the multiplication's
    // upper bits are used.
    std::uint64_t h = static_cast<std::uint64_t>(id);
    h = (h ^ h >> 32) * 0x9e3779b97f4a7c15ull;
    h = (h ^ h >> 29) * 0xbf58476d1ce4e5b9ull;
    std::size_t at = (h ^ h >> 32) & mask;
    while (slots_[at].first != kNone && slots_[at].id != id) at = (at + 1) & mask;
    return at;
  }
  std::uint64_t lowest_ = 0;
  std::vector<std::uint32_t> first_;  // of each id from the lowest on; dense ids only
  std::vector<Slot> slots_;           // other ids
  std::vector<std::uint32_t> next_;
};

}  // namespace chopper
