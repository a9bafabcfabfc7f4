// SPDX-License-Identifier: Apache-2.0
// What stands before the events of a trace, and how process groups are named in them (formats.md 1.1, 1.10).
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "synth/program.h"

namespace chopper::synth {

/// Returns the text up to and including the opening of traceEvents; times are relative to `base_ns`.
std::string trace_head(const Job& job, std::int64_t rank, std::int64_t base_ns);

/// Returns, for each group of `rank`, the arguments by which collectives name it.
std::map<Group, std::string> group_arguments(const Job& job, std::int64_t rank);

}  // namespace chopper::synth
