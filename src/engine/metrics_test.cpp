// SPDX-License-Identifier: Apache-2.0
#include "engine/metrics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace chopper {
namespace {

const MetricInfo* find(const std::vector<MetricInfo>& metrics, std::string_view id) {
  const auto at = std::find_if(metrics.begin(), metrics.end(), [&](const MetricInfo& m) { return m.id == id; });
  return at == metrics.end() ? nullptr : &*at;
}

TEST(metrics_list, holds_metrics_of_counters_and_of_traces) {
  const Result<std::vector<MetricInfo>> metrics = list_metrics({}, "");
  ASSERT_TRUE(metrics.ok());
  const MetricInfo* of_counters = find(metrics.value(), "matrix_utilisation");
  const MetricInfo* of_traces = find(metrics.value(), "exposed_comm_ns");
  ASSERT_TRUE(of_counters != nullptr && of_traces != nullptr);
  EXPECT_EQ(of_counters->where, "gfx90a gfx942 gfx950, nvidia");
  EXPECT_EQ(of_counters->grain, "kernel");
  EXPECT_EQ(of_traces->table, "timeline");
  EXPECT_EQ(of_traces->unit, "ns");
  EXPECT_EQ(of_traces->title, "|COMM \\ COMP|");
}

TEST(metrics_list, no_metric_of_traces_is_there_twice) {
  std::set<std::pair<std::string, std::string>> seen;
  for (const MetricInfo& metric : list_trace_metrics())
    EXPECT_TRUE(seen.emplace(metric.table, metric.id).second) << metric.id;
}

TEST(metrics_list, keeps_what_one_gpu_has) {
  const Result<std::vector<MetricInfo>> metrics = list_metrics({}, "h100_sxm");
  ASSERT_TRUE(metrics.ok());
  EXPECT_EQ(find(metrics.value(), "lds_bytes"), nullptr);
  const MetricInfo* clock = find(metrics.value(), "pass_clock");
  ASSERT_NE(clock, nullptr);
  ASSERT_EQ(clock->on.size(), 1u);
  EXPECT_EQ(clock->on[0].needs, (std::vector<std::string>{"sm__cycles_elapsed.max", "gpu__time_duration.sum"}));
}

TEST(metrics_list, counters_have_their_block) {
  const Result<std::vector<CounterInfo>> counters = list_counters({}, "mi300x");
  ASSERT_TRUE(counters.ok());
  const auto hit = std::find_if(counters.value().begin(), counters.value().end(),
                                [](const CounterInfo& counter) { return counter.name == "TCC_HIT"; });
  ASSERT_NE(hit, counters.value().end());
  EXPECT_EQ(hit->block, "TCC");
  EXPECT_EQ(hit->block_limit, 4);
}

TEST(metrics_plan, instances_follow_the_dies_of_the_gpu) {
  // TCC: 16 a die and counter. MI300X has 8 dies: 520 with GRBM, above 512; of an architecture alone the number of dies
  // is not known.
  const std::vector<std::string> names = {"TCC_HIT", "TCC_MISS", "TCC_REQ", "TCC_READ"};
  const Result<PlanText> device = plan_passes_text({"mi300x", names, "", {}});
  const Result<PlanText> architecture = plan_passes_text({"gfx942", names, "", {}});
  ASSERT_TRUE(device.ok() && architecture.ok());
  EXPECT_EQ(device.value().notes.size(), 1u);
  EXPECT_TRUE(architecture.value().notes.empty());
}

}  // namespace
}  // namespace chopper
