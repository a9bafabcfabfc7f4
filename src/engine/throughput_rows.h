// SPDX-License-Identifier: Apache-2.0
// Gathers what throughput needs from the inputs of a run.
#pragma once

#include <span>
#include <vector>

#include "catalog/gpus.h"
#include "engine/engine.h"
#include "engine/job.h"

namespace chopper {

/// Rows of the table `throughput`, of each job by itself, from answer.steps and answer.facts, which must be there. They
/// are of the whole job, whatever ranks and gpus are selected, and of the selected iterations. Facts hold for all jobs.
/// Where the facts cannot be true of the traces, `notes` has it.
std::vector<ThroughputRow> throughput_rows(const Answer& answer, const std::vector<InputSummary>& inputs,
                                           const std::vector<Job>& jobs, std::span<const GpuSpec> known,
                                           HealthLog& notes);

}  // namespace chopper
