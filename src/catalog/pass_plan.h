// SPDX-License-Identifier: Apache-2.0
// Which counter passes to record for some metrics: the fewest that the limits of the hardware allow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "catalog/metric_set.h"

namespace chopper {

struct PlannedPass {
  std::vector<std::string> counters;  ///< in order of name, the check counter last
  std::vector<std::string> metrics;   ///< what of the wanted this pass is enough for
  /// Values the profiler records a dispatch, over all instances of the hardware; 0: not known.
  std::int64_t num_instances = 0;
};

struct PassPlan {
  std::string architecture, vendor;
  std::string check_counter;  ///< repeated in every pass; empty: none
  std::vector<PlannedPass> passes;
  std::size_t lower_bound = 0;         ///< of passes; equal to their number: none need fewer
  std::vector<std::string> spread;     ///< metrics that need more than one pass
  std::vector<std::string> not_known;  ///< counters that are in no list, taken to be of the block they are named after
};

/// Instances of counters that rocprofv3 of ROCm 6.2 keeps of a dispatch; it drops the rest.
inline constexpr std::int64_t kInstancesKeptByRocm62 = 512;

/// The metrics that splitting computation into its factors needs, as far as the architecture has them.
std::vector<std::string> decomposition_metrics(const MetricSet& set);

/// Plans passes for metrics and counters by name. `num_xccs`: of the device, for the number of instances.
/// Fails on unknown names, and on metrics that this architecture has not.
Result<PassPlan> plan_passes(const MetricCatalog& catalog, const MetricSet& set, std::span<const std::string> wanted,
                             std::int64_t num_xccs);

}  // namespace chopper
