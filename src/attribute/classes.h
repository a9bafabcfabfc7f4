// SPDX-License-Identifier: Apache-2.0
// The class of gpu work (spec 3, reading rules 5).
#pragma once

#include <string_view>

#include "catalog/class_rules.h"
#include "model/trace.h"

namespace chopper {

/// Whether work below a host range of this name packs or unpacks communication buffers.
bool is_copy_range(const ClassRules& rules, std::string_view range_name);

/// The class of a kernel of which nothing but the name is known.
GpuClass class_of_kernel_name(const ClassRules& rules, std::string_view name);

/// Fills `gpu_class` from `range` and `operation_range`, and takes `comm_copy` back from collectives.
void classify_gpu_work(const TraceTables& trace, const ClassRules& rules, GpuWorkLabels& labels);

}  // namespace chopper
