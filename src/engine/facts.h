// SPDX-License-Identifier: Apache-2.0
// Finds and reads what is stated about a run.
#pragma once

#include "base/result.h"
#include "catalog/run_facts.h"
#include "engine/engine.h"

namespace chopper {

inline constexpr const char* kFactsFile = "chopper.toml";

/// Reads options.config, or else the files find_run_files put into `run.facts`, which must then state the same. Empty
/// facts when there are none.
Result<RunFacts> load_facts(const RunFiles& run, const RunOptions& options);

}  // namespace chopper
