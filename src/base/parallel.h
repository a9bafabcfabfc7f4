// SPDX-License-Identifier: Apache-2.0
// Runs independent pieces of work on several threads.
#pragma once

#include <functional>
#include <vector>

namespace chopper {

/// Runs all `tasks`, at most `threads` at a time, and returns when all are done. With one thread they run in order, on
/// the caller. Tasks must not depend on each other; put the longest first.
void run_tasks(unsigned threads, const std::vector<std::function<void()>>& tasks);

}  // namespace chopper
