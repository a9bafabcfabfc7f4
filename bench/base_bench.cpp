// SPDX-License-Identifier: Apache-2.0
// Speed of the building blocks that run once for every event: numbers, strings, intervals.
#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/decimal.h"
#include "base/intervals.h"
#include "base/string_table.h"

namespace chopper {
namespace {

constexpr std::uint64_t kSeed = 1;

std::int64_t items_done(const benchmark::State& state, std::size_t per_iteration) {
  return state.iterations() * static_cast<std::int64_t>(per_iteration);
}

// 4096 time stamps as the profiler writes them, "3743411230047.485"; they stay in the first-level cache.
void bench_micros_to_ns(benchmark::State& state) {
  std::mt19937_64 random(kSeed);
  std::vector<std::string> texts;
  std::size_t num_bytes = 0;
  for (int i = 0; i < 4096; i++) {
    const std::string fraction = std::to_string(random() % 1000);
    texts.push_back(std::to_string(3743411230047 + random() % 1'000'000'000) + "." +
                    std::string(3 - fraction.size(), '0') + fraction);
    num_bytes += texts.back().size();
  }
  for (auto _ : state) {
    std::int64_t sum = 0;
    for (const std::string& text : texts) sum += micros_to_ns(text, false).value;
    benchmark::DoNotOptimize(sum);
  }
  state.SetItemsProcessed(items_done(state, texts.size()));
  state.SetBytesProcessed(items_done(state, num_bytes));
}
BENCHMARK(bench_micros_to_ns);

// A million names out of `range(0)` different ones of 20 to 300 bytes, into a new table: mostly finds, as in a trace.
void bench_intern(benchmark::State& state) {
  std::mt19937_64 random(kSeed);
  std::vector<std::string> names;
  for (std::int64_t i = 0; i < state.range(0); i++)
    names.push_back("void at::native::kernel_" + std::to_string(i) + std::string(random() % 280, 'x'));
  std::vector<std::size_t> order(1'000'000);
  std::size_t num_bytes = 0;
  for (std::size_t& index : order) {
    index = random() % names.size();
    num_bytes += names[index].size();
  }
  for (auto _ : state) {
    StringTable table;
    for (const std::size_t index : order) benchmark::DoNotOptimize(table.intern(names[index]));
  }
  state.SetItemsProcessed(items_done(state, order.size()));
  state.SetBytesProcessed(items_done(state, num_bytes));
}
BENCHMARK(bench_intern)->Arg(400)->Arg(100'000)->Unit(benchmark::kMillisecond);

// Intervals of 1 to 20 us, one starting every 10 us on average, in order of start or shuffled within 64 neighbours as
// the streams of a GPU are.
std::vector<Interval> make_intervals(std::size_t count, std::uint64_t seed, bool shuffled) {
  std::mt19937_64 random(seed);
  std::vector<Interval> intervals;
  std::int64_t start = 0;
  for (std::size_t i = 0; i < count; i++) {
    start += static_cast<std::int64_t>(random() % 20'000);
    intervals.push_back({start, start + 1000 + static_cast<std::int64_t>(random() % 19'000)});
  }
  if (shuffled) {
    for (std::size_t i = 64; i < count; i++) std::swap(intervals[i], intervals[i - random() % 64]);
  }
  return intervals;
}

// range(0) intervals; range(1): shuffled. The copy that cover_of takes over is part of the time.
void bench_cover_of(benchmark::State& state) {
  const auto intervals = make_intervals(static_cast<std::size_t>(state.range(0)), kSeed, state.range(1) != 0);
  for (auto _ : state) benchmark::DoNotOptimize(cover_of(intervals));
  state.SetItemsProcessed(items_done(state, intervals.size()));
}
BENCHMARK(bench_cover_of)
    ->ArgNames({"intervals", "shuffled"})
    ->Args({1'000'000, 0})
    ->Args({1'000'000, 1})
    ->Unit(benchmark::kMillisecond);

// Two covers made of range(0) intervals each.
void bench_overlap_of(benchmark::State& state) {
  const auto count = static_cast<std::size_t>(state.range(0));
  const Cover a = cover_of(make_intervals(count, kSeed, false));
  const Cover b = cover_of(make_intervals(count, kSeed + 1, false));
  for (auto _ : state) benchmark::DoNotOptimize(overlap_of(a, b));
  state.SetItemsProcessed(items_done(state, a.size() + b.size()));
}
BENCHMARK(bench_overlap_of)->ArgName("intervals")->Arg(1'000'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace chopper
