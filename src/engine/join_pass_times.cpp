// SPDX-License-Identifier: Apache-2.0
#include "engine/join_pass_times.h"

#include <unordered_map>

#include "engine/folders.h"

namespace chopper {
namespace {

void join(const CounterPass& times, CounterPass& pass) {
  constexpr std::uint32_t kTwice = UINT32_MAX;
  std::unordered_map<std::int64_t, std::uint32_t> row_of;
  for (std::uint32_t i = 0; i < num_rows(times.dispatches); i++) {
    const auto [at, inserted] = row_of.try_emplace(times.dispatches.correlation[i], i);
    if (!inserted) at->second = kTwice;
  }
  PassDispatchTable& table = pass.dispatches;
  for (std::size_t i = 0; i < num_rows(table); i++) {
    const auto at = row_of.find(table.correlation[i]);
    if (table.correlation[i] == kNoNumber || at == row_of.end() || at->second == kTwice) continue;
    table.start_ns[i] = times.dispatches.start_ns[at->second];
    table.end_ns[i] = times.dispatches.end_ns[at->second];
    table.duration_ns[i] = times.dispatches.duration_ns[at->second];
  }
}

}  // namespace

void join_pass_times(std::vector<InputSummary>& inputs) {
  const Folders folders(inputs);
  for (std::size_t i = 0; i < inputs.size(); i++) {
    InputSummary& input = inputs[i];
    if (!input.pass_tables || input.pass->num_values == 0 || input.pass->num_timed > 0 ||
        input.pass->num_with_duration > 0)
      continue;
    const std::size_t times = folders.find_beside(i, [&](std::size_t other) {
      return inputs[other].pass_tables && inputs[other].pass->content == PassContent::kernel_times &&
             inputs[other].pass->num_timed > 0;
    });
    if (times != SIZE_MAX) join(*inputs[times].pass_tables, *input.pass_tables);
  }
}

}  // namespace chopper
