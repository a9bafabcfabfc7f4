// SPDX-License-Identifier: Apache-2.0
// Both sides of an alignment as numbers: one for each different (name, grid, block), and what pairs of them are worth.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "align/align.h"

namespace chopper {

/// Scores of docs/reference/alignment.md, 3. A substitution is better than a dropped and an added dispatch, more than
/// twelve in a row are not; a gap at an end of a stretch is a little cheaper than one inside, so that what is missing
/// is missing outside.
inline constexpr std::int32_t kEqualScore = 4, kSubstitutionScore = -3, kGapOpen = -6, kGapItem = -1, kEndGap = -5;
/// An alignment explains the order as well as the best one when it is worse by no more than a gap: whether two
/// dispatches were dropped together or apart is a matter of chance.
inline constexpr std::int32_t kMargin = -kGapOpen;
inline constexpr std::int32_t kImpossible = INT32_MIN / 4;

/// What two dispatches are to each other.
enum class Likeness : std::uint8_t { different, substitutable, equal };

class Tokens {
 public:
  Tokens(std::span<const Dispatch> first, std::span<const Dispatch> second);

  std::span<const std::uint32_t> first() const { return first_; }
  std::span<const std::uint32_t> second() const { return second_; }
  /// Whether two tokens are the same kernel as far as is known.
  bool equal(std::uint32_t a, std::uint32_t b) const {
    if (((a | b) & kVague) == 0) [[likely]]
      return a == b;
    return compare_vague(a, b) == Likeness::equal;
  }
  Likeness compare(std::uint32_t a, std::uint32_t b) const;
  std::int32_t score(std::uint32_t a, std::uint32_t b) const {
    if (equal(a, b)) return kEqualScore;
    return compare(a, b) == Likeness::substitutable ? kSubstitutionScore : kImpossible;
  }
  /// A number below num_kinds(), the same for the same (name, grid, block).
  std::uint32_t kind_of(std::uint32_t token) const { return token & ~kVague; }
  std::size_t num_kinds() const { return kinds_.size(); }
  /// A number that is the same for tokens that may be equal, to look for equal stretches by.
  std::uint64_t coarse(std::uint32_t token) const { return coarse_[token & ~kVague]; }

 private:
  // Tokens of dispatches of which something is not known: equality is not that of numbers.
  static constexpr std::uint32_t kVague = 0x80000000u;
  Likeness compare_vague(std::uint32_t a, std::uint32_t b) const;

  std::vector<std::uint32_t> first_, second_;
  std::vector<Dispatch> kinds_;
  std::vector<std::uint64_t> coarse_;
};

}  // namespace chopper
