// SPDX-License-Identifier: Apache-2.0
#include "report/time_basis.h"

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>

#include "report/shown_gpus.h"

namespace chopper {
namespace {

using Wanted = std::function<bool(const TimelineRow&)>;

double value_of(const Field<std::int64_t>& field) { return field.present() ? static_cast<double>(field.value()) : 0; }

bool is_true(const Field<bool>& field) { return field.present() && field.value(); }

// Whether a row is a marked iteration with time of its own. One that spans the whole trace for want of marks is none.
bool is_iteration(const TimelineRow& row) {
  return row.scope == "iteration" && row.window_ns.present() && row.window_ns.value() > 0;
}

GpuTime whole_trace(const TimelineRow& row) {
  GpuTime gpu;
  gpu.row = &row;
  gpu.split = split_of(row);
  gpu.comm_ns = static_cast<double>(row.comm_ns);
  gpu.overlap_ns = static_cast<double>(row.overlap_ns);
  gpu.copies_ns = static_cast<double>(row.memcpy_ns);
  return gpu;
}

GpuTime mean_of_windows(const TimelineRow& row, const std::vector<const TimelineRow*>& windows) {
  GpuTime gpu;
  gpu.row = &row;
  gpu.num_steps = windows.size();
  std::vector<TimeSplit> splits;
  for (const TimelineRow* window : windows) {
    splits.push_back(window_split_of(*window));
    if (window->ordinal.present()) gpu.ordinals.push_back(window->ordinal.value());
    gpu.comm_ns += value_of(window->window_comm_ns);
    gpu.overlap_ns += value_of(window->window_overlap_ns);
    gpu.copies_ns += value_of(window->window_memcpy_ns);
  }
  std::sort(gpu.ordinals.begin(), gpu.ordinals.end());
  gpu.split = mean_split(splits);
  const auto num = static_cast<double>(windows.size());
  for (double* sum : {&gpu.comm_ns, &gpu.overlap_ns, &gpu.copies_ns}) *sum /= num;
  return gpu;
}

}  // namespace

TimeBasis time_basis(const Answer& answer) {
  TimeBasis basis;
  // Rows of one gpu of one input: both tables are sorted by input, rank and gpu.
  const auto same = [](const TimelineRow& a, const TimelineRow& b) { return a.input == b.input && is_same_gpu(a, b); };
  const bool marked = std::any_of(answer.coverage.begin(), answer.coverage.end(), [](const CoverageRow& row) {
    return !row.iteration_rule.empty() && row.iteration_rule != "none";
  });
  const Wanted kinds[] = {
      [](const TimelineRow& row) { return is_true(row.complete) && !is_true(row.last); },
      [](const TimelineRow& row) { return !is_true(row.last); },
      [](const TimelineRow&) { return true; },
  };
  std::map<std::int64_t, std::vector<const TimelineRow*>> windows_of_input;
  for (const TimelineRow& window : answer.windows) {
    if (!is_iteration(window)) continue;
    windows_of_input[window.input].push_back(&window);
  }
  for (std::size_t kind = 0; marked && kind < 3 && basis.gpus.empty(); kind++) {
    basis.with_last = kind == 2;
    for (const TimelineRow& row : answer.timeline) {
      std::vector<const TimelineRow*> windows;
      for (const TimelineRow* window : windows_of_input[row.input]) {
        if (same(*window, row) && kinds[kind](*window)) windows.push_back(window);
      }
      if (!windows.empty()) basis.gpus.push_back(mean_of_windows(row, windows));
    }
  }
  basis.steps = !basis.gpus.empty();
  if (!basis.steps) {
    for (const TimelineRow& row : answer.timeline) basis.gpus.push_back(whole_trace(row));
  }
  std::size_t num_parts = 0;
  for (const GpuTime& gpu : basis.gpus) num_parts += basis.steps ? gpu.num_steps : 1;
  basis.num_parts = static_cast<double>(std::max<std::size_t>(1, num_parts));
  std::vector<TimeSplit> splits;
  for (const GpuTime& gpu : basis.gpus) splits.push_back(gpu.split);
  basis.mean = mean_split(splits);
  return basis;
}

}  // namespace chopper
