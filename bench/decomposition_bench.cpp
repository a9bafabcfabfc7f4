// SPDX-License-Identifier: Apache-2.0
// Speed of decomposing the operations of a run: samples by second.
#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "analyze/decomposition/concurrency.h"
#include "analyze/decomposition/decompose.h"

namespace chopper {
namespace {

constexpr std::int32_t kGpus = 8, kLayers = 32;
constexpr std::size_t kOperations = 64;

std::vector<KernelSample> make_samples(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<KernelSample> samples(count);
  for (std::size_t i = 0; i < count; i++) {
    KernelSample& s = samples[i];
    const auto at = static_cast<std::int32_t>(i);
    s.layer = at % kLayers;
    s.gpu = at / kLayers % kGpus;
    s.iteration = at / kLayers / kGpus;
    s.start_ns = static_cast<std::int64_t>(i) * 1'000'000;
    s.duration_ns = 400'000 + static_cast<std::int64_t>(random() % 50'000);
    s.overlap_ns = static_cast<std::int64_t>(random() % 3) * s.duration_ns / 2;
    s.collective = s.overlap_ns > 0 ? static_cast<std::int32_t>(random() % 2) : kNone;
    s.flops = 1e11, s.compute_theory_ns = 2e5, s.bytes = 1e8, s.memory_theory_ns = 3e4;
    s.executed_flops = 1.1e11, s.executed_bytes = 2e8;
    s.matrix_busy_cycles = 4e6, s.matrix_cycles = 6e6;
    s.gpu_cycles = 6e5 + static_cast<double>(random() % 10'000);
    s.pass_duration_ns = s.gpu_cycles / 1.9, s.f_eff_mhz = 1600 + static_cast<double>(random() % 200);
  }
  return samples;
}

// range(0): samples of the run, of 64 operations.
void bench_decompose(benchmark::State& state) {
  const auto count = static_cast<std::size_t>(state.range(0));
  std::vector<std::vector<KernelSample>> operations;
  for (std::size_t i = 0; i < kOperations; i++) operations.push_back(make_samples(count / kOperations, i));
  DecompositionSettings settings;
  settings.f_peak_mhz = 2100;
  settings.clock_source = ClockSource::telemetry;
  for (auto _ : state) {
    for (const auto& samples : operations) {
      settings.key++;
      benchmark::DoNotOptimize(decompose(samples, settings));
    }
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(operations[0].size() * kOperations));
}
BENCHMARK(bench_decompose)->Arg(1'000'000)->Arg(10'000'000)->Unit(benchmark::kMillisecond);

// range(0): kernels of a gpu, two at a time, in windows of 1,000.
void bench_concurrency(benchmark::State& state) {
  std::vector<Interval> kernels;
  std::vector<std::int64_t> bounds;
  for (std::int64_t i = 0; i < state.range(0); i++) {
    if (i % 1000 == 0) bounds.push_back(i * 100);
    kernels.push_back({i * 100, i * 100 + 150});
  }
  bounds.push_back(state.range(0) * 100);
  for (auto _ : state) benchmark::DoNotOptimize(concurrency_weights(kernels, bounds));
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(bench_concurrency)->Arg(1'000'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace chopper
