// SPDX-License-Identifier: Apache-2.0
// Forward operators of backward ones, by forward thread and sequence number (attribution.md 5).
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "model/trace.h"

namespace chopper {

class ForwardPartners {
 public:
  explicit ForwardPartners(const TraceTables& trace);

  /// Row of the forward operator of a backward one, or kNoRow.
  RowId partner_of(RowId backward) const;
  /// Whether some backward operator names the thread and number of this forward operator.
  bool has_partner(RowId forward) const;

 private:
  RowId latest(std::uint32_t thread, std::int64_t number, std::int64_t time) const;

  struct Forward {
    std::uint32_t thread;
    std::int64_t number;
    std::int64_t start_ns;
    std::uint32_t row;
    friend auto operator<=>(const Forward&, const Forward&) = default;
  };
  struct Named {
    std::uint32_t thread;
    std::int64_t number;
    friend auto operator<=>(const Named&, const Named&) = default;
  };
  const HostRangeTable& ranges_;
  std::vector<Forward> forward_;  // sorted
  std::vector<std::uint32_t> forward_threads_;
  std::vector<Named> named_;      // by backward operators; sorted
  std::unordered_map<std::int64_t, std::uint32_t> threads_;  // forward thread id to index of a thread
};

}  // namespace chopper
