// SPDX-License-Identifier: Apache-2.0
// Several files at once, each with its share of the threads.
#include <algorithm>
#include <exception>
#include <functional>
#include <numeric>
#include <optional>
#include <system_error>
#include <thread>

#include "base/parallel.h"
#include "engine/engine.h"
#include "engine/facts.h"
#include "engine/memory_budget.h"
#include "engine/recognise.h"
#include "engine/rules.h"
#include "ingest/format.h"

namespace chopper {
namespace {

std::uint64_t size_of(const std::filesystem::path& path) {
  std::error_code error;
  const std::uint64_t size = std::filesystem::file_size(path, error);
  return error ? 0 : size;
}

// Recognises the files; one that cannot be is left to its reading, which says why. Returns whether any is of a counter
// pass.
bool recognise_all(std::vector<RunFiles::File>& files, const std::string& forced, unsigned threads) {
  std::vector<std::function<void()>> tasks;
  for (RunFiles::File& file : files) {
    tasks.emplace_back([&file, &forced] {
      try {
        const Result<const TraceFormat*> format = recognise(file.path, forced);
        if (format.ok()) file.format = format.value();
      } catch (const std::exception&) {
        file.format = nullptr;
      }
    });
  }
  run_tasks(threads, tasks);
  return std::any_of(files.begin(), files.end(),
                     [](const RunFiles::File& file) { return file.format != nullptr && file.format->holds_passes; });
}

}  // namespace

Result<Answer> analyse_run(const std::vector<std::filesystem::path>& runs, const RunOptions& asked) {
  CHOPPER_TRY(RunFiles run, find_run_files(runs, asked));
  RunOptions options = asked;
  CHOPPER_TRY(options.facts, load_facts(run, asked));
  if (options.iteration_mark.empty()) options.iteration_mark = options.facts.iteration_mark.value_or("");
  CHOPPER_TRY(options.rules, load_rules(options));
  // More threads than this help no reader; a wrong number must not exhaust the machine.
  constexpr unsigned kMaxThreads = 512;
  const unsigned threads =
      std::min(kMaxThreads, options.threads > 0 ? options.threads : std::max(1u, std::thread::hardware_concurrency()));
  options.threads = threads;
  const std::size_t num_files = run.files.size();
  // Largest first, so that no thread is left alone with a big file at the end.
  std::vector<std::size_t> order(num_files);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::vector<std::uint64_t> sizes;
  for (const auto& file : run.files) sizes.push_back(size_of(file.path));
  const std::uint64_t total = std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0});
  if (options.progress != nullptr) options.progress->bytes_total = total;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return sizes[a] > sizes[b]; });
  std::vector<std::uint64_t> needs;
  if (options.memory_bytes > 0) {
    for (const auto& file : run.files) needs.push_back(reading_bytes(file.path));
  }
  const std::size_t that_fit = options.memory_bytes > 0 ? files_at_once(needs, options.memory_bytes) : num_files;
  const auto at_once = static_cast<unsigned>(std::min<std::size_t>(threads, that_fit));
  options.keep_compute = recognise_all(run.files, options.format, threads);
  std::vector<std::optional<Result<InputSummary>>> results(num_files);
  std::vector<std::function<void()>> tasks;
  for (const std::size_t file : order) {
    tasks.emplace_back([&, file] {
      // Threads in proportion to size, and no more than a file has work for: the text is cut into megabytes, compressed
      // text is some ten times its size on disk, and every thread costs memory.
      std::uint64_t share = total == 0 ? 1 : threads * sizes[file] / total;
      if (options.memory_bytes > 0) share = std::max<std::uint64_t>(share, threads / at_once);
      const std::uint64_t useful = 1 + sizes[file] / (std::uint64_t{1} << 20);
      const auto file_threads = static_cast<unsigned>(std::max<std::uint64_t>(1, std::min(share, useful)));
      results[file] = summarise_file(run.files[file], options, file_threads);
    });
  }
  run_tasks(at_once, tasks);

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
