// SPDX-License-Identifier: Apache-2.0
#include "ingest/rocpd/instance_sums.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace chopper::rocpd {

void InstanceSums::add(std::uint32_t dispatch, std::uint32_t counter, double sum, double maximum,
                       std::uint64_t offset) {
  if (dispatch != dispatch_) {
    is_ordered_ = is_ordered_ && (dispatch_ == UINT32_MAX || dispatch > dispatch_);
    dispatch_ = dispatch;
    first_ = values_.value.size();
  }
  if (counter >= row_of_counter_.size()) row_of_counter_.resize(counter + std::size_t{1}, SIZE_MAX);
  std::size_t& row = row_of_counter_[counter];
  if (row >= first_ && row < values_.value.size()) {
    values_.value[row] += sum;
    values_.maximum[row] = std::max(values_.maximum[row], maximum);
    return;
  }
  row = values_.value.size();
  values_.dispatch.push_back(dispatch);
  values_.counter.push_back(counter);
  values_.value.push_back(sum);
  values_.maximum.push_back(maximum);
  values_.offset.push_back(offset);
}

void InstanceSums::finish(std::size_t num_dispatches) {
  if (is_ordered_) return;
  // Rows of a dispatch side by side, in the order they were added.
  std::vector<std::size_t> place(num_dispatches + 1, 0);
  for (const std::uint32_t dispatch : values_.dispatch) place[dispatch + std::size_t{1}]++;
  std::partial_sum(place.begin(), place.end(), place.begin());
  std::vector<std::size_t> order(values_.dispatch.size());
  for (std::size_t i = 0; i < order.size(); i++) order[place[values_.dispatch[i]]++] = i;
  const CounterValueTable added = std::exchange(values_, {});
  dispatch_ = UINT32_MAX;
  row_of_counter_.clear();
  for (const std::size_t i : order)
    add(added.dispatch[i], added.counter[i], added.value[i], added.maximum[i], added.offset[i]);
}

}  // namespace chopper::rocpd
