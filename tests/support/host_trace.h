// SPDX-License-Identifier: Apache-2.0
// Host ranges and launch calls made by hand, for tests of attribution: no text is read. Header only.
#pragma once

#include <cstdint>
#include <string_view>

#include "model/trace.h"

namespace chopper::test {

struct HandRange {
  std::string_view name;
  std::int64_t start = 0, end = 0;
  RangeKind kind = RangeKind::annotation;
  std::uint32_t thread = 0;
  std::int64_t sequence = kNoNumber, forward_thread = kNoNumber;
};

/// Returns its row. Threads must be in the trace.
inline RowId add_range(TraceTables& trace, const HandRange& range) {
  HostRangeTable& t = trace.ranges;
  const auto row = static_cast<std::uint32_t>(num_rows(t));
  t.name.push_back(trace.strings.intern(range.name));
  t.kind.push_back(range.kind);
  t.start_ns.push_back(range.start);
  t.duration_ns.push_back(range.end - range.start);
  t.thread.push_back(ThreadId{range.thread});
  t.sequence_number.push_back(range.sequence);
  t.forward_thread.push_back(range.forward_thread);
  t.shapes.push_back(kNoString);
  t.types.push_back(kNoString);
  t.values.push_back(kNoString);
  t.collective.push_back(kNoRow);
  t.offset.push_back(std::uint64_t{row} * 10);
  return RowId{row};
}

/// Returns its row.
inline std::uint32_t add_call(TraceTables& trace, std::int64_t start, std::uint32_t thread = 0,
                              std::string_view name = "cudaLaunchKernel") {
  LaunchTable& t = trace.launches;
  const auto row = static_cast<std::uint32_t>(num_rows(t));
  t.name.push_back(trace.strings.intern(name));
  t.kind.push_back(CallKind::runtime);
  t.start_ns.push_back(start);
  t.duration_ns.push_back(1);
  t.thread.push_back(ThreadId{thread});
  t.correlation.push_back(row + 1);
  t.offset.push_back(1000000 + std::uint64_t{row} * 10);
  return row;
}

}  // namespace chopper::test
