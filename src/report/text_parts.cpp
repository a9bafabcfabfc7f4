// SPDX-License-Identifier: Apache-2.0
#include "report/text_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <vector>

#include "report/health_counts.h"
#include "report/jobs_text.h"
#include "report/losses.h"
#include "report/quantity.h"
#include "report/shown_gpus.h"
#include "report/utf8.h"

namespace chopper {
namespace {

constexpr std::size_t kRows = 3;  // of the kernels
constexpr std::size_t kOperations = 6;
constexpr std::size_t kLosses = 6;
constexpr std::size_t kGpuRows = 8;        // of the gpu table: one node
constexpr std::size_t kTimeColumn = 20;    // of "gpu time": right of the labels
constexpr std::size_t kNoteColumn = 41;    // right of time and share
constexpr std::size_t kRangeColumns = 13;  // " 100.0..100.0"
constexpr std::array<TimePart, kNumTimeParts> kParts = {TimePart::computation, TimePart::exposed_comm,
                                                        TimePart::copies,      TimePart::host_late,
                                                        TimePart::dispatch,    TimePart::other_idle};

void add_section(Page& page, std::string_view title) {
  page.end_line();
  page.add(title, Style::title);
}

// Digits that leave room for 1 to 100 %, the sign right of them.
std::string percent_of_mille(std::int64_t per_mille) {
  return fmt::format("{:>5}.{} %", per_mille / 10, per_mille % 10);
}

// The mean split as it is printed, the same in every block. Shares are rounded so that they add up to 100 %, times each
// to the nearest step: a time may stand beside another that it must not exceed.
struct ShownSplit {
  TimeScale scale;
  std::int64_t span_steps = 0;
  std::vector<std::int64_t> steps;
  std::vector<std::int64_t> per_mille;
};

ShownSplit shown_split(const TimeSplit& mean) {
  ShownSplit shown;
  shown.scale = scale_for(mean.span_ns);
  shown.span_steps = std::llround(mean.span_ns / shown.scale.step_ns);
  const std::vector<double> parts(mean.part_ns.begin(), mean.part_ns.end());
  for (const double part : parts) shown.steps.push_back(std::llround(part / shown.scale.step_ns));
  shown.per_mille = round_parts(parts, mean.span_ns, 1000);
  return shown;
}

std::string range_text(const TimeBasis& basis, TimePart part) {
  double low = 1;
  double high = 0;
  for (const GpuTime& gpu : basis.gpus) {
    const double share = gpu.split.share(part);
    low = std::min(low, share);
    high = std::max(high, share);
  }
  return fmt::format("{:.1f}..{:.1f}", low * 100, high * 100);
}

// "gemm 61 %, attention 20 %, ...": the three largest of sums.
std::string shares_note(const std::map<std::string, double>& sum_of, double total) {
  std::vector<std::pair<double, std::string>> ranked;
  for (const auto& [name, sum] : sum_of) ranked.emplace_back(-sum, name);
  std::sort(ranked.begin(), ranked.end());
  constexpr std::size_t kShown = 3;  // what fits beside bars and ranges
  std::string out;
  for (std::size_t i = 0; i < std::min(kShown, ranked.size()); i++) {
    const double share = -ranked[i].first / total;
    if (share < 0.005) break;
    out += fmt::format("{}{} {:.0f} %", out.empty() ? "" : ", ", ranked[i].second, share * 100);
  }
  return out;
}

// "of 48.6 us", behind a part of it that is shown as `part_steps`: in the same scale, so that the whole does not round
// to less than its part, unless the part is too small to be seen there.
std::string whole_note(double whole_ns, std::int64_t part_steps, const TimeScale& scale) {
  return "of " + (part_steps > 0 ? scale.text(std::llround(whole_ns / scale.step_ns)) : duration_text(whole_ns));
}

// Shares of the summed durations of computation: of phases, or of classes where no phase is known.
std::string computation_note(const Answer& answer, const TimeBasis& basis) {
  if (is_part_of_work(answer.selection)) return "";
  std::map<std::string, double> phases, classes;
  double total = 0, unknown = 0;
  const BasisParts parts(basis);
  for (const OperationRow& row : basis.steps ? answer.step_operations : answer.operations) {
    if (!parts.has_gpu(row)) continue;
    for (std::size_t c = 0; c < row.class_ns.size(); c++) {
      const auto gpu_class = static_cast<GpuClass>(c);
      if (!is_compute(gpu_class)) continue;
      const auto duration = static_cast<double>(row.class_ns[c]);
      phases[row.phase] += duration;
      classes[std::string(to_string(gpu_class))] += duration;
      total += duration;
      if (row.phase == to_string(Phase::other) || row.phase == to_string(Phase::unlabelled)) unknown += duration;
    }
  }
  if (!(total > 0)) return "";
  return shares_note(unknown > 0.9 * total ? classes : phases, total);
}

std::string communication_note(const TimeBasis& basis, const ShownSplit& shown) {
  double comm = 0;
  double overlap = 0;
  for (const GpuTime& gpu : basis.gpus) {
    comm += gpu.comm_ns;
    overlap += gpu.overlap_ns;
  }
  if (!(comm > 0)) return "no communication";
  const std::string whole = whole_note(comm / static_cast<double>(basis.gpus.size()),
                                       shown.steps[index_of(TimePart::exposed_comm)], shown.scale);
  return fmt::format("{}; {} hidden by compute", whole, share_text(overlap / comm));
}

std::string copies_note(const TimeBasis& basis, const ShownSplit& shown) {
  double copies = 0;
  for (const GpuTime& gpu : basis.gpus) copies += gpu.copies_ns;
  if (!(copies > 0)) return "no copies";
  return whole_note(copies / static_cast<double>(basis.gpus.size()), shown.steps[index_of(TimePart::copies)],
                    shown.scale);
}

std::string note_of(const Answer& answer, const TimeBasis& basis, const ShownSplit& shown, TimePart part) {
  switch (part) {
    case TimePart::computation:
      return computation_note(answer, basis);
    case TimePart::exposed_comm:
      return communication_note(basis, shown);
    case TimePart::copies:
      return copies_note(basis, shown);
    case TimePart::host_late:
      return "idle: kernel not launched yet";
    case TimePart::dispatch:
      return "idle: launched, not started yet";
    case TimePart::other_idle:
      return "idle: waits, before comm and copies";
  }
  return "";
}

Style style_of(TimePart part) {
  switch (part) {
    case TimePart::computation:
      return Style::good;
    case TimePart::exposed_comm:
    case TimePart::copies:
      return Style::bad;
    default:
      return Style::idle;
  }
}

// Of the times that are shown.
std::uint64_t kernels_without_launch(const Answer& answer, const TimeBasis& basis) {
  std::int64_t sum = 0;
  const BasisParts parts(basis);
  for (const GpuTime& gpu : basis.gpus) sum += basis.steps ? 0 : gpu.row->num_no_launch;
  for (const TimelineRow& window : answer.windows)
    sum += basis.steps && parts.has(window) ? window.window_no_launch : 0;
  return static_cast<std::uint64_t>(sum);
}

const GpuRow* gpu_row_of(const Answer& answer, const TimelineRow& row) {
  for (const GpuRow& gpu : answer.gpus) {
    if (gpu.input == row.input && is_same_gpu(gpu, row)) return &gpu;
  }
  return nullptr;
}

constexpr std::size_t kTableColumns = 8;
using TableLine = std::array<std::string, kTableColumns>;

TableLine gpu_line(const Answer& answer, const ShownGpu& shown, const TimeSplit& split) {
  const auto percent = [](double share) { return fmt::format("{:.1f} %", share * 100); };
  const double launch = split.share(TimePart::host_late) + split.share(TimePart::dispatch);
  const GpuRow* gpu = gpu_row_of(answer, *shown.row);
  return {shown.label,
          duration_text(split.span_ns),
          percent(split.share(TimePart::computation)),
          percent(split.share(TimePart::exposed_comm)),
          percent(split.share(TimePart::copies)),
          percent(launch + split.share(TimePart::other_idle)),
          percent(launch),
          gpu == nullptr ? "" : count_text(static_cast<std::uint64_t>(gpu->num_kernels))};
}

// "waits for others", "computes 1.12 x as long": what stands out, from the table of ranks.
std::string hint_of(const Answer& answer, const TimelineRow& row) {
  for (const RankRow& rank : answer.ranks) {
    if (rank.input != row.input || !is_same_gpu(rank, row) || !rank.hint.present()) continue;
    if (rank.hint.value() == "straggler" && rank.compute_ratio.present())
      return fmt::format("computes {:.2f} x as long", rank.compute_ratio.value());
    if (rank.hint.value() == "waits") return "waits for others";
  }
  return "";
}

// Columns of the usual width, so that tables of different runs look alike. Where that would be wider than the page, the
// columns with most room give way. The first line is the heading, the first column the label.
void add_table(Page& page, const std::vector<TableLine>& lines) {
  std::array<std::size_t, kTableColumns> widths = {20, 12, 10, 14, 9, 9, 10, 13};
  std::array<std::size_t, kTableColumns> needed = {};
  for (const TableLine& line : lines) {
    for (std::size_t c = 0; c < kTableColumns; c++) needed[c] = std::max(needed[c], line[c].size() + (c > 0 ? 1u : 0u));
  }
  for (std::size_t c = 0; c < kTableColumns; c++) widths[c] = std::max(widths[c], needed[c]);
  constexpr std::size_t kTableWidth = 97;  // but the two blanks before the label
  while (std::accumulate(widths.begin(), widths.end(), std::size_t{0}) > kTableWidth) {
    std::size_t widest = 0;
    for (std::size_t c = 1; c < kTableColumns; c++) {
      if (widths[c] - needed[c] > widths[widest] - needed[widest]) widest = c;
    }
    if (widths[widest] == needed[widest]) break;
    widths[widest]--;
  }
  for (std::size_t i = 0; i < lines.size(); i++) {
    std::string text = fmt::format("  {:<{}}", lines[i][0], widths[0]);
    for (std::size_t c = 1; c < kTableColumns; c++) text += fmt::format("{:>{}}", lines[i][c], widths[c]);
    page.add(text, i == 0 ? Style::dim : Style::plain);
    page.end_line();
  }
}

// "void at::native::foo<4, float>(int, float*)" becomes "foo<4, float>": what tells kernels apart comes first.
std::string short_kernel_name(std::string_view name) {
  if (name.starts_with("void ")) name.remove_prefix(5);
  std::string text = printable(name);
  for (const std::string_view common : {"at::native::", "(anonymous namespace)::", "c10::"}) {
    for (std::size_t at = text.find(common); at != std::string::npos; at = text.find(common, at))
      text.erase(at, common.size());
  }
  // Names of Tensile differ from the tile on: Cijk_Alik_Bljk_BBS_BH_..._MT256x128x64_MI16x16x1_...
  const std::size_t tile = text.find("_MT");
  constexpr std::size_t kContraction = 14;  // "Cijk_Alik_Bljk"
  if (text.starts_with("Cijk_") && tile != std::string::npos && tile > kContraction) {
    text.replace(kContraction, tile - kContraction, "...");
  }
  // The parameter list starts at the parenthesis that the last ')' closes.
  if (text.ends_with(')')) {
    int depth = 0;
    for (std::size_t i = text.size(); i-- > 0;) {
      if (text[i] == ')') depth++;
      if (text[i] == '(' && --depth == 0) {
        if (i > 0) text.resize(i);
        break;
      }
    }
  }
  return text;
}

}  // namespace

namespace {

// "slowest gpu, median of 3", and what the run achieves.
void add_step_title(Page& page, const Answer& answer, const TimeBasis& basis, bool several) {
  page.tab(kNoteColumn);
  if (several) page.add(fmt::format("{:>{}}", "min..max", kRangeColumns - 1), Style::dim);
  page.tab(kNoteColumn + (several ? kRangeColumns : 0));
  const std::string jobs = of_jobs(answer, basis);
  if (!basis.steps) {
    page.add(jobs.empty() ? "first to last gpu work" : "span", Style::dim);  // what fits
    if (several) page.add(", mean of " + shown_gpus(answer.timeline).counted_rows() + jobs, Style::dim);
    page.end_line();
    return;
  }
  std::map<GpuIdentity, std::size_t> steps_of;
  for (const GpuTime& gpu : basis.gpus) steps_of[identity_of(*gpu.row)] += gpu.num_steps;
  std::size_t num_steps = 0;
  for (const auto& [gpu, num] : steps_of) num_steps = std::max(num_steps, num);
  std::string text = "mean of " + counted(num_steps, "step") + jobs;
  const std::size_t num_gpus = shown_gpus(answer.timeline).num_gpus;
  if (steps_of.size() < num_gpus)
    text += fmt::format(" on {} of {}", steps_of.size(), counted(num_gpus, "gpu"));
  else if (several && (jobs.empty() || !basis.with_last))
    text += " on " + counted(num_gpus, "gpu");
  if (basis.with_last) text += ", to its last work";
  page.add(text, Style::dim);
  page.end_line();
}

// Where steps differ so much that their mean is typical of none.
std::string unlike_steps_text(const Answer& answer, const TimeBasis& basis) {
  std::vector<double> lengths;
  const BasisParts parts(basis);
  for (const TimelineRow& window : answer.windows) {
    if (basis.steps && window.window_ns.present() && parts.has(window))
      lengths.push_back(static_cast<double>(window.window_ns.value()));
  }
  if (lengths.empty()) return "";
  std::sort(lengths.begin(), lengths.end());
  const double middle = lengths[lengths.size() / 2];
  if (std::abs(basis.mean.span_ns - middle) <= 0.2 * middle && lengths.front() >= 0.5 * middle) return "";
  return fmt::format("steps take {} to {}: the mean is typical of none (report --iterations)",
                     duration_text(lengths.front()), duration_text(lengths.back()));
}

// Sixteen digits and more are no rate of a gpu, and facts may state tokens beyond every integer.
std::string rate_text(double rate) {
  return rate < 1e15 ? count_text(static_cast<std::uint64_t>(std::llround(rate))) : fmt::format("{:.2e}", rate);
}

// The line of the run: step time, tokens, utilisation; only what is known.
void add_throughput(Page& page, const Answer& answer) {
  if (num_shown_jobs(answer) > 1) return;
  // The first convention that tells a utilisation, rather than one that cannot be.
  const auto is_possible = [](const ThroughputRow& row) { return row.mfu.present() && row.mfu.value() <= 1; };
  const ThroughputRow* best = nullptr;
  for (const ThroughputRow& row : answer.throughput) {
    if (!row.step_time_ns.present()) continue;
    const bool is_better =
        best == nullptr || (row.mfu.present() && !best->mfu.present()) || (is_possible(row) && !is_possible(*best));
    if (is_better) best = &row;
  }
  if (best == nullptr) return;
  add_section(page, "step");
  page.tab(kTimeColumn);
  page.add(fmt::format("{:>11}", duration_text(static_cast<double>(best->step_time_ns.value()))), Style::title);
  std::string text = fmt::format("  slowest gpu, median of {}", best->num_steps);
  if (best->tokens_per_s_per_gpu.present())
    text += fmt::format("  {} tokens/s/gpu", rate_text(best->tokens_per_s_per_gpu.value()));
  if (is_possible(*best)) {
    text += fmt::format("  MFU {:.1f} % ({})", best->mfu.value() * 100, best->convention);
  } else if (best->mfu.present()) {
    text += "  MFU > 100 % (chopper check)";
  }
  page.add(text);
  page.end_line();
}

}  // namespace

void add_split(Page& page, const Answer& answer, const TimeBasis& basis, const TextOptions& options) {
  const bool several = basis.gpus.size() > 1;
  const TimeSplit& mean = basis.mean;
  const ShownSplit shown = shown_split(mean);

  add_throughput(page, answer);
  add_section(page, basis.steps ? "gpu time of a step" : "gpu time");
  page.tab(kTimeColumn);
  page.add(fmt::format("{:>11}{}", shown.scale.text(shown.span_steps), percent_of_mille(mean.span_ns > 0 ? 1000 : 0)));
  add_step_title(page, answer, basis, several);
  const std::size_t bar_columns = several ? 8 : 16;
  for (std::size_t p = 0; p < kNumTimeParts; p++) {
    std::size_t column = kNoteColumn;
    page.add("  ");
    page.add(label_of(kParts[p]));
    page.tab(kTimeColumn);
    page.add(fmt::format("{:>11}{}", shown.scale.text(shown.steps[p]), percent_of_mille(shown.per_mille[p])));
    page.tab(column);
    if (several) {
      page.add(fmt::format("{:>{}}", range_text(basis, kParts[p]), kRangeColumns - 1), Style::dim);
      column += kRangeColumns;
    }
    if (options.bars) {
      page.tab(column);
      const auto length =
          static_cast<std::size_t>(std::llround(mean.share(kParts[p]) * static_cast<double>(bar_columns)));
      page.add(std::string(std::min(length, bar_columns), '#'), style_of(kParts[p]));
      column += bar_columns + 1;
    }
    page.tab(column);
    page.add(note_of(answer, basis, shown, kParts[p]), Style::dim);
    page.end_line();
  }
  if (const std::string range = unlike_steps_text(answer, basis); !range.empty()) {
    page.add("  " + range, Style::dim);
    page.end_line();
  }
  if (const std::uint64_t missing = kernels_without_launch(answer, basis); missing > 0) {
    page.add(fmt::format("  {} no launch record: the gaps before them count as other idle",
                         counted(missing, "kernel has", "kernels have")),
             Style::dim);
    page.end_line();
  }
}

void add_gpu_table(Page& page, const Answer& answer, const TimeBasis& basis) {
  const ShownGpus gpus = shown_gpus(answer.timeline);
  struct Line {
    ShownGpu shown;
    TimeSplit split;
  };
  std::vector<Line> rows;
  for (const ShownGpu& shown : gpus.rows) {
    for (const GpuTime& gpu : basis.gpus) {
      if (gpu.row == shown.row) rows.push_back({shown, gpu.split});
    }
  }
  if (rows.size() < 2) return;
  const bool all = rows.size() <= kGpuRows;
  if (!all) {
    std::stable_sort(rows.begin(), rows.end(), [](const Line& a, const Line& b) {
      return a.split.share(TimePart::computation) < b.split.share(TimePart::computation);
    });
    rows.resize(kGpuRows);
  }
  add_section(page, gpus.has_windows() ? "each window" : "each gpu");
  if (!all) page.add(fmt::format(", the {} of {} that compute least", kGpuRows, count_text(answer.timeline.size())));
  page.end_line();
  std::vector<TableLine> lines = {
      {"", basis.steps ? "step" : "span", "compute", "exposed comm", "copies", "idle", "(launch)", "kernels"}};
  std::vector<std::string> hints = {""};
  for (const Line& line : rows) {
    lines.push_back(gpu_line(answer, line.shown, line.split));
    hints.push_back(hint_of(answer, *line.shown.row));
  }
  for (std::size_t i = 1; i < lines.size(); i++) {
    if (!hints[i].empty()) lines[i][kTableColumns - 1] = hints[i];
  }
  add_table(page, lines);
}

namespace {

// Kernels of a step: "4", "0.3".
std::string number_text(double number) {
  const bool is_whole = std::abs(number - std::round(number)) < 0.05;
  if (number >= 10 || is_whole) return count_text(static_cast<std::uint64_t>(std::llround(number)));
  return fmt::format("{:.1f}", number);
}

void add_known_work(Page& page, const Answer& answer, const TimeBasis& basis) {
  const std::string note = known_work_note(answer, basis);
  if (note.empty()) return;
  page.add("     " + cut_end(note, 90), Style::dim);
  page.end_line();
}

}  // namespace

void add_losses(Page& page, const Answer& answer, const TimeBasis& basis) {
  const std::vector<Loss> losses = find_losses(answer, basis);
  if (losses.empty()) return;
  const ShownSplit shown = shown_split(basis.mean);
  add_section(page, fmt::format("largest losses{}{}{}", basis.steps ? " of a step" : "",
                                is_part_of_work(answer.selection) ? " in the selection" : "", of_jobs(answer, basis)));
  page.add(", each by itself, without contention");
  page.add_right("more with report", Style::dim);
  page.end_line();
  for (std::size_t i = 0; i < std::min(kLosses, losses.size()); i++) {
    const Loss& loss = losses[i];
    // What is the whole of a part is printed as it was there.
    const std::int64_t steps =
        loss.part ? shown.steps[index_of(*loss.part)] : std::llround(loss.at_stake_ns / shown.scale.step_ns);
    const std::int64_t per_mille =
        loss.part ? shown.per_mille[index_of(*loss.part)]
                  : std::min<std::int64_t>(1000, std::llround(1000 * loss.at_stake_ns / basis.mean.span_ns));
    page.add(fmt::format("  {}  {:<24}{:>11}{}  ", i + 1, cut_end(loss.title, 24), "-" + shown.scale.text(steps),
                         percent_of_mille(per_mille)));
    page.add(loss.advice, Style::dim);
    if (!loss.command.empty()) page.add_right(loss.command, Style::dim);  // where it fits
    page.end_line();
  }
  add_known_work(page, answer, basis);
}

void add_top_operations(Page& page, const Answer& answer, const TimeBasis& basis) {
  std::vector<OperationTotal> operations = operation_totals(answer, basis);
  // Of an operation of the iteration behind the last step only the gap in front of it may be here.
  std::erase_if(operations, [](const OperationTotal& operation) { return !(operation.num_kernels > 0); });
  double total = 0;
  bool named = false;
  for (const OperationTotal& operation : operations) {
    total += operation.duration_ns;
    named = named || (operation.operation != "unlabelled" && !operation.operation.empty());
  }
  if (!(total > 0) || !named) return;
  add_section(page, basis.steps ? "top operations of a step" : "top operations");
  page.add(is_part_of_work(answer.selection) ? ", share of the summed time of the selected gpu work"
                                             : ", share of the summed time of gpu work");
  page.end_line();
  page.add(fmt::format("  {:>7} {:>9} {:>8}   {:>8}  {:<27} {:>17} {:>9}", "share", "time", "kernels", "mean", "",
                       "rate", "overlap"),
           Style::dim);
  page.end_line();
  for (std::size_t i = 0; i < std::min(kOperations, operations.size()); i++) {
    const OperationTotal& o = operations[i];
    const std::string label = o.phase + " " + o.operation;
    page.add(fmt::format("  {:>7} {:>9} {:>8} x {:>8}  {:<27} {:>17} {:>9}", share_text(o.duration_ns / total),
                         duration_text(o.duration_ns / basis.num_parts), number_text(o.num_kernels / basis.num_parts),
                         duration_text(o.duration_ns / std::max(1.0, o.num_kernels)), cut_middle(printable(label), 27),
                         rate_text(o), o.is_comm ? "" : share_text(o.overlap_ns / std::max(1.0, o.duration_ns))));
    page.end_line();
  }
}

void add_top_kernels(Page& page, const Answer& answer, const TimeBasis& basis) {
  struct Sum {
    double total_ns = 0;
    double num = 0;
  };
  const bool is_part = is_part_of_work(answer.selection);
  std::map<std::pair<std::string, std::string>, Sum> sum_of;  // by name and class: grids and gpus together
  double total = 0;
  for (const KernelSummaryRow& row : answer.kernel_summary) {
    if (!is_part && !is_compute_class(row.gpu_class)) continue;
    Sum& sum = sum_of[{row.name, row.gpu_class}];
    sum.total_ns += static_cast<double>(row.total_ns);
    sum.num += static_cast<double>(row.num);
    total += static_cast<double>(row.total_ns);
  }
  if (!(total > 0)) return;
  using Entry = std::pair<std::pair<std::string, std::string>, Sum>;
  std::vector<Entry> ranked(sum_of.begin(), sum_of.end());
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const Entry& a, const Entry& b) { return a.second.total_ns > b.second.total_ns; });
  add_section(page, basis.steps ? "top kernels of the whole trace" : "top kernels");
  const ShownGpus gpus = shown_gpus(answer.timeline);
  page.add(is_part ? ", share of the selected kernels' time" : ", share of the compute kernels' time");
  if (gpus.rows.size() > 1) page.add(gpus.num_gpus > 1 ? " on all gpus" : " in all windows");
  page.end_line();
  for (std::size_t i = 0; i < std::min(kRows, ranked.size()); i++) {
    const auto& [key, sum] = ranked[i];
    page.add(fmt::format("  {:>7} {:>9} {:>8} x {:>8}  {:<9} ", share_text(sum.total_ns / total),
                         duration_text(sum.total_ns), count_text(static_cast<std::uint64_t>(sum.num)),
                         duration_text(sum.total_ns / std::max(1.0, sum.num)), key.second));
    page.add(short_kernel_name(key.first));
    page.end_line();
  }
}

}  // namespace chopper
