// SPDX-License-Identifier: Apache-2.0
#include "align/tokens.h"

namespace chopper {
namespace {

std::uint64_t mix(std::uint64_t h) {
  h = (h ^ h >> 30) * 0xbf58476d1ce4e5b9ull;
  h = (h ^ h >> 27) * 0x94d049bb133111ebull;
  return h ^ h >> 31;
}

std::uint64_t hash_of(const Dispatch& dispatch) {
  const std::uint64_t shape = std::uint64_t{dispatch.grid} << 32 | dispatch.block;
  return mix(shape + 0x9e3779b97f4a7c15ull * (dispatch.name + 1ull));
}

// From a dispatch to its number; open addressing, at most half full.
class KindTable {
 public:
  explicit KindTable(std::vector<Dispatch>& kinds) : kinds_(kinds), slots_(1024, 0) {}

  std::uint32_t number_of(const Dispatch& dispatch) {
    std::size_t at = hash_of(dispatch) & (slots_.size() - 1);
    while (slots_[at] != 0 && kinds_[slots_[at] - 1] != dispatch) at = (at + 1) & (slots_.size() - 1);
    if (slots_[at] != 0) return slots_[at] - 1;
    kinds_.push_back(dispatch);
    slots_[at] = static_cast<std::uint32_t>(kinds_.size());
    const std::uint32_t number = slots_[at] - 1;
    if (kinds_.size() * 2 > slots_.size()) grow();
    return number;
  }

 private:
  void grow() {
    slots_.assign(slots_.size() * 4, 0);
    for (std::size_t i = 0; i < kinds_.size(); i++) {
      std::size_t at = hash_of(kinds_[i]) & (slots_.size() - 1);
      while (slots_[at] != 0) at = (at + 1) & (slots_.size() - 1);
      slots_[at] = static_cast<std::uint32_t>(i) + 1;
    }
  }
  std::vector<Dispatch>& kinds_;
  std::vector<std::uint32_t> slots_;  // number + 1, 0 = free
};

bool may_be_equal(std::uint32_t a, std::uint32_t b) { return a == b || a == kUnknownKey || b == kUnknownKey; }
bool both_known(std::uint32_t a, std::uint32_t b) { return a != kUnknownKey && b != kUnknownKey; }

}  // namespace

Tokens::Tokens(std::span<const Dispatch> first, std::span<const Dispatch> second) {
  KindTable table(kinds_);
  first_.reserve(first.size());
  second_.reserve(second.size());
  const auto token_of = [&](const Dispatch& dispatch) {
    const bool vague = dispatch.name == kUnknownKey || dispatch.grid == kUnknownKey || dispatch.block == kUnknownKey;
    return table.number_of(dispatch) | (vague ? kVague : 0u);
  };
  for (const Dispatch& dispatch : first) first_.push_back(token_of(dispatch));
  for (const Dispatch& dispatch : second) second_.push_back(token_of(dispatch));
  bool grids_known = true, blocks_known = true;
  for (const Dispatch& kind : kinds_) {
    grids_known = grids_known && kind.grid != kUnknownKey;
    blocks_known = blocks_known && kind.block != kUnknownKey;
  }
  coarse_.reserve(kinds_.size());
  for (Dispatch kind : kinds_) {
    if (!grids_known) kind.grid = kUnknownKey;
    if (!blocks_known) kind.block = kUnknownKey;
    coarse_.push_back(hash_of(kind));
  }
}

Likeness Tokens::compare_vague(std::uint32_t a, std::uint32_t b) const {
  const Dispatch& x = kinds_[a & ~kVague];
  const Dispatch& y = kinds_[b & ~kVague];
  if (!may_be_equal(x.grid, y.grid) || !may_be_equal(x.block, y.block)) return Likeness::different;
  if (x.name == y.name && x.name != kUnknownKey) return Likeness::equal;
  // Nothing known of the shape is no same shape.
  return both_known(x.grid, y.grid) || both_known(x.block, y.block) ? Likeness::substitutable : Likeness::different;
}

Likeness Tokens::compare(std::uint32_t a, std::uint32_t b) const {
  return ((a | b) & kVague) == 0 && a == b ? Likeness::equal : compare_vague(a, b);
}

}  // namespace chopper
