// SPDX-License-Identifier: Apache-2.0
// Sum and maximum over the instances of the hardware: a counter of a dispatch has a row for each of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/counters.h"

namespace chopper::rocpd {

class InstanceSums {
 public:
  explicit InstanceSums(CounterValueTable& values) : values_(values) {}

  /// Adds an instance. Those of one dispatch mostly follow each other, but need not.
  void add(std::uint32_t dispatch, std::uint32_t counter, double value, std::uint64_t offset) {
    add(dispatch, counter, value, value, offset);
  }
  /// Puts what was added into the order of dispatches, one row a counter.
  void finish(std::size_t num_dispatches);

 private:
  void add(std::uint32_t dispatch, std::uint32_t counter, double sum, double maximum, std::uint64_t offset);

  CounterValueTable& values_;
  std::uint32_t dispatch_ = UINT32_MAX;      // of the last row added
  std::size_t first_ = 0;                    // its first row
  std::vector<std::size_t> row_of_counter_;  // rows before first_ are of other dispatches
  bool is_ordered_ = true;
};

}  // namespace chopper::rocpd
