// SPDX-License-Identifier: Apache-2.0
#include "analyze/launches.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/radix_sort.h"

namespace chopper {
namespace {

constexpr std::size_t kNumPhases = static_cast<std::size_t>(Phase::unlabelled) + 1;

// A record with a launch call.
struct Launched {
  std::int64_t called_ns;
  std::uint32_t row;
};

}  // namespace

void summarise_launches(const TraceTables& trace, const GpuWorkLabels& labels, const DeviceWork& work,
                        const SelectedRows& selected, GpuSummary& summary) {
  const GpuWorkTable& gpu = trace.gpu_work;
  std::vector<Launched> launched;
  launched.reserve(work.rows.size());
  for (const std::uint32_t row : work.rows) {
    if (labels.launch[row] != kNoRow) launched.push_back({trace.launches.start_ns[index_of(labels.launch[row])], row});
  }
  // Times may be negative: the sign bit is turned so that they order as unsigned numbers.
  radix_sort(launched, [](const Launched& l) { return static_cast<std::uint64_t>(l.called_ns) ^ (1ull << 63); });

  // Records that wait at time t: called before t, not started until t. Those that start at or before their call (clocks
  // of host and gpu differ a little) never wait.
  const auto waits = [&](const Launched& l) { return l.called_ns < gpu.start_ns[l.row]; };
  std::array<std::vector<std::int64_t>, kNumPhases> delays, depths;
  std::array<std::int64_t, kNumPhases> negative{};
  std::int64_t called = 0, started = 0;
  std::size_t next_called = 0, next_started = 0;
  const auto is_waiting_row = [&](std::uint32_t row) {
    const RowId launch = labels.launch[row];
    return launch != kNoRow && trace.launches.start_ns[index_of(launch)] < gpu.start_ns[row];
  };
  for (const Launched& l : launched) {
    for (; launched[next_called].called_ns < l.called_ns; next_called++) called += waits(launched[next_called]) ? 1 : 0;
    for (; next_started < work.rows.size() && gpu.start_ns[work.rows[next_started]] <= l.called_ns; next_started++)
      started += is_waiting_row(work.rows[next_started]) ? 1 : 0;
    if (!selected(l.row)) continue;
    const auto phase = static_cast<std::size_t>(labels.phase[l.row]);
    const std::int64_t delay = gpu.start_ns[l.row] - l.called_ns;
    if (delay < 0) negative[phase]++;
    delays[phase].push_back(std::max<std::int64_t>(0, delay));
    depths[phase].push_back(called - started);
  }

  for (std::size_t p = 0; p < kNumPhases; p++) {
    if (delays[p].empty()) continue;
    LaunchSummary& of_phase = summary.launches[static_cast<Phase>(p)];
    of_phase.num_negative_delay = negative[p];
    of_phase.delay_ns.add_all(delays[p]);
    of_phase.queue.add_all(depths[p]);
  }
  for (const LaunchGap& gap : work.gaps) {
    if (!selected(gap.row)) continue;
    LaunchSummary& of_phase = summary.launches[labels.phase[gap.row]];
    of_phase.prep_ns += gap.prep_ns();
    of_phase.call_ns += gap.call_ns();
    of_phase.prep_idle_ns += gap.prep_idle_ns;
    of_phase.call_idle_ns += gap.call_idle_ns;
  }
}

}  // namespace chopper
