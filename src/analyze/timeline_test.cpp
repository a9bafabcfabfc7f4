// SPDX-License-Identifier: Apache-2.0
#include "analyze/timeline.h"

#include <gtest/gtest.h>

#include "support/hand_trace.h"

namespace chopper {
namespace {

class Timeline : public testing::Test {
 protected:
  void kernel(std::int64_t start, std::int64_t end, GpuClass gpu_class, std::int64_t launched = kNoNumber) {
    hand_.add({.start = start, .end = end, .gpu_class = gpu_class, .launched = launched});
  }
  std::vector<GpuSummary> summarise() {
    hand_.labels.iterations.marks.resize(1);
    return summarise_gpus(hand_.trace, hand_.labels, {}, health_, &times_);
  }
  TimelineRow line() {
    const std::vector<GpuSummary> gpus = summarise();
    EXPECT_EQ(gpus.size(), 1u);
    return gpus.front().timeline;
  }

  test::HandTrace hand_;
  HealthLog health_;
  std::vector<KernelTimes> times_;
};

TEST_F(Timeline, LaunchOverheadTable) {
  // Previous end 1000: launch call, start, prep, call (formats 8).
  const struct {
    std::int64_t launched, start, prep, call;
  } rows[] = {{1300, 1500, 300, 200}, {400, 1500, 0, 500}, {400, 900, 0, 0}, {1600, 1500, 500, 0}};
  for (const auto& row : rows) {
    hand_ = {};
    kernel(0, 1000, GpuClass::gemm, 0);
    kernel(row.start, row.start + 700, GpuClass::vector, row.launched);
    const TimelineRow t = line();
    EXPECT_EQ(t.prep_ns, row.prep);
    EXPECT_EQ(t.call_ns, row.call);
    EXPECT_TRUE(times_[0].first_of_chain);
    EXPECT_EQ(times_[0].prep_ns, kNoNumber);
    EXPECT_EQ(times_[1].prep_ns, row.prep);
    EXPECT_EQ(times_[1].call_ns, row.call);
  }
}

TEST_F(Timeline, OverlapExample) {
  kernel(100, 200, GpuClass::gemm);
  kernel(50, 130, GpuClass::comm);
  kernel(120, 150, GpuClass::comm);
  kernel(190, 300, GpuClass::comm);
  const TimelineRow t = line();
  EXPECT_EQ(times_[0].overlap_ns, 60);
  EXPECT_EQ(t.overlap_ns, 60);
  EXPECT_EQ(t.comm_ns, 210);
  EXPECT_EQ(t.exposed_comm_ns, 150);
  EXPECT_EQ(t.span_ns, 250);
  EXPECT_EQ(t.num_no_launch, 1);
}

TEST_F(Timeline, LaunchPartsCountOnlyWhileTheDeviceIdles) {
  kernel(0, 100, GpuClass::gemm, 0);
  kernel(100, 160, GpuClass::comm);
  kernel(170, 180, GpuClass::memcpy);
  kernel(300, 400, GpuClass::gemm, 200);
  // prep [100, 200): idle in [160, 170) and [180, 200); call [200, 300): idle throughout.
  const TimelineRow t = line();
  EXPECT_EQ(t.prep_ns, 100);
  EXPECT_EQ(t.call_ns, 100);
  EXPECT_EQ(t.prep_idle_ns, 30);
  EXPECT_EQ(t.call_idle_ns, 100);
  EXPECT_EQ(t.idle_ns, 130);
}

TEST_F(Timeline, OneEmptyKernelHasNoSpan) {
  kernel(100, 100, GpuClass::other, 50);
  const TimelineRow t = line();
  EXPECT_EQ(t.start_ns, 100);
  EXPECT_EQ(t.span_ns, 0);
  EXPECT_EQ(t.busy_ns, 0);
  EXPECT_EQ(t.prep_ns, 0);
}

TEST_F(Timeline, SumsOfHugeDurationsDoNotTrap) {
  constexpr std::int64_t kEnd = std::int64_t{1} << 62;
  for (const GpuClass gpu_class : {GpuClass::gemm, GpuClass::comm, GpuClass::memcpy}) {
    for (int i = 0; i < 3; i++) kernel(1 - kEnd + i, kEnd - 1, gpu_class, 1 - kEnd);
  }
  kernel(kEnd - 1, kEnd - 1, GpuClass::vector, 5);
  const GpuSummary summary = summarise().front();
  EXPECT_EQ(summary.timeline.span_ns, 2 * (kEnd - 1));
  EXPECT_EQ(summary.timeline.idle_ns, 0);
  EXPECT_EQ(summary.windows[1].row.window_ns, 2 * (kEnd - 1));
  EXPECT_EQ(summary.operations.begin()->second.num_kernels, 10);
}

TEST_F(Timeline, NothingGivesNoRow) { EXPECT_TRUE(summarise().empty()); }

}  // namespace
}  // namespace chopper
