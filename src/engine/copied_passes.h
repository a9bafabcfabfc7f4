// SPDX-License-Identifier: Apache-2.0
// Files that are there twice, such as a copied folder of a counter pass.
#pragma once

#include <string>
#include <vector>

#include "model/health.h"
#include "model/summary.h"

namespace chopper {

/// Returns of what `other` is a copy, for people: "same bytes as x.csv", "same text as x.csv" where one of the files is
/// the other compressed; empty where it is none of `original`.
std::string copy_of(const InputSummary& original, const InputSummary& other);

/// Leaves out all but the first of files of counters that are the same bytes, or the same text compressed, and
/// notes it. Two executions never have
/// the same times; a copy under another rank stays, since its place says something else. Files that describe agents
/// are alike in all passes, and none of them counts twice.
void drop_copied_passes(std::vector<InputSummary>& inputs, HealthLog& health);

}  // namespace chopper
