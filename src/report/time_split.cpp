// SPDX-License-Identifier: Apache-2.0
#include "report/time_split.h"

namespace chopper {

std::string_view label_of(TimePart part) {
  switch (part) {
    case TimePart::computation:
      return "computation";
    case TimePart::exposed_comm:
      return "exposed comm";
    case TimePart::copies:
      return "copies";
    case TimePart::host_late:
      return "launch, host late";
    case TimePart::dispatch:
      return "launch, dispatch";
    case TimePart::other_idle:
      return "other idle";
  }
  return "";
}

TimeSplit split_of(const TimelineRow& row) {
  // In integers first: prep_idle and call_idle are pieces of idle, so that nothing is negative.
  const std::int64_t other_idle_ns = row.idle_ns - row.prep_idle_ns - row.call_idle_ns;
  TimeSplit split;
  split.span_ns = static_cast<double>(row.span_ns);
  split.part_ns = {static_cast<double>(row.compute_ns),        static_cast<double>(row.exposed_comm_ns),
                   static_cast<double>(row.exposed_memcpy_ns), static_cast<double>(row.prep_idle_ns),
                   static_cast<double>(row.call_idle_ns),      static_cast<double>(other_idle_ns)};
  return split;
}

TimeSplit window_split_of(const TimelineRow& row) {
  const auto value = [](const Field<std::int64_t>& field) { return field.present() ? field.value() : 0; };
  const std::int64_t other_idle_ns =
      value(row.window_idle_ns) - value(row.window_prep_idle_ns) - value(row.window_call_idle_ns);
  TimeSplit split;
  split.span_ns = static_cast<double>(value(row.window_ns));
  split.part_ns = {
      static_cast<double>(value(row.window_compute_ns)),        static_cast<double>(value(row.window_exposed_comm_ns)),
      static_cast<double>(value(row.window_exposed_memcpy_ns)), static_cast<double>(value(row.window_prep_idle_ns)),
      static_cast<double>(value(row.window_call_idle_ns)),      static_cast<double>(other_idle_ns)};
  return split;
}

TimeSplit mean_split(const std::vector<TimeSplit>& splits) {
  TimeSplit mean;
  if (splits.empty()) return mean;
  for (const TimeSplit& split : splits) {
    mean.span_ns += split.span_ns;
    for (std::size_t p = 0; p < kNumTimeParts; p++) mean.part_ns[p] += split.part_ns[p];
  }
  const double num_splits = static_cast<double>(splits.size());
  mean.span_ns /= num_splits;
  for (double& part : mean.part_ns) part /= num_splits;
  return mean;
}

}  // namespace chopper
