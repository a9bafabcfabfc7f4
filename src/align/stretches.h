// SPDX-License-Identifier: Apache-2.0
// Short stretches of tokens and where they occur: what anchors an alignment, and what tells whether a place can be told
// from others like it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "align/tokens.h"

namespace chopper {

/// A stretch of StretchIndex::length() tokens that begins at `begin`; equal `kind` means equal tokens, but for a chance
/// of some 2^-40, and as far as is known.
struct Stretch {
  std::uint32_t begin = 0, kind = 0;
};

/// The stretches of both sides. Of long sequences only every so many kinds are kept, the same on both sides.
class StretchIndex {
 public:
  explicit StretchIndex(const Tokens& tokens);

  /// Number of tokens of a stretch: 16; less in short sequences, and where the sides have few of that length in common.
  std::size_t length() const { return length_; }
  std::span<const Stretch> first() const { return first_.stretches; }
  std::span<const Stretch> second() const { return second_.stretches; }
  /// Where the stretches of a kind begin, ascending.
  std::span<const std::uint32_t> first_of(std::uint32_t kind) const { return places_of(first_, kind); }
  std::span<const std::uint32_t> second_of(std::uint32_t kind) const { return places_of(second_, kind); }
  std::size_t num_kinds() const { return first_.begin_of.size() - 1; }
  bool is_unique(std::uint32_t kind) const { return first_of(kind).size() == 1 && second_of(kind).size() == 1; }

 private:
  struct Side {
    std::vector<Stretch> stretches;       // in order of place
    std::vector<std::uint32_t> places;    // the same by kind
    std::vector<std::uint32_t> begin_of;  // of each kind in `places`
  };
  static std::span<const std::uint32_t> places_of(const Side& side, std::uint32_t kind) {
    return std::span(side.places).subspan(side.begin_of[kind], side.begin_of[kind + 1] - side.begin_of[kind]);
  }
  void build(const Tokens& tokens);
  double share_in_common() const;
  static void sort_by_kind(Side& side, std::size_t num_kinds);

  std::size_t length_ = 0;
  Side first_, second_;
};

}  // namespace chopper
