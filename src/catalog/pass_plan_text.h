// SPDX-License-Identifier: Apache-2.0
// A plan of passes as the profilers take it.
#pragma once

#include <string>

#include "catalog/class_rules.h"
#include "catalog/pass_plan.h"

namespace chopper {

/// Returns a regular expression that matches whole names of kernels that communicate, whether it is searched or
/// matched. Collectives wait for each other, so profilers that run one kernel at a time may hang on them.
std::string communication_pattern(const ClassRules& rules);

/// Returns the plan as input of rocprofv3 in YAML, a job a pass; `title` becomes a comment.
std::string rocprofv3_input(const PassPlan& plan, const ClassRules& rules, const std::string& title);

/// Returns the command line of Nsight Compute, which replays kernels for what does not fit at once.
std::string ncu_command(const PassPlan& plan, const ClassRules& rules, const std::string& title);

}  // namespace chopper
