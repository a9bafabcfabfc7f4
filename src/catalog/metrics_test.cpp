// SPDX-License-Identifier: Apache-2.0
#include "catalog/metrics.h"

#include <gtest/gtest.h>

#include <set>

#include "catalog/metric_set.h"

namespace chopper {
namespace {

std::string error_of(const std::string& text) {
  const std::vector<MetricFile> files = {{"mine.toml", text}};
  const Result<MetricCatalog> loaded = load_metrics(files);
  return loaded.ok() ? "" : loaded.error().where + ": " + loaded.error().message;
}

std::string metric(const std::string& unit, const std::string& expression) {
  return "[[metric]]\nid = \"mine\"\nunit = \"" + unit + "\"\nroll_up = \"sum\"\n[[metric.variant]]\n" +
         "architectures = [\"gfx942\"]\nexpression = \"" + expression + "\"\n";
}

TEST(metrics, shipped_metrics_have_titles_sources_and_distinct_ids) {
  const Result<MetricCatalog> loaded = load_metrics({});
  ASSERT_TRUE(loaded.ok()) << loaded.error().text();
  std::set<std::string> ids;
  for (const MetricSpec& spec : loaded.value().metrics) {
    EXPECT_TRUE(ids.insert(spec.id).second) << spec.id;
    EXPECT_NE(spec.title, spec.id);
    for (const MetricVariant& variant : spec.variants) {
      EXPECT_FALSE(variant.source.empty()) << spec.id;
      EXPECT_TRUE(variant.alternatives.size() == 1 || !variant.tells.empty()) << spec.id;
    }
  }
}

TEST(metrics, the_decomposition_finds_what_it_needs) {
  const Result<MetricCatalog> loaded = load_metrics({});
  ASSERT_TRUE(loaded.ok());
  for (const char* id : {"gpu_cycles",
                         "pass_duration",
                         "pass_clock",
                         "executed_flops",
                         "executed_flops_bf16",
                         "executed_flops_f16",
                         "executed_flops_fp8",
                         "executed_flops_f32",
                         "executed_flops_f64",
                         "executed_flops_i8",
                         "matrix_busy_cycles",
                         "matrix_cycles",
                         "matrix_utilisation",
                         "valu_utilisation",
                         "valu_flops",
                         "occupancy",
                         "l2_hit_rate",
                         "l2_bytes",
                         "l2_bandwidth",
                         "executed_bytes",
                         "executed_read_bytes",
                         "executed_write_bytes",
                         "memory_bandwidth",
                         "lds_bank_conflict_rate",
                         "gpu_busy"}) {
    const MetricSpec* spec = loaded.value().find(id);
    ASSERT_NE(spec, nullptr) << id;
    EXPECT_NE(spec->find_variant("gfx942"), nullptr) << id;
  }
}

TEST(metrics, units_are_checked_with_file_and_line) {
  EXPECT_EQ(error_of(metric("cycles", "sum(GRBM_GUI_ACTIVE) + executed_bytes")),
            "mine.toml, line 5: metric mine for gfx942: adds cycles and bytes at column 22 of: sum(GRBM_GUI_ACTIVE) + "
            "executed_bytes");
  EXPECT_EQ(error_of(metric("cycles", "sum(SQ_BUSY_CYCLES) - sum(SQ_WAVE_CYCLES)")),
            "mine.toml, line 5: metric mine for gfx942: subtracts cycles and quad_cycles at column 21 of: "
            "sum(SQ_BUSY_CYCLES) - sum(SQ_WAVE_CYCLES)");
  EXPECT_EQ(error_of(metric("bytes", "sum(TCC_REQ)")),
            "mine.toml, line 5: metric mine for gfx942: its unit is bytes (bytes), its expression gives requests");
  EXPECT_EQ(error_of(metric("requests", "max(sum(TCC_REQ), 1)")),
            "mine.toml, line 5: metric mine for gfx942: compares requests and a pure number at column 1 of: "
            "max(sum(TCC_REQ), 1)");
}

TEST(metrics, names_are_checked) {
  EXPECT_EQ(
      error_of(metric("requests", "sum(TCC_RQ)")),
      "mine.toml, line 5: metric mine for gfx942: unknown counter 'TCC_RQ' of gfx942; a [[counter]] tells its unit");
  EXPECT_EQ(error_of(metric("requests", "tcc")),
            "mine.toml, line 5: metric mine for gfx942: unknown name 'tcc': no metric, no fact, no counter of gfx942");
  EXPECT_EQ(
      error_of(metric("requests", "TCC_REQ")),
      "mine.toml, line 5: metric mine for gfx942: counter 'TCC_REQ' has instances: say sum(TCC_REQ) or max(TCC_REQ)");
  EXPECT_EQ(error_of(metric("cycles", "mine")),
            "mine.toml, line 5: metric mine for gfx942: metric mine is computed from itself");
}

TEST(metrics, chains_of_metrics_end) {
  const auto chain = [](int length) {
    std::string text;
    for (int i = 0; i < length; i++) {
      text += "[[metric]]\nid = \"m" + std::to_string(i) + "\"\nunit = \"ns\"\nroll_up = \"sum\"\n[[metric.variant]]\n";
      text += "expression = \"" + (i + 1 < length ? "m" + std::to_string(i + 1) : std::string("duration_ns")) + "\"\n";
    }
    return text;
  };
  EXPECT_EQ(error_of(chain(60)), "");
  EXPECT_EQ(error_of(chain(2000)),
            "mine.toml, line 5: metric m0 for gfx908: more than 64 metrics, each computed from the next");
}

TEST(metrics, forms_are_checked) {
  EXPECT_EQ(error_of("metric = 1"), "mine.toml, line 1: not a list of tables: metric");
  EXPECT_EQ(error_of("x = 1"), "mine.toml, line 1: unknown key x");
  EXPECT_EQ(error_of("[[metric]]\nid = \"A\""), "mine.toml, line 1: an id is of a-z, 0-9 and _: A");
  EXPECT_EQ(error_of("[[metric]]\nid = \"duration_ns\"\nunit = \"ns\""),
            "mine.toml, line 1: this id is the name of a fact: duration_ns");
  EXPECT_EQ(error_of("[[metric]]\nid = \"a\"\nunit = \"ns\"\nroll_up = \"mean\""),
            "mine.toml, line 4: roll_up is none of sum, ratio_of_sums, maximum: mean");
  EXPECT_EQ(error_of("[[metric]]\nid = \"a\"\nunit = \"ns\"\nroll_up = \"sum\""),
            "mine.toml, line 1: a metric needs a [[metric.variant]]: a");
  EXPECT_EQ(error_of("[[metric]]\nid = \"a\"\nunit = \"ns\"\nroll_up = \"sum\"\n[[metric.variant]]\nnumerator = \"1\""),
            "mine.toml, line 5: only a ratio of sums has a numerator and a denominator, others an expression");
  EXPECT_EQ(error_of(metric("ns", "1 +")), "mine.toml, line 7: ends where a value is expected at column 4 of: 1 +");
  EXPECT_EQ(error_of("[[counter]]\nname = \"A\"\narchitectures = [\"gfx942\"]\nunit = \"hours\"").substr(0, 40),
            "mine.toml, line 1: unknown unit 'hours':");
}

TEST(metrics, a_user_file_adds_counters_and_metrics) {
  const std::vector<MetricFile> files = {
      {"mine.toml",
       "[[counter]]\nname = \"SQ_NEW\"\narchitectures = [\"gfx942\"]\nblock = \"SQ\"\nunit = \"cycles\"\n" +
           metric("cycles", "2 * sum(SQ_NEW)")}};
  const Result<MetricCatalog> loaded = load_metrics(files);
  ASSERT_TRUE(loaded.ok()) << loaded.error().text();
  const Result<MetricSet> set = MetricSet::make(loaded.value(), "gfx942", GpuFacts{});
  ASSERT_TRUE(set.ok());
  const std::vector<std::string_view> names = {"SQ_NEW"};
  const std::vector<double> values = {21};
  EXPECT_DOUBLE_EQ(PassMetrics(set.value(), names).evaluate(set.value().index_of("mine"), {values, {}}).value, 42);
}

TEST(metrics, a_user_file_overrides_for_the_architectures_it_names) {
  const std::vector<MetricFile> files = {
      {"mine.toml",
       "[[metric]]\nid = \"l2_bytes\"\nunit = \"bytes\"\nroll_up = \"sum\"\n[[metric.variant]]\narchitectures = "
       "[\"gfx942\"]\nexpression = \"64 [bytes/requests] * sum(TCC_REQ)\"\n"}};
  const Result<MetricCatalog> loaded = load_metrics(files);
  ASSERT_TRUE(loaded.ok()) << loaded.error().text();
  const auto bytes_on = [&](std::string_view architecture) {
    const Result<MetricSet> set = MetricSet::make(loaded.value(), architecture, GpuFacts{});
    const std::vector<std::string_view> names = {"TCC_REQ"};
    const std::vector<double> values = {1};
    return set.ok() ? PassMetrics(set.value(), names).evaluate(set.value().index_of("l2_bytes"), {values, {}}).value
                    : 0;
  };
  EXPECT_DOUBLE_EQ(bytes_on("gfx942"), 64);
  EXPECT_DOUBLE_EQ(bytes_on("gfx950"), 128);
}

TEST(metrics, a_user_file_cannot_change_the_unit) {
  const std::string text =
      "[[metric]]\nid = \"l2_bytes\"\nunit = \"cycles\"\nroll_up = \"sum\"\n[[metric.variant]]\nexpression = \"1 "
      "[cycles]\"\n";
  EXPECT_EQ(error_of(text), "mine.toml, line 5: metric l2_bytes has another unit or roll-up than the one it overrides");
}

}  // namespace
}  // namespace chopper
