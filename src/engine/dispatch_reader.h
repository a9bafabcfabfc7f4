// SPDX-License-Identifier: Apache-2.0
// Values of one pass, dispatch by dispatch, as the programs of metrics take them.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "catalog/metric_set.h"
#include "model/counters.h"

namespace chopper {

/// Names of the counters of a pass, in its order; they live as long as the pass.
std::vector<std::string_view> counter_names(const CounterPass& pass);

class DispatchReader {
 public:
  explicit DispatchReader(const CounterPass& pass);

  const CounterPass& pass() const { return *pass_; }

  /// Values of a row of PassDispatchTable, by index of the counter in the pass; valid until the next call.
  DispatchValues values_of(std::uint32_t dispatch);

 private:
  const CounterPass* pass_;
  std::vector<std::size_t> begin_;  // of the values of each dispatch
  std::vector<double> sums_, maxima_;
  std::vector<std::uint32_t> filled_;
};

}  // namespace chopper
