// SPDX-License-Identifier: Apache-2.0
// The values of a page of Nsight Compute on their way into a pass: numbers whose separators can be read two ways wait
// until the whole file was seen, units are kept for each counter, and durations are taken from among the metrics.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/nsight/metric_names.h"
#include "ingest/nsight/number.h"
#include "ingest/rocprof/pass_builder.h"
#include "model/counters.h"

namespace chopper::nsight {

inline constexpr std::size_t kShownBytes = 80;  // of a cell, in a health record

class PageValues {
 public:
  PageValues(CounterPass& pass, rocprof::PassBuilder& builder) : pass_(pass), builder_(builder) {}

  /// Adds the value of a cell, where it is a number; says what it is. Where there is none, the counter is known to be
  /// one of the pass all the same.
  NumberForm add(Metric& metric, std::string_view cell, std::uint32_t dispatch, std::uint64_t offset);

  /// Decides what was ambiguous, and calls `left_out(offset, what)` for each value that stays so. Then sets units and
  /// durations. Call it once, when all is added and before the builder is finished.
  void settle(const std::function<void(std::uint64_t offset, const std::string& what)>& left_out);

 private:
  std::uint32_t counter_of(Metric& metric);
  void set_durations();

  CounterPass& pass_;
  rocprof::PassBuilder& builder_;
  SeparatorEvidence evidence_;
  // Values that wait for what the whole file says about their separator, read as if it were one of thousands: rows of
  // the table of values, of '.' and of ','. There may be many; texts are kept of the first ones, to show.
  std::vector<std::size_t> with_dot_, with_comma_;
  std::map<std::size_t, std::string> texts_;
  std::vector<StringId> units_;  // of the counters
  std::vector<std::uint8_t> is_duration_;
};

}  // namespace chopper::nsight
