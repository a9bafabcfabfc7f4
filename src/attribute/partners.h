// SPDX-License-Identifier: Apache-2.0
// Forward operators of backward ones, by forward thread and sequence number (attribution.md 5).
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/id_index.h"
#include "model/trace.h"

namespace chopper {

class ForwardPartners {
 public:
  explicit ForwardPartners(const TraceTables& trace);

  /// Row of the forward operator of a backward one, or kNoRow.
  RowId partner_of(RowId backward) const;
  /// Whether this operator is the partner of some backward one.
  bool has_partner(RowId forward) const { return named_[index_of(forward)] != 0; }

 private:
  void find_threads();
  void mark_named();
  RowId latest(std::uint32_t thread, std::int64_t number, std::int64_t time) const;

  const HostRangeTable& ranges_;
  std::vector<std::uint32_t> rows_;             // forward operators, in order of row
  std::vector<std::int64_t> keys_;              // their threads and numbers
  std::vector<std::uint32_t> forward_threads_;  // threads that have any
  std::optional<IdIndex> index_;                // of keys_
  std::vector<std::uint32_t> backward_;         // rows of backward operators
  std::unordered_map<std::int64_t, std::uint32_t> threads_;  // forward thread id to index of a thread
  std::vector<std::uint8_t> named_;             // by row: it is the partner of some backward operator
};

}  // namespace chopper
