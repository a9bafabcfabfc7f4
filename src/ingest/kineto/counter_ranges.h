// SPDX-License-Identifier: Apache-2.0
// Counters inside a Kineto trace: ranges that CUPTI counted, one a kernel or one for all, with a value for each metric
// among their arguments. Kineto does not know when a range ran: it writes times of equal length, one behind the other.
//   {"ph": "X", "cat": "cuda_profiler_range", "name": "gemm(float*)", "pid": 0, "tid": 0, "ts": 1000, "dur": 121431,
//     "args": {"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum": 38731776}}
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "model/counters.h"
#include "model/health.h"

namespace chopper {

/// A counted range, in order of the file.
struct CounterRange {
  StringId name = kNoString;
  std::int32_t device = kUnknownDevice;
  std::uint64_t offset = 0;
  std::uint32_t num_counters = 0;  ///< of CounterRangeList::counters: those behind the ones before
};

struct RangeCounter {
  StringId name = kNoString;
  double value = 0;  ///< NaN: it has no number
};

/// The ranges of consecutive events, and their counters one after the other.
struct CounterRangeList {
  std::vector<CounterRange> ranges;
  std::vector<RangeCounter> counters;
};

/// Takes the members of a flat JSON object one by one: the first one begins where `text` does, which is valid JSON up
/// to the end of the object.
class FlatMembers {
 public:
  explicit FlatMembers(std::string_view text) : text_(text) {}

  struct Member {
    std::string_view name;   ///< as written, without its quotes
    std::string_view value;  ///< as written; without the quotes of a string
  };
  /// The next member, or none: at the end, and at a value that is an object or an array.
  std::optional<Member> next();

 private:
  void skip_space();
  std::optional<std::string_view> take_string();

  std::string_view text_;
};

/// Whether an argument of a range is a counter: metrics of CUPTI are named unit__counter.
bool is_metric_name(std::string_view name);

/// Puts counted ranges into a pass: each is a dispatch, without times. `lists` have ids of `strings`.
CounterPass pass_of_ranges(std::span<const CounterRangeList> lists, const StringTable& strings, std::string_view shown,
                           HealthLog& health);

}  // namespace chopper
