// SPDX-License-Identifier: Apache-2.0
// What readers of traces in databases have in common: times of rows, and rows set aside.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ingest/sqlite/database.h"
#include "model/trace.h"

namespace chopper::sqlite {

/// Counts an odd row where it stands.
void add_at(HealthLog& health, HealthKind kind, std::string_view shown, const Scan& scan, std::string_view what);

/// Times of a span, absolute. An open one has no end; its duration is 0.
struct SpanTimes {
  std::int64_t start_ns = 0;
  std::int64_t duration_ns = 0;
  bool is_open = false;
};

/// Reads the times of a row; `base_ns` is added to them. Gpu work must have an end. Nothing: the row cannot be kept,
/// and was counted.
std::optional<SpanTimes> read_span(const Scan& scan, std::size_t start_column, std::size_t end_column,
                                   std::int64_t base_ns, bool is_gpu, std::string_view shown, HealthLog& health);

/// Makes the extent of the host records include a span.
void include_host(TraceFacts& facts, std::int64_t start_ns, std::int64_t end_ns);

/// Sets gpu work aside that lies far outside of the time the host recorded (reading rules, 3).
void set_aside_outside_host(TraceTables& tables, std::string_view shown);

}  // namespace chopper::sqlite
