// SPDX-License-Identifier: Apache-2.0
// Ready-made jobs.
#pragma once

#include <span>
#include <string_view>

#include "base/result.h"
#include "synth/job.h"

namespace chopper::synth {

struct Preset {
  std::string_view name;
  std::string_view summary;
  std::string_view gpu;    ///< key of the table of gpus
  std::string_view model;  ///< "8b", "70b", "tiny"
  std::int64_t world_size;
  std::int64_t batch;
  std::int64_t sequence;
  std::string_view settings;  ///< as for apply_setting, separated by spaces
};
std::span<const Preset> list_presets();

/// Returns the job of `name`; `gpu` replaces its gpu unless empty. Fails with usage when there is no such preset or
/// gpu.
Result<Job> make_job(std::string_view name, std::string_view gpu);

}  // namespace chopper::synth
