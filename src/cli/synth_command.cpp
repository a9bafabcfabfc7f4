// SPDX-License-Identifier: Apache-2.0
#include "cli/synth_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <iterator>
#include <optional>
#include <string_view>

#include "cli/closest_word.h"
#include "cli/size_words.h"
#include "engine/gpus.h"
#include "synth/parameters.h"
#include "synth/pass_settings.h"
#include "synth/presets.h"

namespace chopper {
namespace {

Error usage(std::string message, std::string hint) {
  return {ErrorCode::usage, std::move(message), "", std::move(hint)};
}

std::optional<std::uint64_t> whole(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

Result<synth::Job> job_of(const SynthOptions& options) {
  std::vector<std::string> names;
  for (const synth::Preset& preset : synth::list_presets()) names.emplace_back(preset.name);
  if (std::find(names.begin(), names.end(), options.preset) == names.end()) {
    const std::string guess = closest_word(options.preset, names);
    return usage(fmt::format("unknown preset '{}'", options.preset),
                 guess.empty() ? "all presets: chopper synth --list" : fmt::format("did you mean {}?", guess));
  }
  return synth::make_job(options.preset, options.gpu);
}

Result<Done> read_dialect(const SynthOptions& options, synth::Job& job) {
  if (options.dialect.empty()) return Done{};
  for (const synth::Dialect each : {synth::Dialect::nvidia, synth::Dialect::amd_queue, synth::Dialect::amd_stream}) {
    if (options.dialect == synth::to_string(each)) return job.dialect = each, Done{};
  }
  return usage(fmt::format("--dialect takes nvidia, amd-queue or amd-stream, not '{}'", options.dialect), "");
}

template <class List>
void add_names(std::string& text, std::string_view title, const List& list) {
  fmt::format_to(std::back_inserter(text), "\n{}\n", title);
  for (const auto& each : list) fmt::format_to(std::back_inserter(text), "  {:<32} {}\n", each.name, each.summary);
}

}  // namespace

Result<SynthRequest> read_synth_options(const SynthOptions& options) {
  if (options.preset.empty()) return usage("synth needs --preset", "all presets: chopper synth --list");
  if (options.output.empty())
    return usage("synth needs -o RUN: the folder to write",
                 fmt::format("example: chopper synth --preset {} -o run", options.preset));
  SynthRequest request;
  request.output = options.output;
  CHOPPER_TRY(request.job, job_of(options));
  if (!options.seed.empty()) {
    const auto seed = whole(options.seed);
    if (!seed)
      return usage(fmt::format("--seed takes a whole number from 0, not '{}'", options.seed), "example: --seed 7");
    request.job.seed = *seed;
  }
  for (const std::string& each : options.settings) {
    CHOPPER_TRY([[maybe_unused]] const Done done, synth::apply_setting(request.job, each));
  }
  if (!options.num_iterations.empty()) {
    CHOPPER_TRY([[maybe_unused]] const Done done,
                synth::apply_setting(request.job, "num_iterations=" + options.num_iterations));
  }
  for (const std::string& each : options.faults) {
    CHOPPER_TRY(request.job.faults.emplace_back(), synth::parse_fault(each));
  }
  for (const std::string& each : options.imperfections) {
    CHOPPER_TRY(request.job.imperfections.emplace_back(), synth::parse_imperfection(each));
  }
  CHOPPER_TRY([[maybe_unused]] const Done dialect, read_dialect(options, request.job));
  if (!options.target_size.empty()) {
    const auto bytes = size_of_words(options.target_size);
    constexpr std::int64_t kMostBytes = 1'000'000'000'000;  // a terabyte per rank is a slip
    if (!bytes || *bytes > kMostBytes)
      return usage(fmt::format("--target-size takes a size such as 500MB or 1GB, not '{}'", options.target_size), "");
    if (!options.num_iterations.empty())
      return usage("--target-size and --num-iterations both set the number of iterations", "give one of them");
    request.target_bytes = *bytes;
  }
  CHOPPER_TRY([[maybe_unused]] const Done fits, synth::check_job(request.job));
  return request;
}

std::string synth_list_text() {
  std::string text = "presets (--preset)\n";
  for (const synth::Preset& p : synth::list_presets())
    fmt::format_to(std::back_inserter(text), "  {:<22} {}\n", p.name, p.summary);
  const auto effects = [&](std::string_view title, std::span<const synth::NamedEffect> list) {
    fmt::format_to(std::back_inserter(text), "\n{}\n", title);
    for (const synth::NamedEffect& e : list)
      fmt::format_to(std::back_inserter(text), "  {:<22} {} (default {} {})\n", e.name, e.summary, e.initial, e.unit);
  };
  effects("faults (--fault NAME[:RANK[:AMOUNT]])", synth::list_faults());
  effects("imperfections of the files (--imperfection NAME[:RANK[:AMOUNT]])", synth::list_imperfections());
  add_names(text, "settings (--set NAME=VALUE), whole numbers", synth::list_settings());
  add_names(text, "settings, on or off", synth::list_switches());
  text +=
      "  sharding                         fsdp1, fsdp2, ddp\n  optimizer                        every, once, never: "
      "iterations with an optimizer step\n";
  add_names(text, "counter passes (--set NAME=VALUE)", synth::list_pass_settings());
  text += "\nphysics (--set NAME=VALUE): default, meaning, source; presets scale power to the gpu's limit\n";
  for (const synth::Parameter& p : synth::list_parameters()) {
    fmt::format_to(std::back_inserter(text), "  {:<32} {} {}: {}\n  {:<32}   from: {}\n", p.name, p.initial, p.unit,
                   p.summary, "", p.source);
  }
  return text;
}

Result<std::string> gpus_text() {
  CHOPPER_TRY(const std::vector<GpuSpec> gpus, list_gpus());
  const auto number = [](double value, int digits) {
    return value > 0 ? fmt::format("{:.{}f}", value, digits) : std::string("-");
  };
  constexpr std::string_view kLine = "{:<14}  {:>5}  {:>4}  {:>7}  {:>6}  {:>7}  {:>8}  {:>4}  {:<24}  {}\n";
  std::string text = fmt::format(kLine, "key", "units", "MHz", "BF16 TF", "FP8 TF", "FP32 TF", "mem GB/s", "W",
                                 "links, GB/s each way", "name");
  for (const GpuSpec& g : gpus) {
    const std::string links =
        g.num_links > 0 ? fmt::format("{} {} x {}", g.link_name, g.num_links, g.link_gb_per_s) : g.link_name;
    fmt::format_to(std::back_inserter(text), kLine, g.key, g.num_units, number(g.clock_mhz, 0),
                   number(g.bf16_tflops(), 1), number(g.fp8_tflops(), 1), number(g.fp32_tflops(), 1),
                   number(g.memory_gb_per_s, 0), number(g.power_w, 0), links, g.name);
  }
  return text;
}

Result<Done> run_synth(const SynthRequest& request, unsigned threads, bool shows_progress) {
  synth::GenerateOptions options;
  options.threads = threads;
  options.target_bytes = request.target_bytes;
  if (shows_progress) {
    options.on_progress = [last = std::chrono::steady_clock::now()](std::int64_t done, std::int64_t total) mutable {
      constexpr std::chrono::seconds kPause{5};  // as --progress says
      const auto now = std::chrono::steady_clock::now();
      if (now - last < kPause) return;
      last = now;
      std::fprintf(stderr, "chopper: iteration %lld of %lld\n", static_cast<long long>(done),
                   static_cast<long long>(total));
    };
  }
  return synth::generate(request.job, request.output, options);
}

}  // namespace chopper
