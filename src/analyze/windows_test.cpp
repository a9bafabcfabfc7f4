// SPDX-License-Identifier: Apache-2.0
#include "analyze/windows.h"

#include <gtest/gtest.h>

#include "support/hand_trace.h"

namespace chopper {
namespace {

class Windows : public testing::Test {
 protected:
  void add(std::int32_t iteration, std::int64_t start, std::int64_t end, GpuClass gpu_class, std::int64_t launched) {
    hand_.add({.start = start, .end = end, .gpu_class = gpu_class, .launched = launched, .iteration = iteration});
  }
  std::vector<TimelineRow> rows() {
    work_ = prepare_device(hand_.trace, hand_.labels, rows_by_device(hand_.trace.gpu_work).begin()->second);
    std::vector<TimelineRow> rows;
    for (const WindowSummary& window : summarise_windows(hand_.trace, hand_.labels, work_)) rows.push_back(window.row);
    return rows;
  }
  TimelineRow whole() const { return trace_timeline(hand_.trace, hand_.labels, work_); }

  test::HandTrace hand_;
  DeviceWork work_;
};

//            0    10   20   30   40   50   60   70   80   90
// head       [memcpy 0-4]
// launched 0      [gemm 10-20] [gemm 25-30]    [comm 28-45]
// launched 1                                  [comm 35-38]  [gemm 40-60] [copy 62-64]
// tail                                                                        [vector 70-80]
// windows    head 0-10 | 0: 10-40 | 1: 40-64 (last) | tail 64-80
TEST_F(Windows, ByHand) {
  hand_.mark(10).micro_steps = 2;
  hand_.mark(11).micro_steps = 1;
  add(kHeadIteration, 0, 4, GpuClass::memcpy, 0);
  add(0, 10, 20, GpuClass::gemm, 5);
  add(0, 25, 30, GpuClass::gemm, 22);
  add(0, 28, 45, GpuClass::comm, 12);
  add(1, 35, 38, GpuClass::comm, 30);
  add(1, 40, 60, GpuClass::gemm, 33);
  add(1, 62, 64, GpuClass::memcpy, 50);
  add(kTailIteration, 70, 80, GpuClass::vector, 66);
  const std::vector<TimelineRow> w = rows();
  ASSERT_EQ(w.size(), 4u);
  EXPECT_EQ(w[0].scope, "head");
  EXPECT_EQ(w[0].window_start_ns, 0);
  EXPECT_EQ(w[0].window_ns, 10);
  EXPECT_EQ(w[0].window_exposed_memcpy_ns, 4);
  EXPECT_EQ(w[0].window_idle_ns, 6);
  EXPECT_EQ(w[0].foreign_ns, 0);
  EXPECT_EQ(w[0].span_ns, 4);
  EXPECT_EQ(w[0].memcpy_ns, 4);
  EXPECT_FALSE(w[0].ordinal.applicable());
  EXPECT_FALSE(w[0].complete.applicable());
  EXPECT_FALSE(w[0].gap_to_next_ns.applicable());

  EXPECT_EQ(w[1].scope, "iteration");
  EXPECT_EQ(w[1].ordinal, 0);
  EXPECT_EQ(w[1].iteration, 10);
  EXPECT_EQ(w[1].micro_steps, 2);
  EXPECT_EQ(w[1].start_ns, 10);
  EXPECT_EQ(w[1].span_ns, 35);
  EXPECT_EQ(w[1].compute_ns, 15);
  EXPECT_EQ(w[1].comm_ns, 17);
  EXPECT_EQ(w[1].overlap_ns, 2);
  EXPECT_EQ(w[1].exposed_comm_ns, 15);
  EXPECT_EQ(w[1].idle_ns, 5);
  EXPECT_EQ(w[1].window_start_ns, 10);
  EXPECT_EQ(w[1].window_ns, 30);
  EXPECT_EQ(w[1].window_compute_ns, 15);
  EXPECT_EQ(w[1].window_comm_ns, 12);
  EXPECT_EQ(w[1].window_overlap_ns, 2);
  EXPECT_EQ(w[1].window_exposed_comm_ns, 10);
  EXPECT_EQ(w[1].window_idle_ns, 5);
  EXPECT_EQ(w[1].foreign_ns, 0);  // the comm of iteration 1 lies under that of 0
  EXPECT_EQ(w[1].prep_ns, 2);     // before the gemm at 25: launched at 22
  EXPECT_EQ(w[1].call_ns, 3);
  EXPECT_EQ(w[1].prep_idle_ns, 2);
  EXPECT_EQ(w[1].call_idle_ns, 3);
  EXPECT_EQ(w[1].inter_iteration_ns, 0);
  EXPECT_EQ(w[1].window_prep_idle_ns, 2);
  EXPECT_EQ(w[1].window_call_idle_ns, 3);
  EXPECT_EQ(w[1].gap_to_next_ns, 35 - 45);
  EXPECT_EQ(w[1].complete, true);
  EXPECT_EQ(w[1].last, false);

  EXPECT_EQ(w[2].iteration, 11);
  EXPECT_EQ(w[2].start_ns, 35);
  EXPECT_EQ(w[2].span_ns, 29);
  EXPECT_EQ(w[2].window_start_ns, 40);
  EXPECT_EQ(w[2].window_ns, 24);
  EXPECT_EQ(w[2].window_overlap_ns, 5);
  EXPECT_EQ(w[2].window_exposed_memcpy_ns, 2);
  EXPECT_EQ(w[2].window_idle_ns, 2);
  EXPECT_EQ(w[2].foreign_ns, 0);
  EXPECT_EQ(w[2].prep_ns, 3);  // gap [30, 40), launched at 33
  EXPECT_EQ(w[2].call_ns, 7);
  EXPECT_EQ(w[2].prep_idle_ns, 0);  // comm runs
  EXPECT_EQ(w[2].call_idle_ns, 0);
  EXPECT_EQ(w[2].inter_iteration_ns, 10);
  EXPECT_FALSE(w[2].gap_to_next_ns.applicable());
  EXPECT_EQ(w[2].last, true);

  EXPECT_EQ(w[3].scope, "tail");
  EXPECT_EQ(w[3].window_start_ns, 64);
  EXPECT_EQ(w[3].window_ns, 16);
  EXPECT_EQ(w[3].prep_ns, 6);  // gap [60, 70): launched at 66
  EXPECT_EQ(w[3].call_ns, 4);
  EXPECT_EQ(w[3].prep_idle_ns, 4);  // without the copy 62-64
  EXPECT_EQ(w[3].call_idle_ns, 4);
  EXPECT_EQ(w[3].window_prep_idle_ns, 2);  // [64, 66): [60, 62) lies in window 1
  EXPECT_EQ(w[3].window_call_idle_ns, 4);
  EXPECT_EQ(w[2].window_prep_idle_ns, 2);
  EXPECT_EQ(w[2].window_call_idle_ns, 0);
  EXPECT_EQ(w[3].inter_iteration_ns, 0);
  EXPECT_EQ(whole().inter_iteration_ns, 10);
  EXPECT_EQ(whole().span_ns, 80);
}

TEST_F(Windows, WorkOfAnotherIterationIsForeign) {
  hand_.mark(0);
  hand_.mark(1);
  add(0, 0, 10, GpuClass::gemm, 0);
  add(0, 30, 40, GpuClass::comm, 1);
  add(1, 20, 35, GpuClass::gemm, 15);
  add(0, 50, 60, GpuClass::gemm, 15);  // launched by 0, runs in the window of 1
  const std::vector<TimelineRow> w = rows();
  EXPECT_EQ(w[2].window_start_ns, 20);
  EXPECT_EQ(w[2].window_ns, 40);
  EXPECT_EQ(w[2].window_busy_ns, 30);
  EXPECT_EQ(w[2].foreign_ns, 15);  // 35-40 and 50-60
}

TEST_F(Windows, StartsNeverGoBack) {
  hand_.mark(0);
  hand_.mark(1);
  hand_.mark(2);
  add(0, 10, 20, GpuClass::gemm, 0);
  add(1, 40, 50, GpuClass::gemm, 0);
  add(2, 30, 60, GpuClass::gemm, 0);
  const std::vector<TimelineRow> w = rows();
  EXPECT_EQ(w[2].window_start_ns, 40);
  EXPECT_EQ(w[2].window_ns, 0);
  EXPECT_EQ(w[3].window_start_ns, 40);
  EXPECT_EQ(w[3].window_ns, 20);
}

TEST_F(Windows, WithoutComputationTheFirstWorkCounts) {
  hand_.mark(0);
  hand_.mark(1);
  add(0, 10, 20, GpuClass::comm, 0);
  add(1, 30, 40, GpuClass::comm, 0);
  add(1, 35, 50, GpuClass::gemm, 0);
  const std::vector<TimelineRow> w = rows();
  EXPECT_EQ(w[1].window_start_ns, 10);
  EXPECT_EQ(w[2].window_start_ns, 35);
}

TEST_F(Windows, EmptyIterationsTakeNoTime) {
  for (int k = 0; k < 4; k++) hand_.mark(kNoNumber);
  add(1, 10, 20, GpuClass::gemm, 0);
  add(2, 20, 30, GpuClass::gemm, 0);
  add(kTailIteration, 40, 50, GpuClass::gemm, 0);
  const std::vector<TimelineRow> w = rows();
  ASSERT_EQ(w.size(), 6u);
  EXPECT_EQ(w[1].window_start_ns, 10);
  EXPECT_EQ(w[1].window_ns, 0);
  EXPECT_EQ(w[1].start_ns.reason(), Reason::no_records);
  EXPECT_EQ(w[1].iteration.reason(), Reason::no_mark);
  EXPECT_EQ(w[1].gap_to_next_ns.reason(), Reason::no_records);
  EXPECT_EQ(w[1].last, false);
  EXPECT_EQ(w[2].window_ns, 10);
  EXPECT_EQ(w[3].window_ns, 10);
  EXPECT_EQ(w[3].last, true);
  EXPECT_EQ(w[4].window_start_ns, 30);
  EXPECT_EQ(w[4].window_ns, 0);
  EXPECT_EQ(w[4].last, true);
  EXPECT_EQ(w[5].window_start_ns, 30);
  EXPECT_EQ(w[5].window_ns, 20);
}

TEST_F(Windows, WorkWithoutLaunchRecordHasARowOfItsOwn) {
  hand_.mark(0);
  hand_.add({.start = 0, .end = 10, .launched = 0});
  hand_.add({.start = 20, .end = 30});
  const std::vector<TimelineRow> w = rows();
  ASSERT_EQ(w.size(), 4u);
  EXPECT_EQ(w[3].scope, "unlabelled");
  EXPECT_EQ(w[3].compute_ns, 10);
  EXPECT_EQ(w[3].num_no_launch, 1);
  EXPECT_FALSE(w[3].window_ns.applicable());
  EXPECT_FALSE(w[3].foreign_ns.applicable());
  EXPECT_EQ(w[1].num_no_launch, 0);
  EXPECT_EQ(w[2].window_ns, 20);
}

TEST_F(Windows, NoIterationHasWork) {
  hand_.mark(0);
  add(kHeadIteration, 0, 10, GpuClass::gemm, 0);
  add(kTailIteration, 30, 40, GpuClass::gemm, 20);
  const std::vector<TimelineRow> w = rows();
  EXPECT_EQ(w[0].window_ns, 10);
  EXPECT_EQ(w[1].window_start_ns, 10);
  EXPECT_EQ(w[1].window_ns, 0);
  EXPECT_EQ(w[1].last, true);
  EXPECT_EQ(w[2].window_ns, 30);
  EXPECT_EQ(w[2].inter_iteration_ns, 0);
}

TEST_F(Windows, Complete) {
  hand_.mark(0);
  hand_.mark(1).closed = false;
  IterationMarks::Mark& lossy = hand_.mark(2);
  lossy.num_launches = 100;
  lossy.num_unanswered = 2;
  IterationMarks::Mark& good = hand_.mark(3);
  good.num_launches = 100;
  good.num_unanswered = 1;
  for (int k = 0; k < 4; k++) add(k, k * 1000, k * 1000 + 1, GpuClass::gemm, 0);
  for (int i = 0; i < 98; i++) add(0, 10 + i, 11 + i, GpuClass::gemm, 0);
  hand_.add({.start = 500, .end = 501});
  EXPECT_EQ(rows()[1].complete, true);  // 99 of 100 launched
  EXPECT_EQ(rows()[2].complete, false);
  EXPECT_EQ(rows()[3].complete, false);
  EXPECT_EQ(rows()[4].complete, true);
  hand_.add({.start = 501, .end = 502});
  EXPECT_EQ(rows()[1].complete, false);
}

}  // namespace
}  // namespace chopper
