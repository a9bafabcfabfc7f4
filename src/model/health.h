// SPDX-License-Identifier: Apache-2.0
// Everything odd about an input, counted by kind with the first examples. Nothing is dropped without an entry here.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace chopper {

/// note: nothing was lost. skipped: a record was set aside. data_loss: something the file should hold is not there.
enum class Severity : std::uint8_t { note, skipped, data_loss };
std::string_view to_string(Severity severity);

/// The closed list of what can be wrong; `docs/reference/health.md` explains each. Order = order in reports within a
/// severity.
enum class HealthKind : std::uint8_t {
  truncated,
  corrupt_compression,
  unreadable_event,
  unreadable_row,
  profiler_error,
  damaged_table,
  graph_kernels_hidden,
  missing_time,
  input_failed,
  several_jobs,
  rank_missing,
  time_overflow,
  negative_duration,
  zero_timestamp,
  outside_host_window,
  missing_duration_gpu,
  unclosed_gpu_span,
  not_an_event,
  unmatched_end,
  short_row,
  unreadable_value,
  missing_value,
  conflicting_value,
  ambiguous_number,
  no_gpu_records,
  kernels_without_launch,
  launches_without_gpu_record,
  ambiguous_correlation,
  negative_launch_delay,
  overlapping_on_stream,
  duplicate_record,
  missing_duration,
  missing_field,
  unclosed_span,
  text_repaired,
  separator_repaired,
  unclosed_array,
  duplicate_key,
  second_document,
  oversized_value,
  trailing_bytes,
  checksum_mismatch,
  converted_utf16,
  unpadded_nanoseconds,
  relative_clock,
  unknown_gpu_category,
  several_processes,
  rank_unknown,
  rank_sources_disagree,
  duplicate_file,
  consecutive_windows,
  no_rows,
  extra_cells,
  repeated_row,
  repeated_header,
  not_a_counter,
  other_output,
  missing_dispatch_time,
  unknown_counter,
  incomplete_counters,
  instances_dropped,
  ranges_without_launch,
  agent_unknown,
  agent_ambiguous,
  pass_without_gpu,
  pass_poorly_aligned,
  pass_not_aligned,
  passes_disagree,
  counters_without_metric,
  model_tells_no_work,
  model_disagrees,
  stated_clock_unused,
  gpu_spec_disagrees,
  impossible_utilisation,
  impossible_clock,
  negative_counter,
  too_few_flops,
  impossible_mfu,
  rows_not_read,
  foreign_file,
  count_  // not a kind
};

/// Facts about one kind.
struct HealthKindInfo {
  std::string_view name;  ///< JSON word
  Severity severity;
  std::string_view meaning;  ///< one clause for people
  std::string_view cost;     ///< which metrics it affects, and how; empty: none
};
const HealthKindInfo& info(HealthKind kind);
inline constexpr std::size_t kNumHealthKinds = static_cast<std::size_t>(HealthKind::count_);

struct HealthExample {
  std::string where;  ///< "file @ byte N", or a file
  std::string what;
};

/// One kind's count and first examples.
struct HealthEntry {
  std::uint64_t count = 0;
  std::vector<HealthExample> examples;
};

/// Counts by kind. Examples are kept in the order of adding; merge in file order and the same ones stay whatever the
/// threads did.
class HealthLog {
 public:
  /// Examples kept a kind.
  static constexpr std::size_t kMaxExamples = 5;

  /// Counts one occurrence; `what` and `where` are kept for the first few.
  void add(HealthKind kind, std::string where, std::string what, std::uint64_t count = 1);
  void merge(const HealthLog& other);
  const HealthEntry& entry(HealthKind kind) const { return entries_[static_cast<std::size_t>(kind)]; }
  std::uint64_t count(HealthKind kind) const { return entry(kind).count; }
  bool wants_example(HealthKind kind) const { return entry(kind).examples.size() < kMaxExamples; }
  /// Returns the largest count-weighted severity present, note when empty.
  Severity worst() const;

 private:
  std::array<HealthEntry, kNumHealthKinds> entries_;
};

}  // namespace chopper
