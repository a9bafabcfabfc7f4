// SPDX-License-Identifier: Apache-2.0
// From summaries to the answer: ranks, selection, order; the rows are made in rows_*.cpp.
#include <algorithm>
#include <map>
#include <set>

#include "catalog/gpus.h"
#include "engine/align_passes.h"
#include "engine/copied_passes.h"
#include "engine/decompose_run.h"
#include "engine/engine.h"
#include "engine/facts.h"
#include "engine/join_agents.h"
#include "engine/join_pass_times.h"
#include "engine/make_rows.h"
#include "engine/metrics.h"
#include "engine/recognise.h"
#include "engine/throughput_rows.h"

namespace chopper {
namespace {

Error conflict(const std::vector<const InputSummary*>& claimants) {
  std::string files;
  for (std::size_t i = 0; i < claimants.size() && i < 3; i++) files += (i > 0 ? ", " : "") + claimants[i]->path;
  if (claimants.size() > 3) files += ", ...";
  return {ErrorCode::conflict,
          std::to_string(claimants.size()) + " different files claim rank " +
              std::to_string(*claimants[0]->facts.rank) + ": " + files,
          "", "report one job at a time, or state the ranks: --set-rank " + claimants[0]->path + "=N for each"};
}

// What is known of their gpus does not differ: one process does not change them.
bool have_the_same_gpus(const InputSummary& a, const InputSummary& b) {
  for (const GpuSummary& gpu : a.gpus) {
    for (const GpuSummary& other : b.gpus) {
      if (gpu.device == other.device && gpu.name && other.name && *gpu.name != *other.name) return false;
    }
  }
  return true;
}

// Spec 10: the same rank twice is a copy, consecutive windows of one process, or a conflict.
Result<Done> resolve_ranks(std::vector<InputSummary>& inputs, HealthLog& health) {
  std::map<std::int64_t, std::vector<std::size_t>> by_rank;
  for (std::size_t i = 0; i < inputs.size(); i++) {
    if (inputs[i].is_trace() && inputs[i].facts.rank) by_rank[*inputs[i].facts.rank].push_back(i);
  }
  std::set<std::size_t> copies;
  for (auto& [rank, claimants] : by_rank) {
    std::vector<std::size_t> distinct;
    for (const std::size_t i : claimants) {
      std::string copy;
      for (std::size_t k = 0; k < distinct.size() && copy.empty(); k++) copy = copy_of(inputs[distinct[k]], inputs[i]);
      if (copy.empty()) {
        distinct.push_back(i);
      } else {
        copies.insert(i);
        health.add(HealthKind::duplicate_file, inputs[i].path, copy);
      }
    }
    if (distinct.size() < 2) continue;
    std::sort(distinct.begin(), distinct.end(),
              [&](std::size_t a, std::size_t b) { return inputs[a].first_ns < inputs[b].first_ns; });
    bool consecutive = true;
    std::vector<const InputSummary*> all;
    for (std::size_t k = 0; k < distinct.size(); k++) {
      const InputSummary& now = inputs[distinct[k]];
      all.push_back(&now);
      if (k == 0) continue;
      const InputSummary& before = inputs[distinct[k - 1]];
      const bool comparable = now.has_times && before.has_times && now.facts.clock == ClockDomain::unix_time &&
                              before.facts.clock == ClockDomain::unix_time;
      consecutive = consecutive && comparable && before.facts.host == now.facts.host &&
                    before.facts.world_size == now.facts.world_size && before.last_ns <= now.first_ns &&
                    have_the_same_gpus(before, now);
    }
    if (!consecutive) {
      std::sort(all.begin(), all.end(), [](const InputSummary* a, const InputSummary* b) { return a->path < b->path; });
      return conflict(all);
    }
    health.add(
        HealthKind::consecutive_windows, all.front()->path,
        "rank " + std::to_string(rank) + " has " + std::to_string(distinct.size()) + " files one after the other");
  }
  std::vector<InputSummary> kept;
  for (std::size_t i = 0; i < inputs.size(); i++) {
    if (!copies.contains(i)) kept.push_back(std::move(inputs[i]));
  }
  inputs = std::move(kept);
  return Done{};
}

// Ranks a job has and the run lacks. `where`: a file of the job, where there are others.
void note_missing_ranks(const std::vector<InputSummary>& inputs, const Job& job, const std::string& where,
                        HealthLog& health) {
  if (!job.has_ranks || !job.world_size) return;
  std::set<std::int64_t> ranks;
  for (const std::size_t i : job.inputs) ranks.insert(*inputs[i].facts.rank);
  const std::int64_t size = *job.world_size;
  std::int64_t missing = size;
  for (const std::int64_t rank : ranks) missing -= rank >= 0 && rank < size ? 1 : 0;
  if (size <= 1 || missing <= 0) return;
  std::string list;
  for (std::int64_t r = 0, shown = 0; r < size && shown < 8; r++) {
    if (ranks.contains(r)) continue;
    list += (list.empty() ? "" : ", ") + std::to_string(r);
    shown++;
  }
  health.add(HealthKind::rank_missing, where,
             "ranks " + list + (missing > 8 ? ", ..." : "") + " of " + std::to_string(size),
             static_cast<std::uint64_t>(missing));
}

// "rank 3 of 8", "2 ranks of 8, more than an hour apart", "no rank".
std::string describe(const std::vector<InputSummary>& inputs, const Job& job, bool has_twin) {
  if (!job.has_ranks) return "no rank";
  std::set<std::int64_t> ranks;
  for (const std::size_t i : job.inputs) ranks.insert(*inputs[i].facts.rank);
  std::string out =
      ranks.size() == 1 ? "rank " + std::to_string(*ranks.begin()) : std::to_string(ranks.size()) + " ranks";
  out += job.world_size ? " of " + std::to_string(*job.world_size) : ", world size not stated";
  return has_twin ? out + ", more than an hour apart" : out;
}

// What tells the jobs apart, and what each of them lacks.
void note_jobs(const std::vector<InputSummary>& inputs, const std::vector<Job>& jobs, HealthLog& health) {
  std::map<std::optional<std::int64_t>, std::size_t> num_of_size;
  for (const Job& job : jobs) num_of_size[job.world_size] += job.has_ranks ? 1 : 0;
  for (std::size_t j = 0; j < jobs.size(); j++) {
    const Job& job = jobs[j];
    const std::string where = jobs.size() > 1 ? inputs[job.inputs.front()].path : "";
    note_missing_ranks(inputs, job, where, health);
    if (jobs.size() == 1) continue;
    health.add(HealthKind::several_jobs, where,
               "job " + std::to_string(j) + ": " + describe(inputs, job, num_of_size[job.world_size] > 1));
  }
}

template <class Row>
void sort_rows(std::vector<Row>& rows) {
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return key_less(a, b); });
}

// "iterations 10 to 13, layers 0 to 7, operations ag, attn_fa, ...": what --iterations, --layer and --operation can
// name.
std::string selectable(const std::vector<InputSummary>& summaries) {
  std::optional<NumberRange> iterations, layers;
  std::set<std::string> operations;
  const auto include = [](std::optional<NumberRange>& range, std::int64_t number) {
    range = range ? NumberRange{std::min(range->first, number), std::max(range->last, number)}
                  : NumberRange{number, number};
  };
  for (const InputSummary& input : summaries) {
    for (const GpuSummary& gpu : input.gpus) {
      for (const WindowSummary& window : gpu.windows) {
        if (!window.row.ordinal.present()) continue;
        include(iterations, window.row.iteration.present() ? window.row.iteration.value() : window.row.ordinal.value());
      }
      for (const auto& [key, sum] : gpu.operations) {
        if (key.layer >= 0 && key.layer != kNotGrouped) include(layers, key.layer);
        operations.insert(key.operation);
      }
    }
  }
  std::string out;
  const auto add_range = [&](std::string_view word, const std::optional<NumberRange>& range) {
    if (!range) return;
    out += std::string(word) + " " + std::to_string(range->first) + " to " + std::to_string(range->last) + ", ";
  };
  add_range("iterations", iterations);
  add_range("layers", layers);
  out += "operations";
  constexpr std::size_t kShown = 12;
  std::size_t shown = 0;
  for (const std::string& operation : operations) {
    if (shown++ == kShown) break;
    out += (shown == 1 ? " " : ", ") + operation;
  }
  return out + (operations.size() > kShown ? ", ..." : "");
}

std::vector<JobFacts> facts_of_jobs(const std::vector<Job>& jobs, const std::vector<GpuSource>& sources,
                                    bool is_restricted) {
  std::vector<JobFacts> facts;
  for (const Job& job : jobs) facts.push_back({job.has_ranks, job.world_size, 0, !is_restricted});
  for (const GpuSource& source : sources) {
    facts[source.job].num_gpus++;
    facts[source.job].selected = true;
  }
  return facts;
}

// A name of --operation that no gpu of the run has.
std::optional<Error> unknown_operation(const Selection& selection, const std::vector<InputSummary>& summaries) {
  std::set<std::string_view> known;
  for (const InputSummary& input : summaries) {
    for (const GpuSummary& gpu : input.gpus) {
      for (const auto& [key, sum] : gpu.operations) known.insert(key.operation);
    }
  }
  if (known.empty()) return std::nullopt;
  for (const std::string& name : selection.operations) {
    if (!known.contains(name))
      return Error{ErrorCode::usage, "--operation: there is no operation " + name, "",
                   "there are " + selectable(summaries) + " (chopper report RUN --csv - --grain layer,iteration)"};
  }
  return std::nullopt;
}

std::optional<Error> unknown_metric(const std::vector<std::string>& metrics, const MetricCatalog& catalog) {
  for (const std::string& metric : metrics) {
    if (catalog.find(metric) != nullptr) continue;
    for (const MetricInfo& of_traces : list_trace_metrics()) {
      if (of_traces.id == metric)
        return Error{ErrorCode::usage, "--metric: " + metric + " is no metric of counters", "",
                     "it is a column of the table " + of_traces.table + ", always there"};
    }
    return Error{ErrorCode::usage, "--metric: there is no metric " + metric, "", "chopper metrics lists them"};
  }
  return std::nullopt;
}

}  // namespace

Result<Answer> merge_summaries(std::vector<InputSummary> summaries, HealthLog run_health, const RunOptions& options) {
  std::sort(summaries.begin(), summaries.end(), [](const InputSummary& a, const InputSummary& b) {
    return std::tie(a.path, a.full_path) < std::tie(b.path, b.full_path);
  });
  for (const auto& [name, rank] : options.set_rank) {
    static_cast<void>(rank);
    const bool used = std::any_of(summaries.begin(), summaries.end(), [&, &file = name](const InputSummary& s) {
      return names_file(file, s.path, s.full_path);
    });
    if (!used)
      return Error{ErrorCode::usage, "--set-rank names no input: " + name, "", "use a path as chopper check shows it"};
  }
  const auto is_marked_by_user = [](const InputSummary& s) { return s.mark_kind == MarkKind::user; };
  if (!options.iteration_mark.empty() && std::none_of(summaries.begin(), summaries.end(), is_marked_by_user)) {
    return Error{ErrorCode::usage, "--iteration-mark: no host range begins with \"" + options.iteration_mark + "\"", "",
                 "name the beginning of a user annotation of the trace, as record_function got it"};
  }
  drop_copied_passes(summaries, run_health);
  join_agents(summaries);
  join_pass_times(summaries);
  CHOPPER_TRY(const Done done, resolve_ranks(summaries, run_health));
  static_cast<void>(done);
  const std::vector<Job> jobs = find_jobs(summaries);
  const std::vector<std::size_t> job_of = job_of_inputs(jobs, summaries.size());
  note_jobs(summaries, jobs, run_health);

  CHOPPER_TRY(const ClassRules classes, embedded_class_rules());
  CHOPPER_TRY(const std::vector<GpuSpec> known, embedded_gpus());
  CHOPPER_TRY([[maybe_unused]] const Done clocks, check_stated_clocks(options.facts, summaries, known));
  note_unused_clocks(options.facts, summaries, run_health);
  note_other_spec(options.facts, summaries, known, run_health);
  const std::vector<PassAlignment> alignments = align_passes(summaries, jobs, classes, known, options.facts.gpu_spec,
                                                             options.iteration_mark, std::max(1u, options.threads));
  std::vector<GpuCounters> values;
  if (!alignments.empty() || !options.metrics.empty() || !options.metric_files.empty()) {
    CHOPPER_TRY(const MetricCatalog catalog, load_metric_files(options.metric_files));
    if (const auto error = unknown_metric(options.metrics, catalog)) return *error;
    CHOPPER_TRY(values, pass_values(summaries, alignments, catalog, known, options.facts.gpu_spec));
    set_kernel_counters(values, summaries);
  }
  Answer answer;
  for (const PassAlignment& alignment : alignments) {
    if (is_selected(options, summaries[alignment.input], summaries[alignment.input].gpus[alignment.gpu]))
      add_alignment_rows(summaries, alignment, answer);
  }
  for (InputSummary& input : summaries) input.pass_tables.reset();
  answer.facts = options.facts;
  answer.selection = options.selection;
  answer.only_rank = options.only_rank;
  answer.only_gpu = options.only_gpu;
  answer.health_log = run_health;
  for (const InputSummary& input : summaries) answer.health_log.merge(input.health);
  answer.lost_something = answer.health_log.worst() != Severity::note;
  if (options.strict && answer.lost_something) {
    for (std::size_t k = 0; k < kNumHealthKinds; k++) {
      const HealthEntry& entry = answer.health_log.entry(static_cast<HealthKind>(k));
      const HealthKindInfo& kind = info(static_cast<HealthKind>(k));
      if (entry.count == 0 || kind.severity == Severity::note) continue;
      return Error{ErrorCode::bad_input,
                   "--strict: " + std::string(kind.meaning) + " (" + std::string(kind.name) + ", " +
                       std::to_string(entry.count) + ")",
                   entry.examples.empty() ? "" : entry.examples.front().where,
                   "run without --strict to read the rest, or chopper check for all of it"};
    }
  }
  CHOPPER_TRY(const GroupDimensionRules dimensions, embedded_group_dimension_rules());
  const MatchedCollectives matched = match_collectives(summaries, jobs);
  std::vector<GpuSource> sources;
  add_health_rows(run_health, {}, answer);
  for (std::size_t i = 0; i < summaries.size(); i++) {
    const InputSummary& input = summaries[i];
    add_input_row(i, input, input.is_trace() ? job_field(jobs, job_of[i]) : Field<std::int64_t>(), answer);
    add_health_rows(input.health, static_cast<std::int64_t>(i), answer);
    if (options.only_rank && input.facts.rank != options.only_rank) continue;
    add_memory_rows(i, input, options.only_gpu, options.selection, answer);
    for (std::size_t g = 0; g < input.gpus.size(); g++) {
      const GpuSummary& gpu = input.gpus[g];
      if (options.only_gpu && gpu.device != *options.only_gpu) continue;
      const GpuSource source{i, job_of[i], input, gpu, find_gpu(known, options.facts.gpu_spec, gpu.name)};
      sources.push_back(source);
      add_gpu_rows(source, answer);
      add_timeline_rows(source, options.selection, answer);
      add_operation_rows(source, options, answer);
      add_launch_rows(source, answer);
      add_host_blocker_rows(source, answer);
      add_collective_rows(source, matched[i][g], dimensions, options.selection, answer);
    }
  }
  if ((options.only_rank || options.only_gpu) && answer.gpus.empty()) {
    return Error{ErrorCode::usage, "the selection holds no gpu", "", "chopper check lists ranks and gpus"};
  }
  if (!options.selection.is_everything() && !answer.gpus.empty() && answer.operations.empty()) {
    return Error{ErrorCode::usage, "the selection holds no gpu work", "",
                 "there are " + selectable(summaries) + " (chopper report RUN --csv - --grain layer,iteration)"};
  }
  if (const auto error = unknown_operation(options.selection, summaries)) return *error;
  for (const GpuCounters& counters : values) {
    if (is_selected(options, summaries[counters.input], summaries[counters.input].gpus[counters.gpu]))
      add_metric_rows(summaries, counters, options, answer);
  }
  for (const DecomposedJob& job : decompose_run(summaries, jobs, values, known, options)) {
    add_decomposition_rows(job, job_field(jobs, job.job), answer);
    add_budget_rows(summaries, job, values, matched, options, answer);
  }
  for (InputSummary& input : summaries) {
    for (GpuSummary& gpu : input.gpus) gpu.compute_kernels.reset();
  }
  answer.jobs = facts_of_jobs(jobs, sources, options.only_rank || options.only_gpu);
  for (std::size_t j = 0; j < jobs.size(); j++) {
    if (answer.jobs[j].selected) add_step_rows(summaries, jobs[j], job_field(jobs, j), options.selection, answer);
  }
  add_rank_rows(sources, summaries, jobs, matched, options.selection, answer);
  sort_rows(answer.gpus);
  sort_rows(answer.coverage);
  sort_rows(answer.label_rules);
  sort_rows(answer.timeline);
  sort_rows(answer.windows);
  sort_rows(answer.ranks);
  sort_rows(answer.operations);
  sort_rows(answer.launch);
  sort_rows(answer.host_blockers);
  sort_rows(answer.collectives);
  sort_rows(answer.alignment);
  sort_rows(answer.alignment_gaps);
  sort_rows(answer.metrics);
  sort_rows(answer.decomposition);
  sort_rows(answer.budget);
  sort_rows(answer.memory);
  sort_rows(answer.kernel_summary);
  HealthLog notes;
  answer.throughput = throughput_rows(answer, summaries, jobs, known, notes);  // behind the steps
  add_health_rows(notes, {}, answer);
  answer.health_log.merge(notes);
  sort_rows(answer.health);
  if (options.only_rank || options.only_gpu) {
    for (InputSummary& input : summaries) {
      const bool rank_selected = !options.only_rank || input.facts.rank == options.only_rank;
      input.selected = rank_selected;
      std::erase_if(input.gpus, [&](const GpuSummary& g) {
        return !rank_selected || (options.only_gpu && g.device != *options.only_gpu);
      });
      if (!input.kernel_records) continue;
      std::erase_if(input.kernel_records->records, [&](const KernelRecords::Record& r) {
        return !rank_selected || (options.only_gpu && r.device != *options.only_gpu);
      });
    }
  }
  answer.summaries = std::move(summaries);
  return answer;
}

}  // namespace chopper
