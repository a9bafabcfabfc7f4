// SPDX-License-Identifier: Apache-2.0
#include "cli/metrics_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/metrics.h"

namespace chopper {
namespace {

Error usage(const std::string& message, const std::string& hint) { return {ErrorCode::usage, message, "", hint}; }

}  // namespace

Result<MetricsArguments> read_metrics_words(const MetricsWords& words) {
  MetricsArguments metrics;
  metrics.names = words.names;
  metrics.plan = !metrics.names.empty() && metrics.names.front() == "plan";
  if (metrics.plan) metrics.names.erase(metrics.names.begin());
  metrics.gpu = words.gpu;
  metrics.format = words.format;
  metrics.files.assign(words.files.begin(), words.files.end());
  metrics.json_path = words.json;
  metrics.csv_path = words.csv;
  if (metrics.plan && metrics.gpu.empty())
    return usage("metrics plan needs a --gpu", "example: chopper metrics plan --gpu mi300x matrix_utilisation");
  if (!metrics.plan && !metrics.format.empty())
    return usage("--format belongs to metrics plan", "example: chopper metrics plan --gpu mi300x");
  if (!metrics.format.empty() && metrics.format != "rocprofv3" && metrics.format != "ncu")
    return usage(fmt::format("--format takes rocprofv3 or ncu, not '{}'", metrics.format),
                 "example: --format rocprofv3");
  const bool lists = !words.json.empty() || !words.csv.empty();
  if (lists && (metrics.plan || !metrics.names.empty()))
    return usage("--json and --csv write the list of metrics", "leave out the names, or print them as text");
  if (words.json == "-" && words.csv == "-")
    return usage("only one of --json and --csv can go to standard output",
                 "give the other a file: --json metrics.json");
  return metrics;
}

std::vector<std::string> metrics_words_there_are() {
  std::vector<std::string> words = {"plan"};
  const auto metrics = list_metrics({}, "");
  if (!metrics.ok()) return words;
  for (const MetricInfo& metric : metrics.value())
    if (std::find(words.begin(), words.end(), metric.id) == words.end()) words.push_back(metric.id);
  return words;
}

}  // namespace chopper
