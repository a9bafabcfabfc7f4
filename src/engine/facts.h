// SPDX-License-Identifier: Apache-2.0
// Finds and reads what is stated about a run.
#pragma once

#include "base/result.h"
#include "catalog/gpus.h"
#include "catalog/run_facts.h"
#include "engine/engine.h"

namespace chopper {

inline constexpr const char* kFactsFile = "chopper.toml";

/// Fails with bad_input, the line and the remedy where a stated clock is above 1.2 times the highest clock of a gpu it
/// holds for.
Result<Done> check_stated_clocks(const RunFacts& facts, const std::vector<InputSummary>& inputs,
                                 const std::vector<GpuSpec>& known);

/// Notes stated clocks that hold for no kernel of computation: a slip in a name, or a gpu that is not there. Only where
/// kernels were kept for counter passes.
void note_unused_clocks(const RunFacts& facts, const std::vector<InputSummary>& inputs, HealthLog& health);

/// Notes where gpu.spec states another product than a trace names.
void note_other_spec(const RunFacts& facts, const std::vector<InputSummary>& inputs, const std::vector<GpuSpec>& known,
                     HealthLog& health);

/// Reads options.config, or else the files find_run_files put into `run.facts`, which must then state the same. Empty
/// facts when there are none.
Result<RunFacts> load_facts(const RunFiles& run, const RunOptions& options);

}  // namespace chopper
