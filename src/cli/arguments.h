// SPDX-License-Identifier: Apache-2.0
// The command line as a value. Wrong usage is answered here, with a remedy; nothing is printed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "cli/metrics_words.h"
#include "cli/synth_command.h"
#include "engine/engine.h"
#include "engine/formats.h"

namespace chopper {

enum class Command : std::uint8_t {
  report,
  check,
  synth,
  demo,
  formats,
  gpus,
  operations,
  metrics,
  schema,
  completion,
  man,
  version
};
enum class ProgressMode : std::uint8_t { automatic, plain, off };

struct Arguments {
  Command command = Command::report;
  std::vector<std::filesystem::path> runs;
  RunOptions options;
  std::string json_path;  ///< empty: none, "-": standard output
  std::string csv_path;   ///< as json_path, a directory
  std::string html_path;  ///< as json_path
  ProgressMode progress = ProgressMode::automatic;
  bool quiet = false;
  bool paper = false;  ///< --mode paper
  SynthOptions synth;  ///< of synth and demo
  MetricsArguments metrics;
  std::string shell;  ///< of completion: bash, zsh or fish
};

/// The command line needs no work: text to show, and the exit code.
struct Reply {
  std::string text;
  int exit_code = 0;
  bool to_stdout = false;
};

/// Parses the arguments after the program's name.
std::variant<Arguments, Reply> parse_arguments(const std::vector<std::string>& words,
                                               std::span<const FormatInfo> formats);

}  // namespace chopper
