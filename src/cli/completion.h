// SPDX-License-Identifier: Apache-2.0
// Completion scripts of shells, from the description of the command line.
#pragma once

#include <span>
#include <string>

#include "cli/command_line.h"

namespace chopper {

std::string bash_completion(std::span<const CommandDescription> commands);
std::string zsh_completion(std::span<const CommandDescription> commands);
std::string fish_completion(std::span<const CommandDescription> commands);

}  // namespace chopper
