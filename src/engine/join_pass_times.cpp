// SPDX-License-Identifier: Apache-2.0
#include "engine/join_pass_times.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <unordered_map>

namespace chopper {
namespace {

std::size_t common_start(const std::string& a, const std::string& b) {
  return static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
}

const CounterPass* times_beside(const std::vector<InputSummary>& inputs, const InputSummary& input) {
  const std::filesystem::path path(input.full_path);
  const CounterPass* best = nullptr;
  std::size_t longest = 0;
  for (const InputSummary& other : inputs) {
    if (!other.pass_tables || other.pass->content != PassContent::kernel_times || other.pass->num_timed == 0) continue;
    const std::filesystem::path other_path(other.full_path);
    if (other_path.parent_path() != path.parent_path()) continue;
    const std::size_t length = common_start(path.filename().string(), other_path.filename().string());
    if (best != nullptr && length <= longest) continue;
    best = other.pass_tables.get();
    longest = length;
  }
  return best;
}

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
  for (InputSummary& input : inputs) {
    if (!input.pass_tables || input.pass->num_values == 0 || input.pass->num_timed > 0 ||
        input.pass->num_with_duration > 0)
      continue;
    if (const CounterPass* times = times_beside(inputs, input)) join(*times, *input.pass_tables);
  }
}

}  // namespace chopper
