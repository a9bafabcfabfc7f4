// SPDX-License-Identifier: Apache-2.0
// `chopper synth`, `chopper demo` and `chopper gpus`: their arguments as values, and what they do.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "synth/generate.h"

namespace chopper {

/// The options of `synth` as typed.
struct SynthOptions {
  std::string preset, seed, num_iterations, output, target_size, gpu, dialect;
  std::vector<std::string> settings, faults, imperfections;
  bool list = false;
};

/// A checked request.
struct SynthRequest {
  synth::Job job;
  std::filesystem::path output;
  std::int64_t target_bytes = 0;
};

/// Checks the options. Fails with usage.
Result<SynthRequest> read_synth_options(const SynthOptions& options);

/// Returns the text of `synth --list`.
std::string synth_list_text();

/// Returns the text of `gpus`.
Result<std::string> gpus_text();

/// Simulates and writes; `shows_progress` prints a line every 5 s on standard error.
Result<Done> run_synth(const SynthRequest& request, unsigned threads, bool shows_progress);

}  // namespace chopper
