// SPDX-License-Identifier: Apache-2.0
#include "report/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "report/decomposition_text.h"
#include "report/health_counts.h"
#include "report/jobs_text.h"
#include "report/losses.h"
#include "report/quantity.h"
#include "report/shown_gpus.h"
#include "report/text_parts.h"
#include "report/utf8.h"

namespace chopper {
namespace {

constexpr std::size_t kLabelColumns = 13;  // "evidence     "

// "2 ranks", or "2 traces" when no rank is known.
std::string ranks_text(const Answer& answer) {
  std::set<std::pair<std::int64_t, std::int64_t>> ranks;  // with the job
  std::size_t unknown = 0;
  for (const InputRow& input : answer.inputs) {
    if (!is_of_shown_job(answer, input)) continue;
    if (input.rank.present()) {
      ranks.emplace(input.job.present() ? input.job.value() : 0, input.rank.value());
    } else {
      unknown++;
    }
  }
  if (ranks.empty()) return counted(unknown, "trace");
  std::string out = counted(ranks.size(), "rank");
  if (unknown > 0) out += " and " + counted(unknown, "trace") + " of unknown rank";
  return out;
}

// The name of a gpu, from the first input that states it; empty when none does.
std::string product_of(const Answer& answer, const TimelineRow& row) {
  for (const GpuRow& gpu : answer.gpus) {
    if (gpu.name.present() && is_same_gpu(gpu, row)) return printable(gpu.name.value());
  }
  return "";
}

// "8 x MI300X", or each product when they differ. Of consecutive windows, each gpu counts once: "1 x MI300X, 2
// windows".
std::string gpus_text(const Answer& answer) {
  if (answer.timeline.empty()) return "no gpu work";
  const ShownGpus gpus = shown_gpus(answer.timeline);
  std::map<std::string, std::uint64_t> count_of;
  for (std::size_t i = 0; i < gpus.rows.size(); i++) {
    const TimelineRow& row = *gpus.rows[i].row;
    if (i == 0 || !is_same_gpu(*gpus.rows[i - 1].row, row)) count_of[product_of(answer, row)]++;
  }
  std::string out;
  for (const auto& [name, count] : count_of) {
    if (!out.empty()) out += " + ";
    out += name.empty() ? counted(count, "gpu") : fmt::format("{} x {}", count_text(count), name);
  }
  return gpus.has_windows() ? out + ", " + gpus.counted_rows() : out;
}

std::string inputs_text(const Answer& answer) {
  std::set<std::string> formats;
  double bytes = 0;
  std::size_t num = 0;
  for (const InputRow& input : answer.inputs) {
    if (!is_of_shown_job(answer, input)) continue;
    num++;
    formats.insert(printable(input.format));
    bytes += static_cast<double>(input.bytes);
  }
  return fmt::format("{} of {} {}", bytes_text(bytes), fmt::join(formats, " and "), num == 1 ? "trace" : "traces");
}

// The most severe kinds after the counts, as far as they are losses: "(truncated, negative_duration)".
std::string worst_kinds(const HealthLog& log, std::size_t num_shown) {
  std::vector<HealthKind> kinds;
  for (std::size_t k = 0; k < kNumHealthKinds; k++) {
    const auto kind = static_cast<HealthKind>(k);
    if (log.count(kind) > 0 && info(kind).severity != Severity::note) kinds.push_back(kind);
  }
  std::stable_sort(kinds.begin(), kinds.end(),
                   [](HealthKind a, HealthKind b) { return info(a).severity > info(b).severity; });
  std::string out;
  for (std::size_t i = 0; i < std::min(num_shown, kinds.size()); i++) {
    out += out.empty() ? " (" : ", ";
    out += info(kinds[i]).name;
  }
  if (kinds.size() > num_shown) out += ", ...";
  return out.empty() ? out : out + ")";
}

// As many kinds are named as fit in `columns`.
std::string health_text(const Answer& answer, std::size_t columns) {
  std::string out;
  const LinkedWork work = linked_work(answer);
  const std::string absences = absences_text(answer.health_log);
  if (work.all.duration_ns > 0) {
    const double share = static_cast<double>(work.launched.duration_ns) / static_cast<double>(work.all.duration_ns);
    out = share_text(share) + (absences.empty() ? " of gpu time linked to launches; " : " of gpu time linked; ");
  }
  const Losses losses = losses_of(answer.health_log);
  if (losses.any() || absences.empty()) out += losses_text(losses);
  if (!absences.empty()) {
    if (losses.any()) out += ", ";
    return cut_end(out + absences, columns);
  }
  for (std::size_t num_shown = 3; num_shown > 0; num_shown--) {
    const std::string kinds = worst_kinds(answer.health_log, num_shown);
    if (out.size() + kinds.size() <= columns) return out + kinds;
  }
  return out;
}

}  // namespace

void add_heading(Page& page, const Answer& answer, const TextOptions& options) {
  // The name gives way to the facts, which tell runs apart.
  const std::string facts = has_trace(answer)
                                ? fmt::format("{}, {}, {}", ranks_text(answer), gpus_text(answer), inputs_text(answer))
                                : fmt::format("no trace, {} of counter passes", counted(answer.inputs.size(), "file"));
  const std::size_t left = options.width - std::min(options.width, num_columns(facts) + 2);
  page.add(cut_middle(printable(options.run_name), std::max<std::size_t>(left, 12)), Style::title);
  page.tab(kLabelColumns);
  page.add(facts);
  page.end_line();

  page.add("health", Style::title);
  page.tab(kLabelColumns);
  constexpr std::string_view kCommand = "(chopper check)";
  const std::size_t room = options.width - kLabelColumns - kCommand.size() - 1;
  page.add(health_text(answer, room), answer.lost_something ? Style::bad : Style::plain);
  page.add_right(kCommand, Style::dim);
  page.end_line();

  if (answer.timeline.empty()) return;
  page.add("evidence", Style::title);
  page.tab(kLabelColumns);
  page.add_wrapped(evidence_text(answer), kLabelColumns);
  page.end_line();
}

namespace {

// "rank 3; iterations 12-13; phase backward; operation rs, ag"; empty for everything.
std::string selection_text(const Answer& answer) {
  const Selection& selection = answer.selection;
  std::vector<std::string> parts;
  if (answer.only_rank) parts.push_back(fmt::format("rank {}", *answer.only_rank));
  if (answer.only_gpu) parts.push_back(fmt::format("gpu {}", *answer.only_gpu));
  const auto add_range = [&](std::string_view word, const std::optional<NumberRange>& range) {
    if (!range) return;
    if (range->first == range->last) {
      parts.push_back(fmt::format("{} {}", word, range->first));
    } else {
      parts.push_back(fmt::format("{}s {}-{}", word, range->first, range->last));
    }
  };
  add_range("iteration", selection.iterations);
  add_range("layer", selection.layers);
  std::vector<std::string_view> phases;
  for (const Phase phase : selection.phases) phases.push_back(to_string(phase));
  if (!phases.empty()) parts.push_back(fmt::format("phase {}", fmt::join(phases, ", ")));
  std::vector<std::string> operations;
  for (const std::string& operation : selection.operations) operations.push_back(printable(operation));
  if (!operations.empty()) parts.push_back(fmt::format("operation {}", fmt::join(operations, ", ")));
  return fmt::format("{}", fmt::join(parts, "; "));
}

}  // namespace

void add_selection(Page& page, const Answer& answer, const TextOptions& options) {
  const std::string text = selection_text(answer);
  if (text.empty()) return;
  page.add("selection", Style::title);
  page.tab(kLabelColumns);
  const std::string_view scope = is_part_of_work(answer.selection) ? "; the time split is of all work" : "";
  const std::size_t room = options.width - kLabelColumns - scope.size();
  page.add(cut_end(text, room));
  page.add(scope, Style::dim);
  page.end_line();
}

// Every gpu of the run, also those that --rank and --gpu leave out: "rank 0 gpu 0, rank 1 gpu 0".
std::string gpus_of_run(const Answer& answer) {
  std::vector<TimelineRow> rows;
  for (std::size_t i = 0; i < std::min(answer.inputs.size(), answer.summaries.size()); i++) {
    for (const GpuSummary& gpu : answer.summaries[i].gpus) {
      TimelineRow row;
      row.input = answer.inputs[i].input;
      row.rank = answer.inputs[i].rank;
      if (gpu.device != kUnknownDevice) row.gpu = std::int64_t{gpu.device};
      const bool known =
          std::any_of(rows.begin(), rows.end(), [&](const TimelineRow& r) { return is_same_gpu(r, row); });
      if (!known) rows.push_back(row);
    }
  }
  std::string out;
  for (const ShownGpu& gpu : shown_gpus(rows).rows) out += (out.empty() ? "" : ", ") + gpu.label;
  return out;
}

// How to record gpu work with what wrote the inputs; with the PyTorch profiler where it is not one tool.
std::string_view recording_remedy(const Answer& answer) {
  const auto all_are = [&](std::string_view format) {
    return std::all_of(answer.inputs.begin(), answer.inputs.end(),
                       [&](const InputRow& input) { return input.format == format; });
  };
  if (all_are("rpd"))
    return "Remedy: record with runTracer.sh while a step runs on the gpu, and let it end before the file is copied.";
  if (all_are("nsight-systems"))
    return "Remedy: record with nsys profile --trace=cuda,nvtx --cuda-graph-trace=node, long enough that a step runs "
           "on the gpu, and export again.";
  return "Remedy: profile with activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA] (CUDA stands for AMD gpus as "
         "well), and see that the profiler's schedule is active while a step runs on the gpu.";
}

void add_no_gpu(Page& page, const Answer& answer) {
  page.end_line();
  if (!has_trace(answer)) {
    page.add_wrapped(
        "There is no trace: counter passes alone tell no time line. Put the traces of the same job beside "
        "them; chopper check says what the passes hold.",
        0);
    page.end_line();
    return;
  }
  std::uint64_t events = 0;
  for (const InputRow& input : answer.inputs)
    events += static_cast<std::uint64_t>(std::max<std::int64_t>(0, input.records));
  const std::string others = gpus_of_run(answer);
  if (!others.empty()) {
    page.add_wrapped("No gpu matches --rank and --gpu. This run has: " + cut_end(others, 400) + ".", 0);
    page.end_line();
    return;
  }
  page.add_wrapped(fmt::format("No gpu work was found: none of the {} in {} is a kernel, a copy or a fill on a gpu.",
                               counted(events, "event"), counted(answer.inputs.size(), "file")),
                   0);
  page.end_line();
  const Losses losses = losses_of(answer.health_log);
  if (losses.any()) {
    page.add_wrapped("There was a loss (" + losses_text(losses) + "): gpu work may be among it, see chopper check.", 0);
    page.end_line();
  }
  if (answer.health_log.count(HealthKind::unknown_gpu_category) > 0) {
    page.add_wrapped(
        "The file holds work of an accelerator that this build of Chopper does not know: profiling again will not "
        "help. "
        "chopper check shows where it is.",
        0);
    page.end_line();
    return;
  }
  page.add_wrapped(recording_remedy(answer), 8);
  page.end_line();
}

std::string answer_text(const Answer& answer, const TextOptions& options) {
  TextOptions checked = options;
  checked.width = std::max<std::size_t>(options.width, 80);  // the tables need 80
  Page page(checked.width, checked.colour);
  add_heading(page, answer, checked);
  if (answer.timeline.empty()) {
    add_no_gpu(page, answer);
    return page.take();
  }
  add_selection(page, answer, checked);
  const TimeBasis basis = time_basis(answer);
  add_jobs(page, answer, basis);
  add_split(page, answer, basis, checked);
  add_gpu_table(page, answer, basis);
  add_losses(page, answer, basis);
  if (has_decomposition(answer)) {
    add_decomposition(page, answer, options.paper);
  } else {
    add_top_operations(page, answer, basis);
  }
  add_top_kernels(page, answer, basis);
  return page.take();
}

}  // namespace chopper
