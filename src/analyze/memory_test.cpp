// SPDX-License-Identifier: Apache-2.0
#include "analyze/memory.h"

#include <gtest/gtest.h>

namespace chopper {
namespace {

void add(TraceTables& trace, std::int64_t time, std::int32_t device, std::int64_t allocated, std::int64_t reserved) {
  MemoryEventTable& t = trace.memory;
  t.time_ns.push_back(time);
  t.address.push_back(1);
  t.bytes.push_back(1);
  t.allocated_bytes.push_back(allocated);
  t.reserved_bytes.push_back(reserved);
  t.device.push_back(device);
  t.thread.push_back(ThreadId{0});
  t.offset.push_back(0);
}

TEST(Memory, PeaksOfTheTraceAndOfIterations) {
  TraceTables trace;
  IterationMarks iterations;
  iterations.marks.resize(2);
  iterations.marks[0].start_ns = 100;
  iterations.marks[0].end_ns = 190;
  iterations.marks[0].number = 7;
  iterations.marks[1].start_ns = 200;
  iterations.marks[1].end_ns = 300;
  iterations.marks[1].number = 8;
  add(trace, 50, 0, 10, 100);  // before the first mark
  add(trace, 110, 0, 30, 100);
  add(trace, 195, 0, 40, 120);  // behind the end of the mark, before the next one
  add(trace, 150, 0, 5, 100);
  add(trace, 210, 1, 1, kNoNumber);
  add(trace, 300, 0, 90, 200);  // behind the last
  const std::vector<MemorySummary> s = summarise_memory(trace, iterations);
  ASSERT_EQ(s.size(), 4u);
  EXPECT_EQ(s[0].device, 0);
  EXPECT_EQ(s[0].ordinal, -1);
  EXPECT_EQ(s[0].num_events, 5);
  EXPECT_EQ(s[0].peak_allocated, 90);
  EXPECT_EQ(s[0].peak_reserved, 200);
  EXPECT_EQ(s[0].lowest_allocated, 5);
  EXPECT_EQ(s[1].ordinal, 0);
  EXPECT_EQ(s[1].number, 7);
  EXPECT_EQ(s[1].num_events, 3);
  EXPECT_EQ(s[1].peak_allocated, 40);
  EXPECT_EQ(s[1].peak_reserved, 120);
  EXPECT_EQ(s[2].device, 1);
  EXPECT_EQ(s[2].ordinal, -1);
  EXPECT_EQ(s[3].ordinal, 1);
  EXPECT_EQ(s[3].peak_allocated, 1);
  EXPECT_EQ(s[3].peak_reserved, kNoNumber);
}

TEST(Memory, DevicesAreThoseOfGpuWork) {
  const auto devices_of = [](const std::vector<std::int32_t>& gpus, const std::vector<std::int32_t>& allocators) {
    TraceTables trace;
    trace.gpu_work.device = gpus;
    for (const std::int32_t device : allocators) add(trace, 10, device, 1, 1);
    std::vector<std::int32_t> devices;
    for (const MemorySummary& summary : summarise_memory(trace, {})) devices.push_back(summary.device);
    return devices;
  };
  using List = std::vector<std::int32_t>;
  EXPECT_EQ(devices_of({2, 2}, {kUnknownDevice, 0}), (List{kUnknownDevice, 2}));
  EXPECT_EQ(devices_of({5, 4}, {1, 0}), (List{4, 5}));
  EXPECT_EQ(devices_of({1, 0}, {1}), (List{1}));
  EXPECT_EQ(devices_of({5, 4}, {0}), (List{0}));  // which of the two is not known
  EXPECT_EQ(devices_of({}, {0}), (List{0}));
}

TEST(Memory, WithoutEventsThereIsNothing) { EXPECT_TRUE(summarise_memory({}, {}).empty()); }

}  // namespace
}  // namespace chopper
