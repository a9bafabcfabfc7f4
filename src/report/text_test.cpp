// SPDX-License-Identifier: Apache-2.0
#include "report/text.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <regex>
#include <string>
#include <utility>
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

double ns_of(const std::string& number, const std::string& unit) {
  if (unit == "d") return std::stod(number) * 86400e9;
  if (unit == "h") return std::stod(number) * 3600e9;
  if (unit == "min") return std::stod(number) * 60e9;
  if (unit == "s") return std::stod(number) * 1e9;
  if (unit == "ms") return std::stod(number) * 1e6;
  return std::stod(number) * (unit == "us" ? 1e3 : 1);
}

// What the last digit of `number unit` stands for.
double step_of(const std::string& number, const std::string& unit) {
  const std::size_t point = number.find('.');
  const std::size_t decimals = point == std::string::npos ? 0 : number.size() - point - 1;
  return ns_of("1", unit) * std::pow(10.0, -static_cast<double>(decimals));
}

// Checks that the six lines below "gpu time" add up to 100 % and, but for rounding, to its time, that no part is larger
// than its whole, and that columns are apart. Returns the number of lines.
int check_sums(const std::string& text) {
  const std::regex line_of_part(R"(^(gpu time|  [a-z ,]+?) +([0-9.]+) (ns|us|ms|s|min|h|d) +([0-9.]+) %.*$)");
  const std::regex whole(R"( of ([0-9.]+) (ns|us|ms|s|min|h|d)(;.*)?$)");
  long tenths = 0;
  double time = 0;
  double span = 0;
  double step = 0;
  int parts = 0;
  for (const std::string& line : lines_of(text)) {
    std::smatch match;
    if (!std::regex_match(line, match, line_of_part)) continue;
    if (match[1] == "gpu time") {
      span = ns_of(match[2], match[3]);
      step = step_of(match[2], match[3]);
      EXPECT_EQ(match[4], "100.0");
      continue;
    }
    parts++;
    const double part = ns_of(match[2], match[3]);
    EXPECT_LE(part, span) << line;
    time += part;
    std::smatch of;
    if (std::regex_search(line, of, whole)) {
      EXPECT_LE(part, ns_of(of[1], of[2]) * (1 + 1e-12)) << line;
    }
    tenths += std::lround(std::stod(match[4]) * 10);
  }
  EXPECT_EQ(tenths, 1000);
  EXPECT_NEAR(time, span, 3 * step * (1 + 1e-9));  // half a step for each of the six
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
    row.comm_ns = row.exposed_comm_ns;
    row.idle_ns = span - row.compute_ns - row.exposed_comm_ns;
    row.prep_idle_ns = row.idle_ns / 7;
    row.call_idle_ns = row.idle_ns / 7;
    EXPECT_EQ(check_sums(answer_text(answer, {.run_name = "odd"})), 6);
  }
}

// The whole of a part is in the scale of the part, or it might round to less.
TEST(AnswerText, NoPartIsLargerThanItsWhole) {
  for (const std::int64_t scale : {std::int64_t{1}, std::int64_t{10}, std::int64_t{1000}, std::int64_t{100000}}) {
    for (std::int64_t whole = 1; whole < 60; whole++) {
      Answer answer = answer_of(1);
      TimelineRow& row = answer.timeline[0];
      row.memcpy_ns = (whole * 16'807 + 43'200) * scale;
      row.exposed_memcpy_ns = row.memcpy_ns - whole % 3;
      row.comm_ns = (whole * 48'271 + 81'300) * scale;
      row.exposed_comm_ns = row.comm_ns - whole % 2;
      row.compute_ns = 77 * scale;
      row.prep_idle_ns = row.call_idle_ns = 11;
      row.idle_ns = 33;
      row.span_ns = row.compute_ns + row.exposed_comm_ns + row.exposed_memcpy_ns + row.idle_ns;
      EXPECT_EQ(check_sums(answer_text(answer, {.run_name = "parts"})), 6);
    }
  }
}

TEST(AnswerText, SmallPartKeepsItsOwnUnit) {
  Answer answer = answer_of(1);
  answer.timeline[0].memcpy_ns = 43'200;
  answer.timeline[0].idle_ns += answer.timeline[0].exposed_memcpy_ns - 43'200;
  answer.timeline[0].exposed_memcpy_ns = 43'200;
  const std::string text = answer_text(answer, {.run_name = "copies"});
  EXPECT_NE(text.find("  copies                 0.0 ms    0.0 %  of 43.2 us\n"), std::string::npos) << text;
}

TEST(AnswerText, ColumnsStayApartWhenTimesAreLong) {
  Answer answer = answer_of(2);
  for (TimelineRow& row : answer.timeline) {
    row.rank = row.rank.value() + 100'000'000;
    for (std::int64_t* ns :
         {&row.span_ns, &row.compute_ns, &row.comm_ns, &row.overlap_ns, &row.exposed_comm_ns, &row.exposed_memcpy_ns,
          &row.memcpy_ns, &row.idle_ns, &row.prep_idle_ns, &row.call_idle_ns})
      *ns *= 14'000'000'000;
  }
  for (KernelSummaryRow& row : answer.kernel_summary) row.total_ns *= 14'000'000'000;
  for (GpuRow& row : answer.gpus) row.num_kernels = 9'000'000'000'000'000'000;
  const std::string text = answer_text(answer, {.run_name = "long"});
  check_width(text);
  EXPECT_EQ(check_sums(text), 6) << text;
  EXPECT_FALSE(std::regex_search(text, std::regex("%[0-9-]"))) << text;
  EXPECT_FALSE(std::regex_search(text, std::regex("[a-z][0-9.]+ d"))) << text;
}

TEST(AnswerText, ConsecutiveWindowsAreOneGpu) {
  Answer answer = answer_of(2);
  for (std::size_t i = 0; i < 2; i++) {
    answer.inputs[i].rank = 1;
    answer.gpus[i].rank = answer.timeline[i].rank = 1;
    answer.timeline[i].start_ns = 1'000 - static_cast<std::int64_t>(i);  // the second input comes first
  }
  answer.timeline[1].span_ns = 700'000'000;
  answer.timeline[1].idle_ns += 700'000'000 - 612'412'346;
  const std::string text = answer_text(answer, {.run_name = "run"});
  EXPECT_NE(text.find("run          1 rank, 1 x AMD Instinct MI300X, 2 windows, 24.7 MB"), std::string::npos) << text;
  EXPECT_NE(text.find("mean of 2 windows\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\neach window\n"), std::string::npos) << text;
  const std::size_t first = text.find("  rank 1 gpu 0 window 1/2   700.0 ms");
  const std::size_t second = text.find("  rank 1 gpu 0 window 2/2   612.4 ms");
  EXPECT_LT(first, second) << text;
  EXPECT_NE(second, std::string::npos) << text;
  EXPECT_NE(text.find("compute kernels' time in all windows\n"), std::string::npos) << text;
  check_width(text);
}

// Facts may state more tokens than any step reads: the rate then fits no integer.
TEST(AnswerText, RatesOfTokens) {
  Answer answer = answer_of(1);
  ThroughputRow& row = answer.throughput.emplace_back();
  row.step_time_ns = 1000;
  for (const auto& [rate, shown] : {std::pair{9896.4, "  9,896 tokens/s/gpu"},
                                    {999'999'999'999'999.0, "  999,999,999,999,999 tokens/s/gpu"},
                                    {1e15, "  1.00e+15 tokens/s/gpu"},
                                    {9e21, "  9.00e+21 tokens/s/gpu"}}) {
    row.tokens_per_s_per_gpu = rate;
    const std::string text = answer_text(answer, {.run_name = "run"});
    check_width(text);
    EXPECT_NE(text.find(shown), std::string::npos) << text;
  }
}

// Four gpus: ranks 0 and 1 of a job of 2, rank 0 of a job of 8, one of unknown rank.
Answer three_jobs() {
  Answer answer = answer_of(4);
  const std::array<std::int64_t, 4> jobs = {0, 0, 1, 2};
  for (std::size_t i = 0; i < 4; i++) {
    answer.inputs[i].job = jobs[i];
    answer.gpus[i].job = answer.timeline[i].job = jobs[i];
  }
  answer.inputs[2].rank = answer.gpus[2].rank = answer.timeline[2].rank = 0;
  answer.inputs[3].rank = answer.gpus[3].rank = answer.timeline[3].rank = Reason::rank_unknown;
  answer.jobs = {{true, 2, 2, true}, {true, 8, 1, true}, {false, std::nullopt, 1, true}};
  for (const std::int64_t job : {0, 1, 2}) {
    ThroughputRow row;
    row.job = job;
    row.convention = "shapes";
    row.step_time_ns = 77'000'000;
    answer.throughput.push_back(row);
  }
  return answer;
}

TEST(AnswerText, SeveralJobsAreNotOne) {
  const std::string text = answer_text(three_jobs(), {.run_name = "run"});
  check_width(text);
  EXPECT_EQ(check_sums(text), 6) << text;
  EXPECT_NE(text.find("run          3 ranks and 1 trace of unknown rank, 4 x AMD"), std::string::npos) << text;
  EXPECT_NE(text.find("\njobs         3 jobs in this run (world sizes 2, 8; 1 trace without a rank): "),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("not of one job"), std::string::npos) << text;
  EXPECT_NE(text.find("--set-rank FILE=N"), std::string::npos) << text;
  EXPECT_EQ(text.find("\nstep "), std::string::npos) << text;  // of which job?
  EXPECT_NE(text.find(" span, mean of 4 gpus of 3 jobs\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\nlargest losses of 3 jobs, each by itself"), std::string::npos) << text;
  EXPECT_NE(text.find("\neach gpu\n"), std::string::npos) << text;  // rank 0 of two jobs is no window of one
  for (const char* label : {"job 0 rank 0 gpu 0", "job 0 rank 1 gpu 0", "job 1 rank 0 gpu 0", "job 2 input 3 gpu 0"})
    EXPECT_NE(text.find(label), std::string::npos) << label << text;
}

TEST(AnswerText, OneSelectedJobIsAnsweredAlone) {
  Answer answer = three_jobs();
  answer.timeline.erase(answer.timeline.begin() + 2, answer.timeline.end());
  answer.gpus.erase(answer.gpus.begin() + 2, answer.gpus.end());
  answer.jobs[1] = {true, 8, 0, false};
  answer.jobs[2] = {false, std::nullopt, 0, false};
  answer.throughput.resize(1);
  const std::string text = answer_text(answer, {.run_name = "run"});
  EXPECT_NE(text.find("run          2 ranks, 2 x AMD Instinct MI300X, 24.7 MB of pytorch traces\n"), std::string::npos)
      << text;
  EXPECT_EQ(text.find("job"), std::string::npos) << text;
  EXPECT_NE(text.find("\nstep                    77.0 ms"), std::string::npos) << text;
}

TEST(AnswerText, MeansOfTheOnlyJobWithStepsSaySo) {
  Answer answer = three_jobs();
  CoverageRow coverage;
  coverage.iteration_rule = "profiler_step";
  answer.coverage.push_back(coverage);
  TimelineRow window = answer.timeline[2];
  window.scope = "iteration";
  window.ordinal = 0;
  window.window_ns = window.window_busy_ns = window.window_compute_ns = 500;
  window.complete = true;
  window.last = false;
  answer.windows.push_back(window);
  const std::string text = answer_text(answer, {.run_name = "run"});
  EXPECT_NE(text.find(" job 1 alone; report each by itself"), std::string::npos) << text;
  EXPECT_NE(text.find("mean of 1 step of job 1 on 1 of 4 gpus\n"), std::string::npos) << text;
}

// Two gpus, of which one has a complete step. The other's operations are of the iterations it has.
TEST(AnswerText, SharesOfComputationAreOfTheGpusOfTheMean) {
  Answer answer = answer_of(2);
  CoverageRow coverage;
  coverage.iteration_rule = "profiler_step";
  answer.coverage.push_back(coverage);
  for (std::size_t g = 0; g < 2; g++) {
    TimelineRow window = answer.timeline[g];
    window.scope = "iteration";
    window.ordinal = 0;
    window.window_ns = window.window_busy_ns = window.window_compute_ns = 500;
    window.complete = g == 0;
    window.last = false;
    answer.windows.push_back(window);
    OperationRow operation;
    operation.input = window.input;
    operation.rank = window.rank;
    operation.gpu = window.gpu;
    operation.phase = "other";
    operation.operation = "unlabelled";
    operation.duration_ns = 500;
    operation.class_ns[static_cast<std::size_t>(g == 0 ? GpuClass::gemm : GpuClass::attention)] = 500;
    answer.step_operations.push_back(operation);
  }
  const std::string text = answer_text(answer, {.run_name = "run"});
  EXPECT_NE(text.find("mean of 1 step on 1 of 2 gpus\n"), std::string::npos) << text;
  EXPECT_NE(text.find("100.0 %  gemm 100 %\n"), std::string::npos) << text;
}

TEST(AnswerText, GpusAreInOrderOfRankThenGpu) {
  Answer answer = answer_of(4);
  const std::array<std::pair<int, int>, 4> places = {{{10, 0}, {2, 11}, {2, 3}, {0, 0}}};
  for (std::size_t i = 0; i < places.size(); i++) {
    answer.timeline[i].rank = answer.gpus[i].rank = places[i].first;
    answer.timeline[i].gpu = answer.gpus[i].gpu = places[i].second;
  }
  const std::string text = answer_text(answer, {.run_name = "run"});
  std::vector<std::string> labels;
  const std::regex label("^  (rank [0-9]+ gpu [0-9]+) ");
  for (const std::string& line : lines_of(text)) {
    std::smatch match;
    if (std::regex_search(line, match, label)) labels.push_back(match[1]);
  }
  EXPECT_EQ(labels, (std::vector<std::string>{"rank 0 gpu 0", "rank 2 gpu 3", "rank 2 gpu 11", "rank 10 gpu 0"}));
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

TEST(AnswerText, TheRemedyIsOfTheToolThatWroteTheFile) {
  const auto text_of = [](std::string_view format) {
    Answer answer = answer_of(1);
    answer.gpus.clear();
    answer.timeline.clear();
    answer.kernel_summary.clear();
    answer.summaries[0].gpus.clear();
    for (InputRow& input : answer.inputs) input.format = format;
    return answer_text(answer, {.run_name = "run"});
  };
  EXPECT_NE(text_of("rpd").find("runTracer.sh"), std::string::npos);
  EXPECT_NE(text_of("nsight-systems").find("nsys profile"), std::string::npos);
  EXPECT_EQ(text_of("rpd").find("ProfilerActivity"), std::string::npos);
}

TEST(AnswerText, UnknownAcceleratorIsNoFaultOfTheProfiling) {
  Answer answer = answer_of(1);
  answer.gpus.clear();
  answer.timeline.clear();
  answer.kernel_summary.clear();
  answer.summaries[0].gpus.clear();
  answer.health_log.add(HealthKind::unknown_gpu_category, "rank0.json @ byte 3", "records of another accelerator", 7);
  const std::string text = answer_text(answer, {.run_name = "other"});
  EXPECT_NE(text.find("accelerator that this build of Chopper does not know"), std::string::npos) << text;
  EXPECT_EQ(text.find("ProfilerActivity.CUDA"), std::string::npos) << text;
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
