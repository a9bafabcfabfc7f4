// SPDX-License-Identifier: Apache-2.0
#include "model/selection.h"

#include <algorithm>

namespace chopper {

bool Selection::holds_iteration(std::int64_t ordinal, std::int64_t number) const {
  return !iterations || (ordinal >= 0 && iterations->holds(number == kNoNumber ? ordinal : number));
}

bool Selection::holds_phase(Phase phase) const {
  return phases.empty() || std::find(phases.begin(), phases.end(), phase) != phases.end();
}

bool Selection::holds_operation(std::string_view operation) const {
  return operations.empty() || std::find(operations.begin(), operations.end(), operation) != operations.end();
}

SelectedRows::SelectedRows(const Selection& selection, const GpuWorkLabels& labels)
    : selection_(selection),
      labels_(labels),
      everything_(selection.is_everything()),
      outside_iterations_(selection.holds_iteration(kNoIteration, kNoNumber)),
      unlabelled_(selection.holds_operation("unlabelled")) {
  if (everything_) return;
  const std::vector<IterationMarks::Mark>& marks = labels.iterations.marks;
  for (std::size_t k = 0; k < marks.size(); k++)
    iterations_.push_back(selection.holds_iteration(static_cast<std::int64_t>(k), marks[k].number));
  for (std::uint32_t i = 0; i < labels.operations.size(); i++)
    operations_.push_back(selection.holds_operation(labels.operations.view(StringId{i})));
}

}  // namespace chopper
