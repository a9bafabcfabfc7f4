// SPDX-License-Identifier: Apache-2.0
// What each command does, and the exit code it ends with (spec 10).
#pragma once

#include "cli/arguments.h"

namespace chopper {

inline constexpr int kExitDone = 0;
inline constexpr int kExitFailed = 1;  ///< nothing could be read, or ranks conflict; no JSON is written
inline constexpr int kExitUsage = 2;
inline constexpr int kExitLost = 3;  ///< done, but a record, a part of a file or an input was lost

/// Runs the command and returns the exit code.
int run_command(const Arguments& arguments);

}  // namespace chopper
