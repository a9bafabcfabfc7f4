// SPDX-License-Identifier: Apache-2.0
// The time line against a naive one that looks at every nanosecond.
#include "synth/run_timeline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "synth/random.h"

namespace chopper::synth {
namespace {

struct Naive {
  std::int64_t compute = 0, comm = 0, copies = 0, overlap = 0, exposed_comm = 0, exposed_memcpy = 0, idle = 0;
};

bool computes(const Placed& p) { return p.work_class != WorkClass::comm && p.work_class != WorkClass::memcpy_work; }

Naive look(const std::vector<Placed>& all, std::int64_t start, std::int64_t end) {
  Naive n;
  for (std::int64_t at = start; at < end; at++) {
    bool compute = false, comm = false, copies = false;
    for (const Placed& p : all) {
      if (at < p.start_ns || at >= p.end_ns) continue;
      (computes(p) ? compute : p.work_class == WorkClass::comm ? comm : copies) = true;
    }
    n.compute += compute;
    n.comm += comm;
    n.copies += copies;
    n.overlap += compute && comm;
    n.exposed_comm += comm && !compute;
    n.exposed_memcpy += copies && !comm && !compute;
    n.idle += !copies && !comm && !compute;
  }
  return n;
}

std::vector<Placed> random_work(std::uint64_t seed) {
  constexpr WorkClass kClasses[] = {WorkClass::gemm, WorkClass::vector, WorkClass::comm, WorkClass::memcpy_work};
  std::vector<Placed> all;
  for (std::int64_t i = 0; i < 30; i++) {
    const auto value = [&](std::uint64_t what, std::uint64_t below) {
      return static_cast<std::int64_t>(random_bits(seed, Purpose::drop, static_cast<std::uint64_t>(i), what) % below);
    };
    const std::int64_t start = 100 + i * 7 + value(0, 40);
    all.push_back({start, start + value(1, 30), start - value(2, 25), i, static_cast<std::int32_t>(i / 10),
                   static_cast<std::uint32_t>(i), kClasses[value(3, 4)], GapCause::host, GapCause::latency});
  }
  return all;
}

TEST(RunTimeline, EqualsLookingAtEveryNanosecond) {
  for (std::uint64_t seed = 0; seed < 200; seed++) {
    const std::vector<Placed> all = random_work(seed);
    const RunTimeline line = timeline_of(all, 0, 2);
    const auto equal = [&](const Lengths& l, const Naive& n) {
      EXPECT_EQ(l.compute, n.compute) << seed;
      EXPECT_EQ(l.comm, n.comm) << seed;
      EXPECT_EQ(l.memcpy_time, n.copies) << seed;
      EXPECT_EQ(l.overlap, n.overlap) << seed;
      EXPECT_EQ(l.exposed_comm, n.exposed_comm) << seed;
      EXPECT_EQ(l.exposed_memcpy, n.exposed_memcpy) << seed;
      EXPECT_EQ(l.idle, n.idle) << seed;
    };
    equal(line.trace, look(all, line.start_ns, line.end_ns));
    std::int64_t sum = 0, at = line.start_ns;
    for (const Window& w : line.windows) {
      EXPECT_EQ(w.start_ns, at) << seed;
      equal(w.lengths, look(all, w.start_ns, w.end_ns));
      sum += w.lengths.total;
      at = w.end_ns;
    }
    EXPECT_EQ(sum, line.trace.total) << seed;
  }
}

// Worked examples of formats.md 8: previous end 1000.
TEST(RunTimeline, SplitsGapsAtTheLaunchCall) {
  const auto gap = [](std::int64_t call, std::int64_t start) {
    const std::vector<Placed> two = {
        {500, 1000, 400, 0, 0, 0, WorkClass::gemm, GapCause::none, GapCause::none},
        {start, start + 100, call, 1, 0, 1, WorkClass::gemm, GapCause::none, GapCause::none}};
    const RunTimeline line = timeline_of(two, 0, 0);
    return std::pair{line.prep_ns, line.call_ns};
  };
  EXPECT_EQ(gap(1300, 1500), (std::pair<std::int64_t, std::int64_t>{300, 200}));
  EXPECT_EQ(gap(400, 1500), (std::pair<std::int64_t, std::int64_t>{0, 500}));
  EXPECT_EQ(gap(400, 900), (std::pair<std::int64_t, std::int64_t>{0, 0}));
  EXPECT_EQ(gap(1600, 1500), (std::pair<std::int64_t, std::int64_t>{500, 0}));
}

TEST(RunTimeline, IterationsWithoutWorkTakeNoTime) {
  const std::vector<Placed> all = {{10, 20, 5, 0, 0, 0, WorkClass::gemm, GapCause::none, GapCause::none},
                                   {30, 40, 25, 1, 2, 0, WorkClass::gemm, GapCause::none, GapCause::none}};
  const RunTimeline line = timeline_of(all, 0, 3);
  ASSERT_EQ(line.windows.size(), 4u);
  EXPECT_EQ(line.windows[0].lengths.total, 20);
  EXPECT_EQ(line.windows[1].lengths.total, 0);
  EXPECT_EQ(line.windows[2].lengths.total, 10);
  EXPECT_EQ(line.windows[3].lengths.total, 0);
  EXPECT_TRUE(line.windows[3].last);
}

}  // namespace
}  // namespace chopper::synth
