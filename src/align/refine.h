// SPDX-License-Identifier: Apache-2.0
// From equal runs to pairs: what lies between the runs, and those of their ends that could lie elsewhere as well, is
// aligned by the full table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "align/local.h"
#include "align/skeleton.h"

namespace chopper {

/// The pair of a dispatch of the first side.
struct Pair {
  std::uint32_t second = kNoPartner;
  bool uncertain = false;    ///< another one nearby is nearly as good
  bool transferred = false;  ///< it could as well be one far away, at the same place among others
};

/// Aligns `box`, in which `runs` are equal, into `pairs`, one for each dispatch of the first side. Boxes of at most
/// 65,536 cells are aligned without regard to the runs.
void refine(const Tokens& tokens, const Box& box, std::span<const Run> runs, LocalAligner& local,
            std::span<Pair> pairs);

/// Whether `box` is small enough for the full table alone.
bool is_small(const Box& box);

}  // namespace chopper
