// SPDX-License-Identifier: Apache-2.0
// A part of the work of a run: some iterations, phases, layers, operations.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/trace.h"

namespace chopper {

/// First and last, both included.
struct NumberRange {
  std::int64_t first = 0, last = 0;
  bool holds(std::int64_t number) const { return first <= number && number <= last; }
  friend bool operator==(const NumberRange&, const NumberRange&) = default;
};

/// What is empty does not restrict.
struct Selection {
  std::optional<NumberRange> iterations;  ///< numbers of the marks; of marks without number our order
  std::optional<NumberRange> layers;
  std::vector<Phase> phases;
  std::vector<std::string> operations;  ///< without phase prefix

  bool is_everything() const { return !iterations && !layers && phases.empty() && operations.empty(); }
  /// `ordinal` may be one of k*Iteration, `number` kNoNumber.
  bool holds_iteration(std::int64_t ordinal, std::int64_t number) const;
  bool holds_layer(std::int64_t layer) const { return !layers || (layer >= 0 && layers->holds(layer)); }
  bool holds_phase(Phase phase) const;
  bool holds_operation(std::string_view operation) const;
};

/// Tells which gpu records of a trace are selected.
class SelectedRows {
 public:
  SelectedRows(const Selection& selection, const GpuWorkLabels& labels);

  bool operator()(std::size_t row) const {
    if (everything_) return true;
    const std::int32_t k = labels_.iteration[row];
    return (k < 0 ? outside_iterations_ : iterations_[static_cast<std::size_t>(k)]) && in_any_iteration(row);
  }
  /// Of the iterations that are not selected too: for what belongs to the iteration in which it lies.
  bool in_any_iteration(std::size_t row) const {
    if (everything_) return true;
    const StringId operation = labels_.operation[row];
    return selection_.holds_layer(labels_.layer[row]) && selection_.holds_phase(labels_.phase[row]) &&
           (operation == kNoString ? unlabelled_ : operations_[index_of(operation)]);
  }

 private:
  const Selection& selection_;
  const GpuWorkLabels& labels_;
  bool everything_, outside_iterations_, unlabelled_;
  std::vector<bool> iterations_, operations_;  // by ordinal and by name: is it selected
};

}  // namespace chopper
