// SPDX-License-Identifier: Apache-2.0
#include "engine/impossible_counters.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace chopper {
namespace {

// Busy cycles are counted by the units, all cycles by the front end: they may begin and end a little apart.
constexpr double kMostUtilisation = 1.02;
// As for a stated clock: tables and products differ by some per cent.
constexpr double kMostClock = 1.2;
// No gpu runs kernels of that length so slowly: gpus idle there, or cycles are of a part of it.
constexpr double kLeastClock = 0.2;
// Below, what the front end counts before and after the kernel makes a clock of its own.
constexpr double kLeastClockedNs = 20'000;
// No contention makes a kernel so much longer in the trace.
constexpr double kUnit = 50;
// Counters of FLOPs are exact; algorithms that save work, and masks that are assumed, are not far below.
constexpr double kLeastFlops = 0.95;

std::string gpu_text(const InputSummary& trace, std::size_t gpu) {
  const std::string device = fmt::format("gpu {}", trace.gpus[gpu].device);
  return trace.facts.rank ? fmt::format("rank {} {}", *trace.facts.rank, device) : device;
}

// Counters that metrics are made of: what else a profiler writes beside them may be negative.
std::vector<std::uint8_t> counts_something(const CounterPass& pass, const CounterCatalog& counters,
                                           std::string_view architecture) {
  std::vector<std::uint8_t> known;
  for (const StringId name : pass.counters)
    known.push_back(counters.find(pass.strings.view(name), architecture) != nullptr ? 1 : 0);
  return known;
}

}  // namespace

ImpossibleCounters::ImpossibleCounters(const InputSummary& trace, std::size_t gpu, const GpuSpec* spec)
    : gpu_(gpu_text(trace, gpu)) {
  if (spec != nullptr) highest_mhz_ = spec->max_clock_mhz;
}

void ImpossibleCounters::add(std::int64_t dispatch, double matrix_busy_cycles, double matrix_cycles, double gpu_cycles,
                             double duration_ns, double trace_ns) {
  if (matrix_cycles > 0 && matrix_busy_cycles > kMostUtilisation * matrix_cycles)
    utilisation_.add(dispatch, matrix_busy_cycles / matrix_cycles);
  if (!(highest_mhz_ > 0 && duration_ns > 0)) return;
  const double mhz = 1e3 * gpu_cycles / duration_ns;
  // A time of the pass that is wrong by a unit is short, too: that of the trace tells.
  const bool is_wrong_unit = duration_ns * kUnit <= trace_ns;
  if (gpu_cycles != 0 && !is_wrong_unit && !(duration_ns >= kLeastClockedNs)) return;
  if (mhz > kMostClock * highest_mhz_ || mhz < kLeastClock * highest_mhz_) clock_.add(dispatch, mhz);
}

void ImpossibleCounters::note(InputSummary& pass) const {
  if (utilisation_.count > 0) {
    pass.health.add(HealthKind::impossible_utilisation, pass.path,
                    fmt::format("{}: dispatch {}, utilisation {:.4g}", gpu_, utilisation_.dispatch, utilisation_.value),
                    static_cast<std::uint64_t>(utilisation_.count));
  }
  if (clock_.count > 0) {
    pass.health.add(HealthKind::impossible_clock, pass.path,
                    fmt::format("{}: dispatch {}, {:.6g} MHz; the highest is {:.0f}", gpu_, clock_.dispatch,
                                clock_.value, highest_mhz_),
                    static_cast<std::uint64_t>(clock_.count));
  }
}

void note_negative_counters(const CounterCatalog& counters, std::string_view architecture, InputSummary& input) {
  const CounterPass& pass = *input.pass_tables;
  const std::vector<std::uint8_t> known = counts_something(pass, counters, architecture);
  for (std::size_t i = 0; i < num_rows(pass.values); i++) {
    const std::uint32_t counter = pass.values.counter[i];
    if (!(pass.values.value[i] < 0) || known[counter] == 0) continue;
    input.health.add(HealthKind::negative_counter, fmt::format("{} @ byte {}", input.path, pass.values.offset[i]),
                     fmt::format("{} is {:.6g}", pass.strings.view(pass.counters[counter]), pass.values.value[i]));
  }
}

void note_too_few_flops(const GpuCounters& counters, std::vector<InputSummary>& inputs) {
  struct Sum {
    double executed = 0, flops = 0;
    std::int64_t dispatch = 0;
    std::uint64_t kernels = 0;
  };
  // A kernel has a part of the work of its operator alone: sums over an operation are compared.
  std::map<std::pair<std::int64_t, std::pair<Phase, StringId>>, Sum> sums;
  const InputSummary& trace = inputs[counters.input];
  const ComputeKernels& kernels = *trace.gpus[counters.gpu].compute_kernels;
  const ComputeKernelTable& table = kernels.table;
  for (std::size_t i = 0; i < counters.executed_flops.size(); i++) {
    if (std::isnan(counters.executed_flops[i]) || !(table.flops[i] > 0) || table.operation[i] == kNoString ||
        counters.flops_pass[i] == kNoNumber)
      continue;
    Sum& sum = sums[{counters.flops_pass[i], {table.phase[i], table.operation[i]}}];
    if (sum.kernels++ == 0) sum.dispatch = counters.flops_dispatch[i];
    sum.executed += counters.executed_flops[i];
    sum.flops += table.flops[i];
  }
  for (const auto& [key, sum] : sums) {
    if (sum.executed >= kLeastFlops * sum.flops) continue;
    InputSummary& pass = inputs[static_cast<std::size_t>(key.first)];
    pass.health.add(HealthKind::too_few_flops, pass.path,
                    fmt::format("{}: {} {}, from dispatch {}, {:.2f} of its work", gpu_text(trace, counters.gpu),
                                to_string(key.second.first), kernels.strings.view(key.second.second), sum.dispatch,
                                sum.executed / sum.flops),
                    sum.kernels);
  }
}

}  // namespace chopper
