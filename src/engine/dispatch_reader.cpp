// SPDX-License-Identifier: Apache-2.0
#include "engine/dispatch_reader.h"

namespace chopper {

std::vector<std::string_view> counter_names(const CounterPass& pass) {
  std::vector<std::string_view> names;
  for (const StringId name : pass.counters) names.push_back(pass.strings.view(name));
  return names;
}

DispatchReader::DispatchReader(const CounterPass& pass)
    : pass_(&pass), sums_(pass.counters.size(), kNoValue), maxima_(pass.counters.size(), kNoValue) {
  begin_.assign(num_rows(pass.dispatches) + 1, 0);
  for (const std::uint32_t dispatch : pass.values.dispatch) begin_[dispatch + 1]++;
  for (std::size_t i = 1; i < begin_.size(); i++) begin_[i] += begin_[i - 1];
}

DispatchValues DispatchReader::values_of(std::uint32_t dispatch) {
  for (const std::uint32_t counter : filled_) sums_[counter] = maxima_[counter] = kNoValue;
  filled_.clear();
  for (std::size_t i = begin_[dispatch]; i < begin_[dispatch + 1]; i++) {
    const std::uint32_t counter = pass_->values.counter[i];
    sums_[counter] = pass_->values.value[i];
    maxima_[counter] = pass_->values.maximum[i];
    filled_.push_back(counter);
  }
  DispatchValues values;
  values.sums = sums_;
  values.maxima = maxima_;
  const PassDispatchTable& table = pass_->dispatches;
  if (table.duration_ns[dispatch] != kNoNumber) values.duration_ns = static_cast<double>(table.duration_ns[dispatch]);
  const PassKernel& kernel = pass_->kernels[table.kernel[dispatch]];
  if (kernel.grid_size != kNoNumber) values.grid_size = static_cast<double>(kernel.grid_size);
  if (kernel.workgroup_size != kNoNumber) values.workgroup_size = static_cast<double>(kernel.workgroup_size);
  return values;
}

}  // namespace chopper
