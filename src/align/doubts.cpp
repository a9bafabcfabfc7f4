// SPDX-License-Identifier: Apache-2.0
// Where the score decides although something else is as likely.
// Of equal dispatches in a row nothing but their order tells which is which. That is enough as long as nothing was
// dropped, added or exchanged among them; a row of another length shows it, one of the same length may hide it.
#include <algorithm>
#include <utility>
#include <vector>

#include "align/align.h"

namespace chopper {
namespace {

// How far from a row, in records of the trace, an edit of the pass speaks against it: about an iteration of a large
// model, some of a small one. Edits are seldom alone, and a row that is clean far from all of them is believed.
constexpr std::size_t kEditReach = 4096;

// Records at which the pass was edited, ascending. What is missing before the first and behind the last pair is
// another warm-up or another end.
struct Edits {
  std::vector<std::size_t> lacking, added;
};

// Whether there are pairs before and behind a gap.
bool is_inside(const AlignmentGap& gap, const Alignment& alignment, std::size_t num_pass) {
  const bool is_first = gap.trace_begin == 0 && gap.pass_begin == 0;
  const bool is_last =
      gap.trace_begin + gap.num_trace == alignment.matches.size() && gap.pass_begin + gap.num_pass == num_pass;
  return !is_first && !is_last;
}

Edits edits_of(const Alignment& alignment, std::size_t num_pass) {
  Edits edits;
  for (std::size_t i = 0; i < alignment.matches.size(); i++) {
    // A substituted one may be one dropped and another one added.
    if (alignment.matches[i].pass == kUnmatched || !alignment.matches[i].substituted) continue;
    edits.lacking.push_back(i);
    edits.added.push_back(i);
  }
  for (const AlignmentGap& gap : alignment.gaps) {
    if (!is_inside(gap, alignment, num_pass)) continue;
    if (gap.num_trace > 0) edits.lacking.push_back(gap.trace_begin);
    if (gap.num_pass > 0) edits.added.push_back(gap.trace_begin);
  }
  std::sort(edits.lacking.begin(), edits.lacking.end());
  std::sort(edits.added.begin(), edits.added.end());
  return edits;
}

bool has_near(const std::vector<std::size_t>& edits, std::size_t begin, std::size_t end) {
  const auto at = std::lower_bound(edits.begin(), edits.end(), begin - std::min(begin, kEditReach));
  return at != edits.end() && *at < end + kEditReach;
}

// Of each dispatch, how many equal ones stand in a row with it.
std::vector<std::size_t> row_sizes(std::span<const Dispatch> side) {
  std::vector<std::size_t> sizes(side.size());
  for (std::size_t begin = 0; begin < side.size();) {
    std::size_t end = begin + 1;
    while (end < side.size() && side[end] == side[begin]) end++;
    std::fill(sizes.begin() + static_cast<std::ptrdiff_t>(begin), sizes.begin() + static_cast<std::ptrdiff_t>(end),
              end - begin);
    begin = end;
  }
  return sizes;
}

enum class Doubt : std::uint8_t {
  none,
  by_order,  // the row is as long on both sides, and may hide edits
  row,       // it is not, or one of it is substituted
};

// Of the records [begin, end), a row of equal ones.
Doubt doubt_of(const std::vector<std::size_t>& sizes_of_pass, const Alignment& alignment, const Edits& edits,
               std::size_t begin, std::size_t end) {
  std::size_t num_sure = 0, first = SIZE_MAX;
  for (std::size_t i = begin; i < end; i++) {
    const Match& match = alignment.matches[i];
    if (match.pass == kUnmatched || match.substituted) continue;
    if (first == SIZE_MAX) first = match.pass;
    num_sure++;
  }
  if (num_sure == 0) return Doubt::none;
  const std::size_t size = end - begin, other_size = sizes_of_pass[first];
  if (size == 1 && other_size == 1) return Doubt::none;
  if (num_sure != size || other_size != size) return Doubt::row;
  return has_near(edits.lacking, begin, end) && has_near(edits.added, begin, end) ? Doubt::by_order : Doubt::none;
}

// Whether a library may have chosen one of them in place of the other.
bool are_substitutable(const Dispatch& a, const Dispatch& b) {
  const auto is_known = [](std::uint32_t x, std::uint32_t y) { return x != kUnknownKey && y != kUnknownKey; };
  const bool grids = is_known(a.grid, b.grid), blocks = is_known(a.block, b.block);
  if ((grids && a.grid != b.grid) || (blocks && a.block != b.block)) return false;
  return (grids || blocks) && a.name != b.name;
}

}  // namespace

void flag_beside_renamed(const DispatchSequence& trace, const DispatchSequence& pass, Alignment& alignment) {
  const std::span<const Dispatch> records = trace.dispatches, dispatches = pass.dispatches;
  for (const AlignmentGap& gap : alignment.gaps) {
    if (!is_inside(gap, alignment, dispatches.size())) continue;
    // The pair before the gap, and the one behind it, with what is left out next to them.
    const std::size_t first = gap.trace_begin, last = first + gap.num_trace;
    const std::size_t first_pass = gap.pass_begin, last_pass = first_pass + gap.num_pass;
    const auto flag = [&](std::size_t record, std::size_t beside_record, std::size_t beside_dispatch) {
      Match& match = alignment.matches[record];
      if (match.pass == kUnmatched) return;
      const bool is_unsure = (gap.num_pass > 0 && are_substitutable(records[record], dispatches[beside_dispatch])) ||
                             (gap.num_trace > 0 && are_substitutable(records[beside_record], dispatches[match.pass]));
      if (is_unsure) match.basis = MatchBasis::ambiguous;
    };
    flag(first - 1, first, first_pass);
    flag(last, last - 1, last_pass - 1);
  }
}

void flag_equal_runs(const DispatchSequence& trace, const DispatchSequence& pass, Alignment& alignment) {
  const std::span<const Dispatch> records = trace.dispatches;
  const Edits edits = edits_of(alignment, pass.dispatches.size());
  const std::vector<std::size_t> sizes_of_pass = row_sizes(pass.dispatches);
  for (std::size_t begin = 0; begin < records.size();) {
    std::size_t end = begin + 1;
    while (end < records.size() && records[end] == records[begin]) end++;
    const Doubt doubt = doubt_of(sizes_of_pass, alignment, edits, begin, end);
    for (std::size_t i = begin; i < end && doubt != Doubt::none; i++) {
      Match& match = alignment.matches[i];
      if (match.pass == kUnmatched) continue;
      match.by_order = doubt == Doubt::by_order && match.basis != MatchBasis::ambiguous;
      match.basis = MatchBasis::ambiguous;
    }
    begin = end;
  }
}

}  // namespace chopper
