// SPDX-License-Identifier: Apache-2.0
// A block is a part of the alignment without a large gap. It is fixed by pins, or by holding nothing that occurs
// elsewhere; otherwise it could lie one iteration earlier or later, and its pairs are those of the same place of an
// iteration. At a large gap between fixed blocks each side is tried on the other's diagonal: where it fits, the gap
// could lie anywhere between the last pin before and the first pin behind it, and nothing between them is fixed.
#include "align/certainty.h"

#include <algorithm>
#include <vector>

#include "align/pins.h"

namespace chopper {
namespace {

// No disturbance, but something that was not run or not recorded: a dozen dropped in a row by chance are not expected.
// Shorter gaps are large when they repeat what is beside them: an iteration of a small program may be missing.
constexpr std::size_t kLargeGap = 12, kLeastRepeated = 4;
// Sequences that are taken as they are: no iteration is told from its likes in them.
constexpr std::size_t kTiny = 16;

// Dispatches that fit elsewhere, and are no chance; and how much further that may go on than a walk has seen, which
// ends where half of its window does not fit.
constexpr std::size_t kFits = 8, kBeyond = 64;

// From the first to the last of some stretches.
struct Stretches {
  std::size_t begin = SIZE_MAX, end = 0;
  void add(std::size_t from, std::size_t to) {
    begin = std::min(begin, from);
    end = std::max(end, to);
  }
  std::size_t reach() const { return end > begin ? end - begin : 0; }
};

struct Block {
  std::size_t first_begin, first_end;  // both sides from the first to behind the last pair
  std::size_t second_begin, second_end;
  bool fixed = false;
  std::size_t pinned_begin = 0, pinned_end = 0;  // what is fixed of a fixed block, at least
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

// Of the pairs of [begin, end).
std::vector<Block> blocks_of(const Tokens& tokens, std::span<const Pair> pairs, std::size_t begin, std::size_t end) {
  std::vector<Block> blocks;
  const auto is_large = [&](std::span<const std::uint32_t> side, std::size_t from, std::size_t to) {
    const std::size_t size = to - from;
    return size >= kLargeGap || (size >= kLeastRepeated && repeats_beside(tokens, side, from, size));
  };
  for (std::size_t i = begin; i < end; i++) {
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
    std::size_t num_pins = 0, num_repeated = 0;
    bool has_long_row = false;
    Stretches all, row, long_rows;
    const auto end_row = [&] {
      if (row.reach() >= least_reach(length)) {
        long_rows.add(row.begin, row.end);
        has_long_row = true;
      }
      row = {};
    };
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
        end_row();
        continue;
      }
      num_pins++;
      row.add(stretch.begin, stretch.begin + length);
      all.add(stretch.begin, stretch.begin + length);
    }
    end_row();
    // Short sequences, and those in which nothing repeats itself, need no long row.
    const bool is_enough = all.reach() >= 2 * length || blocks.size() == 1;
    block.fixed = has_long_row || (num_pins > num_repeated && is_enough);
    const Stretches& pinned = has_long_row ? long_rows : all;
    // The last stretch occurs once because of its first dispatch: those behind that may be anywhere with others like
    // them.
    block.pinned_begin = pinned.end == 0 ? block.first_end : pinned.begin + length - 1;
    block.pinned_end = pinned.end == 0 ? block.first_begin : pinned.end - length + 1;
    if (block.fixed && num_repeated == 0) block.pinned_begin = block.first_begin, block.pinned_end = block.first_end;
  }
}

// Whether `runs` pair enough with others than `pairs` does.
bool fits_elsewhere(std::span<const Run> runs, std::span<const Pair> pairs) {
  std::size_t number = 0;
  for (const Run& run : runs) {
    for (std::size_t k = 0; k < run.length; k++) {
      const std::uint32_t second = pairs[run.first + k].second;
      number += second != kNoPartner && second != run.second + k ? 1 : 0;
    }
  }
  return number >= kFits;
}

void mark_uncertain(std::span<Pair> pairs, std::size_t begin, std::size_t end) {
  for (std::size_t i = begin; i < end; i++) pairs[i].uncertain = pairs[i].second != kNoPartner;
}

// Marks what lies between a large gap and the first kFits pairs in a row beside it: a few fit anywhere. And those
// beside it that are like the dispatches of the gap next to them.
void mark_loose(const Tokens& tokens, const Block& a, const Block& b, std::span<Pair> pairs) {
  const auto first = tokens.first(), second = tokens.second();
  const auto follows = [&](std::size_t i) {  // whether i and i + 1 are neighbours on both sides
    return pairs[i].second != kNoPartner && pairs[i + 1].second == pairs[i].second + 1;
  };
  const auto is_like = [&](std::size_t i, std::size_t in_first, std::size_t in_second) {
    return pairs[i].second != kNoPartner &&
           ((in_first < first.size() && tokens.equal(first[i], first[in_first])) ||
            (in_second < second.size() && tokens.equal(second[pairs[i].second], second[in_second])));
  };
  if (a.first_end > a.first_begin) {
    std::size_t row_begin = a.first_end - 1, row_end = a.first_end;
    while (row_begin > a.first_begin && row_end - row_begin < kFits) {
      row_begin--;
      if (!follows(row_begin)) row_end = row_begin + 1;
    }
    mark_uncertain(pairs, row_end - row_begin < kFits ? a.first_begin : row_end, a.first_end);
    for (std::size_t i = a.first_end; i-- > a.first_begin && is_like(i, a.first_end, a.second_end);)
      pairs[i].uncertain = true;
  }
  if (b.first_end > b.first_begin) {
    std::size_t row_begin = b.first_begin, row_end = b.first_begin + 1;
    while (row_end < b.first_end && row_end - row_begin < kFits) {
      if (!follows(row_end - 1)) row_begin = row_end;
      row_end++;
    }
    mark_uncertain(pairs, b.first_begin, row_end - row_begin < kFits ? b.first_end : row_begin);
    // Beside the begin of a side there is nothing: the place before 0 is beyond every end.
    for (std::size_t i = b.first_begin; i < b.first_end && is_like(i, b.first_begin - 1, b.second_begin - 1); i++)
      pairs[i].uncertain = true;
  }
}

void mark(std::span<Pair> pairs, std::size_t begin, std::size_t end) {
  for (std::size_t i = begin; i < end; i++) pairs[i].transferred = pairs[i].second != kNoPartner;
}

}  // namespace

void mark_transferred(const Tokens& tokens, const StretchIndex& index, Walker& walker, std::span<Pair> pairs) {
  if (std::min(tokens.first().size(), tokens.second().size()) < kTiny) return;
  std::vector<Block> blocks = blocks_of(tokens, pairs, 0, pairs.size());
  find_fixed(index, pairs, blocks);
  for (const Block& block : blocks) {
    if (!block.fixed) mark(pairs, block.first_begin, block.first_end);
  }
  std::vector<Run> runs;
  for (std::size_t k = 0; k + 1 < blocks.size(); k++) {
    const Block &a = blocks[k], &b = blocks[k + 1];
    runs.clear();
    if (a.fixed) walker.walk_backward({a.first_begin, b.first_begin, a.second_begin, b.second_begin}, false, runs);
    if (fits_elsewhere(runs, pairs)) mark(pairs, a.pinned_end, a.first_end);
    runs.clear();
    if (b.fixed) walker.walk_forward({a.first_end, b.first_end, a.second_end, b.second_end}, false, runs);
    if (fits_elsewhere(runs, pairs)) mark(pairs, b.first_begin, b.pinned_begin);
    mark_loose(tokens, a, b, pairs);
  }
}

void mark_uncertain_gaps(const Tokens& tokens, Walker& walker, const Box& box, std::span<Pair> pairs) {
  std::vector<Block> blocks = blocks_of(tokens, pairs, box.first_begin, box.first_end);
  if (blocks.empty()) return;
  // The corners of the box are fixed: what is missing may be missing there.
  const auto is_large = [](std::size_t from, std::size_t to) { return to >= from + kLargeGap; };
  const Block& front = blocks.front();
  if (is_large(box.first_begin, front.first_begin) || is_large(box.second_begin, front.second_begin))
    blocks.insert(blocks.begin(), {box.first_begin, box.first_begin, box.second_begin, box.second_begin});
  const Block& back = blocks.back();
  if (is_large(back.first_end, box.first_end) || is_large(back.second_end, box.second_end))
    blocks.push_back({box.first_end, box.first_end, box.second_end, box.second_end});
  std::vector<Run> runs;
  for (std::size_t k = 0; k + 1 < blocks.size(); k++) {
    const Block &a = blocks[k], &b = blocks[k + 1];
    // Pairs beyond the marks may lie beyond a corner.
    if (a.second_begin > b.second_begin || a.second_end > b.second_end) continue;
    runs.clear();
    const Box before =
        walker.walk_backward({a.first_begin, b.first_begin, a.second_begin, b.second_begin}, false, runs);
    if (fits_elsewhere(runs, pairs))
      mark_uncertain(pairs, std::max(a.first_begin, before.first_end - std::min(before.first_end, kBeyond)),
                     a.first_end);
    runs.clear();
    const Box behind = walker.walk_forward({a.first_end, b.first_end, a.second_end, b.second_end}, false, runs);
    if (fits_elsewhere(runs, pairs))
      mark_uncertain(pairs, b.first_begin, std::min(b.first_end, behind.first_begin + kBeyond));
    mark_loose(tokens, a, b, pairs);
  }
}

}  // namespace chopper
