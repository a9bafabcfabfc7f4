// SPDX-License-Identifier: Apache-2.0
// A program of repeated layers and iterations, its runtime trace, and a counter pass of another run with dropped, added
// and renamed dispatches; and which dispatch of the pass each record of the trace is.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "align/align.h"
#include "support/random.h"

namespace chopper::test {

/// What the two runs are.
struct PassOptions {
  std::size_t num_layers = 8, kernels_per_layer = 14;
  std::size_t trace_first = 3, trace_iterations = 4;  ///< iterations of the program that the trace holds
  std::size_t pass_first = 0, pass_iterations = 12;   ///< those the pass holds; its own warm-up lies before
  std::size_t pass_warmup = 0;                        ///< iterations like all others, before the first
  std::size_t special_iteration = SIZE_MAX;           ///< one with 100 more kernels, an optimizer step
  bool start_of_program = false;                      ///< both begin with 150 kernels of initialisation
  std::size_t dropped_percent = 1, added_percent = 1, renamed_percent = 1;
  bool trace_loses = false;       ///< the trace has 1 % dropped as well
  std::uint32_t num_retuned = 0;  ///< of 60 names, those that are others in all of the pass: the library chose anew
  std::size_t lost_in_trace = 0;  ///< records in a row that are missing in the middle of the trace
};

/// A dispatch and where in the program it is; kNowhere for added ones.
struct Placed {
  Dispatch dispatch;
  std::int64_t iteration = 0;
  std::int64_t place = 0;  ///< in its iteration
};
inline constexpr std::int64_t kNowhere = INT64_MIN;

struct TracedRun {
  std::vector<Dispatch> dispatches;
  std::vector<IterationMark> marks;
  std::vector<Placed> placed;
  DispatchSequence sequence(bool with_marks) const {
    DispatchSequence result{dispatches, {}};
    if (with_marks) result.marks = marks;
    return result;
  }
};

struct TraceAndPass {
  TracedRun trace, pass;
};

TraceAndPass make_trace_and_pass(const PassOptions& options, Random& random);

/// How an alignment compares with the truth, over the records of the trace. For `transferred` matches the truth is the
/// same place of the iteration of the pass that they come from.
struct Judgement {
  std::size_t num_possible = 0;   ///< records whose dispatch is in the pass, under its own name
  std::size_t num_right = 0;      ///< those of them that are matched with it
  std::size_t num_wrong = 0;      ///< `marks` or `unique`, but another dispatch
  std::size_t num_off_place = 0;  ///< `transferred`, but from another place of the iteration
  std::string first_wrong;
};
Judgement judge(const TraceAndPass& runs, const Alignment& alignment);

}  // namespace chopper::test
