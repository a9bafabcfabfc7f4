// SPDX-License-Identifier: Apache-2.0
#include "report/health_counts.h"

#include <algorithm>
#include <vector>

#include "report/quantity.h"

namespace chopper {
namespace {

std::uint64_t sum_of(const HealthLog& log, std::initializer_list<HealthKind> kinds) {
  std::uint64_t sum = 0;
  for (const HealthKind kind : kinds) sum += log.count(kind);
  return sum;
}

// Whether `gpu` is shown: --rank and --gpu leave rows out, not summaries.
bool has_row(const Answer& answer, std::int64_t input, std::int32_t device) {
  return std::any_of(answer.timeline.begin(), answer.timeline.end(), [&](const TimelineRow& row) {
    const std::int64_t row_device = row.gpu.present() ? row.gpu.value() : std::int64_t{kUnknownDevice};
    return row.input == input && row_device == device;
  });
}

void add_to(LabelCount& sum, const LabelCount& count) {
  sum.records += count.records;
  sum.duration_ns += count.duration_ns;
}

}  // namespace

Losses losses_of(const HealthLog& log) {
  using enum HealthKind;
  return {
      sum_of(log, {time_overflow, negative_duration, zero_timestamp, outside_host_window, missing_duration_gpu,
                   unclosed_gpu_span, short_row, unreadable_value, missing_value, conflicting_value, ambiguous_number}),
      sum_of(log, {unreadable_event, unreadable_row, profiler_error, graph_kernels_hidden, missing_time, not_an_event,
                   unmatched_end}),
      sum_of(log, {truncated, corrupt_compression, damaged_table, input_failed})};
}

std::string losses_text(const Losses& losses) {
  std::string out;
  const auto add = [&](std::uint64_t count, std::string_view one, std::string_view many) {
    if (count == 0) return;
    if (!out.empty()) out += ", ";
    out += counted(count, one, many);
  };
  add(losses.broken_inputs, "file incomplete", "files incomplete");
  add(losses.lost, "event lost", "events lost");
  add(losses.quarantined, "record quarantined", "records quarantined");
  return out.empty() ? "nothing lost" : out;
}

std::string absences_text(const HealthLog& log) {
  std::string out;
  const auto add = [&](HealthKind kind, std::string_view one, std::string_view many) {
    const std::uint64_t count = log.count(kind);
    if (count > 0) out += (out.empty() ? "" : ", ") + counted(count, one, many);
  };
  add(HealthKind::launches_without_gpu_record, "kernel not recorded", "kernels not recorded");
  add(HealthKind::duplicate_record, "record repeated", "records repeated");
  add(HealthKind::rank_missing, "rank missing", "ranks missing");
  return out;
}

LinkedWork linked_work(const Answer& answer) {
  LinkedWork work;
  const std::size_t num_inputs = std::min(answer.inputs.size(), answer.summaries.size());
  for (std::size_t i = 0; i < num_inputs; i++) {
    for (const GpuSummary& gpu : answer.summaries[i].gpus) {
      if (!has_row(answer, answer.inputs[i].input, gpu.device)) continue;
      add_to(work.all, gpu.all);
      add_to(work.launched, gpu.launched);
    }
  }
  return work;
}

}  // namespace chopper
