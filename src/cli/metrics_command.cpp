// SPDX-License-Identifier: Apache-2.0
#include "cli/metrics_command.h"

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <vector>

#include "cli/closest_word.h"
#include "cli/output.h"
#include "engine/metrics.h"
#include "report/metrics_text.h"
#include "report/utf8.h"
#include "version.h"

namespace chopper {
namespace {

Result<Done> print(const std::string& text) {
  return write_to_stdout([&](const TextSink& sink) { return sink(text); });
}

Result<Done> write(const std::string& path, const std::string& text) {
  if (path == "-") return print(text);
  return write_file(path, [&](const TextSink& sink) { return sink(text); });
}

Result<Done> print_plan(const MetricsArguments& arguments) {
  CHOPPER_TRY(const PlanText plan,
              plan_passes_text({arguments.gpu, arguments.names, arguments.format, arguments.files}));
  for (const std::string& note : plan.notes) {
    const std::string line = "chopper: note: " + printable(note) + "\n";
    std::fwrite(line.data(), 1, line.size(), stderr);
  }
  return print(plan.text);
}

// Explains the metrics and the counter of this name; empty when there is none.
std::string explain(const std::string& name, const std::vector<MetricInfo>& metrics,
                    const std::vector<CounterInfo>& counters) {
  std::string text;
  for (const MetricInfo& metric : metrics)
    if (metric.id == name) text += (text.empty() ? "" : "\n") + explain_text(metric);
  for (const CounterInfo& counter : counters)
    if (counter.name == name) text += (text.empty() ? "" : "\n") + explain_text(counter);
  return text;
}

Error unknown_name(const std::string& name, const std::vector<MetricInfo>& metrics,
                   const std::vector<CounterInfo>& counters) {
  std::vector<std::string> names;
  for (const MetricInfo& metric : metrics) names.push_back(metric.id);
  for (const CounterInfo& counter : counters) names.push_back(counter.name);
  const std::string guess = closest_word(name, names);
  return {ErrorCode::usage, "unknown metric '" + name + "'", "",
          guess.empty() ? "the metrics there are: chopper metrics" : "did you mean " + guess + "?"};
}

Result<Done> print_explanations(const MetricsArguments& arguments, const std::vector<MetricInfo>& metrics) {
  CHOPPER_TRY(const std::vector<CounterInfo> counters, list_counters(arguments.files, arguments.gpu));
  std::string text;
  for (const std::string& name : arguments.names) {
    const std::string one = explain(name, metrics, counters);
    if (one.empty()) return unknown_name(name, metrics, counters);
    text += (text.empty() ? "" : "\n") + one;
  }
  return print(text);
}

}  // namespace

Result<Done> run_metrics(const MetricsArguments& asked) {
  if (asked.plan) return print_plan(asked);
  CHOPPER_TRY(const std::vector<MetricInfo> metrics, list_metrics(asked.files, asked.gpu));
  if (!asked.names.empty()) return print_explanations(asked, metrics);
  if (!asked.json_path.empty()) {
    CHOPPER_TRY([[maybe_unused]] const Done done, write(asked.json_path, metrics_json(metrics, kChopperVersion)));
  }
  if (!asked.csv_path.empty()) {
    CHOPPER_TRY([[maybe_unused]] const Done done, write(asked.csv_path, metrics_csv(metrics)));
  }
  if (!asked.json_path.empty() || !asked.csv_path.empty()) return Done{};
  return print(metrics_text(metrics, !asked.gpu.empty()));
}

}  // namespace chopper
