// SPDX-License-Identifier: Apache-2.0
#include "synth/generate.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>
#include <vector>

#include "synth/counterfactual.h"
#include "synth/parameters.h"
#include "synth/run_writer.h"
#include "synth/simulation.h"

namespace chopper::synth {
namespace {

namespace fs = std::filesystem;

// A folder of an earlier run is written anew; anything else in it is left alone and refused.
Result<Done> prepare_folder(const fs::path& folder) {
  std::error_code error;
  if (fs::exists(folder, error) && !fs::is_directory(folder, error)) {
    return Error{ErrorCode::conflict, "is no folder", folder.string(), "choose another name for -o"};
  }
  if (fs::exists(folder, error) && !fs::is_empty(folder, error) && !fs::exists(folder / "truth.json", error)) {
    return Error{ErrorCode::conflict, "is not empty and holds no synthetic run", folder.string(),
                 "choose an empty or new folder for -o"};
  }
  fs::remove_all(folder / "traces", error);
  fs::remove_all(folder / "counters", error);
  fs::remove(folder / "truth_counters.json", error);
  fs::remove(folder / "true_clock.toml", error);
  fs::create_directories(folder / "traces", error);
  if (error)
    return Error{ErrorCode::unreadable, "cannot be created: " + error.message(), folder.string(),
                 "check the path and its permissions"};
  return Done{};
}

// How many iterations make one rank's trace about `bytes` long. Measured on the first recorded one.
std::int64_t iterations_for(Job job, const Programs& programs, std::int64_t bytes) {
  constexpr std::int64_t kMost = 100000;
  job.num_iterations = 2;  // the only step of the optimizer, if it is one, is in the second
  const RunContext context{job, programs, {}, 1};
  Simulation simulation(job, programs, {});
  simulation.run_until_complete(job.warmup_iterations);
  const std::int64_t each = kineto_bytes(context, simulation, job.warmup_iterations);
  return std::clamp<std::int64_t>((bytes + each / 2) / each, 1, kMost);
}

}  // namespace

Result<Done> generate(Job job, const fs::path& folder, const GenerateOptions& options) {
  CHOPPER_TRY([[maybe_unused]] const Done fits, check_job(job));
  const Programs programs = build_programs(job);
  if (options.target_bytes > 0) {
    job.num_iterations = iterations_for(job, programs, options.target_bytes);
  }
  CHOPPER_TRY([[maybe_unused]] const Done prepared, prepare_folder(folder));
  const RunContext context{job, programs, folder, options.threads};
  std::vector<FlawLog> flaws(static_cast<std::size_t>(job.world_size));
  CHOPPER_TRY([[maybe_unused]] const Done facts, write_facts(context));

  const std::vector<Counterfactual> counterfactuals = simulate_counterfactuals(job, programs, options.threads);
  std::vector<std::unique_ptr<RunWriter>> writers;
  CHOPPER_TRY(writers.emplace_back(), make_kineto_writer(context, flaws));
  CHOPPER_TRY(writers.emplace_back(), make_truth_writer(context, flaws, counterfactuals));
  if (job.passes.is_on) writers.push_back(make_passes_writer(context));
  Simulation simulation(job, programs, {});
  for (std::int64_t index = 0; index < job.warmup_iterations + job.num_iterations; index++) {
    simulation.run_until_complete(index);
    if (index >= job.warmup_iterations) {
      for (const std::unique_ptr<RunWriter>& writer : writers) {
        CHOPPER_TRY([[maybe_unused]] const Done written, writer->write(simulation, index));
      }
      if (options.on_progress) options.on_progress(index - job.warmup_iterations + 1, job.num_iterations);
    }
    simulation.forget(index);
  }
  for (const std::unique_ptr<RunWriter>& writer : writers) {
    CHOPPER_TRY([[maybe_unused]] const Done finished, writer->finish());
  }
  return Done{};
}

}  // namespace chopper::synth
