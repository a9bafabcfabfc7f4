// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "report/quantity.h"

namespace chopper {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kQuietStart{500};    // short reads show nothing
constexpr milliseconds kRewriteEvery{100};  // as fast as one can read
constexpr milliseconds kPlainEvery{5000};   // for log files

std::string time_left_text(double seconds) {
  if (seconds < 60) return fmt::format("{:.0f} s left", seconds);
  if (seconds < 3600) return fmt::format("{:.0f} min left", seconds / 60);
  return fmt::format("{:.1f} h left", seconds / 3600);
}

}  // namespace

std::string progress_text(std::uint64_t done, std::uint64_t total, double seconds) {
  if (total == 0) return "looking for traces";
  const double share = std::min(1.0, static_cast<double>(done) / static_cast<double>(total));
  const double rate = seconds > 0 ? static_cast<double>(done) / seconds : 0;
  if (done >= total) return fmt::format("read {}, analysing", bytes_text(static_cast<double>(total)));
  std::string text = fmt::format("read {} of {}  {:.0f} %  {}/s", bytes_text(static_cast<double>(done)),
                                 bytes_text(static_cast<double>(total)), share * 100, bytes_text(rate));
  if (rate > 0) text += "  " + time_left_text(static_cast<double>(total - done) / rate);
  return text;
}

ProgressDisplay::ProgressDisplay(const Progress& progress, ProgressMode mode) : progress_(progress) {
  const bool terminal = ::isatty(STDERR_FILENO) != 0;
  if (mode == ProgressMode::off || (mode == ProgressMode::automatic && !terminal)) return;
  const bool rewrite = mode == ProgressMode::automatic;
  thread_ = std::thread([this, rewrite] { show(rewrite); });
}

ProgressDisplay::~ProgressDisplay() {
  {
    const std::lock_guard lock(mutex_);
    finished_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void ProgressDisplay::show(bool rewrite) {
  const Clock::time_point start = Clock::now();
  bool shown = false;
  std::unique_lock lock(mutex_);
  milliseconds wait = rewrite ? kQuietStart : kPlainEvery;
  while (!wake_.wait_for(lock, wait, [this] { return finished_; })) {
    wait = rewrite ? kRewriteEvery : kPlainEvery;
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    const std::string text = progress_text(progress_.bytes_done.load(std::memory_order_relaxed),
                                           progress_.bytes_total.load(std::memory_order_relaxed), seconds);
    // ESC [ K clears what a longer line left behind.
    const std::string line = rewrite ? "\r" + text + "\x1b[K" : "chopper: " + text + "\n";
    std::fwrite(line.data(), 1, line.size(), stderr);
    shown = true;
  }
  if (shown && rewrite) std::fputs("\r\x1b[K", stderr);
}

}  // namespace chopper
