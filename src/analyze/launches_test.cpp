// SPDX-License-Identifier: Apache-2.0
#include "analyze/launches.h"

#include <gtest/gtest.h>

#include "support/hand_trace.h"

namespace chopper {
namespace {

TEST(Launches, DelaysAndQueueByHand) {
  test::HandTrace hand;
  hand.mark(0);
  const auto add = [&](std::int64_t launched, std::int64_t start, std::int64_t end, Phase phase) {
    hand.add({.start = start, .end = end, .launched = launched, .phase = phase});
  };
  add(0, 10, 20, Phase::forward);    // nothing waits at 0
  add(1, 20, 30, Phase::forward);    // the first
  add(2, 30, 40, Phase::forward);    // two
  add(20, 50, 60, Phase::forward);   // the third: the second starts just now
  add(75, 70, 80, Phase::backward);  // started before its call: never waits, and nothing else does
  hand.add({.start = 90, .end = 95});
  const DeviceWork work = prepare_device(hand.trace, hand.labels, rows_by_device(hand.trace.gpu_work).begin()->second);
  GpuSummary summary;
  const Selection everything;
  summarise_launches(hand.trace, hand.labels, work, SelectedRows(everything, hand.labels), summary);
  ASSERT_EQ(summary.launches.size(), 2u);
  const LaunchSummary& forward = summary.launches.at(Phase::forward);
  EXPECT_EQ(forward.delay_ns.count(), 4u);
  EXPECT_EQ(forward.delay_ns.min(), 10);
  EXPECT_EQ(forward.delay_ns.max(), 30);
  EXPECT_EQ(forward.delay_ns.sum(), 10 + 19 + 28 + 30);
  EXPECT_EQ(forward.queue.sum(), 0 + 1 + 2 + 1);
  EXPECT_EQ(forward.queue.max(), 2);
  EXPECT_EQ(forward.num_negative_delay, 0);
  EXPECT_EQ(forward.call_ns, 10);  // 40 to 50, launched long before
  const LaunchSummary& backward = summary.launches.at(Phase::backward);
  EXPECT_EQ(backward.num_negative_delay, 1);
  EXPECT_EQ(backward.delay_ns.max(), 0);
  EXPECT_EQ(backward.queue.max(), 0);
  EXPECT_EQ(backward.prep_ns, 10);  // 60 to 70
}

}  // namespace
}  // namespace chopper
