// SPDX-License-Identifier: Apache-2.0
#include "report/decomposition_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "report/quantity.h"
#include "report/utf8.h"

namespace chopper {
namespace {

constexpr std::size_t kShown = 8;
constexpr std::size_t kFactorColumns = 9;

struct FactorColumn {
  std::string_view title;
  Field<double> DecompositionRow::*value;
  Field<double> DecompositionRow::*low;
  Field<double> DecompositionRow::*high;
};
using Row = DecompositionRow;
constexpr FactorColumn kColumns[] = {
    {"padding", &Row::inst, &Row::inst_low, &Row::inst_high},
    {"units", &Row::util, &Row::util_low, &Row::util_high},
    {"rate", &Row::rate, &Row::rate_low, &Row::rate_high},
    {"contended", &Row::contention, &Row::contention_low, &Row::contention_high},
    {"clock", &Row::freq, &Row::freq_low, &Row::freq_high},
    {"mem clock", &Row::mem_clock, &Row::mem_clock_low, &Row::mem_clock_high},
    {"remainder", &Row::remainder, &Row::remainder_low, &Row::remainder_high},
};

double loss_of(const Row& row) { return static_cast<double>(row.d_act_ns) - row.d_thr_ns.value(); }

std::vector<const Row*> rows_of(const Answer& answer, std::string_view mode) {
  std::vector<const Row*> rows;
  for (const Row& row : answer.decomposition) {
    if (row.mode == mode && row.d_thr_ns.present()) rows.push_back(&row);
  }
  std::stable_sort(rows.begin(), rows.end(), [](const Row* a, const Row* b) { return loss_of(*a) > loss_of(*b); });
  return rows;
}

std::string label_of(const Row& row) { return row.phase + " " + row.operation; }

// "1.18+-.02"; half of the interval where there is one.
std::string factor_text(const Row& row, const FactorColumn& column) {
  const Field<double>& value = row.*column.value;
  if (!value.present()) return "-";
  const double size = std::abs(value.value());
  if (size >= 1000 || (size > 0 && size < 0.005)) return fmt::format("{:.1e}", value.value());
  std::string text = fmt::format("{:.2f}", value.value());
  const Field<double>&low = row.*column.low, &high = row.*column.high;
  if (!low.present() || !high.present()) return text;
  const double half = (high.value() - low.value()) / 2;
  if (half < 0.005) return text + "     ";
  if (half < 0.995) return text + fmt::format("+-.{:02.0f}", 100 * half);
  // An interval as wide as the value, or one that the column does not hold.
  const std::string wide = text + fmt::format("+-{:.0f}", half);
  return half >= size || wide.size() > kFactorColumns ? text + "+-?" : wide;
}

// The operation that loses most of those the modes see differently.
void add_paper_sentence(Page& page, const Answer& answer, const std::vector<const Row*>& measured) {
  for (const Row* row : measured) {
    const auto paper = std::find_if(answer.decomposition.begin(), answer.decomposition.end(), [&](const Row& other) {
      return other.mode == "paper" && other.phase == row->phase && other.operation == row->operation &&
             other.job.present() == row->job.present() &&
             (!row->job.present() || other.job.value() == row->job.value()) && other.freq.present() &&
             other.contention.present();
    });
    if (paper == answer.decomposition.end()) continue;
    const bool has_both = row->contention.present() && row->freq.present();
    constexpr double kSame = 0.02;  // what rounding and medians make
    if (has_both && std::abs(paper->contention.value() / row->contention.value() - 1) < kSame &&
        std::abs(paper->freq.value() / row->freq.value() - 1) < kSame)
      continue;
    std::string text = fmt::format("mode paper: {} contention {:.2f}, clock {:.2f}", label_of(*row),
                                   paper->contention.value(), paper->freq.value());
    if (has_both) {
      text += fmt::format(
          "; here {:.2f} and {:.2f}: that mode has no clock and takes for it what percentiles of overlap do not show",
          row->contention.value(), row->freq.value());
    } else {
      text += "; without a clock that split is a guess: the time without overlap is not known";
    }
    page.add_wrapped("  " + text + ".", 2);
    page.end_line();
    return;
  }
}

// Whether a clock would split the remainder of the row.
bool lacks_clock(const Row& row) {
  return row.mode == "measured" && row.remainder.present() && !row.freq.present() &&
         row.freq.reason() == Reason::no_clock;
}

bool has_clock(const Row& row) { return row.mode == "measured" && row.freq.present(); }

void add_line(Page& page, const std::string& text, Style style) {
  page.add_wrapped("  " + text, 2, style);
  page.end_line();
}

// For the first operation whose split the clock-insensitive share leaves open.
void add_ranges(Page& page, const Row& row) {
  std::string text = "clock and contention are not ranked: passes at one clock do not tell how kernels follow it";
  if (row.contention_m_low.present() && row.contention_m_high.present() && row.freq_m_low.present() &&
      row.freq_m_high.present())
    text += fmt::format("; {}: contended {:.2f} to {:.2f}, clock {:.2f} to {:.2f}", label_of(row),
                        row.contention_m_low.value(), row.contention_m_high.value(), row.freq_m_low.value(),
                        row.freq_m_high.value());
  add_line(page, text, Style::dim);
}

void add_remarks(Page& page, const std::vector<const Row*>& rows) {
  const auto any = [&](auto holds) { return std::any_of(rows.begin(), rows.end(), holds); };
  const Row& first = *rows.front();
  if (first.num_gpus.present() && first.num_gpus_with_counters.value() < first.num_gpus.value())
    add_line(page,
             fmt::format("counters of {} of {} gpus: --gpu or --rank shows one alone",
                         first.num_gpus_with_counters.value(), first.num_gpus.value()),
             Style::bad);
  if (any([](const Row* row) { return row->theory_source != "shapes"; })) {
    const bool all =
        std::all_of(rows.begin(), rows.end(), [](const Row* row) { return row->theory_source == "model"; });
    add_line(page,
             all ? "work by the model of chopper.toml at the BF16 peak: the trace has no shapes"
                 : "work of some operations by the model of chopper.toml, at the BF16 peak (theory_source)",
             Style::dim);
  }
  if (any([](const Row* row) { return row->measured_time_share.present() && row->measured_time_share.value() < 0.95; }))
    add_line(page,
             "factors of a part: less than 95 % of the time of some operations has counters (measured_time_share)",
             Style::bad);
  if (any([](const Row* row) { return lacks_clock(*row); })) {
    add_line(page, "remainder: clock and what has no value; [clock] f_eff_mhz in chopper.toml would split it",
             Style::dim);
  } else if (any([](const Row* row) { return row->mode == "measured" && row->remainder.present(); })) {
    add_line(page, "remainder: what has no value, in one factor", Style::dim);
  }
  constexpr double kLeastContention = 0.9;  // below, it is not noise
  // Kernels of less than this have the front end of the gpu in the cycles of their passes.
  constexpr double kShortNs = 50'000;
  const auto is_low = [](const Row* row) {
    return row->contention.present() && row->contention.value() < kLeastContention;
  };
  const auto is_short = [](const Row* row) {
    return static_cast<double>(row->d_act_ns) < kShortNs * static_cast<double>(row->num_instances);
  };
  if (any([&](const Row* row) { return is_low(row) && is_short(row); }))
    add_line(page, "contended below 0.9: kernels of a few microseconds, in passes front-end cycles count", Style::dim);
  if (any([&](const Row* row) { return is_low(row) && !is_short(row); })) {
    const bool clocked = any([&](const Row* row) { return is_low(row) && !is_short(row) && has_clock(*row); });
    add_line(page,
             clocked ? "contended below 0.9, not short: the stated clock is too low, or passes were slower than the "
                       "trace, each kernel by itself"
                     : "contended below 0.9, not short: they were slower in the passes, each by itself",
             Style::bad);
  }
  for (const Row* row : rows) {
    if (!row->freq_contention_ranked.present() || row->freq_contention_ranked.value()) continue;
    add_ranges(page, *row);
    break;
  }
}

}  // namespace

bool has_decomposition(const Answer& answer) {
  return std::any_of(answer.decomposition.begin(), answer.decomposition.end(), [](const Row& row) {
    return row.measured_time_share.present() && row.measured_time_share.value() > 0;
  });
}

void add_decomposition(Page& page, const Answer& answer, bool paper) {
  const std::vector<const Row*> rows = rows_of(answer, paper ? "paper" : "measured");
  if (rows.empty()) return;
  const std::size_t num_shown = std::min(kShown, rows.size());
  const std::vector<const Row*> shown(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(num_shown));
  std::vector<const FactorColumn*> columns;
  for (const FactorColumn& column : kColumns) {
    if (std::any_of(shown.begin(), shown.end(), [&](const Row* row) { return (row->*column.value).present(); }))
      columns.push_back(&column);
  }
  page.end_line();
  page.add("theory against measurement", Style::title);
  page.add(paper ? ", mode paper: medians of one gpu"
                 : ", factors with half of their 95 % interval (?: as wide as they are)");
  page.end_line();
  std::string head = fmt::format("  {:<18} {:>9} {:>8}", "", "time", "of peak");
  for (const FactorColumn* column : columns) head += fmt::format(" {:>9}", column->title);
  page.add(head, Style::dim);
  page.end_line();
  for (const Row* row : shown) {
    page.add(
        fmt::format("  {:<18} {:>9} {:>8}", cut_middle(printable(label_of(*row)), 18),
                    duration_text(static_cast<double>(row->d_act_ns)),
                    row->d_act_ns > 0 ? share_text(row->d_thr_ns.value() / static_cast<double>(row->d_act_ns)) : "-"));
    for (const FactorColumn* column : columns) page.add(fmt::format(" {:>9}", factor_text(*row, *column)));
    page.end_line();
  }
  if (rows.size() > num_shown) {
    page.add(fmt::format("  and {} more: --json, --operation", rows.size() - num_shown), Style::dim);
    page.end_line();
  }
  add_remarks(page, shown);
  if (!paper) add_paper_sentence(page, answer, rows);
}

std::string evidence_text(const Answer& answer) {
  const auto num_passes = static_cast<std::size_t>(
      std::count_if(answer.inputs.begin(), answer.inputs.end(), [](const InputRow& input) { return !input.is_trace; }));
  if (num_passes == 0)
    return !answer.facts.clocks.empty() ? "trace + stated clock; counters would split computation"
                                        : "trace alone; telemetry would add clocks, counters would split computation";
  std::set<std::int64_t> all, used;
  std::set<std::pair<std::int64_t, std::int64_t>> gpus;
  double least = 1;
  for (const AlignmentRow& row : answer.alignment) {
    all.insert(row.pass);
    if (!row.matched_time_share.present() || row.matched_time_share.value() < 0.5) continue;
    used.insert(row.pass);
    gpus.insert({row.input, row.gpu.present() ? row.gpu.value() : -1});
    least = std::min(least, row.matched_time_share.value());
  }
  if (used.empty()) return "trace alone; no counters belong to its kernels (chopper check)";
  if (!has_decomposition(answer) && answer.metrics.empty())
    return "trace alone; counters of its kernels give no metric (chopper check)";
  std::string text = used.size() == all.size()
                         ? fmt::format("trace + counters ({} {}", used.size(), used.size() == 1 ? "file" : "files")
                         : fmt::format("trace + counters ({} of {} files", used.size(), all.size());
  if (gpus.size() < answer.gpus.size()) text += fmt::format(", {} of {} gpus", gpus.size(), answer.gpus.size());
  const auto any = [&](bool (*holds)(const Row&)) {
    return std::any_of(answer.decomposition.begin(), answer.decomposition.end(), holds);
  };
  std::string_view wish = any(lacks_clock) ? "; a clock would split the remainder" : "";
  if (answer.decomposition.empty()) wish = "; shapes, or [model] and batch in chopper.toml, would tell theory";
  return fmt::format("{}, {} of {}computation){}{}", text, share_text(least),
                     gpus.size() < answer.gpus.size() ? "their " : "", any(has_clock) ? " + stated clock" : "", wish);
}

}  // namespace chopper
