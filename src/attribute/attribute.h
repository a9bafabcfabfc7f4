// SPDX-License-Identifier: Apache-2.0
// The labels of gpu work: iteration, phase, layer, operation, class, and what is known of collectives
// (docs/reference/attribution.md).
#pragma once

#include <string>
#include <string_view>

#include "catalog/class_rules.h"
#include "catalog/group_dimensions.h"
#include "catalog/operation_maps.h"
#include "catalog/phase_rules.h"
#include "model/trace.h"

namespace chopper {

/// What attribution goes by.
struct AttributionRules {
  ClassRules classes;
  PhaseRules phases;
  OperationMaps operations;
  GroupDimensionRules groups;
  std::string iteration_mark;  ///< of the user; empty: none
};

/// Labels all gpu work of a trace. Adds to `health` what the links show.
GpuWorkLabels attribute_gpu_work(const TraceTables& trace, const AttributionRules& rules, std::string_view shown,
                                 HealthLog& health, unsigned threads);

}  // namespace chopper
