// SPDX-License-Identifier: Apache-2.0
// Files that are there twice, such as a copied folder of a counter pass.
#pragma once

#include <vector>

#include "model/health.h"
#include "model/summary.h"

namespace chopper {

/// Whether two inputs are the same bytes in two files.
bool have_same_bytes(const InputSummary& a, const InputSummary& b);

/// Leaves out all but the first of files of counters that are the same bytes, and notes it. Two executions never have
/// the same times; a copy under another rank stays, since its place says something else. Files that describe agents
/// are alike in all passes, and none of them counts twice.
void drop_copied_passes(std::vector<InputSummary>& inputs, HealthLog& health);

}  // namespace chopper
