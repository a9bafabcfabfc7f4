// SPDX-License-Identifier: Apache-2.0
#include "engine/impossible_counters.h"

#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace chopper {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

InputSummary trace() {
  InputSummary input;
  input.path = "rank3.json";
  input.facts.rank = 3;
  input.gpus.emplace_back().device = 1;
  return input;
}

GpuSpec spec() {
  GpuSpec gpu;
  gpu.max_clock_mhz = 2000;
  return gpu;
}

struct Pass {
  InputSummary input;
  Pass() { input.path = "pass_1.csv"; }
  std::uint64_t count(HealthKind kind) const { return input.health.count(kind); }
  HealthExample example(HealthKind kind) const { return input.health.entry(kind).examples.at(0); }
};

TEST(ImpossibleCounters, NamesPassGpuAndFirstDispatch) {
  const InputSummary of = trace();
  const GpuSpec gpu = spec();
  ImpossibleCounters counters(of, 0, &gpu);
  counters.add(7, 100, 100, 2000, 1000, 0);  // all units busy, at the highest clock
  counters.add(8, 101, 100, kUnknown, kUnknown, 0);
  counters.add(9, 150, 100, 60'000, 30'000, 0);
  counters.add(10, 160, 100, 90'000, 30'000, 0);  // 3,000 MHz
  counters.add(11, kUnknown, kUnknown, 90'000, 30'000, 0);
  counters.add(12, kUnknown, kUnknown, 6000, 2000, 0);      // too short to tell
  counters.add(13, kUnknown, kUnknown, 11'000, 30'000, 0);  // 367 MHz
  counters.add(14, kUnknown, kUnknown, 12'100, 30'000, 0);  // 403 MHz, which may be
  counters.add(15, kUnknown, kUnknown, 100, 2000, 0);
  counters.add(16, kUnknown, kUnknown, 60'000, 30, 30'000);      // times of the pass in microseconds
  counters.add(18, kUnknown, kUnknown, 33'600, 12'000, 22'000);  // contended in the trace, front end in the pass
  counters.add(17, kUnknown, kUnknown, 0, 2000, 2000);           // none at all
  Pass pass;
  counters.note(pass.input);
  EXPECT_EQ(pass.count(HealthKind::impossible_utilisation), 2u);
  EXPECT_EQ(pass.example(HealthKind::impossible_utilisation).where, "pass_1.csv");
  EXPECT_EQ(pass.example(HealthKind::impossible_utilisation).what, "rank 3 gpu 1: dispatch 9, utilisation 1.5");
  EXPECT_EQ(pass.count(HealthKind::impossible_clock), 5u);
  EXPECT_EQ(pass.example(HealthKind::impossible_clock).what,
            "rank 3 gpu 1: dispatch 10, 3000 MHz; the highest is 2000");
}

TEST(ImpossibleCounters, NothingIsNotedOfWhatCanBe) {
  const InputSummary of = trace();
  ImpossibleCounters unknown_product(of, 0, nullptr);
  unknown_product.add(1, 90, 100, 90'000, 30'000, 0);
  Pass pass;
  unknown_product.note(pass.input);
  for (const HealthKind kind : {HealthKind::impossible_utilisation, HealthKind::impossible_clock})
    EXPECT_EQ(pass.count(kind), 0u);
}

TEST(NegativeCounters, AreNotedWhereMetricsUseThem) {
  CounterCatalog catalog;
  ASSERT_TRUE(add_embedded_counters(catalog).ok());
  Pass pass;
  pass.input.pass_tables = std::make_shared<CounterPass>();
  CounterPass& tables = *pass.input.pass_tables;
  tables.counters = {tables.strings.intern("SQ_WAVES"), tables.strings.intern("a_word_beside_it")};
  const auto add = [&](std::uint32_t dispatch, std::uint32_t counter, double value) {
    tables.values.dispatch.push_back(dispatch);
    tables.values.counter.push_back(counter);
    tables.values.value.push_back(value);
    tables.values.offset.push_back(100 + tables.values.offset.size());
  };
  add(0, 0, 5);
  add(0, 1, -1);
  add(0, 0, -3);
  add(1, 0, -4);
  note_negative_counters(catalog, "gfx942", pass.input);
  EXPECT_EQ(pass.count(HealthKind::negative_counter), 2u);
  EXPECT_EQ(pass.example(HealthKind::negative_counter).where, "pass_1.csv @ byte 102");
  EXPECT_EQ(pass.example(HealthKind::negative_counter).what, "SQ_WAVES is -3");
}

// A product and the sum behind it, one operator: together they do its work, each alone has another part of it.
TEST(TooFewFlops, ComparesOperations) {
  std::vector<InputSummary> inputs;
  inputs.push_back(trace());
  inputs.emplace_back().path = "pass_1.csv";
  auto kernels = std::make_shared<ComputeKernels>();
  GpuCounters counters;
  const auto add = [&](const char* operation, double flops, double executed) {
    ComputeKernelTable& table = kernels->table;
    table.phase.push_back(Phase::forward);
    table.operation.push_back(kernels->strings.intern(operation));
    table.flops.push_back(flops);
    counters.executed_flops.push_back(executed);
    counters.flops_pass.push_back(1);
    counters.flops_dispatch.push_back(static_cast<std::int64_t>(counters.flops_dispatch.size()) + 40);
  };
  add("mlp_gp", 900, 1000);
  add("mlp_gp", 100, 0);
  add("mlp_up", 1000, 940);
  add("mlp_up", 1000, 940);
  add("lp", 1000, 951);
  add("norm", kUnknown, 1);
  add("mlp_dp", 1000, kUnknown);
  inputs[0].gpus[0].compute_kernels = std::move(kernels);
  note_too_few_flops(counters, inputs);
  const HealthEntry& entry = inputs[1].health.entry(HealthKind::too_few_flops);
  EXPECT_EQ(entry.count, 2u);
  ASSERT_EQ(entry.examples.size(), 1u);
  EXPECT_EQ(entry.examples[0].what, "rank 3 gpu 1: forward mlp_up, from dispatch 42, 0.94 of its work");
}

}  // namespace
}  // namespace chopper
