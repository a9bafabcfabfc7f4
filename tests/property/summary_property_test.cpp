// SPDX-License-Identifier: Apache-2.0
// Whole traces: the parts of the time line sum to the span; order of events, a common shift of all times, order of
// files and threads change nothing.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "engine/engine.h"
#include "report/json.h"
#include "support/trace_builder.h"

namespace chopper::test {
namespace {

namespace fs = std::filesystem;

// A folder that goes away with the test.
class SummaryProperty : public testing::Test {
 protected:
  SummaryProperty() : folder_(fs::temp_directory_path() / ("chopper_property_" + std::to_string(::getpid()))) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~SummaryProperty() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  fs::path write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return folder_ / name;
  }
  Answer analyse(const std::vector<fs::path>& files, unsigned threads = 1, std::size_t window_bytes = 0) {
    RunOptions options;
    options.threads = threads;
    options.window_bytes = window_bytes;
    options.keep_kernels = true;
    Result<Answer> answer = analyse_run(files, options);
    EXPECT_TRUE(answer.ok()) << (answer.ok() ? "" : answer.error().text());
    return answer.ok() ? std::move(answer).value() : Answer();
  }
  static std::string json_of(const Answer& answer) {
    std::string out;
    write_json(answer, {.version = "0", .with_kernels = true}, [&](std::string_view piece) {
      out += piece;
      return true;
    });
    return out;
  }
  // The tables that describe time, without what names bytes of the file.
  static std::string time_of(const Answer& answer) {
    std::string out = json_of(answer);
    const std::size_t from = out.find("\"coverage\"");
    return out.substr(from, out.find("\"kernels\"") - from);
  }

  fs::path folder_;
};

TEST_F(SummaryProperty, PartsSumToTheSpan) {
  for (std::uint64_t seed = 1; seed <= 60; seed++) {
    SCOPED_TRACE(seed_text(seed));
    TraceShape shape;
    shape.num_launches = 5 + seed * 3;
    const Answer answer = analyse({write("a.json", build_trace(seed, shape).text())});
    ASSERT_FALSE(answer.timeline.empty());
    for (const TimelineRow& t : answer.timeline) {
      EXPECT_EQ(t.compute_ns + t.exposed_comm_ns + t.exposed_memcpy_ns + t.idle_ns, t.span_ns);
      EXPECT_EQ(t.busy_ns + t.idle_ns, t.span_ns);
      EXPECT_EQ(t.comm_ns, t.overlap_ns + t.exposed_comm_ns);
      EXPECT_LE(t.exposed_comm_ns, t.exposed_comm_strict_ns);
      EXPECT_LE(t.exposed_comm_strict_ns, t.comm_ns);
      EXPECT_LE(t.prep_idle_ns + t.call_idle_ns, t.idle_ns);
      EXPECT_LE(t.prep_idle_ns, t.prep_ns);
      EXPECT_LE(t.call_idle_ns, t.call_ns);
      EXPECT_GE(t.exposed_memcpy_ns, 0);
    }
    // Kernels add up to their summary, and to the counts of their gpu.
    std::int64_t kernels = 0, summarised = 0, time = 0, summarised_time = 0, counted = 0;
    answer.for_each_kernel(false, [&](const KernelRow& row) {
      kernels++;
      time += row.duration_ns;
    });
    for (const KernelSummaryRow& row : answer.kernel_summary) {
      summarised += row.num;
      summarised_time += row.total_ns;
      EXPECT_LE(row.min_ns, row.p50_ns);
      EXPECT_LE(row.p50_ns, row.p95_ns);
      EXPECT_LE(row.p95_ns, row.max_ns);
    }
    for (const GpuRow& row : answer.gpus) counted += row.num_kernels;
    EXPECT_EQ(kernels, summarised);
    EXPECT_EQ(kernels, counted);
    EXPECT_EQ(time, summarised_time);
  }
}

// Times that tie are told apart by their place in the file (reading rules 4 and 6): such traces are left out.
bool has_ties(const Answer& answer) {
  std::set<std::tuple<std::int64_t, std::int64_t, std::int64_t>> seen;
  bool ties = answer.health_log.count(HealthKind::ambiguous_correlation) > 0;
  answer.for_each_kernel(false, [&](const KernelRow& row) {
    ties = !seen.emplace(row.gpu.value(), row.start_ns, row.duration_ns).second || ties;
  });
  for (const CollectiveRow& row : answer.collectives)
    ties = !seen.emplace(row.gpu.value(), row.start_ns, -1).second || ties;
  return ties;
}

// Where in the file a collective stands.
void forget_places(Answer& answer) {
  for (CollectiveRow& row : answer.collectives) row.offset = 0;
}

TEST_F(SummaryProperty, OrderOfEventsDoesNotMatter) {
  int compared = 0;
  for (std::uint64_t seed = 1; seed <= 60; seed++) {
    SCOPED_TRACE(seed_text(seed));
    TraceShape shape;
    shape.num_launches = 20;
    BuiltTrace trace = build_trace(seed, shape);
    Answer before = analyse({write("a.json", trace.text())});
    if (has_ties(before)) continue;
    compared++;
    Random(seed).shuffle(trace.events);
    Answer after = analyse({write("a.json", trace.text())});
    forget_places(before);
    forget_places(after);
    EXPECT_EQ(time_of(after), time_of(before));
  }
  EXPECT_GE(compared, 15);
}

// Takes a shift of all times out of windows and collectives.
void move_back(Answer& answer, std::int64_t by) {
  for (CollectiveRow& row : answer.collectives) row.start_ns -= by;
  for (TimelineRow& row : answer.windows) {
    for (Field<std::int64_t>* start : {&row.start_ns, &row.window_start_ns}) {
      if (start->present()) *start = start->value() - by;
    }
  }
}

TEST_F(SummaryProperty, AShiftOfAllTimesMovesTheStartAlone) {
  for (std::uint64_t seed = 1; seed <= 30; seed++) {
    SCOPED_TRACE(seed_text(seed));
    TraceShape shape;
    Answer here = analyse({write("a.json", build_trace(seed, shape).text())});
    forget_places(here);
    Random random(seed);
    const std::int64_t by = random.between(-400'000'000, 400'000'000) * 1000;
    shape.shift_ns = by;
    Answer there = analyse({write("a.json", build_trace(seed, shape).text())});
    ASSERT_EQ(there.timeline.size(), here.timeline.size());
    for (std::size_t i = 0; i < here.timeline.size(); i++) {
      EXPECT_EQ(there.timeline[i].start_ns, here.timeline[i].start_ns.value() + by);
      there.timeline[i].start_ns = here.timeline[i].start_ns;
    }
    move_back(there, by);
    forget_places(there);
    EXPECT_EQ(time_of(there), time_of(here));
    // The same through the base alone.
    shape.shift_ns = 0;
    shape.base_ns += by;
    Answer rebased = analyse({write("a.json", build_trace(seed, shape).text())});
    ASSERT_EQ(rebased.timeline.size(), here.timeline.size());
    for (std::size_t i = 0; i < here.timeline.size(); i++) {
      EXPECT_EQ(rebased.timeline[i].start_ns, here.timeline[i].start_ns.value() + by);
      rebased.timeline[i].start_ns = here.timeline[i].start_ns;
    }
    move_back(rebased, by);
    forget_places(rebased);
    EXPECT_EQ(time_of(rebased), time_of(here));
  }
}

TEST_F(SummaryProperty, FilesThreadsAndWindowsDoNotMatter) {
  for (std::uint64_t seed = 1; seed <= 10; seed++) {
    SCOPED_TRACE(seed_text(seed));
    Random random(seed);
    std::vector<fs::path> files;
    for (std::int64_t rank = 0; rank < 4; rank++) {
      TraceShape shape;
      shape.num_launches = 10 + random.below(60);
      shape.rank = rank;
      shape.world_size = 5;
      files.push_back(write("t" + std::to_string(random.below(1000)) + "_" + std::to_string(rank) + ".json",
                            build_trace(seed * 100 + static_cast<std::uint64_t>(rank), shape).text()));
    }
    const std::string expected = json_of(analyse(files));
    for (const auto& [threads, window] : {std::pair<unsigned, std::size_t>{2, 64}, {7, 1000}, {16, 0}}) {
      random.shuffle(files);
      EXPECT_EQ(json_of(analyse(files, threads, window)), expected) << threads << " threads, window " << window;
    }
    // Merging what was summarised one by one, in any order, is the same again.
    RunOptions options;
    options.keep_kernels = true;
    Result<RunFiles> run = find_run_files(files, options);
    ASSERT_TRUE(run.ok());
    random.shuffle(run.value().files);
    std::vector<InputSummary> summaries;
    for (const RunFiles::File& file : run.value().files) {
      Result<InputSummary> summary = summarise_file(file, options, 1 + static_cast<unsigned>(random.below(3)));
      ASSERT_TRUE(summary.ok());
      summaries.push_back(std::move(summary).value());
    }
    const Result<Answer> merged = merge_summaries(std::move(summaries), run.value().health, options);
    ASSERT_TRUE(merged.ok());
    EXPECT_EQ(json_of(merged.value()), expected);
    for (const fs::path& file : files) fs::remove(file);
  }
}

}  // namespace
}  // namespace chopper::test
