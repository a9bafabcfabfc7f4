// SPDX-License-Identifier: Apache-2.0
#include "align/align.h"

#include <algorithm>

#include "align/certainty.h"
#include "align/refine.h"
#include "align/skeleton.h"
#include "align/stretches.h"
#include "align/tokens.h"
#include "base/check.h"

namespace chopper {
namespace {

// How far marks may lie beside the first dispatch of an iteration, and the most of an iteration that this may be.
constexpr std::size_t kMarkSlack = 32, kMarkShare = 4;

// Iterations that follow each other on both sides, as boxes that touch, and what lies before the first mark of both.
struct MarkedGroup {
  std::vector<Box> iterations;
  bool has_head = false;
  Box bounds() const {
    return {iterations.front().first_begin, iterations.back().first_end, iterations.front().second_begin,
            iterations.back().second_end};
  }
};

std::size_t end_of(const DispatchSequence& sequence, std::size_t mark) {
  return mark + 1 < sequence.marks.size() ? sequence.marks[mark + 1].begin : sequence.dispatches.size();
}

std::vector<MarkedGroup> marked_groups(const DispatchSequence& a, const DispatchSequence& b) {
  std::vector<MarkedGroup> groups;
  std::size_t i = 0, j = 0;
  bool follows = false;
  while (i < a.marks.size() && j < b.marks.size()) {
    if (a.marks[i].number != b.marks[j].number) {
      a.marks[i].number < b.marks[j].number ? i++ : j++;
      follows = false;
      continue;
    }
    if (!follows) groups.emplace_back();
    if (i == 0 && j == 0) {
      groups.back().has_head = true;
      groups.back().iterations.push_back({0, a.marks[0].begin, 0, b.marks[0].begin});
    }
    groups.back().iterations.push_back({a.marks[i].begin, end_of(a, i), b.marks[j].begin, end_of(b, j)});
    follows = true;
    i++, j++;
  }
  return groups;
}

// A pair of two iterations is known by the marks only near the border between them, where marks are not exact.
bool is_known_by_marks(const MarkedGroup& group, std::size_t iteration, std::size_t first, std::size_t second) {
  const Box& box = group.iterations[iteration];
  if (second >= box.second_begin && second < box.second_end) return true;
  const std::size_t slack = std::min(kMarkSlack, box.rows() / kMarkShare);
  const bool before = second < box.second_begin;
  const std::size_t from_border = before ? first - box.first_begin : box.first_end - 1 - first;
  const std::size_t beyond = before ? box.second_begin - second : second - box.second_end + 1;
  return from_border <= slack && beyond <= slack;
}

class Aligner {
 public:
  Aligner(const DispatchSequence& first, const DispatchSequence& second)
      : first_(first),
        second_(second),
        tokens_(first.dispatches, second.dispatches),
        index_(tokens_),
        walker_(tokens_, index_),
        local_(tokens_),
        pairs_(first.dispatches.size()),
        by_marks_(first.dispatches.size(), 0) {}

  void run() {
    const std::vector<MarkedGroup> groups = marked_groups(first_, second_);
    if (groups.empty()) {
      const Box all{0, first_.dispatches.size(), 0, second_.dispatches.size()};
      std::vector<Run> runs;
      if (!is_small(all)) runs = find_runs(tokens_, index_, walker_);
      refine(tokens_, all, runs, local_, pairs_);
      mark_transferred(tokens_, index_, walker_, pairs_);
      search_rest(all);
    }
    for (const MarkedGroup& group : groups) align_group(group);
  }

  std::span<const Pair> pairs() const { return pairs_; }
  bool by_marks(std::size_t i) const { return by_marks_[i] != 0; }
  bool is_partial() const { return is_partial_ || walker_.gave_up(); }
  bool is_substituted(std::size_t i) const {
    return !tokens_.equal(tokens_.first()[i], tokens_.second()[pairs_[i].second]);
  }

 private:
  void align_group(const MarkedGroup& group) {
    const Box bounds = group.bounds();
    std::vector<Run> runs;
    if (!is_small(bounds)) {
      for (std::size_t k = 0; k < group.iterations.size(); k++) {
        if (k == 0 && group.has_head) {
          walker_.walk_backward(group.iterations[k], true, runs);
        } else {
          walker_.fill(group.iterations[k], runs);
        }
      }
      std::sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) { return a.first < b.first; });
    }
    refine(tokens_, bounds, runs, local_, pairs_);
    for (std::size_t k = 0; k < group.iterations.size(); k++) {
      const Box& box = group.iterations[k];
      mark_uncertain_gaps(tokens_, walker_, box, pairs_);
      for (std::size_t i = box.first_begin; i < box.first_end; i++) {
        by_marks_[i] = 1;
        // The marks say which iteration it is: what could lie elsewhere lies elsewhere in this one.
        pairs_[i].uncertain = pairs_[i].uncertain || pairs_[i].transferred;
        pairs_[i].transferred = false;
        if (pairs_[i].second != kNoPartner && !is_known_by_marks(group, k, i, pairs_[i].second))
          pairs_[i].uncertain = true;
      }
    }
    search_rest(bounds);
  }

  // Whether something is left in `box` that may have partners: gaps on both sides, too large for a table, with kernels
  // in common.
  void search_rest(const Box& box) {
    std::size_t first = box.first_begin, second = box.second_begin;
    for (std::size_t i = box.first_begin; i <= box.first_end && !is_partial_; i++) {
      const bool at_end = i == box.first_end;
      if (!at_end && pairs_[i].second == kNoPartner) continue;
      const std::size_t second_end = at_end ? box.second_end : pairs_[i].second;
      if (second_end - second >= kRest && i - first >= kRest) search_gap({first, i, second, second_end});
      first = i + 1;
      second = second_end + 1;
    }
  }

  void search_gap(const Box& gap) {
    seen_in_.resize(tokens_.num_kinds(), 0);
    num_gaps_++;
    for (std::size_t j = gap.second_begin; j < gap.second_end; j++)
      seen_in_[tokens_.kind_of(tokens_.second()[j])] = num_gaps_;
    std::size_t num_common = 0;
    for (std::size_t i = gap.first_begin; i < gap.first_end; i++)
      num_common += seen_in_[tokens_.kind_of(tokens_.first()[i])] == num_gaps_ ? 1u : 0u;
    if (num_common * 2 >= std::min(gap.rows(), gap.columns())) is_partial_ = true;
  }

  static constexpr std::size_t kRest = 256;  // shorter gaps have been seen by a table

  const DispatchSequence &first_, &second_;
  Tokens tokens_;
  StretchIndex index_;
  Walker walker_;
  LocalAligner local_;
  std::vector<Pair> pairs_;
  std::vector<std::uint8_t> by_marks_;
  std::vector<std::uint32_t> seen_in_;  // of each kind of kernel: the last gap that has it on the second side
  std::uint32_t num_gaps_ = 0;
  bool is_partial_ = false;
};

bool comes_first(const DispatchSequence& a, const DispatchSequence& b) {
  if (a.dispatches.size() != b.dispatches.size()) return a.dispatches.size() < b.dispatches.size();
  return !std::lexicographical_compare(b.dispatches.begin(), b.dispatches.end(), a.dispatches.begin(),
                                       a.dispatches.end());
}

void count(Alignment& alignment) {
  for (const Match& match : alignment.matches) {
    if (match.pass == kUnmatched)
      alignment.num_only_trace++;
    else if (match.substituted)
      alignment.num_substituted++;
    else
      alignment.num_matched++;
    switch (match.basis) {
      case MatchBasis::none:
        break;
      case MatchBasis::marks:
        alignment.num_marks++;
        break;
      case MatchBasis::unique:
        alignment.num_unique++;
        break;
      case MatchBasis::transferred:
        alignment.num_transferred++;
        break;
      case MatchBasis::ambiguous:
        alignment.num_ambiguous++;
        break;
    }
  }
}

void find_gaps(Alignment& alignment, std::size_t num_pass) {
  std::uint32_t trace = 0, pass = 0;
  const auto close = [&](std::uint32_t trace_end, std::uint32_t pass_end) {
    if (trace_end > trace || pass_end > pass)
      alignment.gaps.push_back({trace, trace_end - trace, pass, pass_end - pass});
    alignment.num_only_pass += pass_end - pass;
    trace = trace_end + 1;
    pass = pass_end + 1;
  };
  for (std::uint32_t i = 0; i < alignment.matches.size(); i++) {
    if (alignment.matches[i].pass != kUnmatched) close(i, alignment.matches[i].pass);
  }
  close(static_cast<std::uint32_t>(alignment.matches.size()), static_cast<std::uint32_t>(num_pass));
}

AlignmentVerdict verdict_of(const Alignment& alignment, bool is_partial, bool is_shiftable) {
  if (alignment.num_matched + alignment.num_substituted == 0) return AlignmentVerdict::unmatched;
  if (is_partial) return AlignmentVerdict::partial;
  if (is_shiftable) return AlignmentVerdict::iteration_ambiguous;
  return alignment.gaps.empty() && alignment.num_substituted == 0 ? AlignmentVerdict::exact : AlignmentVerdict::gapped;
}

}  // namespace

std::string_view to_string(MatchBasis basis) {
  switch (basis) {
    case MatchBasis::none:
      return "none";
    case MatchBasis::marks:
      return "marks";
    case MatchBasis::unique:
      return "unique";
    case MatchBasis::transferred:
      return "transferred";
    case MatchBasis::ambiguous:
      return "ambiguous";
  }
  return "none";
}

std::string_view to_string(AlignmentVerdict verdict) {
  switch (verdict) {
    case AlignmentVerdict::exact:
      return "exact";
    case AlignmentVerdict::gapped:
      return "gapped";
    case AlignmentVerdict::iteration_ambiguous:
      return "iteration_ambiguous";
    case AlignmentVerdict::partial:
      return "partial";
    case AlignmentVerdict::unmatched:
      return "unmatched";
  }
  return "unmatched";
}

Alignment align(const DispatchSequence& trace, const DispatchSequence& pass) {
  CHOPPER_CHECK(trace.dispatches.size() < kUnmatched && pass.dispatches.size() < kUnmatched);
  // The shorter side is always the first, so that the exchange of sides cannot change the answer.
  const bool in_order = comes_first(trace, pass);
  Aligner aligner(in_order ? trace : pass, in_order ? pass : trace);
  aligner.run();

  Alignment alignment;
  alignment.matches.resize(trace.dispatches.size());
  const std::span<const Pair> pairs = aligner.pairs();
  bool is_shiftable = false;
  for (std::size_t i = 0; i < pairs.size(); i++) {
    const Pair& pair = pairs[i];
    if (pair.second == kNoPartner) continue;
    is_shiftable = is_shiftable || pair.transferred;
    const std::size_t record = in_order ? i : pair.second;
    const auto dispatch = static_cast<std::uint32_t>(in_order ? pair.second : i);
    const MatchBasis basis = pair.uncertain        ? MatchBasis::ambiguous
                             : pair.transferred    ? MatchBasis::transferred
                             : aligner.by_marks(i) ? MatchBasis::marks
                                                   : MatchBasis::unique;
    alignment.matches[record] = {dispatch, basis, aligner.is_substituted(i)};
  }
  count(alignment);
  find_gaps(alignment, pass.dispatches.size());
  alignment.verdict = verdict_of(alignment, aligner.is_partial(), is_shiftable);
  return alignment;
}

std::int64_t score_of(const DispatchSequence& trace, const DispatchSequence& pass, std::span<const Match> matches) {
  const Tokens tokens(trace.dispatches, pass.dispatches);
  std::int64_t score = 0;
  std::size_t next_trace = 0, next_pass = 0;
  bool any = false;
  for (std::size_t i = 0; i < matches.size(); i++) {
    if (matches[i].pass == kUnmatched) continue;
    const std::size_t j = matches[i].pass;
    for (const std::size_t gap : {i - next_trace, j - next_pass}) {
      if (gap == 0) continue;
      score += any ? kGapOpen + kGapItem * static_cast<std::int64_t>(gap) : kEndGap;
    }
    score += tokens.score(tokens.first()[i], tokens.second()[j]);
    next_trace = i + 1, next_pass = j + 1;
    any = true;
  }
  if (next_trace < trace.dispatches.size()) score += kEndGap;
  if (next_pass < pass.dispatches.size()) score += kEndGap;
  return score;
}

}  // namespace chopper
