// SPDX-License-Identifier: Apache-2.0
// Iteration marks, the passes of the autograd engine, and which iteration a launch belongs to (attribution.md 2).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "attribute/links.h"
#include "model/trace.h"

namespace chopper {

/// A kernel by the time of its launch call.
struct LaunchedKernel {
  std::int64_t time_ns = 0;
  StringId name = kNoString;
};
/// Finds the marks of a trace. `compute_launches` gives the COMP kernels of one gpu in order of launch; it is asked
/// only when no range is a mark. Without marks there is one iteration; none only when there is no launch call.
IterationMarks find_marks(const TraceTables& trace, std::string_view user_mark,
                          const std::function<std::vector<LaunchedKernel>()>& compute_launches);

/// Index into `marks` of the iteration a launch at `time_ns` belongs to, kHeadIteration or kTailIteration.
std::int32_t iteration_at(const IterationMarks& marks, std::int64_t time_ns);

/// A pass of the autograd engine.
struct EnginePass {
  std::int64_t start_ns = 0;
  ThreadId thread{};
  std::int64_t forward_thread = 0;  ///< whose forward work it is the backward of: numbers are counted for each
  friend auto operator<=>(const EnginePass&, const EnginePass&) = default;
};
/// In order of start.
std::vector<EnginePass> find_engine_passes(const TraceTables& trace, const RangeOrder& order);

/// Fills micro steps and launch counts of each mark.
void count_in_iterations(const TraceTables& trace, std::span<const EnginePass> passes, const LaunchLinks& links,
                         IterationMarks& marks);

}  // namespace chopper
