// SPDX-License-Identifier: Apache-2.0
// Tables of rocprof-compute of ROCm 7 hold several executions of one program, one below the other: each counts other
// events of the same dispatches, under the same numbers and at other times.
//   Dispatch_ID,...,Start_Timestamp,...,Counter_Name,Counter_Value
//   1,...,1000,...,SQ_WAVES,1024.0             first execution
//   1,...,91000,...,GRBM_GUI_ACTIVE,48000.0    second execution
#pragma once

#include "model/counters.h"

namespace chopper::rocprof {

/// Makes one dispatch of those of one device, number, name and shape that hold different counters: as the older tables
/// of rocprof-compute have them, with the start of the first and the mean of their durations. Dispatches that hold the
/// same counter stay apart: they are measurements of their own. Values are in order of dispatch before and after.
void join_executions(CounterPass& pass);

}  // namespace chopper::rocprof
