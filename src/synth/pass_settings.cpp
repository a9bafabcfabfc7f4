// SPDX-License-Identifier: Apache-2.0
#include "synth/pass_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <utility>

namespace chopper::synth {
namespace {

struct WholeSetting {
  std::string_view name;
  std::int64_t PassSettings::*value;
  std::int64_t low, high;
};
constexpr WholeSetting kWhole[] = {
    {"counter_warmup", &PassSettings::warmup, 0, 1000},
    {"counter_iterations", &PassSettings::num_iterations, 0, 100000},
    {"counter_clock_range", &PassSettings::clock_range, 0, 60},
};

struct SwitchSetting {
  std::string_view name;
  bool PassSettings::*value;
};
constexpr SwitchSetting kSwitches[] = {
    {"counters", &PassSettings::is_on},
    {"marks", &PassSettings::marks},
    {"counter_gzip", &PassSettings::compressed},
};

constexpr PassSetting kListed[] = {
    {"counters", "on or off: counter passes, each an execution of its own"},
    {"counter_format", "automatic, rocprofv3-7.0, -6.4, -6.3, -6.2, rocprofv3-json, rocpd, ncu"},
    {"marks", "on or off: the program of the passes marks its iterations (roctx)"},
    {"counter_gzip", "on or off: the files are compressed"},
    {"counter_warmup", "iterations of a pass before those of the trace (default 3)"},
    {"counter_iterations", "counted iterations with the warm-up; 0: up to the trace's last"},
    {"counter_clock_range", "%: how much lower the last pass clocks than the first (default 12)"},
};

// In order of CounterFormat.
constexpr std::string_view kFormats[] = {"automatic",     "rocprofv3-6.2",  "rocprofv3-6.3", "rocprofv3-6.4",
                                         "rocprofv3-7.0", "rocprofv3-json", "rocpd",         "ncu"};

Error usage(std::string message, std::string hint) {
  return {ErrorCode::usage, std::move(message), "", std::move(hint)};
}

Result<Done> set_whole(PassSettings& passes, const WholeSetting& setting, std::string_view value) {
  std::int64_t parsed = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), parsed);
  const bool whole = error == std::errc{} && end == value.data() + value.size();
  if (!whole || parsed < setting.low || parsed > setting.high) {
    return usage(
        fmt::format("{} takes a whole number from {} to {}, not '{}'", setting.name, setting.low, setting.high, value),
        "");
  }
  passes.*setting.value = parsed;
  return Done{};
}

}  // namespace

std::span<const PassSetting> list_pass_settings() { return kListed; }
std::span<const std::string_view> list_counter_formats() { return kFormats; }
std::string_view to_string(CounterFormat format) { return kFormats[static_cast<std::size_t>(format)]; }

bool is_pass_setting(std::string_view name) {
  return std::any_of(std::begin(kListed), std::end(kListed), [&](const PassSetting& s) { return s.name == name; });
}

Result<Done> apply_pass_setting(PassSettings& passes, std::string_view name, std::string_view value) {
  for (const WholeSetting& setting : kWhole) {
    if (setting.name == name) return set_whole(passes, setting, value);
  }
  for (const SwitchSetting& setting : kSwitches) {
    if (setting.name != name) continue;
    if (value != "on" && value != "off") return usage(fmt::format("{} takes on or off, not '{}'", name, value), "");
    passes.*setting.value = value == "on";
    return Done{};
  }
  const auto* found = std::find(std::begin(kFormats), std::end(kFormats), value);
  if (found == std::end(kFormats)) {
    return usage(fmt::format("counter_format takes no '{}'", value), fmt::format("{}", kListed[1].summary));
  }
  passes.format = static_cast<CounterFormat>(found - std::begin(kFormats));
  return Done{};
}

CounterFormat counter_format(const Job& job) {
  if (job.passes.format != CounterFormat::automatic) return job.passes.format;
  return job.gpu.vendor == "nvidia" ? CounterFormat::ncu : CounterFormat::rocprofv3_7_0;
}

Result<Done> check_passes(const Job& job) {
  if (!job.passes.is_on) return Done{};
  const bool for_nvidia = counter_format(job) == CounterFormat::ncu;
  if (for_nvidia != (job.gpu.vendor == "nvidia")) {
    return usage(fmt::format("counter_format={} is not written for {}", to_string(counter_format(job)), job.gpu.name),
                 "leave counter_format out, or choose another --gpu");
  }
  return Done{};
}

}  // namespace chopper::synth
