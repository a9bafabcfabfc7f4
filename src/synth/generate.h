// SPDX-License-Identifier: Apache-2.0
// The door of the simulator: a job becomes a folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

#include "base/result.h"
#include "synth/job.h"

namespace chopper::synth {

struct GenerateOptions {
  unsigned threads = 1;
  std::int64_t target_bytes =
      0;  ///< wanted size of one rank's uncompressed trace; 0: as many iterations as the job has
  std::function<void(std::int64_t done, std::int64_t total)> on_progress;  ///< iterations written
};

/// Simulates `job` and writes `folder`/traces/rank<N>.trace.json.gz, truth.json and chopper.toml; with counter passes
/// also counters/pass_<N>/rank<N>/, truth_counters.json and true_clock.toml. Fails with usage when
/// the job's parts do not fit together, with conflict when the folder holds something else, with unreadable when it
/// cannot be written.
Result<Done> generate(Job job, const std::filesystem::path& folder, const GenerateOptions& options);

}  // namespace chopper::synth
