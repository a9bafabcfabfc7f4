// SPDX-License-Identifier: Apache-2.0
// The metrics that traces alone give: numbers of the tables of the answer. Units and meanings are those of the columns;
// what this list adds is the finest grain, the roll-up and what a trace must have.
#include <array>
#include <string_view>
#include <tuple>

#include "base/check.h"
#include "engine/metrics.h"
#include "model/rows.h"

namespace chopper {
namespace {

struct TraceMetric {
  std::string_view table, column, grain, roll_up, needs;
};

constexpr std::string_view kWork = "gpu records", kLaunches = "launch records", kMarks = "iteration marks",
                           kShapes = "recorded shapes", kGroups = "all ranks of the group", kMemory = "memory events",
                           kFacts = "batch and sequence (chopper.toml)";

// A union of intervals is formed anew for each selection: those of parts do not add up to it.
// clang-format off
constexpr std::array kTraceMetrics = {
    TraceMetric{"timeline", "span_ns", "iteration", "union", kWork},
    TraceMetric{"timeline", "busy_ns", "iteration", "union", kWork},
    TraceMetric{"timeline", "compute_ns", "iteration", "union", kWork},
    TraceMetric{"timeline", "comm_ns", "iteration", "union", kWork},
    TraceMetric{"timeline", "memcpy_ns", "iteration", "union", kWork},
    TraceMetric{"timeline", "overlap_ns", "iteration", "union", kWork},
    TraceMetric{"timeline", "exposed_comm_ns", "iteration", "union", kWork},
    TraceMetric{"timeline", "exposed_comm_strict_ns", "iteration", "union", kWork},
    TraceMetric{"timeline", "exposed_memcpy_ns", "iteration", "union", kWork},
    TraceMetric{"timeline", "idle_ns", "iteration", "union", kWork},
    TraceMetric{"timeline", "comm_copy_ns", "iteration", "union", kWork},
    TraceMetric{"timeline", "window_ns", "iteration", "sum", kMarks},
    TraceMetric{"timeline", "window_busy_ns", "iteration", "sum", kMarks},
    TraceMetric{"timeline", "window_compute_ns", "iteration", "sum", kMarks},
    TraceMetric{"timeline", "window_comm_ns", "iteration", "sum", kMarks},
    TraceMetric{"timeline", "window_memcpy_ns", "iteration", "sum", kMarks},
    TraceMetric{"timeline", "window_overlap_ns", "iteration", "sum", kMarks},
    TraceMetric{"timeline", "window_exposed_comm_ns", "iteration", "sum", kMarks},
    TraceMetric{"timeline", "window_exposed_memcpy_ns", "iteration", "sum", kMarks},
    TraceMetric{"timeline", "window_idle_ns", "iteration", "sum", kMarks},
    TraceMetric{"timeline", "foreign_ns", "iteration", "sum", kMarks},
    TraceMetric{"timeline", "gap_to_next_ns", "iteration", "none", kMarks},
    TraceMetric{"kernels", "prep_ns", "kernel", "sum", kLaunches},
    TraceMetric{"kernels", "call_ns", "kernel", "sum", kLaunches},
    TraceMetric{"operations", "prep_idle_ns", "operation", "sum", kLaunches},
    TraceMetric{"operations", "call_idle_ns", "operation", "sum", kLaunches},
    TraceMetric{"timeline", "inter_iteration_ns", "iteration", "sum", kLaunches},
    TraceMetric{"kernels", "launch_delay_ns", "kernel", "quantiles", kLaunches},
    TraceMetric{"launch", "queue_p50", "phase", "quantiles", kLaunches},
    TraceMetric{"kernels", "duration_ns", "kernel", "sum", kWork},
    TraceMetric{"operations", "elapsed_ns", "operation", "sum", kWork},
    TraceMetric{"kernels", "overlap_ratio", "kernel", "ratio_of_sums", kWork},
    TraceMetric{"operations", "flops", "operation", "sum", kShapes},
    TraceMetric{"operations", "bytes", "operation", "sum", kShapes},
    TraceMetric{"operations", "tflops", "operation", "ratio_of_sums", kShapes},
    TraceMetric{"operations", "gbps", "operation", "ratio_of_sums", kShapes},
    TraceMetric{"operations", "peak_share", "operation", "ratio_of_sums", kShapes},
    TraceMetric{"collectives", "exposed_ns", "kernel", "sum", kWork},
    TraceMetric{"collectives", "transfer_ns", "kernel", "sum", kGroups},
    TraceMetric{"collectives", "wait_ns", "kernel", "sum", kGroups},
    TraceMetric{"collectives", "busbw_gbps", "kernel", "ratio_of_sums", kGroups},
    TraceMetric{"collectives", "theory_ns", "kernel", "sum", kGroups},
    TraceMetric{"host_blockers", "idle_ns", "gpu", "sum", "host records"},
    TraceMetric{"memory", "peak_allocated_bytes", "iteration", "maximum", kMemory},
    TraceMetric{"memory", "peak_reserved_bytes", "iteration", "maximum", kMemory},
    TraceMetric{"memory", "peak_variation", "gpu", "none", kMemory},
    TraceMetric{"steps", "step_ns", "iteration", "median", kMarks},
    TraceMetric{"ranks", "compute_ratio", "gpu", "none", kMarks},
    TraceMetric{"throughput", "tokens_per_s", "run", "none", kFacts},
    TraceMetric{"throughput", "mfu", "run", "none", kFacts},
    TraceMetric{"throughput", "hfu", "run", "none", kFacts},
};
// clang-format on

// Takes unit and meaning from the column of the row; returns whether there is one.
template <class Row>
bool describe(const TraceMetric& metric, MetricInfo& info) {
  if (metric.table != Row::table) return false;
  bool found = false;
  std::apply(
      [&](const auto&... column) {
        const auto look = [&](const auto& one) {
          if (one.name != metric.column) return;
          info.unit = one.unit.empty() ? "1" : std::string(one.unit);
          info.title = one.summary;
          found = true;
        };
        (look(column), ...);
      },
      Row::columns());
  return found;
}

}  // namespace

std::vector<MetricInfo> list_trace_metrics() {
  std::vector<MetricInfo> metrics;
  for (const TraceMetric& metric : kTraceMetrics) {
    MetricInfo info;
    info.id = metric.column;
    info.table = metric.table;
    info.grain = metric.grain;
    info.roll_up = metric.roll_up;
    info.needs = metric.needs;
    const bool known = describe<TimelineRow>(metric, info) || describe<KernelRow>(metric, info) ||
                       describe<OperationRow>(metric, info) || describe<LaunchRow>(metric, info) ||
                       describe<CollectiveRow>(metric, info) || describe<HostBlockerRow>(metric, info) ||
                       describe<MemoryRow>(metric, info) || describe<StepRow>(metric, info) ||
                       describe<RankRow>(metric, info) || describe<ThroughputRow>(metric, info);
    CHOPPER_CHECK(known);
    metrics.push_back(std::move(info));
  }
  return metrics;
}

}  // namespace chopper
