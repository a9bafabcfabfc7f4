// SPDX-License-Identifier: Apache-2.0
// Chopper as a library: the answer of `chopper report --json` for programs that do not want to start a process.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace chopper {

/// Returns the version of the library, "0.1.0".
const char* version();

/// What to read and how.
struct ReportOptions {
  unsigned threads = 0;                         ///< 0: as many as the machine has
  bool kernels = false;                         ///< with the tables `kernels` and `copies`
  bool strict = false;                          ///< a lost or quarantined record fails the report
  bool by_layer = false, by_iteration = false;  ///< the operations table tells layers, iterations apart
  std::string iteration_mark;  ///< ranges whose names begin with it delimit iterations; empty: known ones
  std::vector<std::filesystem::path> operation_files;  ///< maps of operations of your own
  std::filesystem::path config;                        ///< facts about the run; empty: its chopper.toml
};

/// The outcome of report_json().
struct Report {
  int exit_code = 1;  ///< as the command's: 0 all read, 3 something was lost, 1 nothing could be read
  std::string json;   ///< the report (spec 11); empty when exit_code is 1
  std::string error;  ///< what went wrong and what to do; empty otherwise
};

/// Reads the traces below `runs` (directories or files) and returns the report as JSON.
Report report_json(std::span<const std::filesystem::path> runs, const ReportOptions& options);

}  // namespace chopper
