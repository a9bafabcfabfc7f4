// SPDX-License-Identifier: Apache-2.0
// Whether a pair is the only one there can be, or that of an iteration which cannot be told from others.
#pragma once

#include <span>

#include "align/refine.h"

namespace chopper {

/// Sets `transferred` of the pairs of two whole sequences (docs/reference/alignment.md, 5).
void mark_transferred(const Tokens& tokens, const StretchIndex& index, Walker& walker, std::span<Pair> pairs);

/// Sets `uncertain` of the pairs of `box`, an iteration, that fit on both sides of a large gap.
void mark_uncertain_gaps(const Tokens& tokens, Walker& walker, const Box& box, std::span<Pair> pairs);

}  // namespace chopper
