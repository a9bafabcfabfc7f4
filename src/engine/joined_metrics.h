// SPDX-License-Identifier: Apache-2.0
// Metrics whose counters no pass holds together: blocks of the hardware count few events at a time, so that hits and
// misses of a cache, or reads and writes, are mostly of different executions. A kernel of the trace that is matched in
// each of these passes has all of them.
#pragma once

#include <vector>

#include "engine/pass_values.h"

namespace chopper {

/// Computes from several passes what is in `out.missing`, and what the decomposition needs of it. A counter that
/// several passes hold is taken from the one that holds most of the counters of the metric, of those with equally many
/// from the one that holds most of the numerator, else from the first; so are the times. What stays in `out.missing`
/// tells the counters that none has.
void join_metrics(const std::vector<InputSummary>& inputs, const std::vector<const PassAlignment*>& passes,
                  GpuCounters& out);

}  // namespace chopper
