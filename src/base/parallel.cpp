// SPDX-License-Identifier: Apache-2.0
#include "base/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

namespace chopper {

void run_tasks(unsigned threads, const std::vector<std::function<void()>>& tasks) {
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::exception_ptr failure;
  const auto work = [&] {
    for (std::size_t i = next++; i < tasks.size(); i = next++) {
      try {
        tasks[i]();
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!failure) failure = std::current_exception();
      }
    }
  };
  const std::size_t helpers = tasks.empty() ? 0 : std::min<std::size_t>(std::max(1u, threads), tasks.size()) - 1;
  std::vector<std::jthread> others;
  others.reserve(helpers);
  try {
    for (std::size_t i = 0; i < helpers; i++) others.emplace_back(work);
  } catch (const std::system_error&) {
    // The system gives no more threads: those there are do the work.
  }
  work();
  others.clear();  // joins
  if (failure) std::rethrow_exception(failure);
}

}  // namespace chopper
