// SPDX-License-Identifier: Apache-2.0
// Several files at once, each with its share of the threads.
#include <algorithm>
#include <mutex>
#include <numeric>
#include <optional>
#include <system_error>
#include <thread>

#include "engine/engine.h"

namespace chopper {
namespace {

std::uint64_t size_of(const std::filesystem::path& path) {
  std::error_code error;
  const std::uint64_t size = std::filesystem::file_size(path, error);
  return error ? 0 : size;
}

}  // namespace

Result<Answer> analyse_run(const std::vector<std::filesystem::path>& runs, const RunOptions& options) {
  CHOPPER_TRY(RunFiles run, find_run_files(runs, options));
  const unsigned threads = options.threads > 0 ? options.threads : std::max(1u, std::thread::hardware_concurrency());
  const std::size_t num_files = run.files.size();
  if (options.progress != nullptr) {
    std::uint64_t total = 0;
    for (const auto& file : run.files) total += size_of(file.path);
    options.progress->bytes_total = total;
  }
  // Largest first, so that no thread is left alone with a big file at the end. Many files are read one thread each:
  // that needs no coordination. Fewer files than threads share them.
  std::vector<std::size_t> order(num_files);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::vector<std::uint64_t> sizes;
  for (const auto& file : run.files) sizes.push_back(size_of(file.path));
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return sizes[a] > sizes[b]; });
  const auto at_once = static_cast<unsigned>(std::min<std::size_t>(threads, num_files));
  const unsigned per_file = std::max(1u, threads / at_once);
  std::vector<std::optional<Result<InputSummary>>> results(num_files);
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t k = next++; k < num_files; k = next++)
      results[order[k]] = summarise_file(run.files[order[k]], options, per_file);
  };
  std::vector<std::thread> workers;
  for (unsigned i = 1; i < at_once; i++) workers.emplace_back(work);
  work();
  for (std::thread& worker : workers) worker.join();

  std::vector<InputSummary> summaries;
  std::optional<Error> failure;
  for (std::size_t i = 0; i < num_files; i++) {
    Result<InputSummary>& result = *results[i];
    if (result.ok()) {
      summaries.push_back(std::move(result).value());
      continue;
    }
    const Error& error = result.error();
    if (!run.files[i].named && error.code == ErrorCode::unrecognised) {
      run.health.add(HealthKind::foreign_file, run.files[i].shown, error.message);
      continue;
    }
    run.health.add(HealthKind::input_failed, run.files[i].shown, error.message);
    if (!failure) failure = error;
  }
  if (summaries.empty()) {
    if (failure) return *failure;
    return Error{ErrorCode::not_found,
                 "no trace among the files: " + run.health.entry(HealthKind::foreign_file).examples.front().where +
                     ": " + run.health.entry(HealthKind::foreign_file).examples.front().what,
                 runs.front().string(), "give the directory into which the PyTorch profiler exported"};
  }
  return merge_summaries(std::move(summaries), std::move(run.health), options);
}

}  // namespace chopper
