// SPDX-License-Identifier: Apache-2.0
#include "model/health.h"

#include <algorithm>

namespace chopper {
namespace {

constexpr std::string_view kAllTimes = "every sum: what is not there is not counted";
constexpr std::string_view kNoCost = "";

// clang-format off
constexpr std::array<HealthKindInfo, kNumHealthKinds> kInfo = {{
    {"truncated", Severity::data_loss, "the file ends before its end", kAllTimes},
    {"corrupt_compression", Severity::data_loss, "the compressed stream is damaged; read up to there", kAllTimes},
    {"unreadable_event", Severity::data_loss, "an event is not JSON and could not be repaired", kAllTimes},
    {"unreadable_row", Severity::data_loss, "a line of a table is no row of it", "counters: values of this line are missing"},
    {"profiler_error", Severity::data_loss, "the profiler reported an error among its rows", "counters: kernels or values may be missing"},
    {"damaged_table", Severity::data_loss, "a table of a database cannot be read to its end", kAllTimes},
    {"graph_kernels_hidden", Severity::data_loss, "launches of CUDA graphs whose kernels were not recorded", "time inside of graphs counts as idle; their kernels, copies and communication are missing"},
    {"missing_time", Severity::data_loss, "a span has no usable ts", kAllTimes},
    {"input_failed", Severity::data_loss, "one of several inputs could not be read", kAllTimes},
    {"several_jobs", Severity::note, "the traces are of several jobs", "steps, ranks, throughput and waits are of each job by itself; means over all gpus are of no job"},
    {"rank_missing", Severity::note, "ranks of the job have no trace", "comparisons between ranks see only those that are here"},
    {"time_overflow", Severity::skipped, "a time does not fit 64-bit nanoseconds", "quarantined: not in any sum"},
    {"negative_duration", Severity::skipped, "a record ends before it starts", "quarantined: not in any sum"},
    {"zero_timestamp", Severity::skipped, "a record at time 0 among absolute times", "quarantined: not in any sum"},
    {"outside_host_window", Severity::skipped, "gpu work far outside the time the host recorded", "quarantined: not in any sum"},
    {"missing_duration_gpu", Severity::skipped, "gpu work without a duration", "quarantined: not in any sum"},
    {"unclosed_gpu_span", Severity::skipped, "gpu work that begins and never ends", "quarantined: not in any sum"},
    {"not_an_event", Severity::skipped, "an element of traceEvents is not an event", kNoCost},
    {"unmatched_end", Severity::skipped, "an end (ph E) without its begin", kAllTimes},
    {"short_row", Severity::skipped, "a row of a table has fewer cells than its header", "quarantined: counters and kernels of this row are missing"},
    {"unreadable_value", Severity::skipped, "a cell of a table is not what its column holds", "quarantined: counters and kernels of this row are missing"},
    {"missing_value", Severity::skipped, "a counter has no number for a dispatch (nan, inf, empty)", "this counter of this dispatch is missing"},
    {"conflicting_value", Severity::skipped, "a counter of a dispatch is there again with another value", "the first one is kept; metrics of this dispatch are doubtful"},
    {"ambiguous_number", Severity::skipped, "a number can be read two ways, and nothing in its file tells which", "this counter of this dispatch is missing"},
    {"no_gpu_records", Severity::note, "the trace holds no gpu work", "no gpu row: record gpu activity, in PyTorch with ProfilerActivity.CUDA"},
    {"kernels_without_launch", Severity::note, "gpu work without a launch record", "prep and call: not computed for these; labels: unlabelled"},
    {"launches_without_gpu_record", Severity::note, "kernel launches without a gpu record", "kernels may be missing: busy time is a lower bound"},
    {"ambiguous_correlation", Severity::note, "several launch calls of one kind share a correlation id", "prep and call: the nearest earlier call is taken"},
    {"negative_launch_delay", Severity::note, "a kernel starts before its launch call (clock skew)", "prep and call are clamped to the gap"},
    {"overlapping_on_stream", Severity::note, "neighbours overlap on one stream or queue", "sums of durations exceed the union; unions are exact"},
    {"duplicate_record", Severity::note, "a gpu record is repeated in every field", "counts and sums of durations; unions are exact"},
    {"missing_duration", Severity::note, "a host span has no dur; length 0", kNoCost},
    {"missing_field", Severity::note, "an event lacks pid, tid, name, cat, ph or args, or has another type there", kNoCost},
    {"unclosed_span", Severity::note, "a host span begins and never ends; closed at the end of the file", kNoCost},
    {"text_repaired", Severity::note, "an event was read after repairing its text", kNoCost},
    {"separator_repaired", Severity::note, "a comma between events is missing or doubled", kNoCost},
    {"unclosed_array", Severity::note, "a bare array without its closing bracket, as the format allows", kNoCost},
    {"duplicate_key", Severity::note, "traceEvents is there twice; both were read", kNoCost},
    {"second_document", Severity::note, "a second JSON document follows; its events were read", kNoCost},
    {"oversized_value", Severity::note, "a top-level value of more than 16 MiB was passed over", kNoCost},
    {"trailing_bytes", Severity::note, "bytes after the end", kNoCost},
    {"checksum_mismatch", Severity::note, "the checksum of the compression is wrong, the data is whole", kNoCost},
    {"converted_utf16", Severity::note, "UTF-16 text, converted", kNoCost},
    {"unpadded_nanoseconds", Severity::note, "fractions of ts are not zero-padded (a writer of March 2024)", kNoCost},
    {"relative_clock", Severity::note, "times have no absolute base", "cannot be compared with other files or telemetry"},
    {"unknown_gpu_category", Severity::note, "records of an accelerator this build does not know", "not counted as gpu work"},
    {"several_processes", Severity::note, "launch calls of several processes in one file", "linked within the process that owns the device; where none does, not at all"},
    {"rank_unknown", Severity::note, "nothing states the rank", "the file is a job of its own; state it with --set-rank FILE=N"},
    {"rank_sources_disagree", Severity::note, "two sources state different ranks", "the first source is used; overrule it with --set-rank FILE=N"},
    {"duplicate_file", Severity::note, "two files with identical bytes, or one the other compressed; one was used", kNoCost},
    {"consecutive_windows", Severity::note, "several files are consecutive windows of one rank", kNoCost},
    {"no_rows", Severity::note, "a table has a header and no row", "nothing was recorded: no counters or kernels from this file"},
    {"extra_cells", Severity::note, "a row of a table has more cells than its header; those named were read", kNoCost},
    {"repeated_row", Severity::note, "a row of a table is there again with the same values; one was used", kNoCost},
    {"repeated_header", Severity::note, "the header of a table is there again: files were joined", kNoCost},
    {"not_a_counter", Severity::note, "a row or cell of a table is text or advice, not a counter", kNoCost},
    {"other_output", Severity::note, "lines among the rows of a table that the application or the profiler printed", kNoCost},
    {"missing_dispatch_time", Severity::note, "a dispatch of a pass has no times", "no clock of this dispatch"},
    {"unknown_counter", Severity::note, "a counter that was asked for has no value for any kernel", "metrics that need it are unavailable"},
    {"incomplete_counters", Severity::note, "dispatches of a pass lack counters that others have", "metrics that need them are missing for these dispatches"},
    {"instances_dropped", Severity::note, "dispatches with more than 3 TCC counters, of a writer that keeps 512 instances (ROCm 6.2)", "sums of these dispatches may be too small, on gpus with 128 L2 channels they are"},
    {"ranges_without_launch", Severity::note, "counted ranges of a trace cannot be tied to kernel launches one by one", "which launch each of these counters belongs to is not known"},
    {"agent_unknown", Severity::note, "no gpu of the agent_info beside it is what dispatches call their gpu", "facts of this gpu (product, XCCs, clock) are not known"},
    {"agent_ambiguous", Severity::note, "numbers of agents fit two ways of counting; read as an index over visible agents", "facts of this gpu may be those of another"},
    {"pass_without_gpu", Severity::note, "counters of a gpu that is none of the traces, or could be several", "these counters are in no figure"},
    {"pass_poorly_aligned", Severity::note, "a counter pass was recorded of some kernels only, or less than 95 % of their time has a partner of the same name in it", "figures from this pass are of a part of the kernels"},
    {"pass_not_aligned", Severity::note, "less than 50 % of the time of the kernels a counter pass was recorded of has a partner of the same name in it", "this pass is in no figure"},
    {"passes_disagree", Severity::note, "gpu cycles, durations or repeated counters of the same kernels differ by more than 5 % between counter passes, or their numbers of dispatches differ", "factors that mix these passes are less sure; kernels bound by memory take more cycles at a higher clock"},
    {"counters_without_metric", Severity::note, "no metric is made of the counters of a gpu", "these counters are in no figure"},
    {"model_tells_no_work", Severity::note, "products without recorded shapes whose work the model of the facts does not tell", "these kernels have no theory: they are not in the decomposition"},
    {"model_disagrees", Severity::note, "the trace shows another model than the facts state: FLOPs of recorded shapes that differ by more than 1 %, another number of layers, micro steps or ranks", "shapes stand; throughput by the model, and operations without shapes, are doubtful"},
    {"stated_clock_unused", Severity::note, "a stated clock holds for no kernel of computation", "the kernels it was meant for have another clock, or none"},
    {"gpu_spec_disagrees", Severity::note, "gpu.spec of the facts is another product than the trace names", "peaks, clocks and architecture are those of gpu.spec"},
    {"impossible_utilisation", Severity::note, "counters of a pass say that matrix units were busy for more than all cycles", "values are kept: units and rate of these kernels are doubtful"},
    {"impossible_clock", Severity::note, "cycles over time of a pass are a clock above 1.2 times the highest of the gpu, or below a fifth of it", "values are kept: rate, contention and clock of these kernels are doubtful"},
    {"negative_counter", Severity::note, "a counter of a pass is below zero, which counts nothing", "values are kept: metrics of these dispatches are doubtful"},
    {"too_few_flops", Severity::note, "a pass counted more than 5 % fewer FLOPs than the work of an operation needs", "values are kept: padding below 1 is a counter that lacks some, or work that is not done"},
    {"impossible_mfu", Severity::note, "the FLOPs of a step need more time at the peak of the gpus than the step took", "MFU or HFU of this convention is above 100 % and no figure to rely on"},
    {"rows_not_read", Severity::note, "rows of a database that this build makes no use of", kNoCost},
    {"foreign_file", Severity::note, "files in the directory that are not traces", kNoCost},
}};
// clang-format on

}  // namespace

std::string_view to_string(Severity severity) {
  switch (severity) {
    case Severity::note:
      return "note";
    case Severity::skipped:
      return "skipped";
    case Severity::data_loss:
      return "data_loss";
  }
  return "note";
}

const HealthKindInfo& info(HealthKind kind) { return kInfo[static_cast<std::size_t>(kind)]; }

void HealthLog::add(HealthKind kind, std::string where, std::string what, std::uint64_t count) {
  if (count == 0) return;
  HealthEntry& entry = entries_[static_cast<std::size_t>(kind)];
  entry.count += count;
  if (entry.examples.size() < kMaxExamples) entry.examples.push_back({std::move(where), std::move(what)});
}

void HealthLog::merge(const HealthLog& other) {
  for (std::size_t k = 0; k < kNumHealthKinds; k++) {
    entries_[k].count += other.entries_[k].count;
    for (const HealthExample& example : other.entries_[k].examples) {
      if (entries_[k].examples.size() < kMaxExamples) entries_[k].examples.push_back(example);
    }
  }
}

Severity HealthLog::worst() const {
  Severity worst = Severity::note;
  for (std::size_t k = 0; k < kNumHealthKinds; k++) {
    if (entries_[k].count > 0) worst = std::max(worst, kInfo[k].severity);
  }
  return worst;
}

}  // namespace chopper
