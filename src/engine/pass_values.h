// SPDX-License-Identifier: Apache-2.0
// What counter passes say of the COMP kernels of one gpu: metrics of the dispatches they are aligned with.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "catalog/metric_set.h"
#include "engine/align_passes.h"

namespace chopper {

/// Sums of a metric over the kernels of an operation on one gpu.
struct MetricSum {
  double numerator = 0, denominator = 0, maximum = 0;
  std::int64_t num_kernels = 0, duration_ns = 0;  ///< of the trace, that have a value
  std::size_t pass = 0;                           ///< input of the file the values are from, or most of them
  std::vector<std::size_t> passes;                ///< inputs of all files they are from, in order
  std::string computed_by;                        ///< which alternatives of the expression were used
  std::optional<Unavailable> why;                 ///< of the first kernel without a value, while there is none with one

  /// Adds the value of a kernel of this duration in the trace.
  void add(const MetricValue& value, std::int64_t kernel_ns);
};

/// The dispatches of an operation in one pass: what tells the share of its time that does not change with the clock.
struct PassSum {
  double cycles = 0, duration_ns = 0, theory_ns = 0;
};
/// By input of the file, and ordinal of the iteration.
using PassSums = std::map<std::pair<std::size_t, std::int32_t>, PassSum>;

struct GpuCounters {
  std::size_t input = 0, gpu = 0;
  /// By row of ComputeKernels::table; NaN: not measured.
  std::vector<double> executed_flops, executed_bytes, matrix_busy_cycles, matrix_cycles, gpu_cycles, pass_duration_ns;
  std::vector<double> read_bytes, write_bytes;           ///< parts of executed_bytes
  std::vector<std::int64_t> dispatch_id, dispatch_pass;  ///< of gpu_cycles: its number, and the input
  std::vector<MatchBasis> dispatch_basis;                ///< why it is the kernel's
  std::vector<std::int64_t> flops_dispatch, flops_pass;  ///< likewise of executed_flops
  std::map<std::pair<Phase, StringId>, PassSums> pass_sums;
  std::map<std::pair<Phase, StringId>, std::vector<MetricSum>> metrics;  ///< by index of the metric
  std::map<std::size_t, std::string> missing;      ///< metrics without a value, with what is not in any pass
  std::optional<MetricSet> set;                    ///< that of the gpu; always there
  std::vector<std::vector<double>> flops_by_type;  ///< while passes are read
  std::set<std::int32_t> measured_iterations;      ///< that have dispatches of their own
};

/// Evaluates the metrics of `catalog` for all usable alignments; notes in the health of a pass what disagrees. One
/// entry a gpu that has any, in order of (input, gpu). `known`: the gpus there are.
Result<std::vector<GpuCounters>> pass_values(std::vector<InputSummary>& inputs,
                                             const std::vector<PassAlignment>& alignments, const MetricCatalog& catalog,
                                             const std::vector<GpuSpec>& known,
                                             const std::optional<std::string>& gpu_spec);

/// Sets what counters say of the kernels that are kept one by one.
void set_kernel_counters(const std::vector<GpuCounters>& values, std::vector<InputSummary>& inputs);

}  // namespace chopper
