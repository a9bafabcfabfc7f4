// SPDX-License-Identifier: Apache-2.0
// Whether the larger of freq and contention is the same for all m of a range (docs/reference/decomposition.md, 5).
#pragma once

#include "analyze/decomposition/factors.h"
#include "analyze/decomposition/sums.h"

namespace chopper {

/// Equal ones have any order. False where they are not known for all m from `m_low` to `m_high`.
bool keeps_order_of_freq_and_contention(const Sums& sums, const FactorRules& rules, double m_low, double m_high);

}  // namespace chopper
