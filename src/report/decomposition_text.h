// SPDX-License-Identifier: Apache-2.0
// Theory against measurement as text: what separates operations from the peak of the gpu.
#pragma once

#include "engine/engine.h"
#include "report/page.h"

namespace chopper {

/// Whether there is anything to show: operations with factors.
bool has_decomposition(const Answer& answer);

/// The operations that lose most, factor by factor, with half of the 95 % interval; why the paper's mode concludes
/// otherwise. `paper`: the factors of that mode instead.
void add_decomposition(Page& page, const Answer& answer, bool paper);

/// What the answer stands on: "trace + counters (4 files, 98 % of computation)".
std::string evidence_text(const Answer& answer);

}  // namespace chopper
