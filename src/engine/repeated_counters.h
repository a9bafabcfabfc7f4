// SPDX-License-Identifier: Apache-2.0
// Counters that several passes hold: whether they tell the same of the same kernels (spec 8).
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "catalog/counters.h"
#include "engine/align_passes.h"

namespace chopper {

/// By how much passes may differ on the same kernels (formats.md 4.4: a counter repeated in another pass).
inline constexpr double kPassDisagreement = 0.05;

/// Notes in the health of each pass of a gpu which of its counters differ by more than 5 % from those of the first pass
/// that holds them too, summed over the kernels whose partners are sure in both. Cycles follow the clock: they are
/// compared where `at_one_clock` of the pass, an index into `passes`, says that it ran at the clock of passes before.
void note_repeated_counters(std::vector<InputSummary>& inputs, const std::vector<const PassAlignment*>& passes,
                            const CounterCatalog& counters, std::string_view architecture,
                            const std::function<bool(std::size_t)>& at_one_clock);

}  // namespace chopper
