// SPDX-License-Identifier: Apache-2.0
// The time line of one gpu as the simulation knows it: the quantities of spec 3 and 6, computed here from the schedule
// and nothing else.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/intervals.h"
#include "synth/simulation.h"

namespace chopper::synth {

/// A piece of gpu work, as far as a time line needs it.
struct Placed {
  std::int64_t start_ns, end_ns, call_ns;
  std::int64_t order;      ///< of launch, over all iterations
  std::int32_t iteration;  ///< as the profiler counts
  std::uint32_t work;
  WorkClass work_class;
  GapCause prep_cause, call_cause;
};

/// Lengths of spec 3, in ns.
struct Lengths {
  std::int64_t total = 0, busy = 0, compute = 0, comm = 0, memcpy_time = 0, overlap = 0;
  std::int64_t exposed_comm = 0, exposed_memcpy = 0, idle = 0;
};

struct Window {
  std::int64_t iteration = -1;  ///< as the profiler counts; -1: head or tail
  std::int64_t start_ns = 0, end_ns = 0;
  Lengths lengths;
  bool last = false;
};

/// A pause before a compute kernel (spec 6).
struct Gap {
  std::int32_t iteration;
  std::uint32_t work;
  std::int64_t prep_ns, call_ns;
  GapCause prep_cause, call_cause;
};

struct RunTimeline {
  Lengths trace;
  std::int64_t start_ns = 0, end_ns = 0;
  std::vector<Window> windows;  ///< head (if any), iterations, tail (if any)
  std::vector<Gap> gaps;        ///< those longer than 0, in order of start
  std::int64_t prep_ns = 0, call_ns = 0;
};

/// What decides where the window of an iteration begins and ends.
struct IterationBounds {
  static constexpr std::int64_t kNone = INT64_MAX;
  std::int64_t first_compute_ns = kNone, first_any_ns = kNone, last_end_ns = INT64_MIN;

  void add(WorkClass work_class, std::int64_t start_ns, std::int64_t end_ns);
};

/// S_k of spec 3 for each iteration, and the end of the last window: one value more than iterations.
std::vector<std::int64_t> window_starts(std::span<const IterationBounds> iterations);

/// `placed` in any order; `first` and `last` number the iterations.
RunTimeline timeline_of(std::vector<Placed> placed, std::int64_t first, std::int64_t last);

}  // namespace chopper::synth
