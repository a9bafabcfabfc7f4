// SPDX-License-Identifier: Apache-2.0
// What the text answer says where a run is of several jobs: its means and losses are then of no job.
#pragma once

#include <cstdint>
#include <string>

#include "engine/engine.h"
#include "report/page.h"
#include "report/time_basis.h"

namespace chopper {

/// Jobs that have gpus in the answer: --rank and --gpu may leave one.
std::size_t num_shown_jobs(const Answer& answer);

/// Whether there is a trace among the inputs; counter passes alone have no time line.
bool has_trace(const Answer& answer);

/// Whether an input is a trace, and its job is in the answer.
bool is_of_shown_job(const Answer& answer, const InputRow& input);

/// Returns the jobs that the means of `basis` are over: " of 2 jobs", " of job 1" where only that one has steps;
/// nothing when all gpus in the answer are of one job.
std::string of_jobs(const Answer& answer, const TimeBasis& basis);

/// Adds the lines "jobs ..." when there are several.
void add_jobs(Page& page, const Answer& answer, const TimeBasis& basis);

}  // namespace chopper
