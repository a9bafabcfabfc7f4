// SPDX-License-Identifier: Apache-2.0
// What is kept of a rank once its tables are gone: integers and sketches, merged by adding, so that ten thousand ranks
// are as easy as one.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "base/quantile_sketch.h"
#include "model/compute_kernels.h"
#include "model/rows.h"
#include "model/trace.h"

namespace chopper {

/// Records and summed duration that carry a label.
struct LabelCount {
  std::int64_t records = 0;
  std::int64_t duration_ns = 0;
};

/// Identity of a group of like kernels.
struct KernelKey {
  std::string name;
  GpuClass gpu_class = GpuClass::other;
  std::string operation;
  Extent grid, block;
  friend bool operator<(const KernelKey& a, const KernelKey& b) {
    return std::tie(a.name, a.gpu_class, a.operation, a.grid, a.block) <
           std::tie(b.name, b.gpu_class, b.operation, b.grid, b.block);
  }
};

/// A value that is known or not; unknown ones order last.
constexpr std::int64_t kNotGrouped = INT64_MAX;

/// Identity of a row of the operations table. Parts the grain leaves out are kNotGrouped.
struct OperationKey {
  Phase phase = Phase::unlabelled;
  std::string operation;
  std::int64_t ordinal = kNotGrouped;  ///< of the iteration; or k*Iteration
  std::int64_t layer = kNotGrouped;    ///< or k*Layers
  bool in_steps = false;               ///< of the iterations that step times are means of
  friend auto operator<=>(const OperationKey&, const OperationKey&) = default;
};

/// Sums over the gpu records of an operation.
struct OperationSummary {
  std::int64_t num_kernels = 0, duration_ns = 0, elapsed_ns = 0, overlap_ns = 0, compute_ns = 0;
  std::int64_t prep_ns = 0, call_ns = 0, prep_idle_ns = 0, call_idle_ns = 0, num_no_launch = 0;
  std::int64_t class_ns[7] = {};     ///< duration by GpuClass
  std::int64_t num_layer_known = 0;  ///< records whose layer is known
  double flops = 0, bytes = 0;       ///< of records whose work is known
  double recompute_flops = 0;        ///< part of `flops`
  double least_ns = 0;               ///< least time at the peak of the gpu of records whose work is known
  double compute_bound_ns = 0;       ///< part of `least_ns` set by FLOPs
  std::int64_t known_ns = 0;         ///< duration of records whose work is known
  std::int64_t least_known_ns = 0;   ///< duration of records whose least time is known
  std::int64_t message_bytes = 0;    ///< of collectives that tell their size
  std::int64_t message_ns = 0;       ///< their duration
  QuantileSketch instances;          ///< summed durations

  void merge(const OperationSummary& from);
};

/// FLOPs of the work launched in an iteration, or in several, from recorded shapes.
struct IterationFlops {
  double total = 0;              ///< recomputed ones among them
  double forward = 0;            ///< of the forward phase
  double recompute = 0;          ///< of forward work repeated in the backward phase
  std::int64_t product_ns = 0;   ///< summed durations of the classes gemm and attention, and of `other` of unknown work
  std::int64_t known_ns = 0;     ///< part of `product_ns` whose work is known
  std::int64_t repeated_ns = 0;  ///< part of `product_ns` that repeats forward work
  IterationFlops& operator+=(const IterationFlops& other);
};

/// A window and the work launched in its iteration.
struct WindowSummary {
  TimelineRow row;  ///< input, rank and gpu are filled when rows are made
};

/// Launching in one phase.
struct LaunchSummary {
  std::int64_t num_negative_delay = 0, prep_ns = 0, call_ns = 0, prep_idle_ns = 0, call_idle_ns = 0;
  QuantileSketch delay_ns, queue;
};

/// A kind of host activity that blocks launching, by name.
struct BlockerSummary {
  std::int64_t num = 0, duration_ns = 0, idle_ns = 0;
  std::int64_t step_idle_ns = 0;  ///< part in the windows that step times are means of, before kernels that are
                                  ///< selected in any iteration
};

/// Memory of one device in one scope.
struct MemorySummary {
  std::int32_t device = kUnknownDevice;
  std::int32_t ordinal = -1;  ///< of the iteration; -1: the whole trace
  std::int64_t number = kNoNumber;
  std::int64_t num_events = 0;
  std::int64_t peak_allocated = kNoNumber, peak_reserved = kNoNumber, lowest_allocated = kNoNumber;
};

/// One collective of one gpu. Texts are indices into `GpuSummary::texts`.
struct CollectiveRecord {
  std::int64_t start_ns = 0, duration_ns = 0, exposed_ns = 0, stream = kNoNumber, sequence = kNoNumber;
  std::int64_t bytes = kNoNumber, group_size = kNoNumber, source = kNoNumber, destination = kNoNumber;
  std::uint64_t offset = 0;
  std::int32_t ordinal = kNoIteration, layer = kUnknownLayer, launch_layer = kUnknownLayer;
  std::uint32_t kind = 0, group = 0, description = 0, ranks = 0;
  Phase phase = Phase::unlabelled;
};

/// One gpu as one input saw it. Times as in TimelineRow.
struct GpuSummary {
  std::int32_t device = kUnknownDevice;
  std::optional<std::string> name;
  std::string architecture;            ///< as the trace states it: "sm_90"; empty: it does not
  std::int64_t num_units = kNoNumber;  ///< SMs or CUs
  std::int64_t num_kernels = 0, num_memcpy = 0, num_memset = 0, num_comm_kernels = 0;
  TimelineRow timeline;                ///< input, rank and gpu are filled when rows are made
  std::vector<WindowSummary> windows;  ///< head, iterations in order, tail, unlabelled
  LabelCount all, launched, in_range, in_operation, classed, in_iteration, with_phase, with_layer, with_operation;
  std::map<std::pair<std::string, LabelRule>, LabelCount> label_rules;  ///< by kind of label
  std::map<KernelKey, QuantileSketch> kernels;
  std::map<OperationKey, OperationSummary> operations;
  /// Summed COMP durations of the complete iterations, of all when none is complete.
  std::map<std::pair<Phase, std::string>, std::int64_t> compute_by_operation;
  std::int64_t num_compared = 0;      ///< iterations that `compute_by_operation` is of
  std::vector<IterationFlops> flops;  ///< of each iteration, by ordinal
  std::map<Phase, LaunchSummary> launches;
  std::map<std::pair<std::string, std::string>, BlockerSummary> blockers;  ///< by kind and name
  std::vector<CollectiveRecord> collectives;                               ///< in order of (start, offset)
  std::vector<std::string> texts = {""};                                   ///< of collectives; 0: none
  std::shared_ptr<const ComputeKernels> compute_kernels;  ///< kept only where the run holds counter passes
};

/// Every gpu record with its labels, kept only with --kernels. Strings are interned in `strings`.
struct KernelRecords {
  struct Record {
    std::int32_t device;
    bool is_kernel;
    GpuClass gpu_class;
    bool comm_copy;
    StringId name, launch_call, range, operator_name, operation;
    Phase phase;
    std::int32_t ordinal, layer;
    std::int64_t iteration;
    bool recompute, graph;
    LabelRule phase_rule, layer_rule, operation_rule;
    std::int64_t start_ns, duration_ns, stream, correlation, bytes, launch_ns, prep_ns, call_ns, overlap_ns;
    bool first_of_chain;
    Extent grid, block;
    std::uint64_t offset;
    // Of its dispatch in counter passes; NaN and kNoNumber: none.
    double gpu_cycles = kNoCount, executed_flops = kNoCount, executed_bytes = kNoCount, matrix_utilisation = kNoCount;
    std::int64_t dispatch = kNoNumber, dispatch_pass = kNoNumber;  ///< its number, and the input, of gpu_cycles
    std::string_view dispatch_basis = {};                          ///< why it is the kernel's

    static constexpr double kNoCount = std::numeric_limits<double>::quiet_NaN();
  };
  StringTable strings;
  std::vector<Record> records;  ///< sorted by (device, start, offset)
};

/// One input file.
struct InputSummary {
  std::string path;       ///< as shown: relative to the run
  std::string full_path;  ///< for comparing bytes of files that claim one rank
  TraceFacts facts;
  std::int64_t first_ns = 0, last_ns = 0;  ///< extent of all valid times
  bool has_times = false;
  HealthLog health;
  std::vector<GpuSummary> gpus;
  std::vector<MemorySummary> memory;
  MarkKind mark_kind = MarkKind::none;
  /// Numbered marks of every kind, in order of time: kept where the run holds counter passes.
  struct NumberedMark {
    MarkKind kind = MarkKind::none;
    std::int64_t number = 0, start_ns = 0;
  };
  std::vector<NumberedMark> numbered_marks;
  bool selected = true;  ///< false when --rank leaves it out
  std::optional<KernelRecords> kernel_records;
  std::optional<CounterPassSummary>
      pass;  ///< it is a file of a counter pass, not a trace: nothing but facts and health besides
  std::shared_ptr<CounterPass> pass_tables;  ///< of such a file

  std::optional<CounterPassSummary> counters;  ///< of a trace: what it counted besides
  bool counters_have_launches = false;         ///< each of its ranges is one kernel launch

  bool is_trace() const { return !pass.has_value(); }
};

}  // namespace chopper
