// SPDX-License-Identifier: Apache-2.0
// The manual page, from the description of the command line.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "cli/command_line.h"

namespace chopper {

/// Returns chopper(1) in the macros of man(7).
std::string man_page(std::span<const CommandDescription> commands, std::string_view version);

}  // namespace chopper
