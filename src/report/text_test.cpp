// SPDX-License-Identifier: Apache-2.0
#include "report/text.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <regex>
#include <string>
#include <vector>

#include "report/check_text.h"
#include "report/utf8.h"

namespace chopper {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

// `num_gpus` ranks of one gpu each; every further one idles a little more.
Answer answer_of(int num_gpus) {
  Answer answer;
  for (int g = 0; g < num_gpus; g++) {
    InputRow input;
    input.input = g;
    input.path = fmt::format("rank{}.json", g);
    input.format = "pytorch";
    input.bytes = 12345678;
    input.text_bytes = 123456789;
    input.rank = g;
    input.rank_source = "metadata";
    input.records = 1000;
    input.clock = "unix";
    answer.inputs.push_back(input);

    GpuRow gpu;
    gpu.input = g;
    gpu.rank = g;
    gpu.gpu = 0;
    gpu.name = std::string("AMD Instinct MI300X");
    gpu.num_kernels = 1234;
    answer.gpus.push_back(gpu);

    TimelineRow row;
    row.input = g;
    row.rank = g;
    row.gpu = 0;
    row.span_ns = 612'412'345 + g;
    row.compute_ns = 487'212'345;
    row.comm_ns = 120'300'000;
    row.overlap_ns = 39'000'000;
    row.exposed_comm_ns = 81'300'000;
    row.exposed_memcpy_ns = 412'000;
    row.memcpy_ns = 500'000;
    row.idle_ns = row.span_ns - row.compute_ns - row.exposed_comm_ns - row.exposed_memcpy_ns;
    row.prep_idle_ns = 9'800'017;
    row.call_idle_ns = 21'200'009;
    answer.timeline.push_back(row);

    KernelSummaryRow kernel;
    kernel.input = g;
    kernel.rank = g;
    kernel.gpu = 0;
    kernel.name = "void at::native::elementwise_kernel<4, (anonymous namespace)::Add>(int, float*)";
    kernel.gpu_class = "vector";
    kernel.num = 100;
    kernel.total_ns = 100'000'000;
    answer.kernel_summary.push_back(kernel);
    kernel.name = "Cijk_Alik_Bljk_" + std::string(200, 'x');
    kernel.gpu_class = "gemm";
    kernel.total_ns = 380'000'000;
    answer.kernel_summary.push_back(kernel);

    InputSummary summary;
    summary.gpus.resize(1);
    summary.gpus[0].device = 0;
    summary.gpus[0].all = {1234, 600'000'000};
    summary.gpus[0].launched = {1230, 599'900'000};
    answer.summaries.push_back(std::move(summary));
  }
  return answer;
}

// Checks that the six lines below "gpu time" add up to it, both as percentages and as times, and returns their number.
int check_sums(const std::string& text) {
  const std::regex line_of_part(R"(^(gpu time|  [a-z ,]+?) +([0-9.]+) (ns|us|ms|s) +([0-9.]+) %.*$)");
  long tenths = 0;
  double time = 0;
  double span = 0;
  int parts = 0;
  for (const std::string& line : lines_of(text)) {
    std::smatch match;
    if (!std::regex_match(line, match, line_of_part)) continue;
    if (match[1] == "gpu time") {
      span = std::stod(match[2]);
      EXPECT_EQ(match[4], "100.0");
      continue;
    }
    parts++;
    time += std::stod(match[2]);
    tenths += std::lround(std::stod(match[4]) * 10);
  }
  EXPECT_EQ(tenths, 1000);
  EXPECT_NEAR(time, span, span * 1e-12);
  return parts;
}

void check_width(const std::string& text) {
  for (const std::string& line : lines_of(text)) EXPECT_LE(num_columns(line), 100u) << line;
}

TEST(AnswerText, PartsAddUpAndFitTheScreen) {
  for (const int num_gpus : {1, 2, 8, 64}) {
    for (const bool bars : {false, true}) {
      const std::string text = answer_text(answer_of(num_gpus), {.run_name = "fsdp2-b2s4", .bars = bars});
      EXPECT_EQ(check_sums(text), 6) << text;
      check_width(text);
      EXPECT_LE(lines_of(text).size(), 34u);
      EXPECT_EQ(text.find('\x1b'), std::string::npos);
    }
  }
}

TEST(AnswerText, SaysWhatMatters) {
  const std::string text = answer_text(answer_of(2), {.run_name = "fsdp2-b2s4"});
  EXPECT_NE(text.find("fsdp2-b2s4   2 ranks, 2 x AMD Instinct MI300X, 24.7 MB of pytorch traces\n"), std::string::npos)
      << text;
  EXPECT_NE(text.find("99.98 % of gpu time linked to launches; nothing lost"), std::string::npos) << text;
  EXPECT_NE(text.find("of 120.3 ms; 32.4 % hidden by compute\n"), std::string::npos) << text;
  EXPECT_NE(text.find("  1  exposed communication"), std::string::npos) << text;
  EXPECT_NE(text.find("  elementwise_kernel<4, Add>\n"), std::string::npos) << text;
}

TEST(AnswerText, OddSpansStillAddUp) {
  for (const std::int64_t span :
       {std::int64_t{7}, std::int64_t{9'999}, std::int64_t{1'234'567}, std::int64_t{98'765'432'109}}) {
    Answer answer = answer_of(1);
    TimelineRow& row = answer.timeline[0];
    row.span_ns = span;
    row.compute_ns = span / 3;
    row.exposed_comm_ns = span / 3;
    row.exposed_memcpy_ns = 0;
    row.idle_ns = span - row.compute_ns - row.exposed_comm_ns;
    row.prep_idle_ns = row.idle_ns / 7;
    row.call_idle_ns = row.idle_ns / 7;
    EXPECT_EQ(check_sums(answer_text(answer, {.run_name = "odd"})), 6);
  }
}

TEST(AnswerText, EmptySpanIsShown) {
  Answer answer = answer_of(1);
  answer.timeline[0] = TimelineRow{};
  const std::string text = answer_text(answer, {.run_name = "empty"});
  EXPECT_NE(text.find("0 ns"), std::string::npos);
}

TEST(AnswerText, NoGpuWorkNamesTheRemedy) {
  Answer answer = answer_of(1);
  answer.gpus.clear();
  answer.timeline.clear();
  answer.kernel_summary.clear();
  answer.summaries[0].gpus.clear();
  const std::string text = answer_text(answer, {.run_name = "cpu-only"});
  EXPECT_NE(text.find("No gpu work was found: none of the 1,000 events in 1 file"), std::string::npos) << text;
  EXPECT_NE(text.find("ProfilerActivity.CUDA"), std::string::npos) << text;
  check_width(text);
}

TEST(AnswerText, NoMatchNamesTheGpusThereAre) {
  Answer answer = answer_of(2);
  answer.gpus.clear();
  answer.timeline.clear();
  const std::string text = answer_text(answer, {.run_name = "run"});
  EXPECT_NE(text.find("No gpu matches --rank and --gpu. This run has: rank 0 gpu 0, rank 1 gpu 0."), std::string::npos)
      << text;
}

TEST(AnswerText, NamesCannotSteerTheTerminal) {
  Answer answer = answer_of(1);
  answer.kernel_summary[0].name = "evil\x1b[2J\nname\xFF";
  const std::string text = answer_text(answer, {.run_name = "run\x1b"});
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_NE(text.find("evil?[2J?name"), std::string::npos);
}

TEST(CheckText, ListsFindingsByWeight) {
  Answer answer = answer_of(1);
  answer.health_log.add(HealthKind::foreign_file, "README", "not a trace");
  answer.health_log.add(HealthKind::truncated, "rank0.json @ byte 17", "ends inside an event");
  answer.health_log.add(HealthKind::negative_duration, "rank0.json @ byte 3", "dur -5", 2);
  answer.lost_something = true;
  const std::string text = check_text(answer, {.run_name = "run"});
  const std::size_t truncated = text.find("truncated");
  const std::size_t negative = text.find("negative_duration");
  const std::size_t foreign = text.find("foreign_file");
  EXPECT_LT(truncated, negative);
  EXPECT_LT(negative, foreign);
  EXPECT_NE(foreign, std::string::npos);
  EXPECT_NE(text.find("rank0.json @ byte 17: ends inside an event"), std::string::npos) << text;
  EXPECT_NE(text.find("1 file incomplete, 2 records quarantined; the numbers hold"), std::string::npos) << text;
  EXPECT_NE(text.find("1,230 (99.7 %) linked to a launch call"), std::string::npos) << text;
  check_width(text);
}

TEST(FormatsText, AlignsNames) {
  const std::vector<FormatInfo> formats = {{"pytorch", "Trace of the PyTorch profiler", ""}, {"x", "Other", "times"}};
  EXPECT_EQ(formats_text(formats), "pytorch  Trace of the PyTorch profiler\nx        Other (times)\n");
}

}  // namespace
}  // namespace chopper
