// SPDX-License-Identifier: Apache-2.0
#include "report/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "report/health_counts.h"
#include "report/quantity.h"
#include "report/text_parts.h"
#include "report/utf8.h"

namespace chopper {
namespace {

constexpr std::size_t kLabelColumns = 13;  // "evidence     "

// "2 ranks", or "2 traces" when no rank is known.
std::string ranks_text(const Answer& answer) {
  std::set<std::int64_t> ranks;
  std::size_t unknown = 0;
  for (const InputRow& input : answer.inputs) {
    if (input.rank.present()) {
      ranks.insert(input.rank.value());
    } else {
      unknown++;
    }
  }
  if (ranks.empty()) return counted(answer.inputs.size(), "trace");
  std::string out = counted(ranks.size(), "rank");
  if (unknown > 0) out += " and " + counted(unknown, "trace") + " of unknown rank";
  return out;
}

// "8 x MI300X", or each product when they differ.
std::string gpus_text(const Answer& answer) {
  if (answer.timeline.empty()) return "no gpu work";
  std::map<std::string, std::uint64_t> count_of;
  for (const GpuRow& gpu : answer.gpus) count_of[gpu.name.present() ? printable(gpu.name.value()) : ""]++;
  std::string out;
  for (const auto& [name, count] : count_of) {
    if (!out.empty()) out += " + ";
    out += name.empty() ? counted(count, "gpu") : fmt::format("{} x {}", count_text(count), name);
  }
  return out.empty() ? counted(answer.timeline.size(), "gpu") : out;
}

std::string inputs_text(const Answer& answer) {
  std::set<std::string> formats;
  double bytes = 0;
  for (const InputRow& input : answer.inputs) {
    formats.insert(printable(input.format));
    bytes += static_cast<double>(input.bytes);
  }
  return fmt::format("{} of {} {}", bytes_text(bytes), fmt::join(formats, " and "),
                     answer.inputs.size() == 1 ? "trace" : "traces");
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
  if (work.all.duration_ns > 0) {
    const double share = static_cast<double>(work.launched.duration_ns) / static_cast<double>(work.all.duration_ns);
    out = share_text(share) + " of gpu time linked to launches; ";
  }
  out += losses_text(losses_of(answer.health_log));
  for (std::size_t num_shown = 3; num_shown > 0; num_shown--) {
    const std::string kinds = worst_kinds(answer.health_log, num_shown);
    if (out.size() + kinds.size() <= columns) return out + kinds;
  }
  return out;
}

}  // namespace

std::string gpu_label(const TimelineRow& row) {
  const std::string rank =
      row.rank.present() ? fmt::format("rank {}", row.rank.value()) : fmt::format("input {}", row.input);
  return row.gpu.present() ? fmt::format("{} gpu {}", rank, row.gpu.value()) : rank + " gpu ?";
}

void add_heading(Page& page, const Answer& answer, const TextOptions& options) {
  // The name gives way to the facts, which tell runs apart.
  const std::string facts = fmt::format("{}, {}, {}", ranks_text(answer), gpus_text(answer), inputs_text(answer));
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
  page.add("trace alone; telemetry would add clocks, counters would split computation");
  page.end_line();
}

void add_no_gpu(Page& page, const Answer& answer) {
  page.end_line();
  std::uint64_t events = 0;
  std::string others;
  for (const InputRow& input : answer.inputs)
    events += static_cast<std::uint64_t>(std::max<std::int64_t>(0, input.records));
  for (std::size_t i = 0; i < std::min(answer.inputs.size(), answer.summaries.size()); i++) {
    const Field<std::int64_t>& rank = answer.inputs[i].rank;
    for (const GpuSummary& gpu : answer.summaries[i].gpus) {
      if (!others.empty()) others += ", ";
      others += rank.present() ? fmt::format("rank {}", rank.value()) : fmt::format("input {}", answer.inputs[i].input);
      others += gpu.device == kUnknownDevice ? std::string(" gpu ?") : fmt::format(" gpu {}", gpu.device);
    }
  }
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
    page.add_wrapped("The file holds records of an accelerator that this build does not know.", 0);
    page.end_line();
  }
  page.add_wrapped(
      "Remedy: profile with activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA] (CUDA stands for AMD gpus as "
      "well), "
      "and see that the profiler's schedule is active while a step runs on the gpu.",
      8);
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
  add_split(page, answer, checked);
  add_gpu_table(page, answer);
  add_losses(page, answer);
  add_top_kernels(page, answer);
  return page.take();
}

}  // namespace chopper
