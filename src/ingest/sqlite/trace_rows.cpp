// SPDX-License-Identifier: Apache-2.0
#include "ingest/sqlite/trace_rows.h"

#include <algorithm>
#include <vector>

namespace chopper::sqlite {
namespace {

constexpr std::int64_t kTimeLimit = std::int64_t{1} << 62;  // sums of spans stay inside int64
constexpr std::int64_t kWindowSlack = 60'000'000'000;       // 60 s, spec 2

}  // namespace

void add_at(HealthLog& health, HealthKind kind, std::string_view shown, const Scan& scan, std::string_view what) {
  if (health.wants_example(kind)) {
    health.add(kind, std::string(shown) + ", " + scan.place(), std::string(what));
  } else {
    health.add(kind, {}, {});
  }
}

std::optional<SpanTimes> read_span(const Scan& scan, std::size_t start_column, std::size_t end_column,
                                   std::int64_t base_ns, bool is_gpu, std::string_view shown, HealthLog& health) {
  const auto refuse = [&](HealthKind kind, const std::string& what) {
    add_at(health, kind, shown, scan, what);
    return std::nullopt;
  };
  for (const std::size_t column : {start_column, end_column}) {
    if (scan.kind(column) == Cell::null || scan.integer(column)) continue;
    return refuse(HealthKind::unreadable_value, column == start_column ? "start is no number" : "end is no number");
  }
  const std::optional<std::int64_t> start = scan.integer(start_column), end = scan.integer(end_column);
  if (!start) return refuse(HealthKind::missing_time, "no start");
  if (!end && is_gpu) return refuse(HealthKind::missing_duration_gpu, "no end");
  SpanTimes span;
  span.is_open = !end;
  std::int64_t end_ns = 0;
  if (__builtin_add_overflow(*start, base_ns, &span.start_ns) ||
      __builtin_add_overflow(end.value_or(*start), base_ns, &end_ns) || span.start_ns >= kTimeLimit ||
      span.start_ns <= -kTimeLimit || end_ns >= kTimeLimit || end_ns <= -kTimeLimit)
    return refuse(HealthKind::time_overflow, "start or end");
  if (end_ns < span.start_ns)
    return refuse(HealthKind::negative_duration, "from " + std::to_string(*start) + " to " + std::to_string(*end));
  span.duration_ns = end_ns - span.start_ns;
  if (span.duration_ns >= kTimeLimit) return refuse(HealthKind::time_overflow, "duration");
  return span;
}

void include_host(TraceFacts& facts, std::int64_t start_ns, std::int64_t end_ns) {
  facts.host_first_ns = std::min(facts.host_first_ns.value_or(start_ns), start_ns);
  facts.host_last_ns = std::max(facts.host_last_ns.value_or(end_ns), end_ns);
}

void set_aside_outside_host(TraceTables& tables, std::string_view shown) {
  if (!tables.facts.host_first_ns) return;
  const std::int64_t first = *tables.facts.host_first_ns, last = *tables.facts.host_last_ns;
  const std::int64_t slack = std::max(last - first, kWindowSlack);
  GpuWorkTable& work = tables.gpu_work;
  std::vector<std::uint8_t> keep(num_rows(work), 1);
  for (std::size_t i = 0; i < keep.size(); i++) {
    if (first - work.start_ns[i] <= slack && work.start_ns[i] + work.duration_ns[i] - last <= slack) continue;
    keep[i] = 0;
    tables.health.add(HealthKind::outside_host_window, place_of(shown, tables.facts, work.offset[i]),
                      std::string(tables.strings.view(work.name[i]).substr(0, 60)) + ", start " +
                          std::to_string(work.start_ns[i]) + " ns; host records from " + std::to_string(first) +
                          " to " + std::to_string(last) + " ns");
  }
  if (std::find(keep.begin(), keep.end(), 0) != keep.end()) keep_rows(work, keep);
}

}  // namespace chopper::sqlite
