// SPDX-License-Identifier: Apache-2.0
#include "engine/facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <string>
#include <system_error>
#include <utility>

#include "catalog/gpus.h"

namespace chopper {
namespace {

namespace fs = std::filesystem;

// A page of facts is a few kilobytes; what is larger is something else.
constexpr std::size_t kLargestFile = std::size_t{1} << 20;

Result<std::string> read_text(const fs::path& path, const std::string& shown) {
  std::error_code error;
  if (!fs::exists(path, error)) return Error{ErrorCode::not_found, "no such file", shown, "check the path of --config"};
  std::ifstream file(path, std::ios::binary);
  std::string text(kLargestFile + 1, '\0');
  if (fs::is_directory(path, error) || !file)
    return Error{ErrorCode::unreadable, "cannot be read", shown, "a file of facts is needed here"};
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > kLargestFile)
    return Error{ErrorCode::bad_input, "larger than 1 MB: no file of facts", shown, "name another file with --config"};
  return text;
}

Result<RunFacts> read_facts(const fs::path& path, const std::string& shown) {
  CHOPPER_TRY(const std::string text, read_text(path, shown));
  CHOPPER_TRY(RunFacts facts, parse_run_facts(text, shown));
  if (!facts.gpu_spec) return facts;
  CHOPPER_TRY(const std::vector<GpuSpec> known, embedded_gpus());
  if (std::any_of(known.begin(), known.end(), [&](const GpuSpec& gpu) { return gpu.key == *facts.gpu_spec; }))
    return facts;
  return Error{ErrorCode::bad_input, "gpu.spec is no gpu of this build: " + *facts.gpu_spec, shown,
               "the keys there are: chopper gpus"};
}

// Clocks of tables and of products differ by some per cent; by this much only a slip does.
constexpr double kLargestClockRatio = 1.2;

}  // namespace

Result<Done> check_stated_clocks(const RunFacts& facts, const std::vector<InputSummary>& inputs,
                                 const std::vector<GpuSpec>& known) {
  for (const ClockFact& fact : facts.clocks) {
    for (const InputSummary& input : inputs) {
      if (fact.rank && input.facts.rank != fact.rank) continue;
      for (const GpuSummary& gpu : input.gpus) {
        const GpuSpec* spec = find_gpu(known, facts.gpu_spec, gpu.name);
        if (spec == nullptr || !(spec->max_clock_mhz > 0) || (fact.gpu && gpu.device != *fact.gpu)) continue;
        if (fact.f_eff_mhz <= kLargestClockRatio * spec->max_clock_mhz) continue;
        return Error{ErrorCode::bad_input,
                     fmt::format("f_eff_mhz = {} is above 1.2 times the highest clock of {}, {} MHz", fact.f_eff_mhz,
                                 spec->name, spec->max_clock_mhz),
                     fact.place.text, "state the clock in megahertz, and the gpu if this is another one: gpu.spec"};
      }
    }
  }
  return Done{};
}

void note_unused_clocks(const RunFacts& facts, const std::vector<InputSummary>& inputs, HealthLog& health) {
  std::vector<bool> is_used(facts.clocks.size(), false);
  bool has_kernels = false;
  for (const InputSummary& input : inputs) {
    for (const GpuSummary& gpu : input.gpus) {
      if (!gpu.compute_kernels) continue;
      has_kernels = true;
      const ComputeKernelTable& table = gpu.compute_kernels->table;
      std::set<std::pair<Phase, StringId>> operations;
      for (std::size_t i = 0; i < num_rows(table); i++) operations.emplace(table.phase[i], table.operation[i]);
      for (const auto& [phase, name] : operations) {
        const std::string_view operation =
            name == kNoString ? std::string_view() : gpu.compute_kernels->strings.view(name);
        for (std::size_t f = 0; f < facts.clocks.size(); f++)
          is_used[f] = is_used[f] || facts.clocks[f].holds({input.facts.rank, gpu.device, to_string(phase), operation});
      }
    }
  }
  for (std::size_t f = 0; has_kernels && f < facts.clocks.size(); f++) {
    const ClockFact& fact = facts.clocks[f];
    if (is_used[f]) continue;
    std::string what = fmt::format("f_eff_mhz = {}", fact.f_eff_mhz);
    if (fact.rank) what += fmt::format(", rank {}", *fact.rank);
    if (fact.gpu) what += fmt::format(", gpu {}", *fact.gpu);
    if (fact.phase) what += ", phase " + *fact.phase;
    if (fact.operation) what += ", operation " + *fact.operation;
    health.add(HealthKind::stated_clock_unused, fact.place.text, what);
  }
}

void note_other_spec(const RunFacts& facts, const std::vector<InputSummary>& inputs, const std::vector<GpuSpec>& known,
                     HealthLog& health) {
  if (!facts.gpu_spec) return;
  for (const InputSummary& input : inputs) {
    for (const GpuSummary& gpu : input.gpus) {
      const GpuSpec* named = find_gpu(known, std::nullopt, gpu.name);
      if (named == nullptr || named->key == *facts.gpu_spec) continue;
      health.add(HealthKind::gpu_spec_disagrees, input.path,
                 fmt::format("gpu {} is {} ({}), gpu.spec is {}", gpu.device, *gpu.name, named->key, *facts.gpu_spec));
    }
  }
}

Result<RunFacts> load_facts(const RunFiles& run, const RunOptions& options) {
  if (!options.config.empty()) return read_facts(options.config, options.config.string());
  RunFacts facts;
  for (std::size_t i = 0; i < run.facts.size(); i++) {
    CHOPPER_TRY(RunFacts found, read_facts(run.facts[i].path, run.facts[i].shown));
    if (i > 0 && !(found == facts)) {
      return Error{ErrorCode::conflict, "states other facts than " + run.facts[0].shown + ", and they are one run",
                   run.facts[i].shown, "name the one that holds: --config FILE"};
    }
    facts = std::move(found);
  }
  return facts;
}

}  // namespace chopper
