// SPDX-License-Identifier: Apache-2.0
// Speed of derived metrics: dispatches by second for all a decomposition needs, and metrics by second.
#include <benchmark/benchmark.h>

#include <array>
#include <string_view>
#include <vector>

#include "catalog/metric_set.h"

namespace chopper {
namespace {

constexpr std::array<std::string_view, 7> kMetrics = {"gpu_cycles",          "pass_clock",          "executed_flops",
                                                      "matrix_utilisation",  "executed_read_bytes", "memory_bandwidth",
                                                      "executed_write_bytes"};

void evaluate_metrics(benchmark::State& state) {
  const Result<MetricCatalog> catalog = load_metrics({});
  if (!catalog.ok()) return state.SkipWithError("no catalogue");
  GpuFacts facts;
  facts.num_units = 304;
  facts.num_xccs = 8;
  facts.matrix_units_per_unit = 4;
  const Result<MetricSet> set = MetricSet::make(catalog.value(), "gfx942", facts);
  if (!set.ok()) return state.SkipWithError("no set");
  const std::vector<std::string_view> names(set.value().counters().begin(), set.value().counters().end());
  const PassMetrics pass(set.value(), names);
  std::vector<double> sums(names.size(), 1e6);
  const std::vector<double> maxima(names.size(), kNoValue);
  std::vector<std::size_t> metrics;
  for (const std::string_view id : kMetrics) metrics.push_back(set.value().index_of(id));
  for (auto _ : state) {
    sums[0] += 1;
    for (const std::size_t metric : metrics)
      benchmark::DoNotOptimize(pass.evaluate(metric, {sums, maxima, 1000, 1, 1}).value);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(metrics.size()));
}
BENCHMARK(evaluate_metrics);

void load_catalogue(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(load_metrics({}).ok());
}
BENCHMARK(load_catalogue)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace chopper
