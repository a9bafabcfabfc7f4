// SPDX-License-Identifier: Apache-2.0
#include "attribute/counted_launches.h"

#include <algorithm>
#include <set>

#include "attribute/links.h"

namespace chopper {
namespace {

// Kernel launches in order of start. A call of the runtime and the call of the driver inside it are one launch.
std::vector<std::uint32_t> kernel_launches(const TraceTables& trace) {
  const LaunchTable& calls = trace.launches;
  std::vector<std::uint32_t> rows;
  for (std::uint32_t row = 0; row < num_rows(calls); row++) {
    if (is_kernel_launch(trace.strings.view(calls.name[row]))) rows.push_back(row);
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return calls.start_ns[a] < calls.start_ns[b]; });
  std::set<std::int64_t> seen;
  std::erase_if(rows, [&](std::uint32_t row) {
    return calls.correlation[row] != kNoId && !seen.insert(calls.correlation[row]).second;
  });
  return rows;
}

}  // namespace

CountedLaunches launches_of_ranges(const TraceTables& trace) {
  CountedLaunches result;
  if (!trace.counters) return result;
  const CounterPass& counters = *trace.counters;
  const LaunchTable& calls = trace.launches;
  const std::vector<std::uint32_t> rows = kernel_launches(trace);
  const std::size_t num_ranges = num_rows(counters.dispatches);
  if (counters.devices.size() > 1) {
    result.unknown = "ranges of several gpus: a launch does not say which it is on";
  } else if (rows.size() != num_ranges) {
    result.unknown = "ranges: " + std::to_string(num_ranges) + ", kernel launches: " + std::to_string(rows.size());
  }
  std::set<std::string> processes;
  for (std::size_t i = 0; i < rows.size() && result.unknown.empty(); i++) {
    const std::uint32_t row = rows[i];
    processes.insert(trace.threads[index_of(calls.thread[row])].pid);
    if (trace.strings.view(calls.name[row]).find("Graph") != std::string_view::npos)
      result.unknown = "a graph launch has several kernels";
    if (processes.size() > 1) result.unknown = "launches of several processes";
    if (i == 0) continue;
    const std::uint32_t before = rows[i - 1];
    if (calls.thread[row] != calls.thread[before] &&
        calls.start_ns[row] < calls.start_ns[before] + calls.duration_ns[before])
      result.unknown = "launches of several threads at the same time";
  }
  if (result.unknown.empty()) {
    for (const std::uint32_t row : rows) result.launch.push_back(RowId{row});
  }
  return result;
}

}  // namespace chopper
