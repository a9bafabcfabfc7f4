// SPDX-License-Identifier: Apache-2.0
#include "align/skeleton.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <utility>

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
// One more place of a stretch is as bad as a gap this much longer: a stretch of each layer may name the wrong one.
constexpr std::size_t kRarity = 64;
// Looking up all stretches this often is the most that is done; a run of a trial counts as some lookups.
constexpr std::size_t kLookupsForEach = 16, kRunPrice = 8;
// Classes of stretches by how often they occur, and starts of each that are tried, how far to both sides.
constexpr std::size_t kNumClasses = 32, kNumStarts = 3, kTrial = 8192;
// How far the targets of a jump are tried: further than the layers of an iteration reach.
constexpr std::size_t kJumpTrial = 2048;
// Drifts of a trial that count, and how much: single disturbances are the same everywhere.
constexpr std::int64_t kLeastJump = 4, kJumpPrice = 8;

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

// How often a stretch of this kind occurs, as a power of two. Of a kind that disturbances made there are few, and
// rarely in the same layer; of one that belongs to an iteration as many as iterations: each class has its rarest kinds.
std::size_t class_of(std::size_t first, std::size_t second) {
  return static_cast<std::size_t>(std::bit_width(std::min(first, second))) - 1;
}

// The rarest kinds that occur at least 1, 2, 4, ... times on both sides.
std::vector<std::uint32_t> rare_kinds(const StretchIndex& index) {
  struct Rare {
    std::uint64_t num_pairs;
    std::uint32_t kind;
  };
  const auto is_rarer = [](const Rare& a, const Rare& b) {
    return a.num_pairs != b.num_pairs ? a.num_pairs < b.num_pairs : a.kind < b.kind;
  };
  std::array<std::vector<Rare>, kNumClasses> classes;
  for (std::uint32_t kind = 0; kind < index.num_kinds(); kind++) {
    const std::size_t first = index.first_of(kind).size(), second = index.second_of(kind).size();
    if (std::min(first, second) == 0) continue;
    std::vector<Rare>& rarest = classes[class_of(first, second)];
    const Rare rare{std::uint64_t{first} * second, kind};
    if (rarest.size() == kNumStarts && !is_rarer(rare, rarest.back())) continue;
    rarest.insert(std::upper_bound(rarest.begin(), rarest.end(), rare, is_rarer), rare);
    if (rarest.size() > kNumStarts) rarest.pop_back();
  }
  std::vector<std::uint32_t> kinds;
  for (const std::vector<Rare>& rarest : classes) {
    for (const Rare& rare : rarest) kinds.push_back(rare.kind);
  }
  return kinds;
}

// By how much the second side gets ahead between two runs, or behind.
std::int64_t drift_between(const Run& a, const Run& b) {
  return static_cast<std::int64_t>(b.second - a.second) - static_cast<std::int64_t>(b.first - a.first);
}

bool is_jump(std::int64_t drift) { return std::abs(drift) >= kLeastJump; }

// What a way is worth: equal dispatches, less what it jumps over. In the wrong layer it must do that at the end of the
// layers, however few disturbances it meets. `runs` are in order.
std::int64_t worth_of(std::span<const Run> runs) {
  std::int64_t worth = 0;
  for (std::size_t k = 0; k < runs.size(); k++) {
    worth += static_cast<std::int64_t>(runs[k].length);
    const std::int64_t drift = k == 0 ? 0 : drift_between(runs[k - 1], runs[k]);
    if (is_jump(drift)) worth -= std::abs(drift) * kJumpPrice;
  }
  return worth;
}

void sort_runs(std::vector<Run>& runs) {
  std::sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) { return a.first < b.first; });
}

// The middle of the longest part without a jump.
Anchor middle_of_longest(std::span<const Run> runs) {
  std::size_t longest = 0, equal = 0, begin = 0;
  Anchor middle;
  for (std::size_t k = 0; k < runs.size(); k++) {
    if (k > 0 && is_jump(drift_between(runs[k - 1], runs[k]))) {
      equal = 0;
      begin = k;
    }
    equal += runs[k].length;
    if (equal <= longest) continue;
    longest = equal;
    const Run& run = runs[begin + (k - begin) / 2];
    middle = {run.first, run.second};
  }
  return middle;
}

// Runs around `anchor`.
std::vector<Run> try_start(const Tokens& tokens, Walker& walker, const Anchor& anchor) {
  std::vector<Run> runs;
  walker.walk_backward({anchor.first - std::min(anchor.first, kTrial), anchor.first,
                        anchor.second - std::min(anchor.second, kTrial), anchor.second},
                       false, runs);
  walker.walk_forward({anchor.first, std::min(tokens.first().size(), anchor.first + kTrial), anchor.second,
                       std::min(tokens.second().size(), anchor.second + kTrial)},
                      false, runs);
  sort_runs(runs);
  return runs;
}

// Takes back jumps that only lead to the wrong layer and from there to the right one again: walks from one side of both
// to the other side without.
std::vector<Run> straightened(const std::vector<Run>& runs, Walker& walker) {
  std::vector<Run> result, other;
  std::size_t jump = 0;  // the run behind the last jump; 0: none, or it was taken back
  for (std::size_t k = 0; k < runs.size(); k++) {
    const std::int64_t drift = k == 0 ? 0 : drift_between(runs[k - 1], runs[k]);
    if (is_jump(drift)) {
      const std::int64_t before = jump == 0 ? 0 : drift_between(runs[jump - 1], runs[jump]);
      const std::size_t last_jump = std::exchange(jump, k);
      if (last_jump != 0 && std::abs(before + drift) * 2 < std::abs(drift)) {
        const std::span old = std::span(runs).subspan(last_jump - 1, k - last_jump + 2);
        const Run &left = old.front(), &right = old.back();
        other.assign(1, left);
        walker.walk_forward({left.first + left.length, right.first, left.second + left.length, right.second}, false,
                            other);
        other.push_back(right);
        if (worth_of(other) > worth_of(old)) {
          result.resize(result.size() - (k - last_jump));
          result.insert(result.end(), other.begin() + 1, other.end() - 1);
          jump = 0;
        }
      }
    }
    result.push_back(runs[k]);
  }
  return result;
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
  struct Candidate {
    std::size_t cost = SIZE_MAX;
    Anchor target;
  };
  std::array<Candidate, kNumClasses> candidates;
  bool any = false;
  std::size_t window_begin = kBackward ? high : low;
  for (; at >= 0 && at < std::ssize(stretches); at += kBackward ? -1 : 1) {
    const Stretch stretch = stretches[static_cast<std::size_t>(at)];
    if (kBackward ? stretch.begin < low : stretch.begin > high) break;
    const std::size_t ahead = kBackward ? high - stretch.begin : stretch.begin - low;
    if ((kBackward ? window_begin - stretch.begin : stretch.begin - window_begin) >= kJumpWindow) {
      if (any) break;
      window_begin = stretch.begin;
    }
    if (lookups_left_ == 0) break;
    lookups_left_--;
    const std::span<const std::uint32_t> places = index_.second_of(stretch.kind);
    if (places.empty()) continue;
    const std::size_t num_first = index_.first_of(stretch.kind).size();
    const std::size_t rarity = (places.size() + num_first) * kRarity;
    Candidate& best = candidates[class_of(num_first, places.size())];
    if (rarity >= best.cost) continue;
    const std::size_t expected = kBackward ? second_high - std::min(ahead, second_high - box.second_begin)
                                           : std::min(box.second_begin + ahead, second_high);
    const auto behind = std::lower_bound(places.begin(), places.end(), expected);
    const auto consider = [&](std::size_t second) {
      if (second < box.second_begin || second > second_high) return;
      const std::size_t cost = rarity + (second > expected ? second - expected : expected - second);
      if (cost >= best.cost) return;
      for (std::size_t k = 0; k < length; k++) {
        if (!tokens_.equal(tokens_.first()[stretch.begin + k], tokens_.second()[second + k])) return;
      }
      best = {cost, {stretch.begin, second}};
      any = true;
    };
    if (behind != places.end()) consider(*behind);
    if (behind != places.begin()) consider(*std::prev(behind));
  }
  // The one with the best way before and behind it. In the wrong layer that would have to jump at the end of the
  // layers.
  std::int64_t most_worth = INT64_MIN;
  std::vector<Run> runs;
  for (const Candidate& candidate : candidates) {
    if (candidate.cost == SIZE_MAX) continue;
    const auto [first, second] = candidate.target;
    runs.clear();
    walk<true>({std::max(box.first_begin, first - std::min(first, kJumpTrial)), first,
                std::max(box.second_begin, second - std::min(second, kJumpTrial)), second},
               false, runs);
    walk<false>(
        {first, std::min(box.first_end, first + kJumpTrial), second, std::min(box.second_end, second + kJumpTrial)},
        false, runs);
    lookups_left_ -= std::min(lookups_left_, runs.size() * kRunPrice);
    sort_runs(runs);
    if (worth_of(runs) <= most_worth) continue;
    most_worth = worth_of(runs);
    target = candidate.target;
  }
  return any;
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
  std::vector<Anchor> anchors;
  for (const std::uint32_t kind : rare_kinds(index)) {
    const std::size_t first = index.first_of(kind).back();
    // The last place behind which the second side has as much as the first, or nearly.
    const std::size_t behind = rows - first, slack = behind / 16 + 32;
    const std::span<const std::uint32_t> places = index.second_of(kind);
    auto place = std::upper_bound(places.begin(), places.end(), columns - std::min(columns, behind) + slack);
    if (place != places.begin()) place--;
    anchors.push_back({first, *place});
  }
  // The ends, for what no stretch was kept of.
  const std::size_t shorter = std::min(rows, columns);
  anchors.push_back({rows - shorter / 2, columns - shorter / 2});
  anchors.push_back({shorter / 2, shorter / 2});
  // What a start leaves over of the shorter side at its ends, though the other could hold it, when one side goes on to
  // lose as much more than the other as around the start.
  const auto left_over = [&](const Anchor& anchor, std::span<const Run> runs) {
    if (runs.empty()) return static_cast<std::int64_t>(shorter);
    const double pace = static_cast<double>(runs.back().first - runs.front().first + 1) /
                        static_cast<double>(runs.back().second - runs.front().second + 1);
    const double before = std::min(static_cast<double>(anchor.first), pace * static_cast<double>(anchor.second));
    const double behind =
        std::min(static_cast<double>(rows - anchor.first), pace * static_cast<double>(columns - anchor.second));
    const double most = std::min(static_cast<double>(rows), pace * static_cast<double>(columns));
    return static_cast<std::int64_t>(most - before - behind);
  };
  Anchor best;
  std::int64_t most_worth = INT64_MIN;
  for (Anchor anchor : anchors) {
    std::vector<Run> runs = try_start(tokens, walker, anchor);
    std::int64_t worth = worth_of(runs);
    // In the wrong layer, the way found the right one at its end.
    const Anchor middle = middle_of_longest(runs);
    std::vector<Run> others = try_start(tokens, walker, middle);
    if (worth_of(others) > worth) {
      runs = std::move(others);
      worth = worth_of(runs);
      anchor = middle;
    }
    worth -= left_over(anchor, runs);
    if (worth > most_worth) {
      most_worth = worth;
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
  sort_runs(runs);
  return straightened(runs, walker);
}

}  // namespace chopper
