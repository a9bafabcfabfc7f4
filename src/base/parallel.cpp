// SPDX-License-Identifier: Apache-2.0
#include "base/parallel.h"

#include <algorithm>
#include <atomic>
#include <thread>

namespace chopper {

void run_tasks(unsigned threads, const std::vector<std::function<void()>>& tasks) {
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < tasks.size(); i = next++) tasks[i]();
  };
  const std::size_t helpers = tasks.empty() ? 0 : std::min<std::size_t>(threads, tasks.size()) - 1;
  std::vector<std::thread> others;
  others.reserve(helpers);
  for (std::size_t i = 0; i < helpers; i++) others.emplace_back(work);
  work();
  for (std::thread& thread : others) thread.join();
}

}  // namespace chopper
