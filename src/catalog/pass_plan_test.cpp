// SPDX-License-Identifier: Apache-2.0
#include "catalog/pass_plan.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "catalog/pass_plan_text.h"

namespace chopper {
namespace {

const MetricCatalog& shipped() {
  static const MetricCatalog catalog = [] {
    Result<MetricCatalog> loaded = load_metrics({});
    EXPECT_TRUE(loaded.ok());
    return loaded.ok() ? std::move(loaded).value() : MetricCatalog{};
  }();
  return catalog;
}

MetricSet set_of(std::string_view architecture) {
  Result<MetricSet> set = MetricSet::make(shipped(), architecture, GpuFacts{});
  EXPECT_TRUE(set.ok());
  return std::move(set).value();
}

PassPlan plan_of(std::string_view architecture, const std::vector<std::string>& wanted, std::int64_t num_xccs = 8) {
  const MetricSet set = set_of(architecture);
  Result<PassPlan> plan = plan_passes(shipped(), set, wanted, num_xccs);
  EXPECT_TRUE(plan.ok()) << (plan.ok() ? "" : plan.error().text());
  return plan.ok() ? std::move(plan).value() : PassPlan{};
}

void expect_within_limits(const PassPlan& plan) {
  for (const PlannedPass& pass : plan.passes) {
    std::map<std::string, std::int64_t> used;
    for (const std::string& counter : pass.counters) {
      const CounterSpec* spec = shipped().counters.find(counter, plan.architecture);
      ASSERT_NE(spec, nullptr) << counter;
      used[spec->block]++;
    }
    for (const auto& [block, number] : used)
      EXPECT_LE(number, shipped().counters.find_block(block, plan.architecture)->limit) << block;
    EXPECT_EQ(std::count(pass.counters.begin(), pass.counters.end(), plan.check_counter), 1);
  }
}

TEST(pass_plan, the_decomposition_takes_two_passes_on_mi300x) {
  const MetricSet set = set_of("gfx942");
  const PassPlan plan = plan_of("gfx942", decomposition_metrics(set));
  // Reads need three counters of TCC and writes two, of four.
  ASSERT_EQ(plan.passes.size(), 2u);
  EXPECT_EQ(plan.lower_bound, 2u);
  EXPECT_TRUE(plan.spread.empty());
  expect_within_limits(plan);
}

TEST(pass_plan, a_metric_larger_than_a_pass_is_spread_over_its_parts) {
  const PassPlan plan = plan_of("gfx942", {"executed_bytes"});
  EXPECT_EQ(plan.spread, std::vector<std::string>{"executed_bytes"});
  ASSERT_EQ(plan.passes.size(), 2u);
  const std::set<std::vector<std::string>> passes = {plan.passes[0].counters, plan.passes[1].counters};
  EXPECT_EQ(passes,
            (std::set<std::vector<std::string>>{{"TCC_BUBBLE", "TCC_EA0_RDREQ", "TCC_EA0_RDREQ_32B", "GRBM_GUI_ACTIVE"},
                                                {"TCC_EA0_WRREQ", "TCC_EA0_WRREQ_64B", "GRBM_GUI_ACTIVE"}}));
}

TEST(pass_plan, counters_are_wanted_by_name) {
  const PassPlan plan = plan_of("gfx942", {"SQ_WAVES", "TCC_HIT", "SQ_UNHEARD_OF"});
  ASSERT_EQ(plan.passes.size(), 1u);
  EXPECT_EQ(plan.passes[0].counters,
            (std::vector<std::string>{"SQ_UNHEARD_OF", "SQ_WAVES", "TCC_HIT", "GRBM_GUI_ACTIVE"}));
  EXPECT_EQ(plan.not_known, std::vector<std::string>{"SQ_UNHEARD_OF"});
}

TEST(pass_plan, instances_beyond_what_rocm_6_2_keeps_are_counted) {
  // 8 XCCs: TCC 128 a counter, GRBM 8. Three: 392; four: 520, above 512.
  EXPECT_EQ(plan_of("gfx942", {"TCC_HIT", "TCC_MISS", "TCC_REQ"}).passes[0].num_instances, 392);
  EXPECT_EQ(plan_of("gfx942", {"TCC_HIT", "TCC_MISS", "TCC_REQ", "TCC_READ"}).passes[0].num_instances, 520);
}

TEST(pass_plan, unknown_names_and_metrics_of_other_architectures_are_refused) {
  const MetricSet set = set_of("gfx908");
  const auto message = [&](const std::string& name) {
    const std::vector<std::string> wanted = {name};
    const Result<PassPlan> plan = plan_passes(shipped(), set, wanted, 1);
    return plan.ok() ? "" : plan.error().message;
  };
  EXPECT_EQ(message("nonsense"), "neither a metric nor a counter of gfx908: nonsense");
  EXPECT_EQ(message("XYZ_WAVES"), "neither a metric nor a counter of gfx908: XYZ_WAVES");
  EXPECT_EQ(message("executed_flops"), "executed_flops is not defined for gfx908");
}

TEST(pass_plan, random_sets_stay_within_the_limits_of_every_block) {
  std::mt19937_64 random(3);
  for (const std::string& architecture : shipped().counters.architectures) {
    if (vendor_of_architecture(architecture) != "amd") continue;
    const MetricSet set = set_of(architecture);
    std::vector<std::string> names;
    for (const MetricSet::Metric& metric : set.metrics())
      if (!metric.not_defined) names.push_back(metric.id);
    for (const CounterSpec& counter : shipped().counters.counters)
      if (shipped().counters.find(counter.name, architecture) == &counter) names.push_back(counter.name);
    for (int round = 0; round < 30; round++) {
      std::vector<std::string> wanted;
      for (std::size_t i = 0, number = 1 + random() % 25; i < number; i++)
        wanted.push_back(names[random() % names.size()]);
      const PassPlan plan = plan_of(architecture, wanted);
      expect_within_limits(plan);
      EXPECT_LE(plan.lower_bound, plan.passes.size());
      // Every counter that is wanted by name is there, every metric is in a pass or spread.
      for (const std::string& name : wanted) {
        const bool somewhere = std::any_of(plan.passes.begin(), plan.passes.end(), [&](const PlannedPass& pass) {
          return std::find(pass.metrics.begin(), pass.metrics.end(), name) != pass.metrics.end();
        });
        const bool spread = std::find(plan.spread.begin(), plan.spread.end(), name) != plan.spread.end();
        EXPECT_TRUE(somewhere || spread) << architecture << " " << name;
      }
    }
  }
}

TEST(pass_plan, nsight_compute_takes_all_in_one_command) {
  const Result<ClassRules> rules = embedded_class_rules();
  ASSERT_TRUE(rules.ok());
  const PassPlan plan = plan_of("sm_90", {"pass_clock", "executed_flops_bf16"}, 1);
  const std::string text = ncu_command(plan, rules.value(), "title");
  EXPECT_NE(
      text.find("--metrics gpu__time_duration.sum,sm__cycles_elapsed.max,sm__ops_path_tensor_src_bf16_dst_fp32.sum "),
      std::string::npos)
      << text;
}

}  // namespace
}  // namespace chopper
