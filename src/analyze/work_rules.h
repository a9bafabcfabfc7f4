// SPDX-License-Identifier: Apache-2.0
// The rules behind work_of, one family of operators each. Internal to analyze.
#pragma once

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

/// The rate products of this element type run at.
PeakKind peak_of(const ElementType& type, bool tf32);

}  // namespace chopper
