// SPDX-License-Identifier: Apache-2.0
// CHOPPER_CHECK: an invariant whose violation is our bug. Always on; input can never reach one (the fuzzers prove it).
#pragma once

namespace chopper {

/// Ends the process after a message on standard error; called by CHOPPER_CHECK only.
[[noreturn]] void check_failed(const char* condition, const char* file, int line);

}  // namespace chopper

#define CHOPPER_CHECK(condition)                               \
  do {                                                         \
    if (!(condition)) [[unlikely]]                             \
      ::chopper::check_failed(#condition, __FILE__, __LINE__); \
  } while (false)
