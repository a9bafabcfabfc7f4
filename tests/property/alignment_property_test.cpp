// SPDX-License-Identifier: Apache-2.0
// The alignment against the obvious dynamic programme on small sequences, against known truth on simulated counter
// passes, and against the clock on sequences made to be hard.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <optional>
#include <utility>
#include <vector>

#include "align/align.h"
#include "support/counter_pass.h"
#include "support/sanitizer.h"
#include "support/trace_builder.h"

namespace chopper::test {
namespace {

using Kernels = std::vector<Dispatch>;

Kernels random_kernels(Random& random, std::size_t most, std::size_t num_names, bool vague) {
  Kernels kernels(random.below(most + 1));
  for (Dispatch& dispatch : kernels) {
    dispatch = {static_cast<std::uint32_t>(random.below(num_names)), static_cast<std::uint32_t>(random.below(2)), 1};
    if (vague && random.chance(5)) dispatch.grid = kUnknownKey;
    if (vague && random.chance(9)) dispatch.name = kUnknownKey;
  }
  return kernels;
}

// A copy with some dispatches dropped, added and renamed.
Kernels disturbed(Random& random, const Kernels& kernels, std::size_t one_in, std::size_t num_names) {
  Kernels result;
  for (const Dispatch& dispatch : kernels) {
    if (random.chance(one_in)) continue;
    result.push_back(dispatch);
    if (random.chance(one_in)) result.back().name = static_cast<std::uint32_t>(random.below(num_names));
    if (random.chance(one_in)) result.push_back(dispatch);
  }
  return result;
}

// The best score, from the rules as they are written: what may follow a pair of dispatches is another pair, with or
// without gaps before it.
std::int64_t naive_score(const Kernels& a, const Kernels& b) {
  constexpr std::int64_t kNever = INT64_MIN / 2;
  const auto known = [](std::uint32_t x, std::uint32_t y) { return x != kUnknownKey && y != kUnknownKey; };
  const auto pair_score = [&](const Dispatch& x, const Dispatch& y) -> std::int64_t {
    if (known(x.grid, y.grid) && x.grid != y.grid) return kNever;
    if (known(x.block, y.block) && x.block != y.block) return kNever;
    if (known(x.name, y.name) && x.name == y.name) return 4;
    return known(x.grid, y.grid) || known(x.block, y.block) ? -3 : kNever;
  };
  const auto inside = [](std::size_t size) { return size == 0 ? 0 : -6 - static_cast<std::int64_t>(size); };
  const auto at_end = [](std::size_t size) { return size == 0 ? 0 : -5; };
  std::vector<std::vector<std::int64_t>> best(a.size(), std::vector<std::int64_t>(b.size(), kNever));
  std::int64_t result = at_end(a.size()) + at_end(b.size());
  for (std::size_t i = 0; i < a.size(); i++) {
    for (std::size_t j = 0; j < b.size(); j++) {
      const std::int64_t score = pair_score(a[i], b[j]);
      if (score == kNever) continue;
      std::int64_t before = at_end(i) + at_end(j);
      for (std::size_t k = 0; k < i; k++) {
        for (std::size_t l = 0; l < j; l++) {
          if (best[k][l] != kNever) before = std::max(before, best[k][l] + inside(i - k - 1) + inside(j - l - 1));
        }
      }
      best[i][j] = before + score;
      result = std::max(result, best[i][j] + at_end(a.size() - i - 1) + at_end(b.size() - j - 1));
    }
  }
  return result;
}

void expect_sound(const Alignment& alignment, const Kernels& trace, const Kernels& pass) {
  ASSERT_EQ(alignment.matches.size(), trace.size());
  std::int64_t last = -1;
  std::size_t num_pairs = 0;
  for (const Match& match : alignment.matches) {
    ASSERT_EQ(match.pass == kUnmatched, match.basis == MatchBasis::none);
    if (match.pass == kUnmatched) continue;
    ASSERT_GT(std::int64_t{match.pass}, last);
    ASSERT_LT(match.pass, pass.size());
    last = match.pass;
    num_pairs++;
  }
  EXPECT_EQ(num_pairs, alignment.num_matched + alignment.num_substituted);
  EXPECT_EQ(num_pairs + alignment.num_only_trace, trace.size());
  EXPECT_EQ(num_pairs + alignment.num_only_pass, pass.size());
  EXPECT_EQ(num_pairs,
            alignment.num_marks + alignment.num_unique + alignment.num_transferred + alignment.num_ambiguous);
  std::size_t gap_trace = 0, gap_pass = 0;
  for (const AlignmentGap& gap : alignment.gaps) {
    gap_trace += gap.num_trace;
    gap_pass += gap.num_pass;
  }
  EXPECT_EQ(gap_trace, alignment.num_only_trace);
  EXPECT_EQ(gap_pass, alignment.num_only_pass);
}

void expect_symmetric(const Alignment& forth, const Alignment& back, std::size_t num_pass) {
  ASSERT_EQ(back.matches.size(), num_pass);
  EXPECT_EQ(forth.verdict, back.verdict);
  EXPECT_EQ(forth.num_only_trace, back.num_only_pass);
  for (std::size_t i = 0; i < forth.matches.size(); i++) {
    const Match& match = forth.matches[i];
    if (match.pass == kUnmatched) continue;
    ASSERT_EQ(back.matches[match.pass].pass, i);
    ASSERT_EQ(back.matches[match.pass].basis, match.basis);
    ASSERT_EQ(back.matches[match.pass].substituted, match.substituted);
  }
}

TEST(AlignmentProperty, ScoresAreThoseOfTheObviousVersion) {
  for (std::uint64_t seed = 1; seed <= 3000; seed++) {
    SCOPED_TRACE(seed_text(seed));
    Random random(seed);
    const bool vague = random.chance(3);
    const std::size_t num_names = 1 + random.below(8);
    const Kernels trace = random_kernels(random, 18, num_names, vague);
    const Kernels pass = random.chance(3) ? random_kernels(random, 18, num_names, vague)
                                          : disturbed(random, trace, 2 + random.below(20), num_names);
    const Alignment alignment = align({trace, {}}, {pass, {}});
    expect_sound(alignment, trace, pass);
    ASSERT_EQ(score_of({trace, {}}, {pass, {}}, alignment.matches), naive_score(trace, pass));
    expect_symmetric(alignment, align({pass, {}}, {trace, {}}), pass.size());
    if (HasFailure()) return;
  }
}

// All alignments of tiny sequences, one by one: a match that is not in all of the good ones is ambiguous, and no other
// is.
struct AllAlignments {
  const Kernels &a, &b;
  std::vector<Match> pairs;
  std::vector<std::pair<std::int64_t, std::vector<Match>>> found;

  void go_on(std::size_t i, std::size_t next) {
    if (i == a.size()) {
      found.emplace_back(score_of({a, {}}, {b, {}}, pairs), pairs);
      return;
    }
    pairs[i].pass = kUnmatched;
    go_on(i + 1, next);
    for (std::size_t j = next; j < b.size(); j++) {
      if (a[i].grid != b[j].grid) continue;
      pairs[i].pass = static_cast<std::uint32_t>(j);
      go_on(i + 1, j + 1);
    }
    pairs[i].pass = kUnmatched;
  }
  // Whether no alignment within 6 of the best gives another partner to record `i` or dispatch `pass`, and no best one
  // leaves the pair out.
  bool agree(std::size_t i, std::uint32_t pass) const {
    std::int64_t best = INT64_MIN;
    for (const auto& [score, matches] : found) best = std::max(best, score);
    return std::all_of(found.begin(), found.end(), [&](const auto& alignment) {
      const auto& [score, matches] = alignment;
      if (score < best - 6) return true;
      if (matches[i].pass == kUnmatched && score == best) return false;
      for (std::size_t k = 0; k < a.size(); k++) {
        const std::uint32_t other = matches[k].pass;
        if (other != kUnmatched && (k == i) != (other == pass)) return false;
      }
      return true;
    });
  }
};

TEST(AlignmentProperty, AmbiguousIsWhatSeveralGoodAlignmentsTellDifferently) {
  std::size_t num_ambiguous = 0;
  for (std::uint64_t seed = 1; seed <= 1500; seed++) {
    SCOPED_TRACE(seed_text(seed));
    Random random(seed);
    const std::size_t num_names = 1 + random.below(4);
    const Kernels trace = random_kernels(random, 7, num_names, false);
    const Kernels pass =
        random.chance(2) ? random_kernels(random, 7, num_names, false) : disturbed(random, trace, 4, num_names);
    AllAlignments all{trace, pass, std::vector<Match>(trace.size()), {}};
    all.go_on(0, 0);
    const Alignment alignment = align({trace, {}}, {pass, {}});
    for (std::size_t i = 0; i < trace.size(); i++) {
      const Match& match = alignment.matches[i];
      if (match.pass == kUnmatched) continue;
      const bool same = all.agree(i, match.pass);
      ASSERT_EQ(match.basis == MatchBasis::ambiguous, !same) << "record " << i;
      num_ambiguous += same ? 0u : 1u;
    }
  }
  EXPECT_GT(num_ambiguous, 200u);
}

// The full table on sequences of some hundred dispatches that are aligned by runs.
std::int64_t table_score(const Kernels& a, const Kernels& b) {
  constexpr std::int64_t kNever = INT64_MIN / 2;
  struct Scores {
    std::int64_t pair, a_gap, b_gap;
  };
  const auto at_end = [](std::size_t size) { return size == 0 ? 0 : -5; };
  std::vector<Scores> row(b.size() + 1, {kNever, kNever, kNever});
  std::int64_t result = at_end(a.size()) + at_end(b.size());
  for (std::size_t i = 1; i <= a.size(); i++) {
    Scores diagonal = row[0];
    for (std::size_t j = 1; j <= b.size(); j++) {
      const Scores above = row[j], left = row[j - 1];
      Scores here;
      const bool equal = a[i - 1] == b[j - 1];
      const bool alike = a[i - 1].grid == b[j - 1].grid && a[i - 1].block == b[j - 1].block;
      const std::int64_t before =
          std::max({diagonal.pair, diagonal.a_gap, diagonal.b_gap, std::int64_t{at_end(i - 1) + at_end(j - 1)}});
      here.pair = equal ? before + 4 : alike ? before - 3 : kNever;
      here.a_gap = std::max(above.pair - 7, above.a_gap - 1);
      here.b_gap = std::max({left.pair - 7, left.a_gap - 7, left.b_gap - 1});
      result = std::max(result, here.pair + at_end(a.size() - i) + at_end(b.size() - j));
      diagonal = above;
      row[j] = here;
    }
  }
  return result;
}

TEST(AlignmentProperty, RunsLoseNothingAgainstTheFullTable) {
  std::size_t num_best = 0;
  constexpr std::size_t kNumSeeds = 60;
  for (std::uint64_t seed = 1; seed <= kNumSeeds; seed++) {
    SCOPED_TRACE(seed_text(seed));
    Random random(seed);
    PassOptions options;
    options.num_layers = 1 + random.below(5);
    options.trace_iterations = 3 + random.below(3);
    options.pass_iterations = 7 + random.below(3);
    options.start_of_program = random.chance(2);
    options.trace_loses = random.chance(2);
    const TraceAndPass runs = make_trace_and_pass(options, random);
    const Alignment alignment = align(runs.trace.sequence(false), runs.pass.sequence(false));
    const std::int64_t score = score_of(runs.trace.sequence(false), runs.pass.sequence(false), alignment.matches);
    const std::int64_t best = table_score(runs.trace.dispatches, runs.pass.dispatches);
    ASSERT_LE(score, best);
    // Another iteration may be less disturbed: that is no better alignment, but a better score.
    ASSERT_GE(static_cast<double>(score), 0.9 * static_cast<double>(best));
    num_best += score == best ? 1u : 0u;
    expect_symmetric(alignment, align(runs.pass.sequence(false), runs.trace.sequence(false)),
                     runs.pass.dispatches.size());
  }
  RecordProperty("num_best", static_cast<int>(num_best));
}

// What a kind of pass must come to, over all seeds together.
struct Totals {
  std::size_t num_possible = 0, num_right = 0, num_wrong = 0, num_off_place = 0, num_records = 0, num_transferred = 0;
};

Totals totals_of(PassOptions options, bool with_marks, std::uint64_t num_seeds,
                 std::optional<AlignmentVerdict> expected = AlignmentVerdict::gapped) {
  Totals totals;
  for (std::uint64_t seed = 1; seed <= num_seeds; seed++) {
    SCOPED_TRACE(seed_text(seed));
    Random random(seed);
    const TraceAndPass runs = make_trace_and_pass(options, random);
    const Alignment alignment = align(runs.trace.sequence(with_marks), runs.pass.sequence(with_marks));
    expect_sound(alignment, runs.trace.dispatches, runs.pass.dispatches);
    if (expected) {
      EXPECT_EQ(alignment.verdict, *expected);
    }
    const Judgement judgement = judge(runs, alignment);
    EXPECT_EQ(judgement.num_wrong, 0u) << judgement.first_wrong;
    totals.num_possible += judgement.num_possible;
    totals.num_right += judgement.num_right;
    totals.num_wrong += judgement.num_wrong;
    totals.num_off_place += judgement.num_off_place;
    totals.num_records += runs.trace.dispatches.size();
    totals.num_transferred += alignment.num_transferred;
  }
  return totals;
}

void print(const char* what, const Totals& totals) {
  std::cout << what << ": " << totals.num_records << " records, " << totals.num_possible - totals.num_right << " of "
            << totals.num_possible << " not right, " << totals.num_wrong << " wrong, " << totals.num_off_place
            << " off place, " << totals.num_transferred << " transferred\n";
}

// At least `share` of the records whose dispatch is in the pass have it. What is not right is one of equal kernels in a
// row, of which some are missing: it is marked, but of two it is the wrong one half of the time.
void expect_right(const char* what, const Totals& totals, double share = 0.999) {
  print(what, totals);
  EXPECT_GE(static_cast<double>(totals.num_right), share * static_cast<double>(totals.num_possible)) << what;
  EXPECT_LE(static_cast<double>(totals.num_off_place), 0.001 * static_cast<double>(totals.num_possible)) << what;
}

TEST(AlignmentProperty, SimulatedPassesWithMarks) {
  PassOptions options;
  expect_right("marks", totals_of(options, true, 150));
  options.trace_loses = true;
  expect_right("marks, lossy trace", totals_of(options, true, 100));
  options.start_of_program = true;
  options.trace_first = 0;
  expect_right("marks and start", totals_of(options, true, 100));
}

TEST(AlignmentProperty, SimulatedPassesOfEqualIterations) {
  PassOptions options;
  expect_right("equal iterations", totals_of(options, false, 150, AlignmentVerdict::iteration_ambiguous));
  options.pass_warmup = 5;
  options.trace_loses = true;
  expect_right("another warm-up", totals_of(options, false, 150, AlignmentVerdict::iteration_ambiguous));
  options.num_layers = 32;
  options.trace_iterations = 8;
  expect_right("32 layers", totals_of(options, false, 20, AlignmentVerdict::iteration_ambiguous));
  options.trace_iterations = 100;
  options.pass_iterations = 110;
  // With the losses of the trace 4 in 100 are disturbed, and the two programs have equal kernels in a row in their
  // layers.
  expect_right("100 iterations, lossy trace", totals_of(options, false, 2, AlignmentVerdict::iteration_ambiguous),
               0.998);
  options.trace_loses = false;
  expect_right("100 iterations", totals_of(options, false, 2, AlignmentVerdict::iteration_ambiguous));
}

TEST(AlignmentProperty, SimulatedPassesThatSomethingFixes) {
  PassOptions options;
  options.start_of_program = true;
  options.trace_first = 0;
  const Totals start = totals_of(options, false, 150);
  expect_right("start of the program", start);
  EXPECT_EQ(start.num_transferred, 0u);
  options = {};
  options.special_iteration = 5;
  options.pass_warmup = 3;
  const Totals special = totals_of(options, false, 150);
  expect_right("an iteration that differs", special);
  EXPECT_EQ(special.num_transferred, 0u);
  // Fixed at both ends, with more iterations between than the trace has: which of them is not known.
  options.start_of_program = true;
  expect_right("start, more warm-up, and one that differs",
               totals_of(options, false, 100, AlignmentVerdict::iteration_ambiguous));
}

TEST(AlignmentProperty, SimulatedPassesWithOtherKernels) {
  PassOptions options;
  for (const std::uint32_t num_retuned : {3u, 6u, 12u}) {
    SCOPED_TRACE(num_retuned);
    options.num_retuned = num_retuned;
    options.start_of_program = false;
    options.trace_first = 3;
    // Of 12 names of 60 no four kernels in a row may be left in a layer: there much is left out.
    const double share = num_retuned == 3 ? 0.999 : num_retuned == 6 ? 0.95 : 0.5;
    expect_right("retuned, marks", totals_of(options, true, 60, std::nullopt), share);
    expect_right("retuned", totals_of(options, false, 60, std::nullopt), share);
    options.start_of_program = true;
    options.trace_first = 0;
    expect_right("retuned, start of the program", totals_of(options, false, 60, std::nullopt), share);
  }
}

// A gap within layers that are all alike could be anywhere in them. So not all is right beside it, but all that may be
// wrong is marked.
TEST(AlignmentProperty, SimulatedTracesThatLostAStretch) {
  PassOptions options;
  for (const std::size_t lost : {90u, 300u, 500u}) {
    SCOPED_TRACE(lost);
    options.lost_in_trace = lost;
    options.start_of_program = false;
    options.trace_first = 3;
    print("lost, marks", totals_of(options, true, 60, std::nullopt));
    print("lost", totals_of(options, false, 60, std::nullopt));
    options.start_of_program = true;
    options.trace_first = 0;
    print("lost, start of the program", totals_of(options, false, 60, std::nullopt));
  }
}

// Sequences that are hard for anchors, tables and indexes.
std::vector<std::pair<const char*, std::pair<Kernels, Kernels>>> hostile(std::size_t size) {
  Random random(1);
  const auto make = [&](std::size_t number, auto&& name_of) {
    Kernels kernels(number);
    for (std::size_t i = 0; i < number; i++) kernels[i] = {static_cast<std::uint32_t>(name_of(i)), 1, 1};
    return kernels;
  };
  const auto equal = [](std::size_t) { return 0; };
  const auto two = [](std::size_t i) { return i % 2; };
  const auto seven = [](std::size_t i) { return i % 7; };
  const auto any_of_two = [&](std::size_t) { return random.below(2); };
  const auto any = [&](std::size_t) { return random.below(1'000'000'000); };
  const auto growing = [](std::size_t i) { return i; };
  const Kernels periodic = make(size, seven);
  const Kernels coins = make(size, any_of_two);
  Kernels shuffled = make(size, growing);
  random.shuffle(shuffled);
  Kernels reversed = make(size, growing);
  std::reverse(reversed.begin(), reversed.end());
  return {
      {"all equal", {make(size, equal), make(size, equal)}},
      {"all equal, one side longer", {make(size, equal), make(size + size / 10, equal)}},
      {"period of two", {make(size, two), make(size + 1, two)}},
      {"period of seven, disturbed", {periodic, disturbed(random, periodic, 33, 7)}},
      {"period of seven, much disturbed", {periodic, disturbed(random, periodic, 4, 7)}},
      {"coins", {coins, disturbed(random, coins, 33, 2)}},
      {"other coins", {make(size, any_of_two), make(size, any_of_two)}},
      {"nothing in common", {make(size, any), make(size, any)}},
      {"shuffled", {make(size, growing), shuffled}},
      {"reversed", {make(size, growing), reversed}},
      {"one against many", {make(1, equal), make(size, equal)}},
  };
}

TEST(AlignmentProperty, HostileSequencesTakeLinearTime) {
  // Quadratic work on 300,000 dispatches a side would take minutes.
  constexpr std::size_t kSize = 300'000 / std::min<std::size_t>(kPlaceStride, 10);
  for (const auto& [what, sides] : hostile(kSize)) {
    SCOPED_TRACE(what);
    const auto begin = std::chrono::steady_clock::now();
    const Alignment alignment = align({sides.first, {}}, {sides.second, {}});
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    std::cout << what << ": " << seconds << " s, " << alignment.num_matched << " matched, " << alignment.num_unique
              << " unique, " << alignment.num_transferred << " transferred, " << alignment.num_ambiguous
              << " ambiguous, verdict " << static_cast<int>(alignment.verdict) << "\n";
    EXPECT_LT(seconds, 10.0);
    expect_sound(alignment, sides.first, sides.second);
  }
}

}  // namespace
}  // namespace chopper::test
