// SPDX-License-Identifier: Apache-2.0
// The blocks of the text answer, each of which adds its lines to a page.
#pragma once

#include "engine/engine.h"
#include "report/page.h"
#include "report/text.h"
#include "report/time_basis.h"
#include "report/time_split.h"

namespace chopper {

/// Title, health and evidence.
void add_heading(Page& page, const Answer& answer, const TextOptions& options);
/// What the rows are restricted to; nothing for everything.
void add_selection(Page& page, const Answer& answer, const TextOptions& options);
/// Why there is no gpu row, what was found instead, and the remedy.
void add_no_gpu(Page& page, const Answer& answer);
/// Step time, and the six parts of a step or of the span, which add up to 100 %.
void add_split(Page& page, const Answer& answer, const TimeBasis& basis, const TextOptions& options);
/// One line a gpu (and window), when there are several.
void add_gpu_table(Page& page, const Answer& answer, const TimeBasis& basis);
/// Where time is lost, largest first.
void add_losses(Page& page, const Answer& answer, const TimeBasis& basis);
/// The operations of most time.
void add_top_operations(Page& page, const Answer& answer, const TimeBasis& basis);
/// The compute kernels of most time.
void add_top_kernels(Page& page, const Answer& answer, const TimeBasis& basis);

}  // namespace chopper
