// SPDX-License-Identifier: Apache-2.0
// Aligns the counter passes of a run with its traces: which gpu of the job a device of a pass is, the order of
// dispatches on both sides, marks, and what iterations the pass did not cover take from one that it did
// (docs/reference/alignment.md 8).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "align/align.h"
#include "catalog/class_rules.h"
#include "catalog/gpus.h"
#include "engine/job.h"
#include "model/health.h"
#include "model/summary.h"

namespace chopper {

/// One device of one file of a pass beside the gpu of the trace it is.
struct PassAlignment {
  std::size_t pass = 0;                   ///< input of the file with the counters
  std::uint32_t device = 0;               ///< index into its devices
  std::size_t input = 0;                  ///< input of the trace
  std::size_t gpu = 0;                    ///< index into its gpus
  Alignment alignment;                    ///< by row of ComputeKernels::table; partners are indices into `dispatches`
  std::vector<std::uint8_t> is_copy;      ///< 1: the match is of a dispatch that another iteration has, too
  std::vector<std::uint32_t> dispatches;  ///< COMP dispatches of the device in order: rows of PassDispatchTable
  std::vector<std::size_t> trace_rows;  ///< kernels that were aligned, in order: gaps lie among these and `dispatches`
  bool of_some_kernels = false;         ///< the pass was recorded of kernels with some names only
  std::int64_t selected_ns = 0;         ///< summed durations of the selected kernels of the gpu
  std::int64_t covered_ns = 0;          ///< of those the pass was recorded of: all, or those whose name it has
  std::int64_t matched_ns = 0;          ///< part of these that has a partner of the same name

  double matched_share() const {
    return covered_ns > 0 ? static_cast<double>(matched_ns) / static_cast<double>(covered_ns) : 0;
  }
  /// Row of PassDispatchTable of a kernel of the trace, kUnmatched where it has none.
  std::uint32_t dispatch_of(std::size_t kernel) const {
    const std::uint32_t at = alignment.matches[kernel].pass;
    return at == kUnmatched ? kUnmatched : dispatches[at];
  }
};

/// Below these shares of the selected time matched, numbers carry a warning, and are not shown (spec 8).
inline constexpr double kWarnBelowShare = 0.95, kRefuseBelowShare = 0.5;

/// Aligns every device of every file of counters with the gpu of a job it belongs to, in order of (pass, device).
/// Devices that belong to no gpu, and alignments that are poor, are noted in the health of the pass.
std::vector<PassAlignment> align_passes(std::vector<InputSummary>& inputs, const std::vector<Job>& jobs,
                                        const ClassRules& rules, const std::vector<GpuSpec>& known,
                                        const std::optional<std::string>& gpu_spec, std::string_view user_mark,
                                        unsigned threads);

}  // namespace chopper
