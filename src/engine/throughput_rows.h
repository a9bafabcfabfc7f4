// SPDX-License-Identifier: Apache-2.0
// Gathers what throughput needs from the inputs of a run.
#pragma once

#include <span>
#include <vector>

#include "catalog/gpus.h"
#include "engine/engine.h"

namespace chopper {

/// Rows of the table `throughput` from answer.steps, answer.gpus and answer.facts, which must be there.
std::vector<ThroughputRow> throughput_rows(const Answer& answer, std::span<const InputSummary> inputs,
                                           std::span<const GpuSpec> known);

}  // namespace chopper
