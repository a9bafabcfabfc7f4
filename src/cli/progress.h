// SPDX-License-Identifier: Apache-2.0
// Shows on standard error how far a long read is: one line that is rewritten on a terminal, or a line every few
// seconds.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

#include "cli/arguments.h"
#include "engine/engine.h"

namespace chopper {

/// Returns "read 1.2 of 4.5 GB  27 %  1.1 GB/s  3 s left".
std::string progress_text(std::uint64_t done, std::uint64_t total, double seconds);

/// Shows `progress` from construction to destruction.
class ProgressDisplay {
 public:
  ProgressDisplay(const Progress& progress, ProgressMode mode);
  ~ProgressDisplay();
  ProgressDisplay(const ProgressDisplay&) = delete;
  ProgressDisplay& operator=(const ProgressDisplay&) = delete;

 private:
  void show(bool rewrite);

  const Progress& progress_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool finished_ = false;
  std::thread thread_;
};

}  // namespace chopper
