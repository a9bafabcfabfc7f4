// SPDX-License-Identifier: Apache-2.0
// Gotoh's algorithm with three states, and free choice of the first and the last pair where the stretch is at an end of
// the sequences. A gap of the first stretch directly followed by one of the second is allowed, the other order is not:
// it says the same.
#include "align/local.h"

#include <algorithm>

namespace chopper {
namespace {

constexpr std::int32_t kNever = kImpossible;

// What lies outside the first (last) pair at an end: up to two gaps.
std::int32_t end_gaps(std::size_t first, std::size_t second) {
  return (first > 0 ? kEndGap : 0) + (second > 0 ? kEndGap : 0);
}

}  // namespace

void LocalAligner::fill(const LocalProblem& problem) {
  const std::size_t rows = problem.first.size(), columns = problem.second.size();
  width_ = columns + 1;
  if (cells_.size() < (rows + 1) * width_) cells_.resize((rows + 1) * width_);
  for (std::size_t i = 0; i <= rows; i++) {
    for (std::size_t j = 0; j <= columns; j++) {
      Cell c{kNever, kNever, kNever};
      if (i == 0 && j == 0 && !problem.begins) c.pair = 0;
      if (i > 0) {
        const Cell& above = cell(i - 1, j);
        c.first_gap = std::max(above.pair + kGapOpen, above.first_gap) + kGapItem;
      }
      if (j > 0) {
        const Cell& left = cell(i, j - 1);
        c.second_gap = std::max(std::max(left.pair, left.first_gap) + kGapOpen, left.second_gap) + kGapItem;
      }
      if (i > 0 && j > 0) {
        const Cell& before = cell(i - 1, j - 1);
        std::int32_t best = std::max({before.pair, before.first_gap, before.second_gap});
        if (problem.begins) best = std::max(best, end_gaps(i - 1, j - 1));
        const std::int32_t score = tokens_.score(problem.first[i - 1], problem.second[j - 1]);
        c.pair = score == kNever ? kNever : best + score;
      }
      // Sums with kNever stay far below every real score, but must not sink without end.
      c = {std::max(c.pair, kNever), std::max(c.first_gap, kNever), std::max(c.second_gap, kNever)};
      cell(i, j) = c;
    }
  }
}

// Sets the best score; {0, 0} where the best alignment has no pair, or only the one before the stretch.
LocalAligner::Place LocalAligner::find_last_pair(const LocalProblem& problem) {
  const std::size_t rows = problem.first.size(), columns = problem.second.size();
  if (!problem.ends) {
    const Cell& last = cell(rows, columns);
    best_ = std::max({last.pair, last.first_gap, last.second_gap});
    if (problem.begins) best_ = std::max(best_, end_gaps(rows, columns));
    return {rows, columns};
  }
  Place place;
  best_ = end_gaps(rows, columns);
  for (std::size_t i = 0; i <= rows; i++) {
    for (std::size_t j = 0; j <= columns; j++) {
      const std::int32_t score = cell(i, j).pair + end_gaps(rows - i, columns - j);
      if (score > best_) {
        best_ = score;
        place = {i, j};
      }
    }
  }
  return place;
}

void LocalAligner::trace_back(const LocalProblem& problem, Place at) {
  enum class State { pair, first_gap, second_gap, outside };
  auto [i, j] = at;
  const auto state_of = [](const Cell& c, std::int32_t score) {
    if (c.pair == score) return State::pair;
    if (c.first_gap == score) return State::first_gap;
    if (c.second_gap == score) return State::second_gap;
    return State::outside;  // before the first pair
  };
  State state = problem.ends ? State::pair : state_of(cell(i, j), best_);
  while ((i > 0 || j > 0) && state != State::outside) {
    const Cell& c = cell(i, j);
    if (state == State::pair) {
      matches_[i - 1].partner = static_cast<std::uint32_t>(j - 1);
      const std::int32_t before = c.pair - tokens_.score(problem.first[i - 1], problem.second[j - 1]);
      i--, j--;
      state = state_of(cell(i, j), before);
    } else if (state == State::first_gap) {
      i--;
      state = cell(i, j).pair + kGapOpen + kGapItem == c.first_gap ? State::pair : State::first_gap;
    } else {
      j--;
      const Cell& left = cell(i, j);
      const std::int32_t opened = c.second_gap - kGapOpen - kGapItem;
      state = left.pair == opened ? State::pair : left.first_gap == opened ? State::first_gap : State::second_gap;
    }
  }
}

// Goes through the table once more from its end. A pair is uncertain when an alignment that is the best, or nearly,
// gives another partner to one of the two, or when one that is the best leaves it out.
void LocalAligner::mark_uncertain(const LocalProblem& problem) {
  const std::size_t rows = problem.first.size(), columns = problem.second.size();
  const std::int32_t least = best_ - kMargin;
  row_pairs_.assign(rows + 1, 0);
  column_pairs_.assign(columns + 1, 0);
  inside_gap_.assign(rows + 1, 0);
  behind_.assign(width_, {kNever, kNever, kNever});
  const bool maybe_none = problem.begins && end_gaps(rows, columns) == best_;
  std::size_t lead = maybe_none ? rows : 0;  // items that may lie before all pairs
  std::size_t tail = rows;                   // items behind this one may lie behind all pairs
  for (std::size_t i = rows + 1; i-- > 0;) {
    // `right` is the cell (i, j + 1), `below_right` the cell (i + 1, j + 1) of the row before, which is overwritten.
    Cell right{kNever, kNever, kNever}, below_right{kNever, kNever, kNever};
    for (std::size_t j = columns + 1; j-- > 0;) {
      const Cell below = behind_[j];
      Cell b{kNever, kNever, kNever};
      if (i < rows && j < columns) {
        const std::int32_t score = tokens_.score(problem.first[i], problem.second[j]);
        if (score != kNever) b.pair = b.first_gap = b.second_gap = score + below_right.pair;
      }
      if (i < rows) {
        b.pair = std::max(b.pair, below.first_gap + kGapOpen + kGapItem);
        b.first_gap = std::max(b.first_gap, below.first_gap + kGapItem);
      }
      if (j < columns) {
        b.pair = std::max(b.pair, right.second_gap + kGapOpen + kGapItem);
        b.first_gap = std::max(b.first_gap, right.second_gap + kGapOpen + kGapItem);
        b.second_gap = std::max(b.second_gap, right.second_gap + kGapItem);
      }
      if (problem.ends) {
        b.pair = std::max(b.pair, end_gaps(rows - i, columns - j));
      } else if (i == rows && j == columns) {
        b = {0, 0, 0};
      }
      b = {std::max(b.pair, kNever), std::max(b.first_gap, kNever), std::max(b.second_gap, kNever)};
      const Cell& f = cell(i, j);
      if (i > 0 && j > 0 && f.pair + b.pair >= least) {
        if (row_pairs_[i] < 2) row_pairs_[i]++;
        if (column_pairs_[j] < 2) column_pairs_[j]++;
        const std::int32_t score = tokens_.score(problem.first[i - 1], problem.second[j - 1]);
        if (problem.begins && end_gaps(i - 1, j - 1) + score + b.pair == best_) lead = std::max(lead, i - 1);
      }
      if (problem.ends && f.pair + end_gaps(rows - i, columns - j) == best_) tail = std::min(tail, i);
      if (i > 0 && f.first_gap + b.first_gap == best_) inside_gap_[i] = 1;
      below_right = below;
      right = behind_[j] = b;
    }
  }
  for (std::size_t i = 1; i <= rows; i++) {
    LocalMatch& match = matches_[i - 1];
    if (match.partner == kNoPartner) continue;
    const bool may_be_none = inside_gap_[i] != 0 || i <= lead || i > tail;
    match.certain = !may_be_none && row_pairs_[i] < 2 && column_pairs_[match.partner + 1] < 2;
  }
}

std::span<const LocalMatch> LocalAligner::find_way(const LocalProblem& problem) {
  matches_.assign(problem.first.size(), {});
  fill(problem);
  trace_back(problem, find_last_pair(problem));
  return matches_;
}

std::span<const LocalMatch> LocalAligner::solve(const LocalProblem& problem) {
  find_way(problem);
  mark_uncertain(problem);
  return matches_;
}

}  // namespace chopper
