// SPDX-License-Identifier: Apache-2.0
#include "align/align.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace chopper {
namespace {

std::vector<Dispatch> kernels(std::string_view names) {
  std::vector<Dispatch> dispatches;
  for (const char name : names) dispatches.push_back({static_cast<std::uint32_t>(name), 1, 1});
  return dispatches;
}

Alignment aligned(const std::vector<Dispatch>& trace, const std::vector<Dispatch>& pass) {
  return align({trace, {}}, {pass, {}});
}
Alignment aligned(std::string_view trace, std::string_view pass) { return aligned(kernels(trace), kernels(pass)); }

// Of each record the number of its dispatch, or -; then of each the basis: u, t, m, ? (ambiguous), -, S substituted.
std::string text_of(const Alignment& alignment) {
  std::string partners, bases;
  for (const Match& match : alignment.matches) {
    partners += match.pass == kUnmatched ? "-" : std::to_string(match.pass);
    bases += match.substituted ? 'S' : "-mut?"[static_cast<std::size_t>(match.basis)];
  }
  return partners + " " + bases;
}

TEST(Align, EqualSequences) {
  const Alignment alignment = aligned("abcde", "abcde");
  EXPECT_EQ(text_of(alignment), "01234 uuuuu");
  EXPECT_EQ(alignment.verdict, AlignmentVerdict::exact);
  EXPECT_EQ(alignment.num_matched, 5u);
  EXPECT_EQ(alignment.num_unique, 5u);
  EXPECT_TRUE(alignment.gaps.empty());
}

TEST(Align, NothingToAlign) {
  EXPECT_EQ(aligned("", "").verdict, AlignmentVerdict::unmatched);
  EXPECT_EQ(aligned("", "ab").num_only_pass, 2u);
  EXPECT_EQ(aligned("ab", "").num_only_trace, 2u);
  EXPECT_EQ(aligned("ab", "").gaps, (std::vector<AlignmentGap>{{0, 2, 0, 0}}));
}

TEST(Align, DroppedAndAdded) {
  const Alignment dropped = aligned("abcdef", "abdef");
  EXPECT_EQ(text_of(dropped), "01-234 uu-uuu");
  EXPECT_EQ(dropped.verdict, AlignmentVerdict::gapped);
  EXPECT_EQ(dropped.gaps, (std::vector<AlignmentGap>{{2, 1, 2, 0}}));
  const Alignment added = aligned("abcdef", "abcxdef");
  EXPECT_EQ(text_of(added), "012456 uuuuuu");
  EXPECT_EQ(added.gaps, (std::vector<AlignmentGap>{{3, 0, 3, 1}}));
  EXPECT_EQ(added.num_only_pass, 1u);
}

TEST(Align, RenamedIsSubstitutedWhereTheShapeIsTheSame) {
  const Alignment renamed = aligned("abcdefghijklmn", "abcdefxhijklmn");
  EXPECT_EQ(text_of(renamed), "012345678910111213 uuuuuuSuuuuuuu");
  EXPECT_EQ(renamed.num_substituted, 1u);
  EXPECT_EQ(renamed.num_matched, 13u);
  EXPECT_EQ(renamed.verdict, AlignmentVerdict::gapped);

  std::vector<Dispatch> other = kernels("abcdefxhijklmn");
  other[6].grid = 2;
  const Alignment reshaped = aligned(kernels("abcdefghijklmn"), other);
  EXPECT_EQ(text_of(reshaped), "012345-78910111213 uuuuuu-uuuuuuu");
  EXPECT_EQ(reshaped.gaps, (std::vector<AlignmentGap>{{6, 1, 6, 1}}));
  // The same name with another shape is another piece of work.
  other[6].name = 'g';
  EXPECT_EQ(text_of(aligned(kernels("abcdefghijklmn"), other)), "012345-78910111213 uuuuuu-uuuuuuu");
}

TEST(Align, UnknownShapesContradictNothing) {
  std::vector<Dispatch> bare = kernels("abcdefghijklmn");
  for (Dispatch& dispatch : bare) dispatch.grid = dispatch.block = kUnknownKey;
  EXPECT_EQ(text_of(aligned(kernels("abcdefghijklmn"), bare)), "012345678910111213 uuuuuuuuuuuuuu");
  // But are no same shape: another name is not substituted.
  bare[6].name = 'x';
  EXPECT_EQ(text_of(aligned(kernels("abcdefghijklmn"), bare)), "012345-78910111213 uuuuuu-uuuuuuu");
  // An unknown name equals none, not even another unknown one.
  std::vector<Dispatch> nameless = kernels("abcdefghijklmn");
  nameless[6].name = kUnknownKey;
  EXPECT_EQ(text_of(aligned(nameless, nameless)), "012345678910111213 uuuuuuSuuuuuuu");
}

TEST(Align, OneOfEqualNeighboursIsAmbiguous) {
  // Which of the two was dropped is not known; nor, where the pass has both, is it in doubt.
  EXPECT_EQ(text_of(aligned("wxaayz", "wxayz")), "01-234 uu-?uu");
  EXPECT_EQ(text_of(aligned("wxaayz", "wxaayz")), "012345 uuuuuu");
  const Alignment pair = aligned("wxababyz", "wxabyz");
  EXPECT_EQ(pair.num_ambiguous, 2u);
  EXPECT_EQ(pair.num_unique, 4u);
}

// Iterations of 40 different kernels.
std::vector<Dispatch> iterations(std::size_t number) {
  std::vector<Dispatch> dispatches;
  for (std::size_t i = 0; i < number * 40; i++) dispatches.push_back({static_cast<std::uint32_t>(i % 40), 1, 1});
  return dispatches;
}

TEST(Align, IterationsThatAreAlikeAreInterchangeable) {
  for (const auto& [num_trace, num_pass] : {std::pair{3u, 3u}, {2u, 5u}, {5u, 2u}, {30u, 40u}}) {
    const Alignment alignment = aligned(iterations(num_trace), iterations(num_pass));
    EXPECT_EQ(alignment.verdict, AlignmentVerdict::iteration_ambiguous);
    EXPECT_EQ(alignment.num_matched, 40u * std::min(num_trace, num_pass));
    EXPECT_EQ(alignment.num_unique + alignment.num_marks, 0u);
    for (std::size_t i = 0; i < alignment.matches.size(); i++) {
      if (alignment.matches[i].pass == kUnmatched) continue;
      ASSERT_EQ(alignment.matches[i].pass % 40, i % 40);
    }
  }
}

TEST(Align, MarksTellIterationsApart) {
  const std::vector<Dispatch> trace = iterations(3), pass = iterations(6);
  const std::vector<IterationMark> trace_marks = {{12, 0}, {13, 40}, {14, 80}};
  const std::vector<IterationMark> pass_marks = {{10, 0}, {11, 40}, {12, 80}, {13, 120}, {14, 160}, {15, 200}};
  const Alignment alignment = align({trace, trace_marks}, {pass, pass_marks});
  EXPECT_EQ(alignment.num_marks, 120u);
  EXPECT_EQ(alignment.matches[0].pass, 80u);
  EXPECT_EQ(alignment.matches[119].pass, 199u);
  EXPECT_EQ(alignment.num_only_pass, 120u);
  // An iteration that the pass does not have gets nothing from another one.
  const std::vector<IterationMark> without = {{10, 0}, {11, 40}, {12, 80}, {14, 120}, {15, 160}, {16, 200}};
  const Alignment missing = align({trace, trace_marks}, {pass, without});
  EXPECT_EQ(missing.num_marks, 80u);
  EXPECT_EQ(missing.matches[40].pass, kUnmatched);
  EXPECT_EQ(missing.matches[80].pass, 120u);
}

TEST(Align, MarksNeedNotBeExact) {
  const std::vector<Dispatch> trace = iterations(3), pass = iterations(3);
  const std::vector<IterationMark> trace_marks = {{1, 0}, {2, 40}, {3, 80}};
  const std::vector<IterationMark> late = {{1, 0}, {2, 43}, {3, 77}};
  const Alignment alignment = align({trace, trace_marks}, {pass, late});
  EXPECT_EQ(alignment.num_marks, 120u);
  EXPECT_EQ(alignment.verdict, AlignmentVerdict::exact);
}

TEST(Align, MarksWithoutACommonNumberAreNoMarks) {
  const std::vector<Dispatch> trace = iterations(2), pass = iterations(2);
  const std::vector<IterationMark> a = {{1, 0}, {2, 40}}, b = {{5, 0}, {6, 40}};
  EXPECT_EQ(align({trace, a}, {pass, b}).verdict, AlignmentVerdict::iteration_ambiguous);
}

// So long that the index of stretches keeps only some of them.
TEST(Align, LongSequences) {
  constexpr std::uint32_t kSize = 2'200'000, kEach = 1'000;
  std::vector<Dispatch> trace(kSize), pass;
  for (std::uint32_t i = 0; i < kSize; i++) {
    trace[i] = {i, 1, 1};
    if (i % kEach != 0) pass.push_back(trace[i]);
  }
  const Alignment alignment = aligned(trace, pass);
  EXPECT_EQ(alignment.num_unique, kSize - kSize / kEach);
  EXPECT_EQ(alignment.num_only_trace, kSize / kEach);
  EXPECT_EQ(alignment.verdict, AlignmentVerdict::gapped);
  for (std::uint32_t i = 0; i < kSize; i++) {
    const std::uint32_t expected = i % kEach == 0 ? kUnmatched : i - i / kEach - 1;
    ASSERT_EQ(alignment.matches[i].pass, expected);
  }
}

TEST(FlagEqualRuns, ARowOfWhichOneIsMissingIsNotSure) {
  const Dispatch a{1, 1, 1}, b{2, 1, 1}, c{3, 1, 1};
  const std::vector<Dispatch> trace = {a, b, b, b, c}, pass = {a, b, b, c};
  Alignment alignment;
  for (const std::uint32_t partner : {0u, 1u, 2u, kUnmatched, 3u}) {
    const bool is_matched = partner != kUnmatched;
    alignment.matches.push_back({partner, is_matched ? MatchBasis::unique : MatchBasis::none, false});
  }
  flag_equal_runs({trace, {}}, {pass, {}}, alignment);
  const MatchBasis wanted[] = {MatchBasis::unique, MatchBasis::ambiguous, MatchBasis::ambiguous, MatchBasis::none,
                               MatchBasis::unique};
  for (std::size_t i = 0; i < 5; i++) EXPECT_EQ(alignment.matches[i].basis, wanted[i]) << i;
}

TEST(FlagEqualRuns, EquallyLongRowsStayAsTheyAre) {
  const Dispatch a{1, 1, 1}, b{2, 1, 1}, c{3, 1, 1};
  const std::vector<Dispatch> both = {a, b, b, b, c};
  Alignment alignment = align({both, {}}, {both, {}});
  flag_equal_runs({both, {}}, {both, {}}, alignment);
  for (const Match& match : alignment.matches) EXPECT_NE(match.basis, MatchBasis::ambiguous);
}

// A row of three, and another one far behind it, between kernels that all differ.
std::vector<Dispatch> two_rows(std::uint32_t between) {
  std::vector<Dispatch> all = {{1, 1, 1}, {2, 1, 1}, {2, 1, 1}, {2, 1, 1}};
  for (std::uint32_t i = 0; i < between; i++) all.push_back({10 + i, 1, 1});
  for (int i = 0; i < 3; i++) all.push_back({3, 1, 1});
  all.push_back({4, 1, 1});
  return all;
}

Alignment flagged(const std::vector<Dispatch>& trace, const std::vector<Dispatch>& pass) {
  Alignment alignment = align({trace, {}}, {pass, {}});
  flag_equal_runs({trace, {}}, {pass, {}}, alignment);
  return alignment;
}

TEST(FlagEqualRuns, RowsNearAMissingAndAnAddedDispatchAreNotSure) {
  const std::vector<Dispatch> trace = two_rows(5'000);
  std::vector<Dispatch> pass = trace;
  pass.erase(pass.begin() + 20);               // one is missing
  pass.insert(pass.begin() + 40, {99, 7, 1});  // one is added
  const Alignment alignment = flagged(trace, pass);
  for (const std::size_t i : {1u, 2u, 3u}) {
    EXPECT_EQ(alignment.matches[i].basis, MatchBasis::ambiguous) << i;
    EXPECT_TRUE(alignment.matches[i].by_order) << i;
  }
  EXPECT_EQ(alignment.matches[0].basis, MatchBasis::unique);
  EXPECT_EQ(alignment.matches[10].basis, MatchBasis::unique);
  for (std::size_t i = trace.size() - 4; i < trace.size(); i++)  // too far away
    EXPECT_EQ(alignment.matches[i].basis, MatchBasis::unique) << i;
}

TEST(FlagEqualRuns, OfTwoEditsOneMustBeAnAddition) {
  const std::vector<Dispatch> trace = two_rows(100);
  std::vector<Dispatch> pass = trace;
  pass.erase(pass.begin() + 20);
  pass.erase(pass.begin() + 60);
  const Alignment alignment = flagged(trace, pass);
  for (const std::size_t i : {1u, 2u, 3u, 104u, 105u, 106u}) EXPECT_EQ(alignment.matches[i].basis, MatchBasis::unique);
}

TEST(FlagEqualRuns, AnotherWarmUpIsNoEdit) {
  const std::vector<Dispatch> trace = two_rows(100);
  std::vector<Dispatch> pass(trace.begin(), trace.end() - 1);
  pass.insert(pass.begin(), 3, {99, 7, 1});
  const Alignment alignment = flagged(trace, pass);
  for (const std::size_t i : {1u, 2u, 3u, 104u, 105u, 106u}) EXPECT_EQ(alignment.matches[i].basis, MatchBasis::unique);
}

// The pass has an equal one added before the kernel, which was renamed there.
TEST(FlagBesideRenamed, AMatchBesideALeftOutOneOfItsShapeIsNotSure) {
  std::vector<Dispatch> trace;
  for (std::uint32_t i = 0; i < 40; i++) trace.push_back({i, i / 2, 1});
  std::vector<Dispatch> pass = trace;
  pass[20].name = 99;
  pass.insert(pass.begin() + 20, trace[20]);
  Alignment alignment = align({trace, {}}, {pass, {}});
  ASSERT_EQ(alignment.matches[20].pass, 20u);
  ASSERT_EQ(alignment.matches[20].basis, MatchBasis::unique);
  flag_beside_renamed({trace, {}}, {pass, {}}, alignment);
  EXPECT_EQ(alignment.matches[20].basis, MatchBasis::ambiguous);
  EXPECT_EQ(alignment.matches[19].basis, MatchBasis::unique);  // of another shape
  EXPECT_EQ(alignment.matches[22].basis, MatchBasis::unique);
}

}  // namespace
}  // namespace chopper
