// SPDX-License-Identifier: Apache-2.0
// What holds for any samples: the product closes, shares and budgets sum, order does not matter; and the weights of
// concurrent kernels against one count for each nanosecond.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "analyze/decomposition/budget.h"
#include "analyze/decomposition/concurrency.h"
#include "analyze/decomposition/decompose.h"
#include "analyze/decomposition/paper_mode.h"
#include "base/intervals.h"
#include "support/random.h"
#include "support/trace_builder.h"

namespace chopper::test {
namespace {

double positive(Random& random, double low, double high) {
  return low + (high - low) * static_cast<double>(random.below(1'000'000) + 1) * 1e-6;
}
// One in `one_in` is not measured.
double maybe(Random& random, std::size_t one_in, double value) { return random.chance(one_in) ? kNotMeasured : value; }

std::vector<KernelSample> random_samples(Random& random) {
  std::vector<KernelSample> samples(1 + random.below(60));
  const std::size_t missing = 2 + random.below(20);
  const bool memory = random.chance(3);
  for (KernelSample& s : samples) {
    s.gpu = static_cast<std::int32_t>(random.below(3));
    s.iteration = static_cast<std::int32_t>(random.below(8));
    s.layer = static_cast<std::int32_t>(random.below(3)) - 1;
    s.collective = static_cast<std::int32_t>(random.below(3)) - 1;
    s.start_ns = random.between(0, 1'000'000);
    s.duration_ns = random.chance(20) ? 0 : random.between(1, 3'000'000);
    s.overlap_ns = random.chance(2) ? 0 : random.between(0, s.duration_ns);
    s.compute_theory_ns = maybe(random, 10, random.chance(10) ? 0 : positive(random, 1, 1e6));
    s.flops = s.compute_theory_ns * 1000;
    s.memory_theory_ns = maybe(random, 10, positive(random, 1, memory ? 1e7 : 1e5));
    s.bytes = s.memory_theory_ns * 10;
    s.executed_flops = maybe(random, missing, random.chance(20) ? 0 : positive(random, 1, 2e9));
    s.executed_bytes = maybe(random, missing, positive(random, 1, 2e7));
    s.matrix_busy_cycles = maybe(random, missing, positive(random, 1, 1e6));
    s.matrix_cycles = maybe(random, missing, positive(random, 1e6, 2e6));
    s.gpu_cycles = maybe(random, missing, positive(random, 1, 3e6));
    s.pass_duration_ns = maybe(random, missing, positive(random, 1, 2e6));
    s.f_eff_mhz = maybe(random, missing, positive(random, 500, 2500));
    s.g_ratio = maybe(random, missing, positive(random, 0.5, 2));
  }
  return samples;
}

DecompositionSettings random_settings(Random& random) {
  DecompositionSettings settings;
  settings.f_peak_mhz = random.chance(10) ? kNotMeasured : 2000;
  settings.clock_source = random.chance(3) ? ClockSource::none : ClockSource::telemetry;
  settings.num_resamples = 50;
  settings.key = random.next();
  settings.sequential_shares = random.chance(2);
  if (random.chance(2)) {
    const double low = positive(random, 0, 0.5), high = low + positive(random, 0, 0.5);
    settings.m = {
        .value = (low + high) / 2, .low = low, .high = high, .source = ClockShareSource::passes, .clock_spread = 0.2};
  }
  return settings;
}

void expect_sound(const Decomposition& result) {
  double product = 1, shares = 0;
  for (const FactorResult& factor : result.factors) {
    ASSERT_EQ(is_measured(factor.value), factor.evidence != Evidence::absent);
    ASSERT_EQ(is_measured(factor.value), factor.missing == Missing::none);
    if (!is_measured(factor.value)) continue;
    product *= factor.value;
    shares += factor.share_ns;
    EXPECT_GT(factor.value, 0);
    if (is_measured(factor.low)) {
      EXPECT_LE(factor.low, factor.value * (1 + 1e-12));
      EXPECT_GE(factor.high, factor.value * (1 - 1e-12));
    }
    if (is_measured(factor.m_low)) {
      EXPECT_LE(factor.m_low, factor.value);
      EXPECT_GE(factor.m_high, factor.value);
    }
  }
  if (result[Factor::inst].missing == Missing::no_theory) return;
  if (!(result.d_act_ns > 0)) return;
  const double ratio = result.d_act_ns / result.d_thr_ns;
  EXPECT_NEAR(product / ratio, 1, 1e-12);
  EXPECT_NEAR(shares, result.d_act_ns - result.d_thr_ns,
              1e-11 * (result.d_act_ns + result.d_thr_ns) * (1 + std::abs(std::log(ratio))));
}

TEST(DecompositionProperty, ProductsCloseAndSharesSum) {
  for (std::uint64_t seed = 1; seed <= 2000; seed++) {
    SCOPED_TRACE(seed_text(seed));
    Random random(seed);
    const std::vector<KernelSample> samples = random_samples(random);
    expect_sound(decompose(samples, random_settings(random)));
    if (HasFailure()) return;
  }
}

TEST(DecompositionProperty, OrderDoesNotMatter) {
  for (std::uint64_t seed = 1; seed <= 300; seed++) {
    SCOPED_TRACE(seed_text(seed));
    Random random(seed);
    std::vector<KernelSample> samples = random_samples(random);
    const DecompositionSettings settings = random_settings(random);
    const Decomposition first = decompose(samples, settings);
    const PaperDecomposition paper = decompose_as_paper(samples, 0, 2000);
    random.shuffle(samples);
    const Decomposition second = decompose(samples, settings);
    const auto bits = [](double value) { return std::bit_cast<std::uint64_t>(value); };
    for (std::size_t i = 0; i < kNumFactors; i++) {
      const FactorResult &a = first.factors[i], &b = second.factors[i];
      EXPECT_EQ(bits(a.value), bits(b.value));
      EXPECT_EQ(bits(a.low), bits(b.low));
      EXPECT_EQ(bits(a.high), bits(b.high));
      EXPECT_EQ(bits(a.share_ns), bits(b.share_ns));
      EXPECT_EQ(a.evidence, b.evidence);
    }
    EXPECT_EQ(bits(first.check.slope), bits(second.check.slope));
    const PaperDecomposition again = decompose_as_paper(samples, 0, 2000);
    for (std::size_t i = 0; i < kNumFactors; i++)
      EXPECT_EQ(bits(paper.factors.values[i]), bits(again.factors.values[i]));
    if (HasFailure()) return;
  }
}

TEST(DecompositionProperty, PaperProductsCloseWithTheirRemainder) {
  for (std::uint64_t seed = 1; seed <= 500; seed++) {
    SCOPED_TRACE(seed_text(seed));
    Random random(seed);
    const PaperDecomposition paper = decompose_as_paper(random_samples(random), 0, 2000);
    if (paper.d_thr_ns > 0) {
      EXPECT_NEAR(paper.factors.product() * paper.d_thr_ns / paper.d_act_ns, 1, 1e-12);
    }
    for (std::size_t i = 0; i < kNumFactors; i++)
      EXPECT_EQ(is_measured(paper.factors.values[i]), paper.missing[i] == Missing::none);
    if (HasFailure()) return;
  }
}

TEST(DecompositionProperty, BudgetsSum) {
  for (std::uint64_t seed = 1; seed <= 500; seed++) {
    SCOPED_TRACE(seed_text(seed));
    Random random(seed);
    std::vector<KernelSample> samples = random_samples(random);
    const Decomposition operation = decompose(samples, random_settings(random));
    std::vector<KernelSample> window;
    std::int64_t total = 0;
    for (KernelSample s : samples) {
      if (s.iteration != 0) continue;
      const std::int64_t weight_ns = random.between(0, s.duration_ns);
      s.weight = window_weight(weight_ns, s.duration_ns);
      total += weight_ns;
      window.push_back(s);
    }
    const BudgetTerms terms = budget_terms(window, operation);
    EXPECT_NEAR(terms.total_ns(), static_cast<double>(total), 1e-9 * static_cast<double>(total) + 1e-6);
    std::vector<double> all = {terms.theory_ns, terms.undecomposed_ns};
    all.insert(all.end(), terms.factor_ns.begin(), terms.factor_ns.end());
    const std::vector<std::int64_t> rounded = round_to_sum(all, total);
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < all.size(); i++) {
      sum += rounded[i];
      EXPECT_LE(std::abs(static_cast<double>(rounded[i]) - all[i]), 1.001);
    }
    EXPECT_EQ(sum, total);
    if (HasFailure()) return;
  }
}

constexpr std::int64_t kAxis = 100;

TEST(ConcurrencyProperty, AgreesWithOneCountForEachNanosecond) {
  for (std::uint64_t seed = 1; seed <= 2000; seed++) {
    SCOPED_TRACE(seed_text(seed));
    Random random(seed);
    std::vector<Interval> kernels(random.below(12));
    for (Interval& kernel : kernels) {
      kernel.start = random.between(-kAxis, kAxis);
      kernel.end = kernel.start + random.between(0, random.chance(3) ? 100 : 15);
    }
    std::vector<std::int64_t> bounds(random.below(6));
    for (std::int64_t& bound : bounds) bound = random.between(-kAxis, kAxis);
    std::sort(bounds.begin(), bounds.end());

    std::map<std::pair<std::size_t, std::size_t>, double> expected;
    for (std::size_t w = 0; w + 1 < bounds.size(); w++) {
      for (std::int64_t t = bounds[w]; t < bounds[w + 1]; t++) {
        const auto runs = [&](const Interval& kernel) { return kernel.start <= t && t < kernel.end; };
        const auto running = std::count_if(kernels.begin(), kernels.end(), runs);
        for (std::size_t k = 0; k < kernels.size(); k++)
          if (runs(kernels[k])) expected[{w, k}] += 1 / static_cast<double>(running);
      }
    }
    const std::vector<WindowWeight> weights = concurrency_weights(kernels, bounds);
    ASSERT_EQ(weights.size(), expected.size());
    std::vector<std::int64_t> sums(bounds.size());
    auto next = expected.begin();
    for (const WindowWeight& weight : weights) {
      EXPECT_EQ(weight.window, next->first.first);
      EXPECT_EQ(weight.kernel, next->first.second);
      EXPECT_LT(std::abs(static_cast<double>(weight.weight_ns) - next->second), 1);
      sums[weight.window] += weight.weight_ns;
      ++next;
    }
    const Cover cover = cover_of(kernels);
    if (bounds.size() > 1) {
      const std::vector<std::int64_t> lengths = lengths_between(cover, bounds);
      for (std::size_t w = 0; w < lengths.size(); w++) EXPECT_EQ(sums[w], lengths[w]);
    }
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace chopper::test
