// SPDX-License-Identifier: Apache-2.0
// Turns rows of dispatches with a column for each counter into a pass: of a table, or of anything else that names what
// its values are.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ingest/csv/csv_reader.h"
#include "ingest/rocprof/pass_builder.h"
#include "ingest/rocprof/wide_columns.h"
#include "model/trace.h"

namespace chopper::rocprof {

class WideRows {
 public:
  /// `where(offset)` names a row in health records.
  WideRows(TraceTables& tables, std::function<std::string(std::uint64_t)> where)
      : tables_(tables), builder_(*tables.pass), where_(std::move(where)) {}

  /// What the cells of the rows that follow mean.
  void set_header(std::vector<std::string> header);
  /// Reads a row, which has as many cells as the header. Returns whether it is used; else it was counted.
  bool add(std::span<const CsvCell> cells, std::uint64_t offset);
  /// Puts the values in order; rows of several dies become one. Nothing is added afterwards.
  void finish();

 private:
  struct Sum {
    double sum, maximum;
    std::size_t wrong_column;  // of a cell that is no number
  };
  template <class What>
  bool refuse(HealthKind kind, std::uint64_t offset, const What& what);
  bool refuse_cell(std::size_t column, std::span<const CsvCell> cells, std::uint64_t offset);
  using Numbers = std::array<std::int64_t, kNumNumbers>;
  bool read_numbers(std::span<const CsvCell> cells, std::uint64_t offset, Numbers& numbers, bool& rounded);
  bool check_times(DispatchRow& row, bool rounded, std::uint64_t offset);
  std::uint32_t kernel_of(std::span<const CsvCell> cells, const Numbers& numbers);
  bool add_values(std::uint32_t dispatch, std::span<const CsvCell> cells, std::uint64_t offset);
  bool add_long_value(std::uint32_t dispatch, std::span<const CsvCell> cells, std::uint64_t offset);
  void join_dies();
  void join_instances();

  TraceTables& tables_;
  PassBuilder builder_;
  std::function<std::string(std::uint64_t)> where_;
  std::vector<std::string> header_;
  WideColumns columns_;
  std::vector<std::uint32_t> counters_;                        // by slot: index into CounterPass::counters
  std::vector<Sum> sums_;                                      // by slot
  std::set<std::pair<std::uint32_t, std::int64_t>> dies_;      // dispatch and die of the rows so far
  std::set<std::pair<std::uint32_t, std::uint32_t>> missing_;  // dispatch and counter without a number, of long rows
  std::string scratch_;
};

/// Notes dispatches that lack counters others of the pass have; dispatches without any are left alone.
void note_incomplete_counters(const CounterPass& pass, const std::function<std::string(std::uint64_t)>& where,
                              HealthLog& health);

}  // namespace chopper::rocprof
