// SPDX-License-Identifier: Apache-2.0
// Tables and labels made by hand, for tests of analyses: no text is read and nothing is attributed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model/trace.h"

namespace chopper::test {

/// One gpu record with its labels.
struct HandRecord {
  std::int64_t start = 0, end = 0;
  GpuClass gpu_class = GpuClass::gemm;
  std::int64_t launched = kNoNumber;     ///< start of the launch call; kNoNumber: no launch record
  std::int32_t iteration = kNoNumber32;  ///< by default 0 when launched, else kNoIteration
  Phase phase = Phase::other;
  std::string operation = "op";  ///< empty: unlabelled
  std::int32_t layer = kUnknownLayer;
  std::int64_t instance = -1;  ///< by default one of its own
  bool comm_copy = false;
  std::int32_t device = 0;
  std::int64_t stream = -1;  ///< by default one of its own
  std::uint32_t thread = 0;  ///< of the launch call
  std::string name = "k";
  std::string call = "cudaLaunchKernel";
  std::int64_t call_duration = 1;
  RowId range = kNoRow;  ///< innermost operator at the launch call

  static constexpr std::int32_t kNoNumber32 = INT32_MIN;
};

struct HandTrace {
  TraceTables trace;
  GpuWorkLabels labels;

  HandTrace() { trace.threads = {{"10", "10"}, {"10", "11"}}; }

  /// Adds a mark; end 0: it ends where the next one starts or nothing is known of it.
  IterationMarks::Mark& mark(std::int64_t number);
  /// Returns its row.
  std::uint32_t add(const HandRecord& record);
  /// Adds an operator of a host thread; no shapes: none were recorded.
  RowId add_range(std::string_view name, std::int64_t start, std::int64_t end, std::uint32_t thread = 0,
                  std::string_view shapes = {}, std::string_view types = {});
  /// Adds a call that launched nothing.
  void add_call(std::string_view name, std::int64_t start, std::int64_t end, std::uint32_t thread = 0);
};

}  // namespace chopper::test
