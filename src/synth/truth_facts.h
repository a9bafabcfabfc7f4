// SPDX-License-Identifier: Apache-2.0
// The part of truth.json that is known before anything runs: settings, physics, gpus, and what every piece of work is.
#pragma once

#include <cstdint>
#include <string>

#include "synth/run_writer.h"

namespace chopper::synth {

/// Returns the members "job", "physics", "gpu_spec", "gpus" and "programs", each followed by a comma.
std::string truth_facts(const RunContext& context);

/// The number by which truth.json names a program.
std::int64_t program_number(const Job& job, std::int64_t stage, bool with_optimizer);

/// Whether spec 9 splits the time of `work` into factors: all but communication and copies.
bool is_decomposed(const Work& work);

}  // namespace chopper::synth
