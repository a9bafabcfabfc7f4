// SPDX-License-Identifier: Apache-2.0
#include "report/html.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "report/html_template.h"

namespace chopper {
namespace {

std::string escaped(const std::vector<std::string>& pieces) {
  ScriptEscaper escaper;
  std::string out;
  for (const std::string& piece : pieces) escaper.append(out, piece);
  escaper.finish(out);
  return out;
}

TEST(ScriptEscaper, LeavesNoTagAndNoComment) {
  EXPECT_EQ(escaped({R"({"name":"a</script><!--<script>"})"}), R"({"name":"a\u003c/script>\u003c!--\u003cscript>"})");
  EXPECT_EQ(escaped({"plain \"text\" \\u003c > & '"}), "plain \"text\" \\u003c > & '");
}

TEST(ScriptEscaper, EscapesLineSeparatorsAndKeepsTheirNeighbours) {
  EXPECT_EQ(escaped({"a\xE2\x80\xA8z\xE2\x80\xA9"}), "a\\u2028z\\u2029");
  // U+2026 (ellipsis), U+20AC (euro), and a separator behind the beginning of one.
  EXPECT_EQ(escaped({"\xE2\x80\xA6\xE2\x82\xAC\xE2\xE2\x80\xA8"}), "\xE2\x80\xA6\xE2\x82\xAC\xE2\\u2028");
  EXPECT_EQ(escaped({"\xE2\x80"}), "\xE2\x80");
}

TEST(ScriptEscaper, DoesNotDependOnPieces) {
  const std::string text = "x\xE2\x80\xA8<\xE2\x80\xA9\xE2\x80<\xE2\xE2\x80\xA8y";
  std::vector<std::string> bytes;
  for (const char c : text) bytes.emplace_back(1, c);
  EXPECT_EQ(escaped(bytes), escaped({text}));
}

// `num_gpus` gpus with a row of the time line and of ranks each; the higher the rank, the slower.
Answer answer_of(std::int64_t num_gpus) {
  Answer answer;
  for (std::int64_t rank = 0; rank < num_gpus; rank++) {
    TimelineRow timeline;
    timeline.input = rank;
    timeline.rank = rank;
    timeline.gpu = 0;
    answer.timeline.push_back(timeline);
    RankRow row;
    row.input = rank;
    row.rank = rank;
    row.gpu = 0;
    row.compute_ratio = 1.0 + 0.001 * static_cast<double>(rank);
    answer.ranks.push_back(row);
  }
  return answer;
}

TEST(PageTables, KeepsRunsOfUsualSizeWhole) {
  Answer answer = answer_of(8);
  for (std::int64_t i = 0; i < 2000; i++) {
    CollectiveRow row;
    row.input = i % 8;
    row.rank = i % 8;
    row.gpu = 0;
    row.ordinal = i / 500;
    answer.collectives.push_back(row);
  }
  const PageTables page = page_tables(answer);
  EXPECT_TRUE(page.left_out.empty());
  EXPECT_EQ(page.answer.timeline.size(), 8u);
  EXPECT_EQ(page.answer.collectives.size(), 2000u);
}

TEST(PageTables, ManyGpusLeaveTheSlowestTheFastestAndSomeBetween) {
  const PageTables page = page_tables(answer_of(3000));
  std::set<std::int64_t> ranks;
  for (const TimelineRow& row : page.answer.timeline) ranks.insert(row.rank.value());
  EXPECT_LE(ranks.size(), 64u);
  EXPECT_GE(ranks.size(), 60u);
  for (const std::int64_t end : {std::int64_t{0}, std::int64_t{15}, std::int64_t{2984}, std::int64_t{2999}}) {
    EXPECT_TRUE(ranks.contains(end)) << end;
  }
  EXPECT_EQ(page.answer.ranks.size(), 3000u);
  ASSERT_EQ(page.left_out.size(), 1u);
  EXPECT_EQ(page.left_out[0].table, "timeline");
  EXPECT_EQ(page.left_out[0].num_rows, 3000u);
  EXPECT_EQ(page.left_out[0].num_embedded, ranks.size());
  EXPECT_NE(page.left_out[0].rule.find("of 3000 GPUs"), std::string::npos);
}

TEST(PageTables, ManyCollectivesLeaveTheFirstWholeIterations) {
  Answer answer = answer_of(1);
  for (std::int64_t i = 0; i < 10000; i++) {
    CollectiveRow row;
    row.rank = 0;
    row.gpu = 0;
    row.ordinal = i / 1000;
    answer.collectives.push_back(row);
  }
  const PageTables page = page_tables(answer);
  EXPECT_EQ(page.answer.collectives.size(), 6000u);
  EXPECT_EQ(page.answer.collectives.back().ordinal.value(), 5);
  ASSERT_EQ(page.left_out.size(), 1u);
  EXPECT_EQ(page.left_out[0].rule, "those of all GPUs, of the first 6 of 10 iterations");
}

TEST(PageTables, ManyKernelsLeaveThoseThatTakeMostTime) {
  Answer answer = answer_of(2);
  for (std::int64_t i = 0; i < 4000; i++) {
    KernelSummaryRow row;
    row.input = i % 2;
    row.rank = i % 2;
    row.gpu = 0;
    row.total_ns = i;
    answer.kernel_summary.push_back(row);
  }
  const PageTables page = page_tables(answer);
  EXPECT_EQ(page.answer.kernel_summary.size(), 2000u);
  EXPECT_EQ(page.answer.kernel_summary.front().total_ns, 2000);
}

TEST(PageTables, LeaveOutCounterPasses) {
  Answer answer = answer_of(1);
  answer.inputs.resize(2);
  answer.inputs[0].is_trace = false;
  answer.inputs[1].input = 1;
  const PageTables page = page_tables(answer);
  ASSERT_EQ(page.answer.inputs.size(), 1u);
  EXPECT_EQ(page.answer.inputs[0].input, 1);
}

TEST(WriteHtml, PutsTheReportIntoThePage) {
  if (!has_html_page()) GTEST_SKIP() << "built without the viewer";
  Answer answer = answer_of(1);
  InputRow input;
  input.path = "</script><!-- ";
  answer.inputs.push_back(input);
  std::string html;
  EXPECT_TRUE(write_html(answer, {.version = "1.2.3", .run_name = "</title> \"x\""}, [&](std::string_view piece) {
    html += piece;
    return true;
  }));
  EXPECT_TRUE(html.starts_with("<!doctype html>"));
  EXPECT_NE(html.find(R"({"run":"\u003c/title> \"x\"","left_out":[]}</script>)"), std::string::npos);
  EXPECT_NE(html.find(R"("path":"\u003c/script>\u003c!-- ")"), std::string::npos);
  EXPECT_EQ(html.find("@DATA@"), std::string::npos);
  EXPECT_EQ(html.find("<script src"), std::string::npos);
}

TEST(WriteHtml, StopsWhenTheSinkIsFull) {
  if (!has_html_page()) GTEST_SKIP() << "built without the viewer";
  EXPECT_FALSE(write_html(answer_of(1), {.version = "1", .run_name = ""}, [](std::string_view) { return false; }));
}

}  // namespace
}  // namespace chopper
