// SPDX-License-Identifier: Apache-2.0
// The best alignment of two short stretches by the full table of scores, and which of its pairs are in every one that
// is nearly as good.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "align/tokens.h"

namespace chopper {

/// Two stretches. Where one does not begin (end) the sequences, a pair stands directly before (behind) it.
struct LocalProblem {
  std::span<const std::uint32_t> first, second;
  bool begins = false, ends = false;
};

inline constexpr std::uint32_t kNoPartner = UINT32_MAX;

/// The partner of an item of the first stretch.
struct LocalMatch {
  std::uint32_t partner = kNoPartner;
  bool certain = true;  ///< so has every alignment that is as good, or nearly (kMargin)
};

/// Solves one problem after the other in the same memory: three numbers for each cell of the table.
class LocalAligner {
 public:
  explicit LocalAligner(const Tokens& tokens) : tokens_(tokens) {}
  /// One match for each item of `problem.first`; valid until the next call.
  std::span<const LocalMatch> solve(const LocalProblem& problem);
  /// The same without looking whether there are others as good: half the work.
  std::span<const LocalMatch> find_way(const LocalProblem& problem);

 private:
  // Best scores of alignments of the first i and j items: that end with the pair (i, j), or with a gap behind a pair.
  struct Cell {
    std::int32_t pair, first_gap, second_gap;
  };
  struct Place {
    std::size_t i = 0, j = 0;
  };
  void fill(const LocalProblem& problem);
  Place find_last_pair(const LocalProblem& problem);
  void trace_back(const LocalProblem& problem, Place last);
  void mark_uncertain(const LocalProblem& problem);
  Cell& cell(std::size_t i, std::size_t j) { return cells_[i * width_ + j]; }

  const Tokens& tokens_;
  std::vector<Cell> cells_;
  std::vector<Cell> behind_;  // of one row: best scores of what follows each state
  std::vector<LocalMatch> matches_;
  std::vector<std::uint8_t> row_pairs_, column_pairs_;  // good pairs of each item, from 1, up to two
  std::vector<std::uint8_t> inside_gap_;                // whether a best alignment leaves the item out between pairs
  std::size_t width_ = 0;
  std::int32_t best_ = 0;
};

}  // namespace chopper
