// SPDX-License-Identifier: Apache-2.0
// Who writes a simulated run down. Writers get one iteration after the other, complete on all ranks, and keep little.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "synth/flaws.h"
#include "synth/simulation.h"

namespace chopper::synth {

/// What all writers of a run share.
struct RunContext {
  const Job& job;
  const Programs& programs;
  std::filesystem::path folder;
  unsigned threads = 1;

  const Program& program(std::int64_t rank, std::int64_t index) const {
    return programs.at(job, place_of(job, rank).stage, index);
  }
  /// The number of iteration `index` of the simulation, as the profiler counts.
  std::int64_t number(std::int64_t index) const { return job.first_iteration + index - job.warmup_iterations; }
};

class RunWriter {
 public:
  virtual ~RunWriter() = default;
  /// Writes iteration `index` of all ranks.
  virtual Result<Done> write(Simulation& simulation, std::int64_t index) = 0;
  virtual Result<Done> finish() = 0;
};

/// One PyTorch profiler trace per rank: traces/rank<N>.trace.json.gz. What its flaws did is added to `flaws`.
Result<std::unique_ptr<RunWriter>> make_kineto_writer(const RunContext& context, std::vector<FlawLog>& flaws);

/// Returns the bytes of one iteration of rank 0 as the writer above writes it, uncompressed.
std::int64_t kineto_bytes(const RunContext& context, Simulation& simulation, std::int64_t index);

/// Results of the simulations that leave something out.
struct Counterfactual;

/// truth.json. The flaws and counterfactuals are read at the end.
Result<std::unique_ptr<RunWriter>> make_truth_writer(const RunContext& context, const std::vector<FlawLog>& flaws,
                                                     const std::vector<Counterfactual>& counterfactuals);

/// The counter passes below counters/, truth_counters.json and true_clock.toml. All is written at the end.
std::unique_ptr<RunWriter> make_passes_writer(const RunContext& context);

/// The facts that no trace states, as chopper.toml states them.
std::string facts_text(const RunContext& context);
/// Writes chopper.toml.
Result<Done> write_facts(const RunContext& context);

}  // namespace chopper::synth
