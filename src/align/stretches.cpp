// SPDX-License-Identifier: Apache-2.0
#include "align/stretches.h"

#include <algorithm>
#include <bit>

namespace chopper {
namespace {

// 16 dispatches are longer than what a layer repeats inside itself, and with 3 in 100 disturbed still whole three times
// of five. Below 256 dispatches iterations are toys of tests.
constexpr std::size_t kLength = 16, kShortLength = 4, kShortSequence = 256;
// Shorter ones are needed where the library chose another kernel in every layer. 4 in 100 disturbed leave half in
// common.
constexpr double kEnoughInCommon = 0.3;
// Stretches that are kept, at most: 4 million take some 100 MB.
constexpr std::size_t kMostStretches = 4'000'000;

// From the hash of a stretch to its kind; open addressing.
class KindsByHash {
 public:
  KindsByHash() : slots_(1 << 12) {}
  std::uint32_t kind_of(std::uint64_t hash) {
    Slot* slot = find(hash);
    if (slot->kind == kFree) {
      if ((size_ + 1) * 2 > slots_.size()) {
        grow();
        slot = find(hash);
      }
      *slot = {hash, size_++};
    }
    return slot->kind;
  }
  std::uint32_t size() const { return size_; }

 private:
  static constexpr std::uint32_t kFree = UINT32_MAX;
  struct Slot {
    std::uint64_t hash = 0;
    std::uint32_t kind = kFree;
  };
  Slot* find(std::uint64_t hash) {
    std::size_t at = hash & (slots_.size() - 1);
    while (slots_[at].kind != kFree && slots_[at].hash != hash) at = (at + 1) & (slots_.size() - 1);
    return &slots_[at];
  }
  void grow() {
    std::vector<Slot> old(slots_.size() * 4);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.kind != kFree) *find(slot.hash) = slot;
    }
  }
  std::vector<Slot> slots_;
  std::uint32_t size_ = 0;
};

// The stretches of one side whose hash is kept, by a rolling polynomial modulo 2^64.
std::vector<Stretch> stretches_of(const Tokens& tokens, std::span<const std::uint32_t> side, std::size_t length,
                                  int sample_bits, KindsByHash& kinds) {
  constexpr std::uint64_t kBase = 0x9e3779b97f4a7c15ull | 4 | 1;  // 5 modulo 8
  std::vector<Stretch> found;
  if (side.size() < length) return found;
  std::uint64_t leaving = 1;
  for (std::size_t i = 0; i < length; i++) leaving *= kBase;
  std::uint64_t rolling = 0;
  for (std::size_t i = 0; i < side.size(); i++) {
    rolling = rolling * kBase + tokens.coarse(side[i]);
    if (i >= length) rolling -= leaving * tokens.coarse(side[i - length]);
    if (i + 1 < length) continue;
    std::uint64_t hash = (rolling ^ rolling >> 32) * 0xd6e8feb86659fd93ull;
    hash ^= hash >> 32;
    if (sample_bits > 0 && hash >> (64 - sample_bits) != 0) continue;
    found.push_back({static_cast<std::uint32_t>(i + 1 - length), kinds.kind_of(hash)});
  }
  return found;
}

}  // namespace

StretchIndex::StretchIndex(const Tokens& tokens) {
  const std::size_t shorter = std::min(tokens.first().size(), tokens.second().size());
  std::size_t best_length = kShortLength;
  double best_share = -1;
  for (length_ = shorter < kShortSequence ? kShortLength : kLength; length_ >= kShortLength; length_ /= 2) {
    build(tokens);
    const double share = share_in_common();
    if (share >= kEnoughInCommon) return;
    if (share > best_share) {
      best_share = share;
      best_length = length_;
    }
  }
  const bool is_built = best_length == kShortLength;
  length_ = best_length;
  if (!is_built) build(tokens);
}

void StretchIndex::build(const Tokens& tokens) {
  const std::size_t total = tokens.first().size() + tokens.second().size();
  const int sample_bits = static_cast<int>(std::bit_width(total / kMostStretches));
  KindsByHash kinds;
  first_.stretches = stretches_of(tokens, tokens.first(), length_, sample_bits, kinds);
  second_.stretches = stretches_of(tokens, tokens.second(), length_, sample_bits, kinds);
  sort_by_kind(first_, kinds.size());
  sort_by_kind(second_, kinds.size());
}

// Of the stretches of the first side, which is the shorter one.
double StretchIndex::share_in_common() const {
  std::size_t number = 0;
  for (const Stretch& stretch : first_.stretches) number += second_of(stretch.kind).empty() ? 0u : 1u;
  return first_.stretches.empty() ? 0 : static_cast<double>(number) / static_cast<double>(first_.stretches.size());
}

void StretchIndex::sort_by_kind(Side& side, std::size_t num_kinds) {
  side.begin_of.assign(num_kinds + 1, 0);
  for (const Stretch& stretch : side.stretches) side.begin_of[stretch.kind + 1]++;
  for (std::size_t kind = 0; kind < num_kinds; kind++) side.begin_of[kind + 1] += side.begin_of[kind];
  side.places.resize(side.stretches.size());
  std::vector<std::uint32_t> next(side.begin_of.begin(), side.begin_of.end() - 1);
  for (const Stretch& stretch : side.stretches) side.places[next[stretch.kind]++] = stretch.begin;
}

}  // namespace chopper
