// SPDX-License-Identifier: Apache-2.0
// Counters parted over several passes of identical executions give what one pass with all of them gives.
#include "engine/joined_metrics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <string>
#include <tuple>

#include "catalog/metrics.h"
#include "support/random.h"

namespace chopper {
namespace {

using test::Random;

constexpr std::size_t kNumKernels = 40;

// What one execution counted: by kernel, and by counter of the set.
struct Execution {
  std::vector<std::string> counters;
  std::vector<std::vector<double>> sums;
  std::vector<std::int64_t> duration_ns;
};

MetricCatalog catalog() {
  Result<MetricCatalog> loaded = load_metrics({});
  EXPECT_TRUE(loaded.ok());
  return std::move(loaded).value();
}

Execution make_execution(Random& random, const std::vector<std::string>& counters) {
  Execution made;
  made.counters = counters;
  for (std::size_t i = 0; i < kNumKernels; i++) {
    std::vector<double>& sums = made.sums.emplace_back();
    for (std::size_t c = 0; c < counters.size(); c++) sums.push_back(static_cast<double>(random.between(1, 1'000'000)));
    made.duration_ns.push_back(random.between(1'000, 90'000));
  }
  return made;
}

InputSummary make_trace() {
  auto kernels = std::make_shared<ComputeKernels>();
  const StringId gemm = kernels->strings.intern("gemm"), norm = kernels->strings.intern("norm");
  ComputeKernelTable& table = kernels->table;
  std::apply([&](auto... column) { ((table.*column).resize(kNumKernels), ...); }, ComputeKernelTable::columns());
  for (std::size_t i = 0; i < kNumKernels; i++) {
    table.name[i] = table.operation[i] = i % 3 == 0 ? norm : gemm;
    table.duration_ns[i] = 100 + static_cast<std::int64_t>(i);
    table.phase[i] = i % 2 == 0 ? Phase::forward : Phase::backward;
    table.selected[i] = table.complete[i] = 1;
    table.offset[i] = i;
  }
  InputSummary trace;
  trace.gpus.emplace_back().compute_kernels = std::move(kernels);
  return trace;
}

// A pass of the counters `held`, indices into those of the execution, in its own order.
InputSummary make_pass(const Execution& execution, const std::vector<std::size_t>& held) {
  auto pass = std::make_shared<CounterPass>();
  pass->devices.emplace_back();
  pass->kernels.emplace_back();
  for (const std::size_t c : held) pass->counters.push_back(pass->strings.intern(execution.counters[c]));
  PassDispatchTable& table = pass->dispatches;
  std::apply([&](auto... column) { ((table.*column).resize(kNumKernels), ...); }, PassDispatchTable::columns());
  table.duration_ns = execution.duration_ns;
  for (std::uint32_t i = 0; i < kNumKernels; i++) {
    for (std::uint32_t c = 0; c < held.size(); c++) {
      pass->values.dispatch.push_back(i);
      pass->values.counter.push_back(c);
      pass->values.value.push_back(execution.sums[i][held[c]]);
      pass->values.maximum.push_back(execution.sums[i][held[c]] / 8);
      pass->values.offset.push_back(0);
    }
  }
  InputSummary input;
  input.pass = summarise_pass(*pass);
  input.pass->devices.front().facts.architecture = "gfx942";
  input.pass_tables = std::move(pass);
  return input;
}

// The trace is input 0, passes follow; every kernel has the dispatch of its own number.
PassAlignment align_all(std::size_t pass) {
  PassAlignment done;
  done.pass = pass;
  done.alignment.matches.resize(kNumKernels);
  done.is_copy.assign(kNumKernels, 0);
  for (std::uint32_t i = 0; i < kNumKernels; i++) {
    done.alignment.matches[i] = {i, MatchBasis::unique, false};
    done.dispatches.push_back(i);
  }
  done.selected_ns = done.covered_ns = done.matched_ns = 1;
  return done;
}

GpuCounters values_of(const Execution& execution, const std::vector<std::vector<std::size_t>>& passes,
                      const std::set<std::uint32_t>& unmatched_in_last = {},
                      const std::vector<MatchBasis>& bases = {}) {
  std::vector<InputSummary> inputs;
  inputs.push_back(make_trace());
  std::vector<PassAlignment> alignments;
  for (const std::vector<std::size_t>& held : passes) {
    inputs.push_back(make_pass(execution, held));
    alignments.push_back(align_all(inputs.size() - 1));
  }
  for (std::size_t p = 0; p < bases.size(); p++) {
    for (Match& match : alignments[p].alignment.matches) match.basis = bases[p];
  }
  for (const std::uint32_t kernel : unmatched_in_last) alignments.back().alignment.matches[kernel] = Match();
  const Result<std::vector<GpuSpec>> known = embedded_gpus();
  EXPECT_TRUE(known.ok());
  Result<std::vector<GpuCounters>> values =
      pass_values(inputs, alignments, catalog(), known.value(), std::string("mi300x"));
  EXPECT_TRUE(values.ok() && values.value().size() == 1);
  return std::move(values.value().front());
}

std::vector<std::string> counters_of_gfx942() {
  const MetricCatalog metrics = catalog();
  Result<MetricSet> set = MetricSet::make(metrics, "gfx942", GpuFacts{});
  EXPECT_TRUE(set.ok());
  return set.value().counters();
}

// Whole numbers and quotients of the same numbers: equal to the bit, NaN beside NaN.
void expect_same(const std::vector<double>& a, const std::vector<double>& b, const char* what) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); i++)
    EXPECT_TRUE(a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i])))
        << what << " of kernel " << i << ": " << a[i] << ", " << b[i];
}

void expect_same(const GpuCounters& one, const GpuCounters& parted) {
  EXPECT_EQ(one.missing, parted.missing);
  ASSERT_EQ(one.metrics.size(), parted.metrics.size());
  for (const auto& [operation, sums] : one.metrics) {
    const std::vector<MetricSum>& others = parted.metrics.at(operation);
    for (std::size_t m = 0; m < sums.size(); m++) {
      const std::string& id = one.set->metrics()[m].id;
      EXPECT_EQ(sums[m].num_kernels, others[m].num_kernels) << id;
      EXPECT_EQ(sums[m].numerator, others[m].numerator) << id;
      EXPECT_EQ(sums[m].denominator, others[m].denominator) << id;
      EXPECT_EQ(sums[m].maximum, others[m].maximum) << id;
      EXPECT_EQ(sums[m].duration_ns, others[m].duration_ns) << id;
      EXPECT_EQ(sums[m].computed_by, others[m].computed_by) << id;
    }
  }
  expect_same(one.executed_flops, parted.executed_flops, "executed_flops");
  expect_same(one.executed_bytes, parted.executed_bytes, "executed_bytes");
  expect_same(one.matrix_busy_cycles, parted.matrix_busy_cycles, "matrix_busy_cycles");
  expect_same(one.matrix_cycles, parted.matrix_cycles, "matrix_cycles");
  expect_same(one.gpu_cycles, parted.gpu_cycles, "gpu_cycles");
  expect_same(one.pass_duration_ns, parted.pass_duration_ns, "pass_duration_ns");
}

TEST(joined_metrics, parted_counters_give_the_values_of_one_pass) {
  const std::vector<std::string> counters = counters_of_gfx942();
  ASSERT_GT(counters.size(), 20u);
  for (std::uint64_t seed = 1; seed <= 60; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const Execution execution = make_execution(random, counters);
    std::vector<std::size_t> all;
    std::vector<std::vector<std::size_t>> parts(2 + random.below(3));
    for (std::size_t c = 0; c < counters.size(); c++) {
      if (random.chance(12)) continue;  // no pass has it
      all.push_back(c);
      parts[random.below(parts.size())].push_back(c);
    }
    for (std::vector<std::size_t>& part : parts) {
      for (const std::size_t c : all) {  // counters that several passes have
        if (random.chance(10) && std::find(part.begin(), part.end(), c) == part.end()) part.push_back(c);
      }
      random.shuffle(part);
    }
    std::erase_if(parts, [](const auto& part) { return part.empty(); });
    expect_same(values_of(execution, {all}), values_of(execution, parts));
  }
}

std::size_t place_of(const std::vector<std::string>& counters, std::string_view name) {
  return static_cast<std::size_t>(std::find(counters.begin(), counters.end(), name) - counters.begin());
}

// Hits alone in the first pass, misses with requests in the second; the last three kernels are in one pass alone.
TEST(joined_metrics, counts_kernels_that_all_passes_have_and_names_the_files) {
  const std::vector<std::string> counters = {"TCC_HIT", "TCC_MISS"};
  Random random(7);
  const Execution execution = make_execution(random, counters);
  const GpuCounters values = values_of(execution, {{0}, {1}}, {37, 38, 39});
  const std::size_t metric = values.set->index_of("l2_hit_rate");
  std::int64_t num_kernels = 0;
  double hits = 0, all = 0, wanted_hits = 0, wanted_all = 0;
  for (const auto& [operation, sums] : values.metrics) {
    const MetricSum& sum = sums[metric];
    num_kernels += sum.num_kernels;
    hits += sum.numerator;
    all += sum.denominator;
    EXPECT_EQ(sum.passes, (std::vector<std::size_t>{1, 2}));
    EXPECT_EQ(sum.pass, 1u);
  }
  for (std::size_t i = 0; i < 37; i++) {
    wanted_hits += execution.sums[i][0];
    wanted_all += execution.sums[i][0] + execution.sums[i][1];
  }
  EXPECT_EQ(num_kernels, 37);
  EXPECT_EQ(hits, wanted_hits);
  EXPECT_EQ(all, wanted_all);
}

// The repeated counter comes from the pass that has the numerator; what a pass holds whole is of that pass alone.
TEST(joined_metrics, repeated_counters_come_from_the_pass_with_most_of_the_metric) {
  const std::vector<std::string> counters = counters_of_gfx942();
  Random random(8);
  const Execution execution = make_execution(random, counters);
  const auto at = [&](std::string_view name) { return place_of(counters, name); };
  const GpuCounters values =
      values_of(execution, {{at("GRBM_GUI_ACTIVE"), at("TCC_BUBBLE")},
                            {at("GRBM_GUI_ACTIVE"), at("SQ_VALU_MFMA_BUSY_CYCLES"), at("TCC_EA0_RDREQ")},
                            {at("TCC_EA0_RDREQ"), at("TCC_EA0_RDREQ_32B")}});
  const auto& sums = values.metrics.begin()->second;
  EXPECT_EQ(sums[values.set->index_of("matrix_utilisation")].passes, (std::vector<std::size_t>{2}));
  const MetricSum& read = sums[values.set->index_of("executed_read_bytes")];
  EXPECT_EQ(read.passes, (std::vector<std::size_t>{1, 3}));
  EXPECT_EQ(read.pass, 3u);
  EXPECT_EQ(values.missing.at(values.set->index_of("executed_write_bytes")), "needs counter TCC_EA0_WRREQ_64B");
}

// Windows of one pass: what a dispatch of the same iteration tells comes before what one of another iteration does.
TEST(pass_values, marked_dispatches_come_before_transferred_ones) {
  Random random(11);
  const Execution execution = make_execution(random, {"GRBM_GUI_ACTIVE", "SQ_VALU_MFMA_BUSY_CYCLES"});
  for (const MatchBasis sure : {MatchBasis::marks, MatchBasis::unique}) {
    const GpuCounters values = values_of(execution, {{0, 1}, {0, 1}}, {}, {MatchBasis::transferred, sure});
    EXPECT_EQ(values.dispatch_pass.front(), 2);
    EXPECT_EQ(values.dispatch_basis.front(), sure);
  }
  const GpuCounters both = values_of(execution, {{0, 1}, {0, 1}}, {}, {MatchBasis::marks, MatchBasis::unique});
  EXPECT_EQ(both.dispatch_pass.front(), 1);
}

TEST(joined_metrics, nothing_is_joined_where_no_kernel_is_in_all_passes) {
  const std::vector<std::string> counters = {"TCC_HIT", "TCC_MISS"};
  Random random(9);
  const Execution execution = make_execution(random, counters);
  std::set<std::uint32_t> every;
  for (std::uint32_t i = 0; i < kNumKernels; i++) every.insert(i);
  const GpuCounters values = values_of(execution, {{0}, {1}}, every);
  EXPECT_EQ(values.missing.at(values.set->index_of("l2_hit_rate")),
            "needs kernels that are matched in all passes that hold its counters");
}

}  // namespace
}  // namespace chopper
