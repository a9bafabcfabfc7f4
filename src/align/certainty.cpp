// SPDX-License-Identifier: Apache-2.0
// A block is a part of the alignment without a large gap. It is fixed by pins, or by holding nothing that occurs
// elsewhere; otherwise it could lie one iteration earlier or later, and its pairs are those of the same place of an
// iteration. At a large gap between fixed blocks each side is tried on the other's diagonal: what fits there too is not
// fixed.
#include "align/certainty.h"

#include <algorithm>
#include <vector>

#include "align/pins.h"

namespace chopper {
namespace {

// No disturbance, but something that was not run or not recorded. Shorter gaps are large when they repeat what is
// beside them: an iteration of a small program may be missing.
constexpr std::size_t kLargeGap = 64, kLeastRepeated = 4;
// Sequences that are taken as they are: no iteration is told from its likes in them.
constexpr std::size_t kTiny = 16;

struct Block {
  std::size_t first_begin, first_end;  // both sides from the first to behind the last pair
  std::size_t second_begin, second_end;
  bool fixed = false;
};

// Whether most of [begin, begin + size) is repeated directly before or behind.
bool repeats_beside(const Tokens& tokens, std::span<const std::uint32_t> side, std::size_t begin, std::size_t size) {
  std::size_t num_before = 0, num_behind = 0;
  for (std::size_t i = begin; i < begin + size; i++) {
    if (i >= size && tokens.equal(side[i], side[i - size])) num_before++;
    if (i + size < side.size() && tokens.equal(side[i], side[i + size])) num_behind++;
  }
  return std::max(num_before, num_behind) * 2 > size;
}

std::vector<Block> blocks_of(const Tokens& tokens, std::span<const Pair> pairs) {
  std::vector<Block> blocks;
  const auto is_large = [&](std::span<const std::uint32_t> side, std::size_t begin, std::size_t end) {
    const std::size_t size = end - begin;
    return size >= kLargeGap || (size >= kLeastRepeated && repeats_beside(tokens, side, begin, size));
  };
  for (std::size_t i = 0; i < pairs.size(); i++) {
    if (pairs[i].second == kNoPartner) continue;
    const std::size_t second = pairs[i].second;
    if (blocks.empty() || is_large(tokens.first(), blocks.back().first_end, i) ||
        is_large(tokens.second(), blocks.back().second_end, second))
      blocks.push_back({i, i, second, second});
    blocks.back().first_end = i + 1;
    blocks.back().second_end = second + 1;
  }
  return blocks;
}

// Goes through the stretches that both sides have in order, block by block.
void find_fixed(const StretchIndex& index, std::span<const Pair> pairs, std::vector<Block>& blocks) {
  const std::size_t length = index.length();
  const std::span<const Stretch> stretches = index.first();
  std::size_t at = 0;
  for (Block& block : blocks) {
    std::size_t num_pins = 0, num_repeated = 0, reach = 0, row_begin = 0;
    bool in_row = false;
    while (at < stretches.size() && stretches[at].begin < block.first_begin) at++;
    for (; at < stretches.size() && stretches[at].begin + length <= block.first_end; at++) {
      const Stretch& stretch = stretches[at];
      const std::uint32_t partner = pairs[stretch.begin].second;
      const std::span<const std::uint32_t> places = index.second_of(stretch.kind);
      if (places.empty() || partner == kNoPartner) continue;
      const bool is_pin = index.is_unique(stretch.kind);
      if (is_pin && places.front() != partner) continue;
      if (!is_pin) {
        num_repeated++;
        in_row = false;
        continue;
      }
      num_pins++;
      if (!in_row) row_begin = stretch.begin;
      in_row = true;
      reach = std::max(reach, stretch.begin + length - row_begin);
    }
    block.fixed = reach >= least_reach(length) || num_pins > num_repeated || num_repeated == 0;
  }
}

// Marks the pairs of `runs` that differ from those there are.
void mark_other(std::span<const Run> runs, std::span<Pair> pairs) {
  for (const Run& run : runs) {
    for (std::size_t k = 0; k < run.length; k++) {
      Pair& pair = pairs[run.first + k];
      if (pair.second != kNoPartner && pair.second != run.second + k) pair.transferred = true;
    }
  }
}

}  // namespace

void mark_transferred(const Tokens& tokens, const StretchIndex& index, Walker& walker, std::span<Pair> pairs) {
  if (std::min(tokens.first().size(), tokens.second().size()) < kTiny) return;
  std::vector<Block> blocks = blocks_of(tokens, pairs);
  find_fixed(index, pairs, blocks);
  for (const Block& block : blocks) {
    if (block.fixed) continue;
    for (std::size_t i = block.first_begin; i < block.first_end; i++)
      pairs[i].transferred = pairs[i].second != kNoPartner;
  }
  std::vector<Run> runs;
  for (std::size_t k = 0; k + 1 < blocks.size(); k++) {
    const Block &a = blocks[k], &b = blocks[k + 1];
    runs.clear();
    if (a.fixed) walker.walk_backward({a.first_begin, b.first_begin, a.second_begin, b.second_begin}, false, runs);
    if (b.fixed) walker.walk_forward({a.first_end, b.first_end, a.second_end, b.second_end}, false, runs);
    mark_other(runs, pairs);
  }
}

}  // namespace chopper
