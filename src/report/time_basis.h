// SPDX-License-Identifier: Apache-2.0
// What the times of the text answer are means of: the steps of each gpu where there are any, else its whole trace.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/engine.h"
#include "report/time_split.h"

namespace chopper {

/// One gpu of one input.
struct GpuTime {
  const TimelineRow* row = nullptr;                   ///< of its whole trace
  TimeSplit split;                                    ///< mean over its steps, or of the trace
  double comm_ns = 0, overlap_ns = 0, copies_ns = 0;  ///< likewise
  std::size_t num_steps = 0;
  std::vector<std::int64_t> ordinals;  ///< of its steps, sorted
};

struct TimeBasis {
  bool steps = false;         ///< steps, not whole traces
  bool with_last = false;     ///< there are no others than those that end with the work
  std::vector<GpuTime> gpus;  ///< in order of Answer::timeline
  TimeSplit mean;             ///< over gpus
  double num_parts = 1;       ///< steps, or whole traces, of all gpus: sums over them divided by it are means
};

/// Steps are the complete iterations but the last of each gpu; where a run has none, all but the last; else all that
/// have work.
TimeBasis time_basis(const Answer& answer);

}  // namespace chopper
