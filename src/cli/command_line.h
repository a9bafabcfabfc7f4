// SPDX-License-Identifier: Apache-2.0
// The commands and options as data, read from the parser itself: what shell completion and the manual page are made of.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "engine/formats.h"

namespace chopper {

struct OptionDescription {
  std::string short_name;  ///< "-q", or empty
  std::string long_name;   ///< "--quiet"
  std::string value;       ///< what it takes, as the help names it: "FILE"; empty for flags
  std::string summary;
  bool repeatable = false;
  std::vector<std::string> words;  ///< the values there are, where they are few
};

struct CommandDescription {
  std::string name, summary;
  bool takes_runs = false;
  bool in_help = true;             ///< false: for those who build on Chopper
  std::vector<std::string> words;  ///< the arguments there are, of a command that takes some of few
  std::string usage;               ///< how arguments are written where they may be several of `words`; else empty
  std::vector<OptionDescription> options;
};

/// Returns every command with its options, in order of the help.
std::vector<CommandDescription> describe_command_line(std::span<const FormatInfo> formats);

}  // namespace chopper
