// SPDX-License-Identifier: Apache-2.0
// Rows of what the host does: launching, what blocks it, memory.
#include <algorithm>
#include <map>
#include <utility>

#include "engine/make_rows.h"

namespace chopper {
namespace {

Field<std::int64_t> total_field(std::int64_t bytes) {
  return bytes == kNoNumber ? Field<std::int64_t>(Reason::no_memory_totals) : Field<std::int64_t>(bytes);
}

// (highest - lowest) / highest of the peaks of the iterations.
class PeakVariation {
 public:
  // An iteration; its peak may not be recorded.
  void add(std::int64_t peak) {
    if (peak == kNoNumber) {
      without_ = Reason::no_memory_totals;
      return;
    }
    lowest_ = any_ ? std::min(lowest_, peak) : peak;
    highest_ = any_ ? std::max(highest_, peak) : peak;
    any_ = true;
  }
  Field<double> value() const {
    if (!any_) return without_;
    if (highest_ <= 0) return Reason::zero_length;
    const auto highest = static_cast<double>(highest_);
    return (highest - static_cast<double>(lowest_)) / highest;
  }

 private:
  bool any_ = false;
  Reason without_ = Reason::no_mark;
  std::int64_t lowest_ = 0, highest_ = 0;
};

}  // namespace

void add_launch_rows(const GpuSource& source, Answer& answer) {
  for (const auto& [phase, launches] : source.gpu.launches) {
    LaunchRow row;
    set_source(source, row);
    row.phase = to_string(phase);
    row.num_kernels = static_cast<std::int64_t>(launches.delay_ns.count());
    row.num_negative_delay = launches.num_negative_delay;
    row.delay_p05_ns = launches.delay_ns.quantile(5, 100);
    row.delay_p50_ns = launches.delay_ns.quantile(50, 100);
    row.delay_p95_ns = launches.delay_ns.quantile(95, 100);
    row.queue_p05 = launches.queue.quantile(5, 100);
    row.queue_p50 = launches.queue.quantile(50, 100);
    row.queue_p95 = launches.queue.quantile(95, 100);
    row.prep_ns = launches.prep_ns;
    row.call_ns = launches.call_ns;
    row.prep_idle_ns = launches.prep_idle_ns;
    row.call_idle_ns = launches.call_idle_ns;
    answer.launch.push_back(std::move(row));
  }
}

void add_host_blocker_rows(const GpuSource& source, Answer& answer) {
  for (const auto& [key, blocker] : source.gpu.blockers) {
    HostBlockerRow row;
    set_source(source, row);
    row.kind = key.first;
    row.name = key.second;
    row.num = blocker.num;
    row.duration_ns = blocker.duration_ns;
    row.idle_ns = blocker.idle_ns;
    row.step_idle_ns = blocker.step_idle_ns;
    answer.host_blockers.push_back(std::move(row));
  }
}

void add_memory_rows(std::size_t index, const InputSummary& input, std::optional<std::int64_t> only_gpu,
                     const Selection& selection, Answer& answer) {
  std::map<std::int32_t, PeakVariation> variations;  // by device
  for (const MemorySummary& memory : input.memory) {
    if (memory.ordinal >= 0) variations[memory.device].add(memory.peak_allocated);
  }
  for (const MemorySummary& memory : input.memory) {
    if (only_gpu && memory.device != *only_gpu) continue;
    if (memory.ordinal >= 0 && !selection.holds_iteration(memory.ordinal, memory.number)) continue;
    MemoryRow row;
    row.input = static_cast<std::int64_t>(index);
    row.rank = rank_field(input);
    row.gpu = gpu_field(memory.device);
    if (memory.ordinal >= 0) {
      row.scope = "iteration";
      row.ordinal = std::int64_t{memory.ordinal};
      row.iteration = number_field(memory.number);
    } else {
      row.peak_variation = variations[memory.device].value();
    }
    row.num_events = memory.num_events;
    row.peak_allocated_bytes = total_field(memory.peak_allocated);
    row.peak_reserved_bytes = total_field(memory.peak_reserved);
    row.lowest_allocated_bytes = total_field(memory.lowest_allocated);
    answer.memory.push_back(std::move(row));
  }
}

}  // namespace chopper
