// SPDX-License-Identifier: Apache-2.0
// Speed of aligning a counter pass with a trace: dispatches of both sides by second.
#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "align/align.h"

namespace chopper {
namespace {

constexpr std::uint64_t kSeed = 1;
constexpr std::size_t kLayers = 32, kForward = 20, kBackward = 40, kOutside = 80;

// One iteration of a model: 2,000 kernels with 140 names and shapes.
std::vector<Dispatch> make_iteration() {
  std::mt19937_64 random(kSeed);
  const auto any = [&](std::size_t number) {
    std::vector<Dispatch> kernels(number);
    for (Dispatch& kernel : kernels) {
      kernel = {static_cast<std::uint32_t>(random() % 60), static_cast<std::uint32_t>(random() % 3), 1};
    }
    return kernels;
  };
  std::vector<Dispatch> iteration = any(kOutside / 2);
  const auto append = [&](const std::vector<Dispatch>& part) {
    iteration.insert(iteration.end(), part.begin(), part.end());
  };
  const std::vector<Dispatch> forward = any(kForward), backward = any(kBackward);
  for (std::size_t layer = 0; layer < kLayers; layer++) append(forward);
  append(any(kOutside / 2));
  for (std::size_t layer = 0; layer < kLayers; layer++) append(backward);
  return iteration;
}

struct Sides {
  std::vector<Dispatch> trace, pass;
  std::vector<IterationMark> trace_marks, pass_marks;
};

// `size` dispatches a side, the pass with `percent` of each dropped, added and renamed.
Sides make_sides(std::size_t size, std::size_t percent) {
  std::mt19937_64 random(kSeed);
  const std::vector<Dispatch> iteration = make_iteration();
  Sides sides;
  for (std::int64_t number = 0; sides.trace.size() < size; number++) {
    sides.trace_marks.push_back({number, sides.trace.size()});
    sides.pass_marks.push_back({number, sides.pass.size()});
    for (const Dispatch& dispatch : iteration) {
      sides.trace.push_back(dispatch);
      const std::size_t dice = random() % 100;
      if (dice < percent) continue;
      sides.pass.push_back(dispatch);
      if (dice < 2 * percent)
        sides.pass.push_back({static_cast<std::uint32_t>(random() % 60), 0, 1});
      else if (dice < 3 * percent)
        sides.pass.back().name = static_cast<std::uint32_t>(100 + random() % 1000);
    }
  }
  return sides;
}

// range(0): dispatches a side; range(1): percent of each disturbance; range(2): with marks.
void bench_align(benchmark::State& state) {
  const Sides sides = make_sides(static_cast<std::size_t>(state.range(0)), static_cast<std::size_t>(state.range(1)));
  DispatchSequence trace{sides.trace, {}}, pass{sides.pass, {}};
  if (state.range(2) != 0) {
    trace.marks = sides.trace_marks;
    pass.marks = sides.pass_marks;
  }
  for (auto _ : state) benchmark::DoNotOptimize(align(trace, pass));
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(sides.trace.size() + sides.pass.size()));
}
BENCHMARK(bench_align)
    ->ArgNames({"dispatches", "percent", "marks"})
    ->Args({1'000'000, 0, 0})
    ->Args({1'000'000, 1, 0})
    ->Args({1'000'000, 1, 1})
    ->Args({10'000'000, 1, 0})
    ->Args({10'000'000, 1, 1})
    ->Unit(benchmark::kMillisecond);

// The hardest for anchors: a side of `range(0)` equal dispatches, and one with a tenth more.
void bench_align_equal(benchmark::State& state) {
  const auto size = static_cast<std::size_t>(state.range(0));
  const std::vector<Dispatch> trace(size, {1, 1, 1}), pass(size + size / 10, {1, 1, 1});
  for (auto _ : state) benchmark::DoNotOptimize(align({trace, {}}, {pass, {}}));
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(trace.size() + pass.size()));
}
BENCHMARK(bench_align_equal)->ArgName("dispatches")->Arg(10'000'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace chopper
