// SPDX-License-Identifier: Apache-2.0
#include "attribute/counted_launches.h"

#include <gtest/gtest.h>

namespace chopper {
namespace {

struct Call {
  std::string name;
  std::int64_t start_ns, duration_ns, correlation;
  std::uint32_t thread = 0;
};

TraceTables make(const std::vector<Call>& calls, std::size_t num_ranges) {
  TraceTables trace;
  trace.threads = {{"9", "1"}, {"9", "2"}, {"10", "1"}};
  for (const Call& call : calls) {
    trace.launches.name.push_back(trace.strings.intern(call.name));
    trace.launches.kind.push_back(CallKind::runtime);
    trace.launches.start_ns.push_back(call.start_ns);
    trace.launches.duration_ns.push_back(call.duration_ns);
    trace.launches.thread.push_back(ThreadId{call.thread});
    trace.launches.correlation.push_back(call.correlation);
    trace.launches.offset.push_back(0);
  }
  CounterPass& pass = trace.counters.emplace();
  pass.devices.push_back({AgentForm::gpu, 0, "GPU 0"});
  for_each_column(pass.dispatches, [&](auto& column) { column.resize(num_ranges); });
  return trace;
}

TEST(CountedLaunches, AreTheLaunchesInOrderOfTime) {
  const CountedLaunches found = launches_of_ranges(make({{"cudaLaunchKernel", 30, 5, 3},
                                                         {"cudaLaunchKernel", 10, 5, 1},
                                                         {"cuLaunchKernel", 12, 1, 1},  // inside the one before
                                                         {"cudaMemcpyAsync", 18, 5, 9},
                                                         {"cudaLaunchKernelExC", 20, 5, 2, 1}},
                                                        3));
  EXPECT_EQ(found.unknown, "");
  EXPECT_EQ(found.launch, (std::vector<RowId>{RowId{1}, RowId{4}, RowId{0}}));
}

TEST(CountedLaunches, AreUnknownWhereThereIsMoreThanOneWay) {
  const Call first{"cudaLaunchKernel", 10, 5, 1}, second{"cudaLaunchKernel", 20, 5, 2};
  EXPECT_EQ(launches_of_ranges(make({first, second}, 1)).unknown, "ranges: 1, kernel launches: 2");
  EXPECT_EQ(launches_of_ranges(make({first, {"cudaGraphLaunch", 20, 5, 2}}, 2)).unknown,
            "a graph launch has several kernels");
  EXPECT_EQ(launches_of_ranges(make({first, {"cudaLaunchKernel", 12, 5, 2, 1}}, 2)).unknown,
            "launches of several threads at the same time");
  EXPECT_EQ(launches_of_ranges(make({first, {"cudaLaunchKernel", 20, 5, 2, 2}}, 2)).unknown,
            "launches of several processes");
  TraceTables gpus = make({first, second}, 2);
  gpus.counters->devices.push_back({AgentForm::gpu, 1, "GPU 1"});
  const CountedLaunches found = launches_of_ranges(gpus);
  EXPECT_EQ(found.unknown, "ranges of several gpus: a launch does not say which it is on");
  EXPECT_TRUE(found.launch.empty());
}

TEST(CountedLaunches, ATraceWithoutCountersHasNone) {
  TraceTables trace = make({{"cudaLaunchKernel", 10, 5, 1}}, 1);
  trace.counters.reset();
  EXPECT_TRUE(launches_of_ranges(trace).launch.empty());
}

}  // namespace
}  // namespace chopper
