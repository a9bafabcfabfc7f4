// SPDX-License-Identifier: Apache-2.0
// Fills a CounterPass row by row: devices, kernels and counters become numbers, rows of one dispatch are put together.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/counters.h"
#include "model/health.h"

namespace chopper::rocprof {

/// A dispatch as one row states it.
struct DispatchRow {
  std::uint32_t device = 0, kernel = 0;
  std::int64_t dispatch_id = kNoNumber, correlation = kNoNumber, process = kNoNumber, thread = kNoNumber;
  std::int64_t queue = kNoNumber, stream = kNoNumber, start_ns = kNoNumber, end_ns = kNoNumber;
};

class PassBuilder {
 public:
  explicit PassBuilder(CounterPass& pass) : pass_(pass) {}

  /// Index of the device written as `text`: a number, or a word and a number.
  std::uint32_t device(std::string_view text);
  /// Id of the name of a kernel or a mark.
  StringId name(std::string_view text);
  std::uint32_t kernel(const PassKernel& kernel);
  std::uint32_t counter(std::string_view name);
  /// Row of the dispatch; `is_new` says whether this row is its first.
  std::uint32_t dispatch(const DispatchRow& row, std::uint64_t offset, bool& is_new);
  void value(std::uint32_t dispatch, std::uint32_t counter, double value, std::uint64_t offset);

  /// Makes room for `more` values. Where it has to grow, for as many as the whole file will have when the `done` of its
  /// `size` bytes that were read are like the rest: tables of values are large, and moving them costs a third of the
  /// time of reading. `size` 0: not known.
  void reserve_values(std::size_t more, std::uint64_t done, std::uint64_t size);

  /// Groups the values by dispatch and sets values aside that are there twice. `where(offset)` names a row.
  template <class Where>
  void finish(HealthLog& health, const Where& where);

 private:
  struct KernelHash {
    std::size_t operator()(const PassKernel& kernel) const;
  };
  bool is_same(std::uint32_t row, const DispatchRow& other) const;
  std::uint64_t hash_of(const DispatchRow& row) const;
  void grow();
  void group_by_dispatch();

  CounterPass& pass_;
  std::uint32_t last_device_ = 0, last_kernel_ = 0, last_counter_ = 0, last_dispatch_ = UINT32_MAX;
  StringId last_name_ = kNoString;
  std::unordered_map<PassKernel, std::uint32_t, KernelHash> kernels_;
  StringTable counter_names_;         // ids are indices into CounterPass::counters
  std::vector<std::uint32_t> slots_;  // dispatch row + 1, 0: free; open addressing, at most half full
};

/// Takes a device's name apart: "4", "Agent 4", "GPU 0", "CPU 0", anything else.
PassDevice parse_device(std::string_view text);

template <class Where>
void PassBuilder::finish(HealthLog& health, const Where& where) {
  group_by_dispatch();
  CounterValueTable& values = pass_.values;
  std::vector<std::uint32_t> first_of(pass_.counters.size(), UINT32_MAX);  // row + 1 would not tell dispatches apart
  std::vector<std::uint8_t> keep(num_rows(values), 1);
  std::size_t num_left_out = 0;
  for (std::size_t i = 0; i < num_rows(values); i++) {
    std::uint32_t& first = first_of[values.counter[i]];
    const bool is_again = first != UINT32_MAX && values.dispatch[first] == values.dispatch[i];
    if (!is_again) {
      first = static_cast<std::uint32_t>(i);
      continue;
    }
    keep[i] = 0;
    num_left_out++;
    const HealthKind kind =
        values.value[first] == values.value[i] ? HealthKind::repeated_row : HealthKind::conflicting_value;
    if (!health.wants_example(kind)) {
      health.add(kind, {}, {});
      continue;
    }
    health.add(kind, where(values.offset[i]),
               std::string(pass_.strings.view(pass_.counters[values.counter[i]])) + ", first at byte " +
                   std::to_string(values.offset[first]));
  }
  if (num_left_out > 0) keep_rows(values, keep);
}

}  // namespace chopper::rocprof
