// SPDX-License-Identifier: Apache-2.0
// The result tables of spec 11. A row type names its columns once, in `columns()`; the JSON and CSV writers, the JSON
// schema and the sort order all come from that list. Keys come first (`num_keys`); rows are sorted by them, null last.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "model/health.h"

namespace chopper {

/// Why a value is null; closed, part of the JSON contract.
enum class Reason : std::uint8_t {
  rank_unknown,
  device_unknown,
  stream_unknown,
  host_unknown,
  vendor_unknown,
  no_device_facts,
  unknown_gpu,
  no_launch_record,
  first_of_chain,
  not_compute,
  zero_length,
  no_extent,
  no_records,
  no_link,
  no_mark,
  no_label,
  outside_layers,
  no_shapes,
  no_group,
  no_links_known,
  single_rank,
  unmatched_ranks,
  no_peak,
  no_batch,
  no_model,
  no_complete_iteration,
  no_memory_totals,
  instances_differ,
  peak_exceeded,
  needs_counter,
  no_theory,
  no_executed_work,
  no_matrix_cycles,
  no_gpu_cycles,
  no_pass_times,
  no_peak_clock,
  few_matched,
  no_clock,
  few_clocks,
  no_memory_clock,
  unidentifiable,
  zero_value,
  few_iterations,
  few_resamples,
  not_in_mode,
  not_needed,
  no_waits
};
std::string_view to_string(Reason reason);
inline constexpr Reason kAllReasons[] = {Reason::rank_unknown,     Reason::device_unknown,
                                         Reason::stream_unknown,   Reason::host_unknown,
                                         Reason::vendor_unknown,   Reason::no_device_facts,
                                         Reason::unknown_gpu,      Reason::no_launch_record,
                                         Reason::first_of_chain,   Reason::not_compute,
                                         Reason::zero_length,      Reason::no_extent,
                                         Reason::no_records,       Reason::no_link,
                                         Reason::no_mark,          Reason::no_label,
                                         Reason::outside_layers,   Reason::no_shapes,
                                         Reason::no_group,         Reason::no_links_known,
                                         Reason::single_rank,      Reason::unmatched_ranks,
                                         Reason::no_peak,          Reason::no_batch,
                                         Reason::no_model,         Reason::no_complete_iteration,
                                         Reason::no_memory_totals, Reason::instances_differ,
                                         Reason::peak_exceeded,    Reason::needs_counter,
                                         Reason::no_theory,        Reason::no_executed_work,
                                         Reason::no_matrix_cycles, Reason::no_gpu_cycles,
                                         Reason::no_pass_times,    Reason::no_peak_clock,
                                         Reason::few_matched,      Reason::no_clock,
                                         Reason::few_clocks,       Reason::no_memory_clock,
                                         Reason::unidentifiable,   Reason::zero_value,
                                         Reason::few_iterations,   Reason::few_resamples,
                                         Reason::not_in_mode,      Reason::not_needed,
                                         Reason::no_waits};

/// A value, or the reason why there is none, or not applicable (the key is then absent).
template <class T>
class Field {
 public:
  Field() = default;
  Field(T value) : value_(std::move(value)), state_(State::present) {}   // NOLINT: implicit by design
  Field(Reason reason) : reason_(reason), state_(State::unavailable) {}  // NOLINT: implicit by design

  bool present() const { return state_ == State::present; }
  bool applicable() const { return state_ != State::absent; }
  const T& value() const { return value_; }
  Reason reason() const { return reason_; }

  friend bool operator==(const Field& a, const T& b) { return a.present() && a.value_ == b; }
  /// Orders by value, null and absent last.
  friend bool operator<(const Field& a, const Field& b) {
    if (a.present() != b.present()) return a.present();
    return a.present() && a.value_ < b.value_;
  }

 private:
  enum class State : std::uint8_t { absent, present, unavailable };
  T value_{};
  Reason reason_ = Reason::rank_unknown;
  State state_ = State::absent;
};

/// Three extents as a JSON array.
struct ExtentList {
  std::uint32_t values[3] = {};
  friend auto operator<=>(const ExtentList&, const ExtentList&) = default;
};

/// One column: its name is the JSON key and the CSV header; `unit` is "" for counts, names and flags.
template <class Row, class T>
struct Column {
  std::string_view name;
  T Row::*member;
  std::string_view unit;
  std::string_view summary;
};
template <class Row, class T>
Column(std::string_view, T Row::*, std::string_view, std::string_view) -> Column<Row, T>;

struct InputRow {
  static constexpr std::string_view table = "inputs";
  static constexpr std::size_t num_keys = 1;
  std::int64_t input = 0;
  std::string path, format;
  std::int64_t bytes = 0, text_bytes = 0;
  Field<std::string> vendor, host;
  Field<std::int64_t> rank;
  std::string rank_source;
  std::int64_t records = 0;
  std::string clock;
  std::int64_t quantum_ns = 1;
  Field<std::int64_t> job;
  bool is_trace = true;  ///< not written: else a file of a counter pass

  static constexpr auto columns() {
    using R = InputRow;
    return std::make_tuple(
        Column{"input", &R::input, "", "index of the input; rows of other tables refer to it"},
        Column{"path", &R::path, "", "path relative to the run"},
        Column{"format", &R::format, "", "name of the input format"}, Column{"bytes", &R::bytes, "B", "size on disk"},
        Column{"text_bytes", &R::text_bytes, "B", "uncompressed text read"},
        Column{"vendor", &R::vendor, "", "amd or nvidia"},
        Column{"host", &R::host, "", "name of the host, when the trace states it"},
        Column{"rank", &R::rank, "", "rank of the process"},
        Column{"rank_source", &R::rank_source, "", "metadata, process_group, file_name, user or none"},
        Column{"records", &R::records, "", "events of every kind, lost ones included"},
        Column{"clock", &R::clock, "", "unix or relative"},
        Column{"quantum_ns", &R::quantum_ns, "ns", "resolution of the recorded times"},
        Column{"job", &R::job, "", "index of the job it is of; absent when all inputs are of one"});
  }
};

struct GpuRow {
  static constexpr std::string_view table = "gpus";
  static constexpr std::size_t num_keys = 3;
  std::int64_t input = 0;
  Field<std::int64_t> rank, gpu, gpu_ordinal;
  std::string gpu_id;
  Field<std::string> vendor, name, spec;
  std::int64_t num_kernels = 0, num_memcpy = 0, num_memset = 0, num_comm_kernels = 0;
  std::int64_t job = 0;  ///< not written: inputs have it

  static constexpr auto columns() {
    using R = GpuRow;
    return std::make_tuple(
        Column{"input", &R::input, "", "index into inputs"}, Column{"rank", &R::rank, "", "rank of the process"},
        Column{"gpu", &R::gpu, "", "device ordinal as written"},
        Column{"gpu_ordinal", &R::gpu_ordinal, "", "device ordinal as written"},
        Column{"gpu_id", &R::gpu_id, "", "identity of the device within the run"},
        Column{"vendor", &R::vendor, "", "amd or nvidia"}, Column{"name", &R::name, "", "product name as recorded"},
        Column{"spec", &R::spec, "", "key of the table of peaks (chopper gpus)"},
        Column{"num_kernels", &R::num_kernels, "", "kernel records"},
        Column{"num_memcpy", &R::num_memcpy, "", "memcpy records"},
        Column{"num_memset", &R::num_memset, "", "memset records"},
        Column{"num_comm_kernels", &R::num_comm_kernels, "", "kernel records of class comm"});
  }
};

struct HealthRow {
  static constexpr std::string_view table = "health";
  static constexpr std::size_t num_keys = 2;
  Field<std::int64_t> input;
  std::string kind, severity;
  std::int64_t count = 0;
  std::vector<HealthExample> examples;

  static constexpr auto columns() {
    using R = HealthRow;
    return std::make_tuple(
        Column{"input", &R::input, "", "index into inputs; absent when it concerns the run"},
        Column{"kind", &R::kind, "", "what was found; closed list"},
        Column{"severity", &R::severity, "", "note, skipped or data_loss"},
        Column{"count", &R::count, "", "occurrences"},
        Column{"examples", &R::examples, "", "the first occurrences: where (file and byte offset) and what"});
  }
};

struct CoverageRow {
  static constexpr std::string_view table = "coverage";
  static constexpr std::size_t num_keys = 3;
  std::int64_t input = 0;
  Field<std::int64_t> rank, gpu;
  Field<double> launch_records, launch_time, operator_records, operator_time, host_operator_time, iteration_records,
      iteration_time, phase_records, phase_time, layer_records, layer_time, operation_records, operation_time,
      class_records, class_time;
  std::string iteration_rule;

  static constexpr auto columns() {
    using R = CoverageRow;
    return std::make_tuple(
        Column{"input", &R::input, "", "index into inputs"}, Column{"rank", &R::rank, "", "rank of the process"},
        Column{"gpu", &R::gpu, "", "device ordinal as written"},
        Column{"launch_records", &R::launch_records, "1", "share of gpu records with a launch call"},
        Column{"launch_time", &R::launch_time, "1", "share of summed duration with a launch call"},
        Column{"operator_records", &R::operator_records, "1", "share of gpu records with an operator label"},
        Column{"operator_time", &R::operator_time, "1", "share of summed duration with an operator label"},
        Column{"host_operator_time", &R::host_operator_time, "1",
               "part of operator_time whose operator contains the launch call on its thread"},
        Column{"iteration_records", &R::iteration_records, "1",
               "share of gpu records whose launch tells the iteration"},
        Column{"iteration_time", &R::iteration_time, "1", "share of summed duration, likewise"},
        Column{"phase_records", &R::phase_records, "1", "share of gpu records with a phase"},
        Column{"phase_time", &R::phase_time, "1", "share of summed duration with a phase"},
        Column{"layer_records", &R::layer_records, "1",
               "share of gpu records whose layer is known, or known to be outside the repeated blocks"},
        Column{"layer_time", &R::layer_time, "1", "share of summed duration, likewise"},
        Column{"operation_records", &R::operation_records, "1", "share of gpu records with an operation"},
        Column{"operation_time", &R::operation_time, "1", "share of summed duration with an operation"},
        Column{"class_records", &R::class_records, "1", "share of gpu records whose class is not other"},
        Column{"class_time", &R::class_time, "1", "share of summed duration whose class is not other"},
        Column{"iteration_rule", &R::iteration_rule, "",
               "what delimits iterations: user, iteration, profiler_step, optimizer, periodic or none"});
  }
};

/// How much of a kind of label each rule gave.
struct LabelRuleRow {
  static constexpr std::string_view table = "label_rules";
  static constexpr std::size_t num_keys = 5;
  std::int64_t input = 0;
  Field<std::int64_t> rank, gpu;
  std::string label, rule;
  std::int64_t records = 0, duration_ns = 0;

  static constexpr auto columns() {
    using R = LabelRuleRow;
    return std::make_tuple(Column{"input", &R::input, "", "index into inputs"},
                           Column{"rank", &R::rank, "", "rank of the process"},
                           Column{"gpu", &R::gpu, "", "device ordinal as written"},
                           Column{"label", &R::label, "", "phase, layer or operation"},
                           Column{"rule", &R::rule, "", "what gave the label; none: there is none"},
                           Column{"records", &R::records, "", "gpu records"},
                           Column{"duration_ns", &R::duration_ns, "ns", "their summed duration"});
  }
};

/// Whether statistics of wall time take in a window, or a step over all gpus: the last ends with its work, not with a
/// next step, and an iteration without gpu work has no time.
constexpr bool counts_as_step(bool complete, bool last, std::int64_t length_ns) {
  return complete && !last && length_ns > 0;
}

/// Unprefixed lengths are of the work of the scope; `window_*` of all work, clipped to the window.
struct TimelineRow {
  static constexpr std::string_view table = "timeline";
  static constexpr std::size_t num_keys = 5;
  std::int64_t input = 0;
  Field<std::int64_t> rank, gpu;
  std::string scope = "trace";
  Field<std::int64_t> ordinal, iteration;
  Field<std::int64_t> start_ns;
  std::int64_t span_ns = 0, busy_ns = 0, compute_ns = 0, comm_ns = 0, memcpy_ns = 0, overlap_ns = 0,
               exposed_comm_ns = 0, exposed_comm_strict_ns = 0, exposed_memcpy_ns = 0, idle_ns = 0, comm_copy_ns = 0,
               prep_ns = 0, call_ns = 0, prep_idle_ns = 0, call_idle_ns = 0, inter_iteration_ns = 0, num_no_launch = 0;
  Field<std::int64_t> window_start_ns, window_ns, window_busy_ns, window_compute_ns, window_comm_ns, window_memcpy_ns,
      window_overlap_ns, window_exposed_comm_ns, window_exposed_comm_strict_ns, window_exposed_memcpy_ns,
      window_idle_ns, window_comm_copy_ns, window_prep_idle_ns, window_call_idle_ns, foreign_ns, gap_to_next_ns,
      micro_steps;
  Field<bool> complete, last;
  std::int64_t job = 0;               ///< not written: inputs have it
  std::int64_t window_no_launch = 0;  ///< not written: COMP kernels without launch record that start in the window

  static constexpr auto columns() {
    using R = TimelineRow;
    return std::make_tuple(
        Column{"input", &R::input, "", "index into inputs"}, Column{"rank", &R::rank, "", "rank of the process"},
        Column{"gpu", &R::gpu, "", "device ordinal as written"},
        Column{
            "scope", &R::scope, "",
            "trace: all gpu work of this gpu; iteration: work launched in one; head, tail: launched before the first "
            "and after the last; unlabelled: without launch record"},
        Column{"ordinal", &R::ordinal, "", "our order of the iterations, from 0"},
        Column{"iteration", &R::iteration, "", "number of the iteration's mark"},
        Column{"start_ns", &R::start_ns, "ns", "first start of gpu work, absolute"},
        Column{"span_ns", &R::span_ns, "ns", "last end - first start of gpu work"},
        Column{"busy_ns", &R::busy_ns, "ns", "|COMP u COMM u MEM|"},
        Column{"compute_ns", &R::compute_ns, "ns", "|COMP|"}, Column{"comm_ns", &R::comm_ns, "ns", "|COMM|"},
        Column{"memcpy_ns", &R::memcpy_ns, "ns", "|MEM|"}, Column{"overlap_ns", &R::overlap_ns, "ns", "|COMP n COMM|"},
        Column{"exposed_comm_ns", &R::exposed_comm_ns, "ns", "|COMM \\ COMP|"},
        Column{"exposed_comm_strict_ns", &R::exposed_comm_strict_ns, "ns", "|COMM \\ (COMP without comm_copy)|"},
        Column{"exposed_memcpy_ns", &R::exposed_memcpy_ns, "ns", "|MEM \\ (COMP u COMM)|"},
        Column{"idle_ns", &R::idle_ns, "ns", "span - busy"},
        Column{"comm_copy_ns", &R::comm_copy_ns, "ns", "|work under FSDP/DDP copy ranges|"},
        Column{"prep_ns", &R::prep_ns, "ns", "equation 1: gap before a COMP kernel while the host had not launched it"},
        Column{"call_ns", &R::call_ns, "ns", "equation 2: rest of the gap, from the launch call to the start"},
        Column{"prep_idle_ns", &R::prep_idle_ns, "ns", "part of prep with the device idle"},
        Column{"call_idle_ns", &R::call_idle_ns, "ns", "part of call with the device idle"},
        Column{"inter_iteration_ns", &R::inter_iteration_ns, "ns",
               "part of prep + call whose gap spans a window start"},
        Column{"num_no_launch", &R::num_no_launch, "", "COMP kernels without launch record: in neither prep nor call"},
        Column{"window_start_ns", &R::window_start_ns, "ns", "start of the window, absolute"},
        Column{"window_ns", &R::window_ns, "ns", "length of the window; head + iterations + tail = span of the trace"},
        Column{"window_busy_ns", &R::window_busy_ns, "ns", "|COMP u COMM u MEM| in the window, whoever launched it"},
        Column{"window_compute_ns", &R::window_compute_ns, "ns", "|COMP| in the window"},
        Column{"window_comm_ns", &R::window_comm_ns, "ns", "|COMM| in the window"},
        Column{"window_memcpy_ns", &R::window_memcpy_ns, "ns", "|MEM| in the window"},
        Column{"window_overlap_ns", &R::window_overlap_ns, "ns", "|COMP n COMM| in the window"},
        Column{"window_exposed_comm_ns", &R::window_exposed_comm_ns, "ns", "|COMM \\ COMP| in the window"},
        Column{"window_exposed_comm_strict_ns", &R::window_exposed_comm_strict_ns, "ns",
               "|COMM \\ (COMP without comm_copy)| in the window"},
        Column{"window_exposed_memcpy_ns", &R::window_exposed_memcpy_ns, "ns", "|MEM \\ (COMP u COMM)| in the window"},
        Column{"window_idle_ns", &R::window_idle_ns, "ns", "window - busy"},
        Column{"window_comm_copy_ns", &R::window_comm_copy_ns, "ns", "|work under copy ranges| in the window"},
        Column{"window_prep_idle_ns", &R::window_prep_idle_ns, "ns", "idle in the window before work not yet launched"},
        Column{"window_call_idle_ns", &R::window_call_idle_ns, "ns", "idle in the window after the launch call"},
        Column{"foreign_ns", &R::foreign_ns, "ns", "busy in the window only by work not launched in the iteration"},
        Column{"gap_to_next_ns", &R::gap_to_next_ns, "ns",
               "first start of work of the next iteration - last end of this one's; may be negative"},
        Column{"micro_steps", &R::micro_steps, "", "forward-backward passes"},
        Column{"complete", &R::complete, "",
               "both marks inside the trace, and 99 % of launches have gpu records and the reverse"},
        Column{"last", &R::last, "", "ends with the work, not with a next window: not in statistics of wall time"});
  }
};

/// An operation over the selection; `elapsed_ns` and quantiles are over its instances (reference/attribution.md).
struct OperationRow {
  static constexpr std::string_view table = "operations";
  static constexpr std::size_t num_keys = 7;
  std::int64_t input = 0;
  Field<std::int64_t> rank, gpu;
  std::string phase, operation;
  Field<std::int64_t> iteration, layer;  ///< with --grain
  Field<bool> layer_known;
  std::string gpu_class;
  std::int64_t num_instances = 0, num_kernels = 0, duration_ns = 0, elapsed_ns = 0, overlap_ns = 0;
  Field<double> overlap_ratio;
  std::int64_t prep_ns = 0, call_ns = 0, prep_idle_ns = 0, call_idle_ns = 0, num_no_launch = 0;
  std::int64_t p05_ns = 0, p50_ns = 0, p95_ns = 0;
  std::array<std::int64_t, 7> class_ns{};  ///< duration by GpuClass; not written
  Field<double> flops, bytes, tflops, gbps, peak_share;
  Field<std::string> bound;

  static constexpr auto columns() {
    using R = OperationRow;
    return std::make_tuple(
        Column{"input", &R::input, "", "index into inputs"}, Column{"rank", &R::rank, "", "rank of the process"},
        Column{"gpu", &R::gpu, "", "device ordinal as written"},
        Column{"phase", &R::phase, "", "forward, backward, optimizer, other or unlabelled"},
        Column{"operation", &R::operation, "", "name of the operation without phase prefix, or unlabelled"},
        Column{"iteration", &R::iteration, "", "number of the iteration's mark; with --grain iteration"},
        Column{"layer", &R::layer, "", "index of the repeated block; with --grain layer"},
        Column{"layer_known", &R::layer_known, "", "true where the layer is known, outside blocks as well"},
        Column{"class", &R::gpu_class, "", "class of most of its time"},
        Column{"num_instances", &R::num_instances, "", "executions"},
        Column{"num_kernels", &R::num_kernels, "", "gpu records, copies included"},
        Column{"duration_ns", &R::duration_ns, "ns", "sum of the durations of its gpu records"},
        Column{"elapsed_ns", &R::elapsed_ns, "ns", "sum over instances of last end - first start"},
        Column{"overlap_ns", &R::overlap_ns, "ns", "sum over records of the part covered by communication"},
        Column{"overlap_ratio", &R::overlap_ratio, "1", "overlap / duration; not of communication itself"},
        Column{"prep_ns", &R::prep_ns, "ns", "equation 1, summed"},
        Column{"call_ns", &R::call_ns, "ns", "equation 2, summed"},
        Column{"prep_idle_ns", &R::prep_idle_ns, "ns", "part of prep with the device idle"},
        Column{"call_idle_ns", &R::call_idle_ns, "ns", "part of call with the device idle"},
        Column{"num_no_launch", &R::num_no_launch, "", "COMP kernels without launch record"},
        Column{"p05_ns", &R::p05_ns, "ns", "5th percentile of the instances' summed durations"},
        Column{"p50_ns", &R::p50_ns, "ns", "median"}, Column{"p95_ns", &R::p95_ns, "ns", "95th percentile"},
        Column{"flops", &R::flops, "FLOP", "algorithmic, from recorded shapes"},
        Column{"bytes", &R::bytes, "B", "least memory traffic, from recorded shapes; collectives: message size"},
        Column{"tflops", &R::tflops, "TFLOP/s", "flops / duration"},
        Column{"gbps", &R::gbps, "GB/s", "bytes / duration"},
        Column{"peak_share", &R::peak_share, "1", "least time at the peak of the gpu / duration"},
        Column{"bound", &R::bound, "", "what the least time is set by: compute or memory"});
  }
};

/// One collective as one gpu saw it.
struct CollectiveRow {
  static constexpr std::string_view table = "collectives";
  static constexpr std::size_t num_keys = 5;
  std::int64_t input = 0;
  Field<std::int64_t> rank, gpu;
  std::int64_t start_ns = 0, offset = 0;
  Field<std::int64_t> iteration, ordinal;
  std::string phase, kind;
  Field<std::string> group, dimension;
  Field<std::int64_t> group_size, seq, bytes;
  std::int64_t duration_ns = 0, exposed_ns = 0;
  Field<std::int64_t> wait_ns, transfer_ns;
  Field<double> busbw_gbps, theory_ns;
  Field<std::int64_t> stream, layer, launch_layer;

  static constexpr auto columns() {
    using R = CollectiveRow;
    return std::make_tuple(
        Column{"input", &R::input, "", "index into inputs"}, Column{"rank", &R::rank, "", "rank of the process"},
        Column{"gpu", &R::gpu, "", "device ordinal as written"},
        Column{"start_ns", &R::start_ns, "ns", "start, absolute"},
        Column{"offset", &R::offset, "B",
               "byte offset of the event in the uncompressed text; in a database the number of its record"},
        Column{"iteration", &R::iteration, "", "number of the iteration's mark"},
        Column{"ordinal", &R::ordinal, "", "our order of the iterations, from 0"},
        Column{"phase", &R::phase, "", "phase it was launched in"},
        Column{"kind", &R::kind, "", "ag, rs, ar, bc, a2a, p2p, or as written"},
        Column{"group", &R::group, "", "process group"},
        Column{"dimension", &R::dimension, "", "data, tensor, pipeline, context or expert"},
        Column{"group_size", &R::group_size, "", "ranks of the group"},
        Column{"seq", &R::seq, "", "sequence number within the group: as written, else our count"},
        Column{"bytes", &R::bytes, "B", "message: the larger of input and output"},
        Column{"duration_ns", &R::duration_ns, "ns", "end - start on this gpu"},
        Column{"exposed_ns", &R::exposed_ns, "ns", "part without COMP on this gpu"},
        Column{"wait_ns", &R::wait_ns, "ns", "duration - shortest duration over the ranks of the group"},
        Column{"transfer_ns", &R::transfer_ns, "ns", "shortest duration over the ranks of the group"},
        Column{"busbw_gbps", &R::busbw_gbps, "GB/s", "bus bandwidth during the transfer"},
        Column{"theory_ns", &R::theory_ns, "ns", "least time over the links of the gpu"},
        Column{"stream", &R::stream, "", "stream or queue as written"},
        Column{"layer", &R::layer, "", "layer it serves"},
        Column{"launch_layer", &R::launch_layer, "", "layer the host was in when it was launched"});
  }
};

/// A step of a job: the windows of one iteration over all its gpus.
struct StepRow {
  static constexpr std::string_view table = "steps";
  static constexpr std::size_t num_keys = 2;
  Field<std::int64_t> job;
  std::int64_t ordinal = 0;
  Field<std::int64_t> iteration;
  std::int64_t num_gpus = 0, step_ns = 0, shortest_ns = 0;
  Field<std::int64_t> slowest_rank, slowest_gpu;
  bool complete = false, last = false;
  std::int64_t key = 0;  ///< not written: tells the step apart on each gpu of the job (iteration_key)

  static constexpr auto columns() {
    using R = StepRow;
    return std::make_tuple(
        Column{"job", &R::job, "", "index of the job, as in inputs; absent when the run is one job"},
        Column{"ordinal", &R::ordinal, "", "our order of the iterations, from 0"},
        Column{"iteration", &R::iteration, "", "number of the iteration's mark; null where gpus disagree"},
        Column{"num_gpus", &R::num_gpus, "", "gpus that have this iteration"},
        Column{"step_ns", &R::step_ns, "ns", "longest window over the gpus"},
        Column{"shortest_ns", &R::shortest_ns, "ns", "shortest window over the gpus"},
        Column{"slowest_rank", &R::slowest_rank, "", "rank of the gpu that computed longest"},
        Column{"slowest_gpu", &R::slowest_gpu, "", "that gpu"},
        Column{"complete", &R::complete, "", "complete on every gpu"},
        Column{"last", &R::last, "", "the last of some gpu: not in statistics of wall time"});
  }
};

/// A gpu beside the others of its job: medians over its complete windows but the last.
struct RankRow {
  static constexpr std::string_view table = "ranks";
  static constexpr std::size_t num_keys = 3;
  std::int64_t input = 0;
  Field<std::int64_t> rank, gpu;
  std::int64_t num_windows = 0;
  Field<std::int64_t> window_ns, window_compute_ns, window_exposed_comm_ns, window_exposed_memcpy_ns, window_idle_ns,
      window_prep_idle_ns, window_call_idle_ns, comm_wait_ns;
  Field<double> compute_ratio;
  Field<std::string> hint;
  std::int64_t job = 0;  ///< not written: inputs have it

  static constexpr auto columns() {
    using R = RankRow;
    return std::make_tuple(
        Column{"input", &R::input, "", "index into inputs"}, Column{"rank", &R::rank, "", "rank of the process"},
        Column{"gpu", &R::gpu, "", "device ordinal as written"},
        Column{"num_windows", &R::num_windows, "", "windows the medians are over"},
        Column{"window_ns", &R::window_ns, "ns", "median length of the windows"},
        Column{"window_compute_ns", &R::window_compute_ns, "ns", "median |COMP|"},
        Column{"window_exposed_comm_ns", &R::window_exposed_comm_ns, "ns", "median |COMM \\ COMP|"},
        Column{"window_exposed_memcpy_ns", &R::window_exposed_memcpy_ns, "ns", "median |MEM \\ (COMP u COMM)|"},
        Column{"window_idle_ns", &R::window_idle_ns, "ns", "median idle"},
        Column{"window_prep_idle_ns", &R::window_prep_idle_ns, "ns", "median idle before work not yet launched"},
        Column{"window_call_idle_ns", &R::window_call_idle_ns, "ns", "median idle after the launch call"},
        Column{"comm_wait_ns", &R::comm_wait_ns, "ns",
               "median over iterations of the summed wait of its collectives, where matched"},
        Column{"compute_ratio", &R::compute_ratio, "1",
               "sum over operations of its compute durations / of the medians over gpus: above 1 is slower"},
        Column{"hint", &R::hint, "", "straggler: computes longer and waits less than the others; waits: the reverse"});
  }
};

/// Launching, per phase: delays and the depth of the queue in front of the gpu.
struct LaunchRow {
  static constexpr std::string_view table = "launch";
  static constexpr std::size_t num_keys = 4;
  std::int64_t input = 0;
  Field<std::int64_t> rank, gpu;
  std::string phase;
  std::int64_t num_kernels = 0, num_negative_delay = 0, delay_p05_ns = 0, delay_p50_ns = 0, delay_p95_ns = 0,
               queue_p05 = 0, queue_p50 = 0, queue_p95 = 0;
  std::int64_t prep_ns = 0, call_ns = 0, prep_idle_ns = 0, call_idle_ns = 0;

  static constexpr auto columns() {
    using R = LaunchRow;
    return std::make_tuple(
        Column{"input", &R::input, "", "index into inputs"}, Column{"rank", &R::rank, "", "rank of the process"},
        Column{"gpu", &R::gpu, "", "device ordinal as written"},
        Column{"phase", &R::phase, "", "forward, backward, optimizer or other"},
        Column{"num_kernels", &R::num_kernels, "", "gpu records with a launch record"},
        Column{"num_negative_delay", &R::num_negative_delay, "", "those that start before their launch call"},
        Column{"delay_p05_ns", &R::delay_p05_ns, "ns", "5th percentile of start - launch call, 0 where negative"},
        Column{"delay_p50_ns", &R::delay_p50_ns, "ns", "median"},
        Column{"delay_p95_ns", &R::delay_p95_ns, "ns", "95th percentile"},
        Column{"queue_p05", &R::queue_p05, "",
               "5th percentile of records launched and not yet started, at the launch call"},
        Column{"queue_p50", &R::queue_p50, "", "median; near zero: the host limits"},
        Column{"queue_p95", &R::queue_p95, "", "95th percentile"},
        Column{"prep_ns", &R::prep_ns, "ns", "equation 1, summed"},
        Column{"call_ns", &R::call_ns, "ns", "equation 2, summed"},
        Column{"prep_idle_ns", &R::prep_idle_ns, "ns", "part of prep with the device idle"},
        Column{"call_idle_ns", &R::call_idle_ns, "ns", "part of call with the device idle"});
  }
};

/// Host activity that keeps the host from launching, and the idle time it coincides with.
struct HostBlockerRow {
  static constexpr std::string_view table = "host_blockers";
  static constexpr std::size_t num_keys = 5;
  std::int64_t input = 0;
  Field<std::int64_t> rank, gpu;
  std::string kind, name;
  std::int64_t num = 0, duration_ns = 0, idle_ns = 0, step_idle_ns = 0;

  static constexpr auto columns() {
    using R = HostBlockerRow;
    return std::make_tuple(
        Column{"input", &R::input, "", "index into inputs"}, Column{"rank", &R::rank, "", "rank of the process"},
        Column{"gpu", &R::gpu, "", "device ordinal as written"},
        Column{"kind", &R::kind, "", "synchronise, copy_to_host, item, data_loading, allocator or garbage_collection"},
        Column{"name", &R::name, "", "call or range"}, Column{"num", &R::num, "", "occurrences"},
        Column{"duration_ns", &R::duration_ns, "ns", "summed duration on the host"},
        Column{"idle_ns", &R::idle_ns, "ns", "idle time of the gpu charged to it: prep of the kernels launched next"},
        Column{"step_idle_ns", &R::step_idle_ns, "ns",
               "part in the windows that step times are means of, before kernels of the selected phases, layers, "
               "operations"});
  }
};

/// What the allocator says, for the trace and for each iteration.
struct MemoryRow {
  static constexpr std::string_view table = "memory";
  static constexpr std::size_t num_keys = 5;
  std::int64_t input = 0;
  Field<std::int64_t> rank, gpu;
  std::string scope = "trace";
  Field<std::int64_t> ordinal, iteration;
  std::int64_t num_events = 0;
  Field<std::int64_t> peak_allocated_bytes, peak_reserved_bytes, lowest_allocated_bytes;
  Field<double> peak_variation;

  static constexpr auto columns() {
    using R = MemoryRow;
    return std::make_tuple(
        Column{"input", &R::input, "", "index into inputs"}, Column{"rank", &R::rank, "", "rank of the process"},
        Column{"gpu", &R::gpu, "", "device the memory is on"}, Column{"scope", &R::scope, "", "trace or iteration"},
        Column{"ordinal", &R::ordinal, "", "our order of the iterations, from 0"},
        Column{"iteration", &R::iteration, "", "number of the iteration's mark"},
        Column{"num_events", &R::num_events, "", "allocations and frees"},
        Column{"peak_allocated_bytes", &R::peak_allocated_bytes, "B", "highest total allocated"},
        Column{"peak_reserved_bytes", &R::peak_reserved_bytes, "B", "highest total reserved"},
        Column{"lowest_allocated_bytes", &R::lowest_allocated_bytes, "B", "lowest total allocated"},
        Column{"peak_variation", &R::peak_variation, "1",
               "scope trace: (highest - lowest) / highest of the iterations' allocated peaks"});
  }
};

/// What a job achieves.
struct ThroughputRow {
  static constexpr std::string_view table = "throughput";
  static constexpr std::size_t num_keys = 2;
  Field<std::int64_t> job;
  std::string convention;
  Field<std::int64_t> step_time_ns;
  std::int64_t num_steps = 0;
  Field<std::int64_t> tokens_per_step;
  Field<double> tokens_per_s, tokens_per_s_per_gpu, flops_per_step, peak_tflops, mfu, hfu;

  static constexpr auto columns() {
    using R = ThroughputRow;
    return std::make_tuple(
        Column{"job", &R::job, "", "index of the job, as in inputs; absent when the run is one job"},
        Column{"convention", &R::convention, "", "how the FLOPs of mfu and hfu are counted: shapes, causal or palm"},
        Column{"step_time_ns", &R::step_time_ns, "ns",
               "median over complete steps but the last, of more than 0 ns, of the longest window"},
        Column{"num_steps", &R::num_steps, "", "steps the median is over"},
        Column{"tokens_per_step", &R::tokens_per_step, "", "batch x sequence x micro steps x data-parallel ranks"},
        Column{"tokens_per_s", &R::tokens_per_s, "1/s", "tokens / step time"},
        Column{"tokens_per_s_per_gpu", &R::tokens_per_s_per_gpu, "1/s", "the same per gpu of the job"},
        Column{"flops_per_step", &R::flops_per_step, "FLOP",
               "model FLOPs of a step, all gpus; by shapes the mean over the steps of step_time_ns"},
        Column{"peak_tflops", &R::peak_tflops, "TFLOP/s", "BF16 peak of one gpu the shares refer to"},
        Column{"mfu", &R::mfu, "1", "model FLOPs / (step time x peak x gpus); by shapes of sums over the same steps"},
        Column{"hfu", &R::hfu, "1", "the same with recomputed FLOPs"});
  }
};

struct KernelSummaryRow {
  static constexpr std::string_view table = "kernel_summary";
  static constexpr std::size_t num_keys = 8;
  std::int64_t input = 0;
  Field<std::int64_t> rank, gpu;
  std::string name, gpu_class, operation;
  Field<ExtentList> grid, block;
  std::int64_t num = 0, total_ns = 0, min_ns = 0, p50_ns = 0, p95_ns = 0, max_ns = 0;

  static constexpr auto columns() {
    using R = KernelSummaryRow;
    return std::make_tuple(
        Column{"input", &R::input, "", "index into inputs"}, Column{"rank", &R::rank, "", "rank of the process"},
        Column{"gpu", &R::gpu, "", "device ordinal as written"}, Column{"name", &R::name, "", "kernel name"},
        Column{"class", &R::gpu_class, "", "gemm, attention, vector, other, comm, memcpy or memset"},
        Column{"operation", &R::operation, "", "operation it belongs to, or unlabelled"},
        Column{"grid", &R::grid, "", "thread blocks in x, y, z"}, Column{"block", &R::block, "", "threads in x, y, z"},
        Column{"num", &R::num, "", "launches"}, Column{"total_ns", &R::total_ns, "ns", "sum of durations"},
        Column{"min_ns", &R::min_ns, "ns", "shortest"}, Column{"p50_ns", &R::p50_ns, "ns", "median"},
        Column{"p95_ns", &R::p95_ns, "ns", "95th percentile"}, Column{"max_ns", &R::max_ns, "ns", "longest"});
  }
};

/// A gpu record with its labels: `kernels` (kernel records) and `copies` (memcpy and memset records), with --kernels.
struct KernelRow {
  static constexpr std::string_view table = "kernels";
  static constexpr std::size_t num_keys = 5;
  std::int64_t input = 0;
  Field<std::int64_t> rank, gpu;
  std::int64_t start_ns = 0, offset = 0;
  std::string name, gpu_class, phase, operation;
  Field<std::int64_t> iteration, ordinal, layer;
  Field<bool> layer_known;
  bool recompute = false, graph = false, comm_copy = false;
  std::string phase_rule, layer_rule, operation_rule;
  std::int64_t duration_ns = 0;
  Field<std::int64_t> stream, correlation, bytes;
  Field<ExtentList> grid, block;
  Field<std::string> launch_call, range, operator_name;
  Field<std::int64_t> launch_ns, launch_delay_ns, prep_ns, call_ns;
  std::int64_t overlap_ns = 0;
  Field<double> overlap_ratio;
  Field<double> gpu_cycles, executed_flops, executed_bytes, matrix_utilisation;  ///< absent without a counter
  Field<std::int64_t> dispatch, dispatch_pass;
  Field<std::string> dispatch_basis;

  static constexpr auto columns() {
    using R = KernelRow;
    return std::make_tuple(
        Column{"input", &R::input, "", "index into inputs"}, Column{"rank", &R::rank, "", "rank of the process"},
        Column{"gpu", &R::gpu, "", "device ordinal as written"},
        Column{"start_ns", &R::start_ns, "ns", "start, absolute"},
        Column{"offset", &R::offset, "B",
               "byte offset of the event in the uncompressed text; in a database the number of its record"},
        Column{"name", &R::name, "", "name of the record"}, Column{"class", &R::gpu_class, "", "class, spec 3"},
        Column{"phase", &R::phase, "", "forward, backward, optimizer, other or unlabelled"},
        Column{"operation", &R::operation, "", "operation without phase prefix, or unlabelled"},
        Column{"iteration", &R::iteration, "", "number of the iteration's mark"},
        Column{"ordinal", &R::ordinal, "", "our order of the iterations, from 0"},
        Column{"layer", &R::layer, "", "index of the repeated block; null outside blocks and where unknown"},
        Column{"layer_known", &R::layer_known, "", "true where the layer is known, outside blocks as well"},
        Column{"recompute", &R::recompute, "", "forward work repeated in the backward pass"},
        Column{"graph", &R::graph, "", "launched by a graph launch: one call, many kernels"},
        Column{"phase_rule", &R::phase_rule, "", "what gave the phase"},
        Column{"layer_rule", &R::layer_rule, "", "what gave the layer"},
        Column{"operation_rule", &R::operation_rule, "", "what gave the operation"},
        Column{"comm_copy", &R::comm_copy, "", "below an FSDP/DDP copy range"},
        Column{"duration_ns", &R::duration_ns, "ns", "end - start"},
        Column{"stream", &R::stream, "", "stream or queue as written"},
        Column{"correlation", &R::correlation, "", "correlation id"}, Column{"bytes", &R::bytes, "B", "bytes copied"},
        Column{"grid", &R::grid, "", "thread blocks in x, y, z"}, Column{"block", &R::block, "", "threads in x, y, z"},
        Column{"launch_call", &R::launch_call, "", "runtime or driver call that launched it"},
        Column{"range", &R::range, "", "innermost host range at the call"},
        Column{"operator", &R::operator_name, "", "innermost operator at the call"},
        Column{"launch_ns", &R::launch_ns, "ns", "start of the launch call, absolute"},
        Column{"launch_delay_ns", &R::launch_delay_ns, "ns", "start - start of the launch call, signed"},
        Column{"prep_ns", &R::prep_ns, "ns", "equation 1"}, Column{"call_ns", &R::call_ns, "ns", "equation 2"},
        Column{"overlap_ns", &R::overlap_ns, "ns", "|[start, end) n COMM|"},
        Column{"overlap_ratio", &R::overlap_ratio, "1", "overlap / duration"},
        Column{"gpu_cycles", &R::gpu_cycles, "", "cycles of the gpu in the counter pass"},
        Column{"executed_flops", &R::executed_flops, "", "FLOPs the matrix units executed"},
        Column{"executed_bytes", &R::executed_bytes, "B", "bytes to and from memory"},
        Column{"matrix_utilisation", &R::matrix_utilisation, "", "busy share of the matrix units"},
        Column{"dispatch", &R::dispatch, "", "number of the dispatch that gpu_cycles is of"},
        Column{"dispatch_pass", &R::dispatch_pass, "", "index into inputs, of its file"},
        Column{"dispatch_basis", &R::dispatch_basis, "",
               "why it is the kernel's: marks, unique, transferred, ambiguous"});
  }
};

/// Orders two rows by their key columns.
template <class Row, std::size_t I = 0>
bool key_less(const Row& a, const Row& b) {
  if constexpr (I >= Row::num_keys) {
    return false;
  } else {
    static constexpr auto column = std::get<I>(Row::columns());  // all columns are not made anew for each comparison
    if (a.*column.member < b.*column.member) return true;
    if (b.*column.member < a.*column.member) return false;
    return key_less<Row, I + 1>(a, b);
  }
}

}  // namespace chopper
