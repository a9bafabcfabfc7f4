// SPDX-License-Identifier: Apache-2.0
// The list of everything about a job that can be set by name: the one place that knows names, defaults, ranges, units
// and sources. The command line, truth.json and the reference page are made from it.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "synth/job.h"

namespace chopper::synth {

/// One parameter of the physics.
struct Parameter {
  std::string_view name;
  double Physics::*value;
  double initial;  ///< calibrated for MI300X nodes; presets change some
  double low, high;
  std::string_view unit;
  std::string_view summary;
  std::string_view source;
};
std::span<const Parameter> list_parameters();

/// A whole-number setting of the job.
struct Setting {
  std::string_view name;
  std::int64_t Job::*value;
  std::int64_t ModelShape::*dimension;  ///< instead of `value`
  std::int64_t low, high;
  std::string_view summary;
};
std::span<const Setting> list_settings();

/// A yes-or-no setting.
struct Switch {
  std::string_view name;
  bool Job::*value;
  std::string_view summary;
};
std::span<const Switch> list_switches();

struct NamedEffect {
  std::string_view name;
  double initial;    ///< amount when none is given
  double low, high;  ///< of the amount
  bool is_whole;     ///< the amount counts something
  bool has_rank;     ///< it can be limited to one rank
  std::string_view unit;
  std::string_view summary;
};
std::span<const NamedEffect> list_faults();
std::span<const NamedEffect> list_imperfections();

/// Returns all parameters at their initial values.
Physics initial_physics();

/// Applies "name=value". Fails with usage, naming what can be set.
Result<Done> apply_setting(Job& job, std::string_view text);
/// Parses "name[:rank[:amount]]"; an empty rank is all ranks.
Result<Fault> parse_fault(std::string_view text);
Result<Imperfection> parse_imperfection(std::string_view text);

/// Checks that the parts fit together (divisibility, sizes). Fails with usage.
Result<Done> check_job(const Job& job);

}  // namespace chopper::synth
