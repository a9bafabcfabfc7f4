// SPDX-License-Identifier: Apache-2.0
#include "align/skeleton.h"

#include <algorithm>

namespace chopper {
namespace {

// A small disturbance: up to eight dispatches dropped, added or renamed. 3 in 100 disturbed make longer ones rare.
constexpr std::size_t kSmallSkip = 8, kSmallLook = 24, kSmallEvidence = 8;
// Dispatches that the full table looks at when that fails: several disturbances close to each other, or a longer one.
constexpr std::size_t kWindow = 64;
// Equal dispatches behind which the walk may leave the way that the table has found.
constexpr std::size_t kFoothold = 6;
// Dispatches in which to look for the rarest stretch: an iteration of a small model.
constexpr std::size_t kJumpWindow = 4096;
// One more place of a stretch is as bad as a gap this much longer: a stretch of each layer names the wrong layer.
constexpr std::size_t kRarity = 64;
// Looking up all stretches this often is the most that is done.
constexpr std::size_t kLookupsForEach = 8;
constexpr std::size_t kNumStarts = 8, kTrial = 8192;

// Dispatches from a corner of a box on, in one of the two directions.
template <bool kBackward>
struct Ahead {
  const std::uint32_t* data;
  std::size_t size;
  std::uint32_t operator[](std::size_t i) const {
    if constexpr (kBackward) return *(data - 1 - static_cast<std::ptrdiff_t>(i));
    return data[i];
  }
};

// How many of the next `most` dispatches are equal before the second that is not.
template <bool kBackward>
std::size_t evidence(const Tokens& tokens, const Ahead<kBackward>& a, std::size_t i, const Ahead<kBackward>& b,
                     std::size_t j, std::size_t most) {
  const std::size_t end = std::min({most, a.size - i, b.size - j});
  std::size_t num_equal = 0;
  for (std::size_t k = 0; k < end; k++) {
    if (tokens.equal(a[i + k], b[j + k])) {
      num_equal++;
    } else if (k > num_equal) {
      break;
    }
  }
  return num_equal;
}

// The smallest step over a disturbance behind which most dispatches are equal.
template <bool kBackward>
Skip find_small_skip(const Tokens& tokens, const Ahead<kBackward>& a, const Ahead<kBackward>& b, std::size_t most,
                     std::size_t look, std::size_t least) {
  Skip best;
  std::int64_t best_worth = INT64_MIN;
  for (std::size_t i = 0; i <= most && i < a.size; i++) {
    for (std::size_t j = 0; j <= most && j < b.size; j++) {
      if (!tokens.equal(a[i], b[j])) continue;
      const std::size_t num_equal = evidence(tokens, a, i, b, j, look);
      if (num_equal < least) continue;
      const std::int64_t worth = static_cast<std::int64_t>(num_equal) - 2 * static_cast<std::int64_t>(std::max(i, j));
      if (worth > best_worth) {
        best = {i, j, true};
        best_worth = worth;
      }
    }
  }
  return best;
}

}  // namespace

Walker::Walker(const Tokens& tokens, const StretchIndex& index)
    : tokens_(tokens),
      index_(index),
      local_(tokens),
      lookups_left_(kLookupsForEach * index.first().size() + kJumpWindow) {}

template <bool kBackward>
bool Walker::jump(const Box& box, Anchor& target) {
  const std::size_t length = index_.length();
  if (box.rows() < length || box.columns() < length) return false;
  const std::span<const Stretch> stretches = index_.first();
  const std::size_t low = box.first_begin, high = box.first_end - length;  // where stretches may begin
  const std::size_t second_high = box.second_end - length;
  const auto place = [&](std::size_t begin) {
    return std::lower_bound(stretches.begin(), stretches.end(), begin,
                            [](const Stretch& s, std::size_t b) { return s.begin < b; }) -
           stretches.begin();
  };
  auto at = kBackward ? place(high + 1) - 1 : place(low);
  std::size_t best_cost = SIZE_MAX, window_begin = kBackward ? high : low;
  for (; at >= 0 && at < std::ssize(stretches); at += kBackward ? -1 : 1) {
    const Stretch stretch = stretches[static_cast<std::size_t>(at)];
    if (kBackward ? stretch.begin < low : stretch.begin > high) break;
    const std::size_t ahead = kBackward ? high - stretch.begin : stretch.begin - low;
    if ((kBackward ? window_begin - stretch.begin : stretch.begin - window_begin) >= kJumpWindow) {
      if (best_cost != SIZE_MAX) break;
      window_begin = stretch.begin;
    }
    if (lookups_left_ == 0) break;
    lookups_left_--;
    const std::span<const std::uint32_t> places = index_.second_of(stretch.kind);
    if (places.empty()) continue;
    const std::size_t rarity = (places.size() + index_.first_of(stretch.kind).size()) * kRarity;
    if (rarity >= best_cost) continue;
    const std::size_t expected = kBackward ? second_high - std::min(ahead, second_high - box.second_begin)
                                           : std::min(box.second_begin + ahead, second_high);
    const auto behind = std::lower_bound(places.begin(), places.end(), expected);
    const auto consider = [&](std::size_t second) {
      if (second < box.second_begin || second > second_high) return;
      const std::size_t cost = rarity + (second > expected ? second - expected : expected - second);
      if (cost >= best_cost) return;
      for (std::size_t k = 0; k < length; k++) {
        if (!tokens_.equal(tokens_.first()[stretch.begin + k], tokens_.second()[second + k])) return;
      }
      best_cost = cost;
      target = {stretch.begin, second};
    };
    if (behind != places.end()) consider(*behind);
    if (behind != places.begin()) consider(*std::prev(behind));
  }
  return best_cost != SIZE_MAX;
}

// Follows the best way through the next dispatches of both sides to the end of its first half; not found where that way
// is not much better than none.
template <bool kBackward>
Skip Walker::skip_by_table(const Box& box) {
  const std::size_t rows = std::min(kWindow, box.rows()), columns = std::min(kWindow, box.columns());
  const auto copy = [](std::span<const std::uint32_t> side, std::size_t begin, std::size_t end) {
    std::vector<std::uint32_t> tokens(side.begin() + static_cast<std::ptrdiff_t>(begin),
                                      side.begin() + static_cast<std::ptrdiff_t>(end));
    if (kBackward) std::reverse(tokens.begin(), tokens.end());
    return tokens;
  };
  const auto first = kBackward ? copy(tokens_.first(), box.first_end - rows, box.first_end)
                               : copy(tokens_.first(), box.first_begin, box.first_begin + rows);
  const auto second = kBackward ? copy(tokens_.second(), box.second_end - columns, box.second_end)
                                : copy(tokens_.second(), box.second_begin, box.second_begin + columns);
  const std::span<const LocalMatch> way = local_.find_way({first, second, false, true});
  std::size_t num_equal = 0, length = 0;
  Skip foothold;
  for (std::size_t i = 0; i < way.size(); i++) {
    const std::size_t j = way[i].partner;
    const bool is_equal = j != kNoPartner && tokens_.equal(first[i], second[j]);
    const bool goes_on = is_equal && i > 0 && j > 0 && way[i - 1].partner == j - 1;
    num_equal += is_equal ? 1 : 0;
    length = !is_equal ? 0 : goes_on ? length + 1 : 1;
    // The begin of the last long enough run that begins in the first half, or of the first one.
    if (length == kFoothold && (!foothold.found || i < kWindow / 2)) foothold = {i + 1 - length, j + 1 - length, true};
  }
  if (num_equal * 2 < std::min(rows, columns)) foothold.found = false;
  return foothold;
}

template <bool kBackward>
Box Walker::walk(Box box, bool may_jump, std::vector<Run>& runs) {
  while (box.rows() > 0 && box.columns() > 0) {
    const Ahead<kBackward> a{tokens_.first().data() + (kBackward ? box.first_end : box.first_begin), box.rows()};
    const Ahead<kBackward> b{tokens_.second().data() + (kBackward ? box.second_end : box.second_begin), box.columns()};
    const auto advance = [&](std::size_t first, std::size_t second) {
      if constexpr (kBackward) {
        box.first_end -= first, box.second_end -= second;
      } else {
        box.first_begin += first, box.second_begin += second;
      }
    };
    const std::size_t most = std::min(a.size, b.size);
    std::size_t length = 0;
    while (length < most && tokens_.equal(a[length], b[length])) length++;
    if (length > 0) {
      if constexpr (kBackward) {
        runs.push_back({box.first_end - length, box.second_end - length, length});
      } else {
        runs.push_back({box.first_begin, box.second_begin, length});
      }
      advance(length, length);
      continue;
    }
    Skip skip = find_small_skip(tokens_, a, b, kSmallSkip, kSmallLook, kSmallEvidence);
    if (!skip.found) skip = skip_by_table<kBackward>(box);
    if (skip.found) {
      advance(skip.first, skip.second);
      continue;
    }
    Anchor target;
    if (!may_jump || !jump<kBackward>(box, target)) break;
    // What lies before the stretch is found from there: how far it belongs to it shows only so.
    const std::size_t length_found = index_.length();
    if constexpr (kBackward) {
      const Anchor corner{target.first + length_found, target.second + length_found};
      walk<false>({corner.first, box.first_end, corner.second, box.second_end}, false, runs);
      box.first_end = corner.first, box.second_end = corner.second;
    } else {
      walk<true>({box.first_begin, target.first, box.second_begin, target.second}, false, runs);
      box.first_begin = target.first, box.second_begin = target.second;
    }
  }
  return box;
}

Box Walker::walk_forward(const Box& box, bool may_jump, std::vector<Run>& runs) {
  return walk<false>(box, may_jump, runs);
}

Box Walker::walk_backward(const Box& box, bool may_jump, std::vector<Run>& runs) {
  return walk<true>(box, may_jump, runs);
}

void Walker::fill(const Box& box, std::vector<Run>& runs) {
  const Box rest = walk_forward(box, true, runs);
  if (rest.rows() > 0 && rest.columns() > 0) walk_backward(rest, true, runs);
}

Anchor find_start(const Tokens& tokens, const StretchIndex& index, Walker& walker) {
  const std::size_t rows = tokens.first().size(), columns = tokens.second().size();
  struct Rare {
    std::uint64_t num_pairs;
    std::uint32_t kind;
  };
  std::vector<Rare> rare;
  for (std::uint32_t kind = 0; kind < index.num_kinds(); kind++) {
    const std::uint64_t num_pairs = std::uint64_t{index.first_of(kind).size()} * index.second_of(kind).size();
    if (num_pairs > 0) rare.push_back({num_pairs, kind});
  }
  const std::size_t num_tried = std::min(rare.size(), kNumStarts);
  std::partial_sort(rare.begin(), rare.begin() + static_cast<std::ptrdiff_t>(num_tried), rare.end(),
                    [](const Rare& a, const Rare& b) {
                      return a.num_pairs != b.num_pairs ? a.num_pairs < b.num_pairs : a.kind < b.kind;
                    });
  // The ends, for what no stretch was kept of.
  std::vector<Anchor> anchors;
  for (std::size_t i = 0; i < num_tried; i++) {
    const std::size_t first = index.first_of(rare[i].kind).back();
    // The last place behind which the second side has as much as the first, or nearly.
    const std::size_t behind = rows - first, slack = behind / 16 + 32;
    const std::span<const std::uint32_t> places = index.second_of(rare[i].kind);
    auto place = std::upper_bound(places.begin(), places.end(), columns - std::min(columns, behind) + slack);
    if (place != places.begin()) place--;
    anchors.push_back({first, *place});
  }
  const std::size_t shorter = std::min(rows, columns);
  anchors.push_back({rows - shorter / 2, columns - shorter / 2});
  anchors.push_back({shorter / 2, shorter / 2});
  Anchor best;
  std::size_t most_equal = 0;
  std::vector<Run> runs;
  for (const Anchor& anchor : anchors) {
    runs.clear();
    walker.walk_forward(
        {anchor.first, std::min(rows, anchor.first + kTrial), anchor.second, std::min(columns, anchor.second + kTrial)},
        false, runs);
    walker.walk_backward({anchor.first - std::min(anchor.first, kTrial), anchor.first,
                          anchor.second - std::min(anchor.second, kTrial), anchor.second},
                         false, runs);
    std::size_t num_equal = 0;
    for (const Run& run : runs) num_equal += run.length;
    if (num_equal > most_equal) {
      most_equal = num_equal;
      best = anchor;
    }
  }
  return best;
}

std::vector<Run> find_runs(const Tokens& tokens, const StretchIndex& index, Walker& walker) {
  const std::size_t rows = tokens.first().size(), columns = tokens.second().size();
  std::vector<Anchor> anchors = find_pins(index);
  if (anchors.empty()) anchors.push_back(find_start(tokens, index, walker));
  std::vector<Run> runs;
  walker.walk_backward({0, anchors.front().first, 0, anchors.front().second}, true, runs);
  for (std::size_t k = 0; k + 1 < anchors.size(); k++)
    walker.fill({anchors[k].first, anchors[k + 1].first, anchors[k].second, anchors[k + 1].second}, runs);
  walker.walk_forward({anchors.back().first, rows, anchors.back().second, columns}, true, runs);
  std::sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) { return a.first < b.first; });
  return runs;
}

}  // namespace chopper
