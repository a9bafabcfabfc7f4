// SPDX-License-Identifier: Apache-2.0
// The class of gpu work (spec 3, reading rules 5).
#pragma once

#include <string_view>

#include "catalog/class_rules.h"
#include "model/trace.h"

namespace chopper {

/// Whether work below a host range of this name packs or unpacks communication buffers.
bool is_copy_range(const ClassRules& rules, std::string_view range_name);

/// Links and classifies all gpu work of a trace. Adds to `health` what the links show.
GpuWorkLabels attribute_gpu_work(const TraceTables& trace, const ClassRules& rules, std::string_view shown,
                                 HealthLog& health, unsigned threads);

}  // namespace chopper
