// SPDX-License-Identifier: Apache-2.0
// The tables of an Answer, in the order in which they are written. JSON, CSV and the JSON schema all walk this one
// list.
#pragma once

#include <algorithm>
#include <functional>
#include <string_view>
#include <tuple>
#include <vector>

#include "engine/engine.h"
#include "model/rows.h"

namespace chopper {

/// A table of rows: its name, and a function that gives each row to its argument.
template <class Row>
struct TableView {
  std::string_view name;
  std::function<void(const std::function<void(const Row&)>&)> for_each;
};

template <class Row>
TableView<Row> view_of(const std::vector<Row>& rows) {
  return {Row::table, [&rows](const std::function<void(const Row&)>& use) {
            for (const Row& row : rows) use(row);
          }};
}

inline TableView<KernelRow> view_of_kernels(const Answer& answer, bool copies) {
  return {copies ? std::string_view("copies") : KernelRow::table,
          [&answer, copies](const std::function<void(const KernelRow&)>& use) { answer.for_each_kernel(copies, use); }};
}

/// The rows of all scopes in one order.
inline TableView<TimelineRow> view_of_timeline(const Answer& answer) {
  return {TimelineRow::table, [&answer](const std::function<void(const TimelineRow&)>& use) {
            std::vector<const TimelineRow*> rows;
            for (const auto* table : {&answer.timeline, &answer.windows}) {
              for (const TimelineRow& row : *table) rows.push_back(&row);
            }
            std::stable_sort(rows.begin(), rows.end(),
                             [](const TimelineRow* a, const TimelineRow* b) { return key_less(*a, *b); });
            for (const TimelineRow* row : rows) use(*row);
          }};
}

/// Calls `use(TableView<Row>)` for each table; those of single kernels only with `with_kernels`.
template <class F>
void for_each_table(const Answer& answer, bool with_kernels, F&& use) {
  use(view_of(answer.inputs));
  use(view_of(answer.gpus));
  use(view_of(answer.health));
  use(view_of(answer.coverage));
  use(view_of(answer.label_rules));
  use(view_of_timeline(answer));
  use(view_of(answer.steps));
  use(view_of(answer.ranks));
  use(view_of(answer.operations));
  use(view_of(answer.launch));
  use(view_of(answer.host_blockers));
  use(view_of(answer.collectives));
  use(view_of(answer.alignment));
  use(view_of(answer.alignment_gaps));
  use(view_of(answer.metrics));
  use(view_of(answer.decomposition));
  use(view_of(answer.budget));
  use(view_of(answer.memory));
  use(view_of(answer.throughput));
  use(view_of(answer.kernel_summary));
  if (!with_kernels) return;
  use(view_of_kernels(answer, false));
  use(view_of_kernels(answer, true));
}

/// Calls `use(column)` for each column of Row.
template <class Row, class F>
void for_each_column_of(F&& use) {
  static constexpr auto columns = Row::columns();
  std::apply([&](const auto&... column) { (use(column), ...); }, columns);
}

/// Tells the type of a column's values apart from whether they can be missing.
template <class T>
struct ValueOf {
  using Type = T;
  static constexpr bool can_be_missing = false;
};
template <class T>
struct ValueOf<Field<T>> {
  using Type = T;
  static constexpr bool can_be_missing = true;
};

}  // namespace chopper
