// SPDX-License-Identifier: Apache-2.0
// Everything that is counted and measured of each gpu, in one summary a device (spec 3 to 6).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/operations.h"
#include "catalog/group_dimensions.h"
#include "catalog/host_blockers.h"
#include "catalog/run_facts.h"
#include "model/selection.h"
#include "model/summary.h"
#include "model/trace.h"

namespace chopper {

/// Launch split of one COMP kernel (equations 1 and 2), and its overlap with communication.
struct KernelTimes {
  std::int64_t prep_ns = kNoNumber;  ///< kNoNumber: no launch record, first of the chain, or not COMP
  std::int64_t call_ns = kNoNumber;
  std::int64_t overlap_ns = 0;
  bool first_of_chain = false;
};

/// Extents of a kernel in blocks and threads. `hipExtModuleLaunchKernel` and `hipHccModuleLaunchKernel` record the grid
/// in work-items (formats 1.7): it is divided by the block, rounding up.
struct LaunchExtents {
  Extent grid, block;
};
LaunchExtents launch_extents(const TraceTables& trace, const GpuWorkLabels& labels, std::size_t row);

/// How to summarise.
struct SummaryOptions {
  std::string_view shown;  ///< the input's name in health
  Grain grain;
  Selection selection = {};                    ///< of kernel summaries and launching; the rest is kept whole
  std::span<const GpuSpec> known = {};         ///< the gpus there are
  std::optional<std::string> gpu_spec;         ///< key of the one that was stated
  const HostBlockerRules* blockers = nullptr;  ///< nullptr: none are looked for
  bool keep_compute = false;                   ///< fill GpuSummary::compute_kernels
  /// Both, or nullptr: the work of kernels without shapes is not told.
  const RunFacts* facts = nullptr;
  const GroupDimensionRules* dimensions = nullptr;
  unsigned threads = 1;
};

/// Summarises the gpu work of a trace, one entry a device, in order of device. `times`, when given, gets one entry a
/// gpu record. Adds what neighbours on a stream show to `health`.
std::vector<GpuSummary> summarise_gpus(const TraceTables& trace, const GpuWorkLabels& labels,
                                       const SummaryOptions& options, HealthLog& health,
                                       std::vector<KernelTimes>* times);

}  // namespace chopper
