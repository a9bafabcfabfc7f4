// SPDX-License-Identifier: Apache-2.0
#include "analyze/host_blockers.h"

#include <gtest/gtest.h>

#include "support/hand_trace.h"

namespace chopper {
namespace {

using Names = std::pair<std::string, std::string>;

std::map<Names, BlockerSummary> charge(const test::HandTrace& hand, const Selection& selection = {}) {
  const Result<HostBlockerRules> rules = embedded_host_blocker_rules();
  EXPECT_TRUE(rules.ok());
  const HostBlockers blockers = find_host_blockers(hand.trace, hand.labels, rules.value());
  DeviceWork work = prepare_device(hand.trace, hand.labels, rows_by_device(hand.trace.gpu_work).begin()->second);
  work.windows.in_steps = steps_of(work.windows, hand.labels.iterations, selection);
  GpuSummary summary;
  charge_host_blockers(hand.trace, hand.labels, work, blockers, SelectedRows(selection, hand.labels), summary);
  return summary.blockers;
}

void expect_blocker(const std::map<Names, BlockerSummary>& blockers, const Names& names, std::int64_t num,
                    std::int64_t duration_ns, std::int64_t idle_ns) {
  ASSERT_TRUE(blockers.contains(names)) << names.first << " " << names.second;
  EXPECT_EQ(blockers.at(names).num, num) << names.second;
  EXPECT_EQ(blockers.at(names).duration_ns, duration_ns) << names.second;
  EXPECT_EQ(blockers.at(names).idle_ns, idle_ns) << names.second;
}

// Compute ends at 100; the next kernel is launched at 200 and starts at 210. Copies keep the device busy from 110 to
// 120.
test::HandTrace one_gap() {
  test::HandTrace hand;
  hand.mark(0);
  hand.add({.start = 0, .end = 100, .launched = 0});
  hand.add({.start = 110, .end = 120, .gpu_class = GpuClass::memcpy, .launched = 0});
  hand.add({.start = 210, .end = 220, .launched = 200});
  return hand;
}

TEST(HostBlockers, EachIdleNanosecondGoesToTheInnermost) {
  test::HandTrace hand = one_gap();
  hand.add_range("aten::item", 90, 150);
  hand.add_range("aten::_local_scalar_dense", 95, 145);
  hand.add_call("cudaStreamSynchronize", 105, 140);
  hand.add_range("aten::add", 160, 170);
  const auto blockers = charge(hand);
  EXPECT_EQ(blockers.size(), 3u);
  expect_blocker(blockers, {"synchronise", "cudaStreamSynchronize"}, 1, 35, 5 + 20);  // 105-110 and 120-140
  expect_blocker(blockers, {"item", "aten::_local_scalar_dense"}, 1, 50, 5 + 5);      // 100-105 and 140-145
  expect_blocker(blockers, {"item", "aten::item"}, 1, 60, 5);                         // 145-150
}

TEST(HostBlockers, OnlyTheThreadOfTheLaunchIsCharged) {
  test::HandTrace hand = one_gap();
  hand.add_call("hipDeviceSynchronize", 100, 200, 1);
  EXPECT_TRUE(charge(hand).empty());  // thread 1 launches nothing here
  hand.add({.start = 205, .end = 206, .gpu_class = GpuClass::memset, .launched = 201, .thread = 1});
  expect_blocker(charge(hand), {"synchronise", "hipDeviceSynchronize"}, 1, 100, 0);
}

TEST(HostBlockers, TimeAfterTheLaunchIsNotCharged) {
  test::HandTrace hand = one_gap();
  hand.add_call("cudaMalloc", 190, 209);
  hand.add_range("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 150, 180);
  const auto blockers = charge(hand);
  expect_blocker(blockers, {"allocator", "cudaMalloc"}, 1, 19, 10);
  expect_blocker(blockers, {"data_loading", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"}, 1, 30, 30);
}

TEST(HostBlockers, CopiesToTheHostBlockWhenTheCallWaitsForThem) {
  test::HandTrace hand = one_gap();
  hand.add({.start = 125,
            .end = 130,
            .gpu_class = GpuClass::memcpy,
            .launched = 121,
            .name = "Memcpy DtoH (Device -> Pageable)",
            .call = "hipMemcpyWithStream",
            .call_duration = 11});
  hand.add({.start = 135,
            .end = 140,
            .gpu_class = GpuClass::memcpy,
            .launched = 133,
            .name = "Memcpy DtoH (Device -> Pinned)",
            .call = "cudaMemcpyAsync",
            .call_duration = 2});
  const auto blockers = charge(hand);
  EXPECT_EQ(blockers.size(), 1u);
  expect_blocker(blockers, {"copy_to_host", "hipMemcpyWithStream"}, 1, 11, 4 + 2);  // 121-132 without the copy
}

TEST(HostBlockers, RepeatedAndOverlappingOnes) {
  test::HandTrace hand = one_gap();
  hand.add_range("gc", 130, 150);
  hand.add_range("gc", 140, 160);  // not nested: the later one is the inner one
  hand.add_range("gc.collect", 145, 200);
  const auto blockers = charge(hand);
  expect_blocker(blockers, {"garbage_collection", "gc"}, 2, 40, 15);
  expect_blocker(blockers, {"garbage_collection", "gc.collect"}, 1, 55, 55);
}

// Three iterations of 100 ns; the host synchronises for 30 ns in front of each kernel but the first.
TEST(HostBlockers, StepIdleIsOfTheWindowItLiesIn) {
  test::HandTrace hand;
  for (std::int32_t i = 0; i < 3; i++) {
    hand.mark(i);
    const std::int64_t start = 100 * i;
    if (i > 0) hand.add_call("cudaDeviceSynchronize", start - 40, start - 10);
    hand.add({.start = start,
              .end = start + 50,
              .launched = start - 5,
              .iteration = i,
              .operation = i == 1 ? "mlp_up" : "lp"});
  }
  const Names names{"synchronise", "cudaDeviceSynchronize"};
  EXPECT_EQ(charge(hand).at(names).idle_ns, 60);
  EXPECT_EQ(charge(hand).at(names).step_idle_ns, 60);  // in windows 0 and 1, in front of kernels of 1 and 2
  Selection selection;
  selection.operations = {"mlp_up"};
  EXPECT_EQ(charge(hand, selection).at(names).step_idle_ns, 30);
  selection = {};
  selection.iterations = NumberRange{0, 0};
  EXPECT_EQ(charge(hand, selection).at(names).step_idle_ns, 30);  // in window 0, in front of the kernel of 1
  selection.operations = {"lp"};
  EXPECT_EQ(charge(hand, selection).at(names).step_idle_ns, 0);
  selection = {};
  hand.labels.iterations.marks[0].closed = false;  // window 1 alone is complete and not the last
  EXPECT_EQ(charge(hand).at(names).step_idle_ns, 30);
}

}  // namespace
}  // namespace chopper
