// SPDX-License-Identifier: Apache-2.0
#include "engine/throughput_rows.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "analyze/throughput.h"

namespace chopper {
namespace {

// The gpu all rows agree on; nullptr when one is not known or they differ.
const GpuSpec* common_spec(const std::vector<GpuRow>& rows, std::span<const GpuSpec> known) {
  if (rows.empty() || !rows.front().spec.present()) return nullptr;
  const std::string& key = rows.front().spec.value();
  const bool same = std::all_of(rows.begin(), rows.end(), [&](const GpuRow& row) { return row.spec == key; });
  const auto found = std::find_if(known.begin(), known.end(), [&](const GpuSpec& gpu) { return gpu.key == key; });
  return same && found != known.end() ? &*found : nullptr;
}

std::optional<std::int64_t> world_size_of(std::span<const InputSummary> inputs) {
  std::optional<std::int64_t> size;
  for (const InputSummary& input : inputs) {
    const auto& stated = input.facts.world_size;
    if (!stated) continue;
    if (*stated < 1 || (size && *size != *stated)) return std::nullopt;
    size = stated;
  }
  return size;
}

}  // namespace

std::vector<ThroughputRow> throughput_rows(const Answer& answer, std::span<const InputSummary> inputs,
                                           std::span<const GpuSpec> known) {
  // A rank may have several files, one after the other; inputs without a rank are gpus of their own.
  using GpuKey = std::tuple<std::int64_t, std::int64_t, std::int32_t>;
  std::map<GpuKey, GpuFlops> by_gpu;
  for (std::size_t i = 0; i < inputs.size(); i++) {
    const auto& rank = inputs[i].facts.rank;
    for (const GpuSummary& gpu : inputs[i].gpus) {
      const GpuKey key{rank ? -1 : static_cast<std::int64_t>(i), rank.value_or(-1), gpu.device};
      by_gpu[key] += flops_of(gpu);
    }
  }
  std::vector<GpuFlops> flops;
  for (const auto& [key, of_gpu] : by_gpu) flops.push_back(of_gpu);
  return throughput({.steps = answer.steps,
                     .facts = answer.facts,
                     .gpu = common_spec(answer.gpus, known),
                     .num_gpus = static_cast<std::int64_t>(by_gpu.size()),
                     .world_size = world_size_of(inputs),
                     .micro_steps = micro_steps_of(inputs),
                     .flops = flops});
}

}  // namespace chopper
