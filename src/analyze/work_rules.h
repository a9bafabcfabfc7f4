// SPDX-License-Identifier: Apache-2.0
// The rules behind work_of, one family of operators each. Internal to analyze.
#pragma once

#include <algorithm>
#include <optional>
#include <string_view>

#include "analyze/operator_inputs.h"
#include "analyze/work.h"

namespace chopper {

/// A family answers for the operators it knows; `known` is false for all others.
struct WorkAnswer {
  bool known = false;
  std::optional<Work> work;
};

WorkAnswer matrix_work(std::string_view name, const OperatorInputs& inputs, const WorkAssumptions& assumptions);
WorkAnswer convolution_work(std::string_view name, const OperatorInputs& inputs);
WorkAnswer attention_work(std::string_view name, const OperatorInputs& inputs, const WorkAssumptions& assumptions);
WorkAnswer vector_work(std::string_view name, const OperatorInputs& inputs);

/// The rule called `name` of a table that is sorted by name; nullptr without one.
template <class Table>
const typename Table::value_type* find_rule(const Table& table, std::string_view name) {
  const auto found = std::lower_bound(table.begin(), table.end(), name,
                                      [](const auto& rule, std::string_view n) { return rule.name < n; });
  return found != table.end() && found->name == name ? &*found : nullptr;
}

/// The rate products of this element type run at.
PeakKind peak_of(const ElementType& type, bool tf32);

}  // namespace chopper
