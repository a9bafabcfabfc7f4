// SPDX-License-Identifier: Apache-2.0
// The metrics this build and the user know, those of counters and those of traces in one list, and plans of the passes
// that metrics of counters need: as the doors show them.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "catalog/metrics.h"

namespace chopper {

/// How a metric is computed on some architectures.
struct MetricOn {
  std::string vendor;
  std::vector<std::string> architectures;
  std::string where;                     ///< the same in words: "amd", or "gfx942 gfx950"
  std::vector<std::string> expressions;  ///< alternatives in order of preference; of a ratio the numerator
  std::vector<std::string> tells;        ///< what each alternative is; none where there is one
  std::string denominator;               ///< of a ratio of sums
  std::vector<std::string> needs;        ///< counters of the preferred alternatives
  std::string source;
};

struct MetricInfo {
  std::string id, title, unit, grain, roll_up, summary;
  std::string table;         ///< of the JSON, for metrics of traces; empty: a metric of counters
  std::string needs;         ///< what a trace must have
  std::string where;         ///< where it is defined, of counters: "amd, sm_80 sm_86"
  std::vector<MetricOn> on;  ///< of counters
};

/// A counter of the hardware.
struct CounterInfo {
  std::string name, unit, block, summary, source;
  std::vector<std::string> architectures;
  std::int64_t block_limit = 0;  ///< counters of the block in a pass; 0: no limit is known
};

/// Reads metric files of the user and what this build ships.
Result<MetricCatalog> load_metric_files(std::span<const std::filesystem::path> files);

/// Returns all metrics: those of counters in order of the files, then those of traces. `gpu`: a key of `chopper gpus`
/// or an architecture, for which metrics of counters are left out that it has not; empty: all.
Result<std::vector<MetricInfo>> list_metrics(std::span<const std::filesystem::path> files, const std::string& gpu);

Result<std::vector<CounterInfo>> list_counters(std::span<const std::filesystem::path> files, const std::string& gpu);

/// The metrics that traces alone give.
std::vector<MetricInfo> list_trace_metrics();

struct PlanRequest {
  std::string gpu;                 ///< a key of `chopper gpus` or an architecture
  std::vector<std::string> names;  ///< of metrics and counters; none: what the decomposition needs
  std::string format;              ///< rocprofv3 or ncu; empty: by vendor
  std::vector<std::filesystem::path> metric_files;
};

struct PlanText {
  std::string text;                ///< as the profiler takes it
  std::vector<std::string> notes;  ///< for people
};

/// Plans passes.
Result<PlanText> plan_passes_text(const PlanRequest& request);

}  // namespace chopper
