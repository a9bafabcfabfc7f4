// SPDX-License-Identifier: Apache-2.0
// The result tables that come from counter passes (spec 11).
#pragma once

#include <cstdint>
#include <string>
#include <tuple>

#include "model/rows.h"

namespace chopper {

/// A device of a file of counters beside a gpu of a trace.
struct AlignmentRow {
  static constexpr std::string_view table = "alignment";
  static constexpr std::size_t num_keys = 4;
  std::int64_t pass = 0;
  std::int64_t input = 0;
  Field<std::int64_t> rank, gpu;
  std::string pass_gpu;
  std::int64_t num_matched = 0, num_substituted = 0, num_only_trace = 0, num_only_pass = 0;
  std::int64_t num_gaps = 0;
  std::int64_t num_by_marks = 0, num_unique = 0, num_transferred = 0, num_ambiguous = 0;
  Field<double> matched_time_share, covered_time_share;
  std::string verdict;

  static constexpr auto columns() {
    using R = AlignmentRow;
    return std::make_tuple(
        Column{"pass", &R::pass, "", "index into inputs, of the file with the counters"},
        Column{"input", &R::input, "", "index into inputs, of the trace"},
        Column{"rank", &R::rank, "", "rank of the process"}, Column{"gpu", &R::gpu, "", "device ordinal as written"},
        Column{"pass_gpu", &R::pass_gpu, "", "what the pass calls the gpu"},
        Column{"num_matched", &R::num_matched, "", "kernels of the trace whose dispatch in the pass is known, by name"},
        Column{"num_substituted", &R::num_substituted, "", "kernels whose partner has their place and another name"},
        Column{"num_only_trace", &R::num_only_trace, "", "kernels without a partner"},
        Column{"num_only_pass", &R::num_only_pass, "", "dispatches of the pass that are no kernel's partner"},
        Column{"num_gaps", &R::num_gaps, "", "stretches of them, on either side; the first are in alignment_gaps"},
        Column{"num_by_marks", &R::num_by_marks, "", "partners in the iteration of the same number"},
        Column{"num_unique", &R::num_unique, "", "partners the order of dispatches allows no other for"},
        Column{"num_transferred", &R::num_transferred, "",
               "partners at the same place of an iteration that is like others"},
        Column{"num_ambiguous", &R::num_ambiguous, "", "partners beside which another one is as likely"},
        Column{"matched_time_share", &R::matched_time_share, "",
               "share of the selected time of compute kernels, of those the pass covers, that has a partner of "
               "the same name"},
        Column{"covered_time_share", &R::covered_time_share, "",
               "share of the selected time of compute kernels that the pass covers: below 1 it was recorded of some "
               "kernels only, by name"},
        Column{"verdict", &R::verdict, "", "exact, gapped, iteration_ambiguous, partial or unmatched"});
  }
};

/// Neighbours without a partner in an alignment: kernels of the trace, dispatches of the pass, or both at one place.
struct AlignmentGapRow {
  static constexpr std::string_view table = "alignment_gaps";
  static constexpr std::size_t num_keys = 5;
  std::int64_t pass = 0;
  std::int64_t input = 0;
  Field<std::int64_t> rank, gpu;
  std::int64_t gap = 0;
  std::string place;
  Field<std::int64_t> iteration;
  std::int64_t num_only_trace = 0;
  Field<std::int64_t> start_ns;
  Field<std::string> trace_name;
  std::int64_t num_only_pass = 0;
  Field<std::int64_t> dispatch;
  Field<std::string> pass_name;

  static constexpr auto columns() {
    using R = AlignmentGapRow;
    return std::make_tuple(
        Column{"pass", &R::pass, "", "index into inputs, of the file with the counters"},
        Column{"input", &R::input, "", "index into inputs, of the trace"},
        Column{"rank", &R::rank, "", "rank of the process"}, Column{"gpu", &R::gpu, "", "device ordinal as written"},
        Column{"gap", &R::gap, "", "number of the gap in the order of dispatch, from 0; the first 20 have rows"},
        Column{"place", &R::place, "", "begin (before all partners), inside, or end (behind all)"},
        Column{"iteration", &R::iteration, "", "ordinal of the iteration of the kernel at start_ns"},
        Column{"num_only_trace", &R::num_only_trace, "", "kernels of the trace in it"},
        Column{"start_ns", &R::start_ns, "ns",
               "start of the first of them; where it has none, of the kernel behind it"},
        Column{"trace_name", &R::trace_name, "", "name of the first of them"},
        Column{"num_only_pass", &R::num_only_pass, "", "dispatches of the pass in it"},
        Column{"dispatch", &R::dispatch, "",
               "number, in its file, of the first of them; where it has none, of the dispatch behind it"},
        Column{"pass_name", &R::pass_name, "", "name of the first of them"});
  }
};

/// A metric of an operation on one gpu, from counters.
struct MetricRow {
  static constexpr std::string_view table = "metrics";
  static constexpr std::size_t num_keys = 6;
  std::int64_t input = 0;
  Field<std::int64_t> rank, gpu;
  std::string phase, operation, metric;
  Field<double> value;
  std::string unit;
  std::int64_t num_kernels = 0;
  Field<double> measured_time_share;
  Field<std::int64_t> pass;
  Field<std::string> evidence, other_passes, computed_by, needs;

  static constexpr auto columns() {
    using R = MetricRow;
    return std::make_tuple(
        Column{"input", &R::input, "", "index into inputs, of the trace"},
        Column{"rank", &R::rank, "", "rank of the process"}, Column{"gpu", &R::gpu, "", "device ordinal as written"},
        Column{"phase", &R::phase, "", "phase"}, Column{"operation", &R::operation, "", "operation"},
        Column{"metric", &R::metric, "", "id of the metric (chopper metrics)"},
        Column{"value", &R::value, "", "rolled up over the kernels of the operation by the rule of the metric"},
        Column{"unit", &R::unit, "", "unit of the value"},
        Column{"num_kernels", &R::num_kernels, "", "kernels with a value"},
        Column{"measured_time_share", &R::measured_time_share, "", "their share of the time of the operation"},
        Column{"pass", &R::pass, "",
               "index into inputs, of the file with the counters; of several the one most of them are from, and the "
               "times"},
        Column{"evidence", &R::evidence, "",
               "one_pass, or several_passes: counters of different executions, of the kernels matched in all of them"},
        Column{"other_passes", &R::other_passes, "", "indices into inputs of the other files of several_passes"},
        Column{"computed_by", &R::computed_by, "", "which of several expressions was used"},
        Column{"needs", &R::needs, "", "what is missing where there is no value"});
  }
};

/// How far an operation is from theory, over the selection: complete iterations of all gpus of a job (docs/reference/
/// decomposition.md). The product of the factors is d_act / d_thr, the sum of the shares d_act - d_thr.
struct DecompositionRow {
  static constexpr std::string_view table = "decomposition";
  static constexpr std::size_t num_keys = 4;
  Field<std::int64_t> job;
  std::string phase, operation, mode;
  Field<std::string> bound;
  std::int64_t num_instances = 0;
  Field<std::int64_t> num_iterations;
  Field<double> d_thr_ns;
  std::string theory_source;
  std::int64_t d_act_ns = 0;
  Field<std::int64_t> without_theory_ns;
  Field<std::int64_t> num_gpus, num_gpus_with_counters;
  Field<double> measured_time_share, overlap_ratio;
  Field<double> inst, inst_low, inst_high;
  Field<std::string> inst_evidence;
  Field<double> inst_share_ns;
  Field<double> util, util_low, util_high;
  Field<std::string> util_evidence;
  Field<double> util_share_ns;
  Field<double> rate, rate_low, rate_high;
  Field<std::string> rate_evidence;
  Field<double> rate_share_ns;
  Field<double> contention, contention_low, contention_high;
  Field<std::string> contention_evidence;
  Field<double> contention_share_ns;
  Field<double> freq, freq_low, freq_high;
  Field<std::string> freq_evidence;
  Field<double> freq_share_ns;
  Field<double> mem_clock, mem_clock_low, mem_clock_high;
  Field<std::string> mem_clock_evidence;
  Field<double> mem_clock_share_ns;
  Field<double> remainder, remainder_low, remainder_high;
  Field<std::string> remainder_evidence;
  Field<double> remainder_share_ns;
  Field<double> m, m_low, m_high, freq_m_low, freq_m_high, contention_m_low, contention_m_high;
  Field<bool> freq_contention_ranked;
  Field<double> regression_contention, regression_low, regression_high;
  Field<double> intensity, attainable_tflops, achieved_tflops, achieved_gbps;

  static constexpr auto columns() {
    using R = DecompositionRow;
    return std::make_tuple(
        Column{"job", &R::job, "", "index of the job; absent when all inputs are of one"},
        Column{"phase", &R::phase, "", "phase"}, Column{"operation", &R::operation, "", "operation"},
        Column{"mode", &R::mode, "", "measured, or paper: as arXiv 2512.08242 computes it, medians of one gpu"},
        Column{"bound", &R::bound, "", "what theory is set by: compute or memory"},
        Column{"num_instances", &R::num_instances, "", "executions of the operation"},
        Column{"num_iterations", &R::num_iterations, "", "iterations they are of"},
        Column{"d_thr_ns", &R::d_thr_ns, "ns", "theory: work at the peaks of the gpu"},
        Column{"theory_source", &R::theory_source, "",
               "what tells the work: shapes (recorded), model (of the facts), mixed"},
        Column{"d_act_ns", &R::d_act_ns, "ns", "summed durations of the kernels in the trace"},
        Column{"without_theory_ns", &R::without_theory_ns, "ns",
               "durations of its kernels that nothing tells the work of: not in d_act"},
        Column{"num_gpus", &R::num_gpus, "", "gpus of the selection"},
        Column{"num_gpus_with_counters", &R::num_gpus_with_counters, "", "of them, with counters"},
        Column{"measured_time_share", &R::measured_time_share, "", "share of d_act of kernels with counters"},
        Column{"overlap_ratio", &R::overlap_ratio, "", "share of d_act beside communication"},
        Column{"inst", &R::inst, "", "executed over algorithmic work"},
        Column{"inst_low", &R::inst_low, "", "lower end of its 95 % interval"},
        Column{"inst_high", &R::inst_high, "", "upper end"},
        Column{"inst_evidence", &R::inst_evidence, "", "what the value rests on"},
        Column{"inst_share_ns", &R::inst_share_ns, "ns", "part of d_act - d_thr, by logarithmic means"},
        Column{"util", &R::util, "", "1 / utilisation of the matrix units (memory-bound: of the bandwidth)"},
        Column{"util_low", &R::util_low, "", "lower end of its 95 % interval"},
        Column{"util_high", &R::util_high, "", "upper end"},
        Column{"util_evidence", &R::util_evidence, "", "what the value rests on"},
        Column{"util_share_ns", &R::util_share_ns, "ns", "part of d_act - d_thr, by logarithmic means"},
        Column{"rate", &R::rate, "", "time busy matrix units take over that at their peak rate"},
        Column{"rate_low", &R::rate_low, "", "lower end of its 95 % interval"},
        Column{"rate_high", &R::rate_high, "", "upper end"},
        Column{"rate_evidence", &R::rate_evidence, "", "what the value rests on"},
        Column{"rate_share_ns", &R::rate_share_ns, "ns", "part of d_act - d_thr, by logarithmic means"},
        Column{"contention", &R::contention, "", "slow-down by what runs beside"},
        Column{"contention_low", &R::contention_low, "", "lower end of its 95 % interval"},
        Column{"contention_high", &R::contention_high, "", "upper end"},
        Column{"contention_evidence", &R::contention_evidence, "", "what the value rests on"},
        Column{"contention_share_ns", &R::contention_share_ns, "ns", "part of d_act - d_thr, by logarithmic means"},
        Column{"freq", &R::freq, "", "slow-down by the core clock"},
        Column{"freq_low", &R::freq_low, "", "lower end of its 95 % interval"},
        Column{"freq_high", &R::freq_high, "", "upper end"},
        Column{"freq_evidence", &R::freq_evidence, "", "what the value rests on"},
        Column{"freq_share_ns", &R::freq_share_ns, "ns", "part of d_act - d_thr, by logarithmic means"},
        Column{"mem_clock", &R::mem_clock, "", "slow-down by the memory clock"},
        Column{"mem_clock_low", &R::mem_clock_low, "", "lower end of its 95 % interval"},
        Column{"mem_clock_high", &R::mem_clock_high, "", "upper end"},
        Column{"mem_clock_evidence", &R::mem_clock_evidence, "", "what the value rests on"},
        Column{"mem_clock_share_ns", &R::mem_clock_share_ns, "ns", "part of d_act - d_thr, by logarithmic means"},
        Column{"remainder", &R::remainder, "", "what closes the product where a clock is not known"},
        Column{"remainder_low", &R::remainder_low, "", "lower end of its 95 % interval"},
        Column{"remainder_high", &R::remainder_high, "", "upper end"},
        Column{"remainder_evidence", &R::remainder_evidence, "", "what the value rests on"},
        Column{"remainder_share_ns", &R::remainder_share_ns, "ns", "part of d_act - d_thr, by logarithmic means"},
        Column{"m", &R::m, "", "share of the time that does not follow the core clock"},
        Column{"m_low", &R::m_low, "", "least it may be"}, Column{"m_high", &R::m_high, "", "most it may be"},
        Column{"freq_m_low", &R::freq_m_low, "", "least of freq for m in its range"},
        Column{"freq_m_high", &R::freq_m_high, "", "most of it"},
        Column{"contention_m_low", &R::contention_m_low, "", "least of contention for m in its range"},
        Column{"contention_m_high", &R::contention_m_high, "", "most of it"},
        Column{"freq_contention_ranked", &R::freq_contention_ranked, "",
               "whether the larger of freq and contention is the same for all m in its range"},
        Column{"regression_contention", &R::regression_contention, "",
               "contention by the regression of speed on overlap, without counters"},
        Column{"regression_low", &R::regression_low, "", "lower end of its 95 % interval"},
        Column{"regression_high", &R::regression_high, "", "upper end"},
        Column{"intensity", &R::intensity, "FLOP/B", "algorithmic FLOPs over minimal bytes"},
        Column{"attainable_tflops", &R::attainable_tflops, "TFLOP/s", "under the roofline at this intensity"},
        Column{"achieved_tflops", &R::achieved_tflops, "TFLOP/s", "FLOPs over d_act"},
        Column{"achieved_gbps", &R::achieved_gbps, "GB/s", "minimal bytes over d_act"});
  }
};

/// Where the time of a window goes: the terms sum to it (docs/reference/decomposition.md, 10).
struct BudgetRow {
  static constexpr std::string_view table = "budget";
  static constexpr std::size_t num_keys = 4;
  std::int64_t input = 0;
  Field<std::int64_t> rank, gpu, ordinal, iteration;
  Field<bool> last;
  std::int64_t window_ns = 0;
  std::int64_t theory_ns = 0;
  std::int64_t inst_ns = 0;
  std::int64_t util_ns = 0;
  std::int64_t rate_ns = 0;
  std::int64_t contention_ns = 0;
  std::int64_t freq_ns = 0;
  std::int64_t mem_clock_ns = 0;
  std::int64_t remainder_ns = 0;
  std::int64_t compute_undecomposed_ns = 0;
  std::int64_t comm_copy_kernels_ns = 0;
  std::int64_t exposed_comm_transfer_ns = 0;
  Field<std::int64_t> exposed_comm_wait_ns;
  std::int64_t exposed_memcpy_ns = 0;
  std::int64_t prep_idle_ns = 0;
  std::int64_t call_idle_ns = 0;
  std::int64_t other_idle_ns = 0;
  std::int64_t unexplained_ns = 0;
  std::int64_t without_exposed_comm_ns = 0, without_launch_gaps_ns = 0;
  Field<std::int64_t> at_peak_clock_ns;

  static constexpr auto columns() {
    using R = BudgetRow;
    return std::make_tuple(
        Column{"input", &R::input, "", "index into inputs"}, Column{"rank", &R::rank, "", "rank of the process"},
        Column{"gpu", &R::gpu, "", "device ordinal as written"},
        Column{"ordinal", &R::ordinal, "", "our order of the iterations, from 0"},
        Column{"iteration", &R::iteration, "", "number of the iteration's mark"},
        Column{"last", &R::last, "", "the last window, which no step time is of"},
        Column{"window_ns", &R::window_ns, "ns", "length of the window"},
        Column{"theory_ns", &R::theory_ns, "ns", "kernels at the peak of the gpu"},
        Column{"inst_ns", &R::inst_ns, "ns", "executed work beyond the algorithmic"},
        Column{"util_ns", &R::util_ns, "ns", "matrix units not busy (memory-bound: bandwidth not reached)"},
        Column{"rate_ns", &R::rate_ns, "ns", "busy units below their peak rate"},
        Column{"contention_ns", &R::contention_ns, "ns", "kernels slower beside others"},
        Column{"freq_ns", &R::freq_ns, "ns", "core clock below its peak"},
        Column{"mem_clock_ns", &R::mem_clock_ns, "ns", "memory clock below that of the passes"},
        Column{"remainder_ns", &R::remainder_ns, "ns", "clock and contention that cannot be told apart"},
        Column{"compute_undecomposed_ns", &R::compute_undecomposed_ns, "ns", "kernels without theory"},
        Column{"comm_copy_kernels_ns", &R::comm_copy_kernels_ns, "ns", "kernels that pack buffers of communication"},
        Column{"exposed_comm_transfer_ns", &R::exposed_comm_transfer_ns, "ns",
               "communication with no computation beside it; with the waits where those are not known"},
        Column{"exposed_comm_wait_ns", &R::exposed_comm_wait_ns, "ns", "of it, waiting for the slowest rank"},
        Column{"exposed_memcpy_ns", &R::exposed_memcpy_ns, "ns", "copies and fills with nothing beside them"},
        Column{"prep_idle_ns", &R::prep_idle_ns, "ns", "idle: the next kernel was not launched yet"},
        Column{"call_idle_ns", &R::call_idle_ns, "ns", "idle: launched, not started yet"},
        Column{"other_idle_ns", &R::other_idle_ns, "ns", "other idle time"},
        Column{"unexplained_ns", &R::unexplained_ns, "ns",
               "kernels without theory, other idle time, and kernels no label tells the operation of"},
        Column{"without_exposed_comm_ns", &R::without_exposed_comm_ns, "ns",
               "the window without exposed communication: a bound"},
        Column{"without_launch_gaps_ns", &R::without_launch_gaps_ns, "ns", "without idle time of launching"},
        Column{"at_peak_clock_ns", &R::at_peak_clock_ns, "ns", "with all kernels at the clock of the peak"});
  }
};

}  // namespace chopper
