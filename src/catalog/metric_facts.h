// SPDX-License-Identifier: Apache-2.0
// Facts by index, as programs of metrics use them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "catalog/metric_set.h"

namespace chopper {

/// Values a program may need at a time.
inline constexpr std::size_t kMetricStackDepth = 32;

/// Facts of gpus, then of dispatches.
inline constexpr std::array<FactInfo, 11> kFacts = {{
    {"num_units", "ratio", "compute units or streaming multiprocessors of the device"},
    {"num_xccs", "ratio", "accelerator complex dies of the device; 1 where there is none"},
    {"matrix_units_per_unit", "ratio", "matrix or tensor cores of a unit"},
    {"warp_size", "ratio", "threads of a wave or warp"},
    {"clock_mhz", "MHz", "clock at which the peaks of chopper gpus hold"},
    {"max_clock_mhz", "MHz", "highest clock of the device"},
    {"memory_clock_mhz", "MHz", "memory clock"},
    {"memory_gb_per_s", "GB/s", "peak of the memory"},
    {"duration_ns", "ns", "end - start of the dispatch in its pass"},
    {"grid_size", "ratio", "work-items of the dispatch"},
    {"workgroup_size", "ratio", "work-items of a workgroup"},
}};
inline constexpr std::size_t kNumGpuFacts = 8;

std::optional<std::uint32_t> fact_index(std::string_view name);
Unit fact_unit(std::uint32_t index);

}  // namespace chopper
