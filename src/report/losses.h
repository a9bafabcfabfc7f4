// SPDX-License-Identifier: Apache-2.0
// Where the time of a step (or of a trace) is lost, with upper bounds of what removing each loss would give.
#pragma once

#include <string>
#include <vector>

#include "engine/engine.h"
#include "report/time_basis.h"

namespace chopper {

/// One loss. Losses of different kinds may cover the same time: each is what would be won if it alone went away.
struct Loss {
  std::string title;       ///< "waiting in rs", at most 30 columns
  double at_stake_ns = 0;  ///< mean over gpus, of a step or of the trace
  std::string advice;
  std::string command;  ///< what shows more, "report --rank 5"; may be empty
};

/// In order of what is at stake; nothing below a thousandth of the whole.
std::vector<Loss> find_losses(const Answer& answer, const TimeBasis& basis);

/// An operation, all gpus and iterations together.
struct OperationTotal {
  std::string phase, operation;
  bool is_comm = false;
  double duration_ns = 0, num_kernels = 0, overlap_ns = 0, prep_idle_ns = 0, call_idle_ns = 0;
  double known_ns = 0;  ///< duration of what has known work
  double least_ns = 0;  ///< its least time at the peak of the gpu
  double flops = 0, bytes = 0;
  std::string bound;  ///< compute or memory; empty: unknown
};
/// Of the gpus of the basis, in order of duration.
std::vector<OperationTotal> operation_totals(const Answer& answer, const TimeBasis& basis);

/// "712 TFLOP/s 54 %", "3.1 TB/s 58 %": rate and share of the peak; empty when the work is not known.
std::string rate_text(const OperationTotal& operation);

}  // namespace chopper
