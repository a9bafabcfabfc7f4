// SPDX-License-Identifier: Apache-2.0
// From one file to its summary: read, attribute, analyse.
#include <algorithm>
#include <exception>
#include <new>
#include <system_error>

#include "analyze/memory.h"
#include "analyze/timeline.h"
#include "attribute/attribute.h"
#include "attribute/counted_launches.h"
#include "attribute/range_facts.h"
#include "catalog/group_dimensions.h"
#include "engine/engine.h"
#include "engine/recognise.h"
#include "engine/rules.h"
#include "ingest/format.h"

namespace chopper {
namespace {

// ".../rank_3/trace.json", "rank3.trace.json" to 3: the last "rank" followed by a number.
std::optional<std::int64_t> rank_in_name(std::string_view path) {
  std::string lower(path);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  for (std::size_t at = lower.rfind("rank"); at != std::string::npos;
       at = at == 0 ? std::string::npos : lower.rfind("rank", at - 1)) {
    if (at > 0 && lower[at - 1] >= 'a' && lower[at - 1] <= 'z') continue;  // frank7
    std::size_t i = at + 4;
    if (i < lower.size() && std::string_view("_-.=").find(lower[i]) != std::string_view::npos) i++;
    std::int64_t rank = 0;
    std::size_t digits = 0;
    for (; i < lower.size() && lower[i] >= '0' && lower[i] <= '9'; i++, digits++) {
      if (digits < 9) rank = rank * 10 + (lower[i] - '0');
    }
    if (digits > 0 && digits <= 9) return rank;  // longer ones are dates or hashes
  }
  return std::nullopt;
}

std::optional<std::int64_t> rank_of_file(const RunFiles::File& file) {
  if (const auto rank = rank_in_name(file.shown)) return rank;
  return rank_in_name(file.path.parent_path().filename().string());
}

void set_rank(const RunFiles::File& file, const RunOptions& options, InputSummary& summary) {
  TraceFacts& facts = summary.facts;
  for (const auto& [name, rank] : options.set_rank) {
    if (!names_file(name, file.shown, file.path)) continue;
    facts.rank = rank;
    facts.rank_source = RankSource::user;
    return;
  }
  const std::optional<std::int64_t> by_name = rank_of_file(file);
  if (facts.rank && by_name && *facts.rank != *by_name) {
    summary.health.add(HealthKind::rank_sources_disagree, file.shown,
                       "the trace says " + std::to_string(*facts.rank) + ", the file name " + std::to_string(*by_name));
  }
  if (!facts.rank && by_name) {
    facts.rank = by_name;
    facts.rank_source = RankSource::file_name;
  }
  if (!facts.rank && summary.is_trace())
    summary.health.add(HealthKind::rank_unknown, file.shown,
                       "no distributedInfo, no process group, no rank in the file name");
}

void set_extent(const TraceTables& trace, InputSummary& summary) {
  const auto include = [&](std::int64_t start, std::int64_t end) {
    summary.first_ns = summary.has_times ? std::min(summary.first_ns, start) : start;
    summary.last_ns = summary.has_times ? std::max(summary.last_ns, end) : end;
    summary.has_times = true;
  };
  for (std::size_t i = 0; i < num_rows(trace.gpu_work); i++)
    include(trace.gpu_work.start_ns[i], trace.gpu_work.start_ns[i] + trace.gpu_work.duration_ns[i]);
  for (std::size_t i = 0; i < num_rows(trace.launches); i++) {
    include(trace.launches.start_ns[i], trace.launches.start_ns[i] + trace.launches.duration_ns[i]);
  }
  // Only where the gpu says nothing: operators may hang over from the window before.
  if (!summary.has_times && trace.facts.host_first_ns) include(*trace.facts.host_first_ns, *trace.facts.host_last_ns);
}

KernelRecords keep_records(const TraceTables& trace, const GpuWorkLabels& labels, const std::vector<KernelTimes>& times,
                           const SelectedRows& selected) {
  KernelRecords kept;
  const GpuWorkTable& gpu = trace.gpu_work;
  const auto text = [&](StringId id) { return kept.strings.intern(trace.strings.view(id)); };
  const auto operation_name = [&](StringId id) {
    return id == kNoString ? kNoString : kept.strings.intern(labels.operations.view(id));
  };
  const auto number_of = [&](std::int32_t ordinal) {
    return ordinal < 0 ? kNoNumber : labels.iterations.marks[static_cast<std::size_t>(ordinal)].number;
  };
  const auto range_name = [&](RowId row) { return row == kNoRow ? kNoString : text(trace.ranges.name[index_of(row)]); };
  for (std::size_t i = 0; i < num_rows(gpu); i++) {
    if (!selected(i)) continue;
    const bool linked = labels.launch[i] != kNoRow;
    const std::uint32_t call = linked ? index_of(labels.launch[i]) : 0;
    const LaunchExtents extents = launch_extents(trace, labels, i);
    kept.records.push_back({.device = gpu.device[i],
                            .is_kernel = gpu.category[i] == GpuCategory::kernel,
                            .gpu_class = labels.gpu_class[i],
                            .comm_copy = labels.comm_copy[i] != 0,
                            .name = text(gpu.name[i]),
                            .launch_call = linked ? text(trace.launches.name[call]) : kNoString,
                            .range = range_name(labels.range[i]),
                            .operator_name = range_name(labels.operation_range[i]),
                            .operation = operation_name(labels.operation[i]),
                            .phase = labels.phase[i],
                            .ordinal = labels.iteration[i],
                            .layer = labels.layer[i],
                            .iteration = number_of(labels.iteration[i]),
                            .recompute = labels.recompute[i] != 0,
                            .graph = labels.graph[i] != 0,
                            .phase_rule = labels.phase_rule[i],
                            .layer_rule = labels.layer_rule[i],
                            .operation_rule = labels.operation_rule[i],
                            .start_ns = gpu.start_ns[i],
                            .duration_ns = gpu.duration_ns[i],
                            .stream = gpu.stream[i],
                            .correlation = gpu.correlation[i],
                            .bytes = gpu.bytes[i],
                            .launch_ns = linked ? trace.launches.start_ns[call] : kNoNumber,
                            .prep_ns = times[i].prep_ns,
                            .call_ns = times[i].call_ns,
                            .overlap_ns = times[i].overlap_ns,
                            .first_of_chain = times[i].first_of_chain,
                            .grid = extents.grid,
                            .block = extents.block,
                            .offset = gpu.offset[i]});
  }
  std::sort(
      kept.records.begin(), kept.records.end(), [](const KernelRecords::Record& a, const KernelRecords::Record& b) {
        // An unknown device is shown as null, and null comes last.
        const auto device = [](const KernelRecords::Record& r) {
          return r.device == kUnknownDevice ? INT64_MAX : std::int64_t{r.device};
        };
        return std::make_tuple(device(a), a.start_ns, a.offset) < std::make_tuple(device(b), b.start_ns, b.offset);
      });
  return kept;
}

// Every numbered mark: a pass may have marks of another kind than those that delimit the iterations of the trace.
std::vector<InputSummary::NumberedMark> numbered_marks_of(const TraceTables& trace, std::string_view user_mark) {
  std::vector<InputSummary::NumberedMark> marks;
  std::vector<std::optional<MarkName>> names(trace.strings.size());
  for (std::size_t i = 0; i < num_rows(trace.ranges); i++) {
    if (trace.ranges.kind[i] == RangeKind::module) continue;
    std::optional<MarkName>& name = names[index_of(trace.ranges.name[i])];
    if (!name) name = mark_of(trace.strings.view(trace.ranges.name[i]), user_mark);
    if (name->kind == MarkKind::none || name->number == kNoNumber) continue;
    marks.push_back({name->kind, name->number, trace.ranges.start_ns[i]});
  }
  std::stable_sort(marks.begin(), marks.end(), [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; });
  return marks;
}

}  // namespace

namespace {

Result<InputSummary> summarise(const RunFiles::File& file, const RunOptions& options, unsigned threads) {
  const TraceFormat* format = file.format;
  if (format == nullptr) {
    CHOPPER_TRY(format, recognise(file.path, options.format));
  }
  std::shared_ptr<const AttributionRules> rules = options.rules;
  if (rules == nullptr) {
    CHOPPER_TRY(rules, load_rules(options));
  }
  ReadOptions read;
  read.threads = threads;
  read.window_bytes = options.window_bytes;
  read.path = file.path;
  read.bytes_done = options.progress != nullptr ? &options.progress->bytes_done : nullptr;
  CHOPPER_TRY(TraceTables trace, format->read([&] { return open_byte_source(file.path); }, file.shown, read));
  InputSummary summary;
  summary.path = file.shown;
  summary.full_path = file.path.string();
  summary.facts = trace.facts;
  summary.facts.format = format->name;
  std::error_code error;
  summary.facts.file_bytes = std::filesystem::file_size(file.path, error);
  if (error) summary.facts.file_bytes = trace.facts.text_bytes;
  summary.health = trace.health;
  if (trace.pass) {
    summary.pass = summarise_pass(*trace.pass);
    summary.pass_tables = std::make_shared<CounterPass>(std::move(*trace.pass));
    set_rank(file, options, summary);
    return summary;
  }
  set_extent(trace, summary);
  if (trace.counters) {
    summary.counters = summarise_pass(*trace.counters);
    const CountedLaunches launches = launches_of_ranges(trace);
    summary.counters_have_launches = launches.unknown.empty();
    if (!launches.unknown.empty())
      summary.health.add(HealthKind::ranges_without_launch, file.shown, launches.unknown,
                         num_rows(trace.counters->dispatches));
  }
  const GpuWorkLabels labels = attribute_gpu_work(trace, *rules, file.shown, summary.health, threads);
  summary.mark_kind = labels.iterations.kind;
  std::vector<KernelTimes> times;
  CHOPPER_TRY(const std::vector<GpuSpec> known, embedded_gpus());
  SummaryOptions how;
  how.shown = file.shown;
  how.grain.layer = options.grain_layer || options.selection.layers;
  how.grain.iteration = options.grain_iteration || options.selection.iterations;
  how.selection = options.selection;
  how.known = known;
  how.gpu_spec = options.facts.gpu_spec;
  CHOPPER_TRY(const HostBlockerRules blockers, embedded_host_blocker_rules());
  how.blockers = &blockers;
  how.keep_compute = options.keep_compute;
  CHOPPER_TRY(const GroupDimensionRules dimensions, embedded_group_dimension_rules());
  how.facts = &options.facts;
  how.dimensions = &dimensions;
  how.threads = threads;
  summary.gpus = summarise_gpus(trace, labels, how, summary.health, options.keep_kernels ? &times : nullptr);
  if (options.keep_compute) summary.numbered_marks = numbered_marks_of(trace, rules->iteration_mark);
  summary.memory = summarise_memory(trace, labels.iterations);
  if (options.keep_kernels)
    summary.kernel_records = keep_records(trace, labels, times, SelectedRows(options.selection, labels));
  set_rank(file, options, summary);
  return summary;
}

}  // namespace

Result<InputSummary> summarise_file(const RunFiles::File& file, const RunOptions& options, unsigned threads) {
  try {
    return summarise(file, options, threads);
  } catch (const std::bad_alloc&) {
    return Error{ErrorCode::unreadable, "out of memory", file.shown,
                 "use fewer --threads, or a machine with more memory"};
  } catch (const std::exception& error) {
    return Error{ErrorCode::internal, std::string("cannot go on: ") + error.what(), file.shown, "please report this"};
  }
}

}  // namespace chopper
