// SPDX-License-Identifier: Apache-2.0
// The settings of counter passes by name. They are no settings of the traced job, so truth.json does not list them:
// the same job gives the same traces and the same truth with passes and without.
#pragma once

#include <span>
#include <string_view>

#include "base/result.h"
#include "synth/job.h"

namespace chopper::synth {

struct PassSetting {
  std::string_view name;
  std::string_view summary;
};
std::span<const PassSetting> list_pass_settings();

/// Names of the formats, "automatic" first.
std::span<const std::string_view> list_counter_formats();
std::string_view to_string(CounterFormat format);

bool is_pass_setting(std::string_view name);
/// Applies a setting for which is_pass_setting() is true. Fails with usage.
Result<Done> apply_pass_setting(PassSettings& passes, std::string_view name, std::string_view value);

/// The format that is written: that of the gpu's vendor where none is named.
CounterFormat counter_format(const Job& job);

/// Checks that the format is one of the gpu's vendor. Fails with usage.
Result<Done> check_passes(const Job& job);

}  // namespace chopper::synth
