// SPDX-License-Identifier: Apache-2.0
// The public C++ interface (include/chopper/chopper.h) on top of engine and the JSON writer.
#include "chopper/chopper.h"

#include <exception>
#include <new>
#include <string_view>
#include <vector>

#include "engine/engine.h"
#include "report/json.h"
#include "version.h"

namespace chopper {
namespace {

Report make_report(std::span<const std::filesystem::path> runs, const ReportOptions& options) {
  RunOptions run;
  run.threads = options.threads;
  run.keep_kernels = options.kernels;
  run.strict = options.strict;
  run.grain_layer = options.by_layer;
  run.grain_iteration = options.by_iteration;
  run.iteration_mark = options.iteration_mark;
  run.operation_files = options.operation_files;
  run.config = options.config;
  const auto answer = analyse_run(std::vector<std::filesystem::path>(runs.begin(), runs.end()), run);
  Report report;
  if (!answer.ok()) {
    report.error = answer.error().text();
    return report;
  }
  const TextSink sink = [&report](std::string_view text) {
    report.json += text;
    return true;
  };
  write_json(answer.value(), {kChopperVersion, options.kernels}, sink);
  report.exit_code = answer.value().lost_something ? 3 : 0;
  return report;
}

// Short enough for every std::string to hold without memory of its own.
constexpr std::string_view kOutOfMemory = "out of memory";

}  // namespace

const char* version() { return kChopperVersion.data(); }

Report report_json(std::span<const std::filesystem::path> runs, const ReportOptions& options) {
  Report failed;
  try {
    return make_report(runs, options);
  } catch (const std::bad_alloc&) {
    failed.error = kOutOfMemory;
  } catch (const std::exception& problem) {
    failed.error = problem.what();
  }
  return failed;
}

}  // namespace chopper
