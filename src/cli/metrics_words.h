// SPDX-License-Identifier: Apache-2.0
// What `chopper metrics` is asked for, from the words of its command line.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

namespace chopper {

/// The words as typed; empty: not given.
struct MetricsWords {
  std::vector<std::string> names, files;
  std::string gpu, format, json, csv;
};

struct MetricsArguments {
  bool plan = false;               ///< passes for `names`; else the list, or what `names` are
  std::vector<std::string> names;  ///< of metrics and counters
  std::string gpu;                 ///< key or architecture; empty: all
  std::string format;              ///< of a plan
  std::vector<std::filesystem::path> files;
  std::string json_path, csv_path;  ///< of the list; empty: none, "-": standard output
};

/// Checks that the words fit together. Fails with the remedy.
Result<MetricsArguments> read_metrics_words(const MetricsWords& words);

/// "plan", and the ids of all metrics: for completion.
std::vector<std::string> metrics_words_there_are();

}  // namespace chopper
