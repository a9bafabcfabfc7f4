// SPDX-License-Identifier: Apache-2.0
#include "attribute/iterations.h"

#include <gtest/gtest.h>

#include <tuple>

#include "support/host_trace.h"

namespace chopper {
namespace {

using test::add_call;
using test::add_range;
using Numbers = std::vector<std::int64_t>;

TraceTables empty_trace() {
  TraceTables trace;
  trace.threads = {{"10", "10"}, {"10", "11"}};
  return trace;
}

IterationMarks find(const TraceTables& trace, std::string_view user = {}) {
  return find_marks(trace, user, [] {
    ADD_FAILURE() << "ranges mark iterations: launches are not asked for";
    return std::vector<LaunchedKernel>();
  });
}

Numbers starts_of(const IterationMarks& marks) {
  Numbers starts;
  for (const IterationMarks::Mark& mark : marks.marks) starts.push_back(mark.start_ns);
  return starts;
}

// Kernels "a", "b", ... launched at 10, 20, ...
IterationMarks by_kernels(std::string_view kernels) {
  TraceTables trace = empty_trace();
  std::vector<LaunchedKernel> launched;
  for (const char kernel : kernels) {
    const auto time = static_cast<std::int64_t>(launched.size() + 1) * 10;
    add_call(trace, time);
    launched.push_back({time, trace.strings.intern(std::string_view(&kernel, 1))});
  }
  return find_marks(trace, {}, [&] { return launched; });
}

TEST(Iterations, KindsInOrderOfPreference) {
  TraceTables trace = empty_trace();
  const struct {
    std::string_view name;
    MarkKind kind;
  } steps[] = {{"Optimizer.step#AdamW.step", MarkKind::optimizer},
               {"ProfilerStep#3", MarkKind::profiler_step},
               {"Iteration 4", MarkKind::iteration},
               {"mine 5", MarkKind::user}};
  for (const auto& step : steps) {
    add_range(trace, {.name = step.name, .start = 10, .end = 20});
    EXPECT_EQ(find(trace, "mine").kind, step.kind);
  }
}

TEST(Iterations, ModuleFramesAreNoMarks) {
  TraceTables trace = empty_trace();
  add_range(trace, {.name = "Iteration 1", .start = 0, .end = 10, .kind = RangeKind::module});
  add_range(trace, {.name = "ProfilerStep#1", .start = 0, .end = 10});
  EXPECT_EQ(find(trace).kind, MarkKind::profiler_step);
}

TEST(Iterations, MarksComeInOrderOfStart) {
  TraceTables trace = empty_trace();
  add_range(trace, {.name = "Iteration 9", .start = 50, .end = 60});
  add_range(trace, {.name = "Iteration 8", .start = 10, .end = 20});
  const IterationMarks found = find(trace);
  ASSERT_EQ(starts_of(found), (Numbers{10, 50}));
  EXPECT_EQ(found.marks[0].number, 8);
  EXPECT_EQ(found.marks[1].end_ns, 60);
}

TEST(Iterations, ALaunchBelongsToTheLastMarkThatBegan) {
  IterationMarks marks;
  marks.marks = {{.start_ns = 10, .end_ns = 15}, {.start_ns = 30, .end_ns = 40}};
  const std::pair<std::int64_t, std::int32_t> cases[] = {
      {9, kHeadIteration}, {10, 0}, {15, 0}, {29, 0}, {30, 1}, {39, 1}, {40, kTailIteration}};
  for (const auto& [time, expected] : cases) EXPECT_EQ(iteration_at(marks, time), expected) << time;
}

TEST(Iterations, PeriodsOfKernels) {
  const struct {
    std::string_view kernels;
    MarkKind kind;
    Numbers starts;
  } cases[] = {
      {"abab", MarkKind::none, {10}},  // twice is no period
      {"ababab", MarkKind::periodic, {10, 30, 50}},
      {"axxbaxxbaxxb", MarkKind::periodic, {10, 50, 90}},
      {"xaxxbaxxbaxxb", MarkKind::periodic, {20, 60, 100}},
      {"abcabcabc", MarkKind::periodic, {10, 40, 70}},
      {"aaa", MarkKind::none, {10}},
      {"abbaab", MarkKind::none, {10}},
      {"eababab", MarkKind::none, {10}},  // a kernel that occurs once: parts of one iteration repeat
      {"axbaxbaxbx", MarkKind::periodic, {10, 40, 70}},
      {"", MarkKind::none, {}},
  };
  for (const auto& c : cases) {
    const IterationMarks found = by_kernels(c.kernels);
    EXPECT_EQ(found.kind, c.kind) << c.kernels;
    EXPECT_EQ(starts_of(found), c.starts) << c.kernels;
  }
  const IterationMarks found = by_kernels("ababab");
  ASSERT_EQ(found.marks.size(), 3u);
  EXPECT_EQ(found.marks[0].end_ns, 30);
  EXPECT_TRUE(found.marks[0].closed);
  EXPECT_EQ(found.marks[2].end_ns, 61) << "behind the last launch call";
  EXPECT_FALSE(found.marks[2].closed);
}

TEST(Iterations, WithoutMarksThereIsOne) {
  TraceTables trace = empty_trace();
  add_call(trace, 70);
  add_call(trace, 20, 1);
  const IterationMarks found = find_marks(trace, {}, [] { return std::vector<LaunchedKernel>(); });
  EXPECT_EQ(found.kind, MarkKind::none);
  ASSERT_EQ(found.marks.size(), 1u);
  EXPECT_EQ(found.marks[0].start_ns, 20);
  EXPECT_EQ(iteration_at(found, 70), 0);
  EXPECT_EQ(iteration_at(found, 71), kTailIteration);
  EXPECT_FALSE(found.marks[0].closed);
  EXPECT_EQ(found.marks[0].number, kNoNumber);
}

TEST(Iterations, PassesOfTheEngine) {
  TraceTables trace = empty_trace();
  const auto node = [&](std::int64_t start, std::int64_t end, std::int64_t number, std::uint32_t thread = 0) {
    add_range(trace, {.name = "MmBackward0",
                      .start = start,
                      .end = end,
                      .kind = RangeKind::operation,
                      .thread = thread,
                      .sequence = number,
                      .forward_thread = 1});
  };
  node(10, 20, 5);
  node(12, 14, 9);  // inside
  node(20, 30, 5);  // no rise
  node(30, 40, 2);
  node(40, 50, 7);
  node(15, 16, 3, 1);
  const std::vector<EnginePass> passes = find_engine_passes(trace, order_ranges(trace));
  ASSERT_EQ(passes.size(), 3u);
  EXPECT_EQ(passes[0], (EnginePass{10, ThreadId{0}, 1}));
  EXPECT_EQ(passes[1], (EnginePass{15, ThreadId{1}, 1}));
  EXPECT_EQ(passes[2], (EnginePass{40, ThreadId{0}, 1}));
}

TEST(Iterations, Counts) {
  TraceTables trace = empty_trace();
  IterationMarks marks;
  marks.marks = {{.start_ns = 0, .end_ns = 50}, {.start_ns = 50, .end_ns = 100}};
  add_call(trace, 10);
  add_call(trace, 20);
  add_call(trace, 30, 0, "cudaMemcpyAsync");
  add_call(trace, 60);
  add_call(trace, 200);
  LaunchLinks links;
  links.unanswered = {1, 4};
  const std::vector<EnginePass> passes = {
      {5, ThreadId{0}}, {6, ThreadId{1}}, {7, ThreadId{0}}, {55, ThreadId{1}}, {300, ThreadId{0}}};
  count_in_iterations(trace, passes, links, marks);
  const auto counts = [&](std::size_t k) {
    return std::make_tuple(marks.marks[k].micro_steps, marks.marks[k].num_launches, marks.marks[k].num_unanswered);
  };
  EXPECT_EQ(counts(0), std::make_tuple(2, 2, 1));
  EXPECT_EQ(counts(1), std::make_tuple(1, 1, 0));
}

}  // namespace
}  // namespace chopper
