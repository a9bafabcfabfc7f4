// SPDX-License-Identifier: Apache-2.0
// Where the time of a step (or of a trace) is lost.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/engine.h"
#include "model/selection.h"
#include "report/time_basis.h"

namespace chopper {

/// One loss. Losses of different kinds may cover the same time: each is the time that is spent on it. What kernels lose
/// to communication that runs beside them is in none (counters tell).
struct Loss {
  std::string title;       ///< "exposed all-gather", at most 24 columns
  double at_stake_ns = 0;  ///< mean over gpus, of a step or of the trace
  std::string advice;
  std::string command;                ///< option of report that shows more, "--rank 5"; may be empty
  std::optional<TimePart> part = {};  ///< set when it is the whole of that part
};

/// Whether the rows are restricted to a part of the work of each iteration.
bool is_part_of_work(const Selection& selection);

/// In order of what is at stake; nothing below a thousandth of the whole. Of a part of the work: what is lost in it.
std::vector<Loss> find_losses(const Answer& answer, const TimeBasis& basis);

/// Whether a class, as rows name it, is one of computation.
bool is_compute_class(std::string_view word);

/// An operation: sums over the steps, or traces, of all gpus of the basis.
struct OperationTotal {
  std::string phase, operation;
  bool is_comm = false, is_compute = false;
  double duration_ns = 0, num_kernels = 0, overlap_ns = 0, prep_idle_ns = 0, call_idle_ns = 0;
  double known_ns = 0;  ///< duration of what has known work
  double least_ns = 0;  ///< its least time at the peak of the gpu
  double flops = 0, bytes = 0;
  std::string bound;  ///< compute or memory; empty: unknown
};
/// In order of duration.
std::vector<OperationTotal> operation_totals(const Answer& answer, const TimeBasis& basis);

/// How much of the computation has known work, where that is not nearly all: the losses below peak are of that part
/// alone.
std::string known_work_note(const Answer& answer, const TimeBasis& basis);

/// "712 TF/s 54 %", "3100 GB/s 58 %": rate and share of the peak; empty when the work of less than half of the time is
/// known.
std::string rate_text(const OperationTotal& operation);

}  // namespace chopper
