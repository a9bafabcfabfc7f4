// SPDX-License-Identifier: Apache-2.0
#include "report/check_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/health_counts.h"
#include "report/jobs_text.h"
#include "report/page.h"
#include "report/quantity.h"
#include "report/utf8.h"

namespace chopper {
namespace {

constexpr std::size_t kExamples = 3;      // of each kind; JSON has more
constexpr std::size_t kGaps = 3;          // of each alignment, inside; JSON has more
constexpr std::size_t kCounters = 32;     // of a pass; joined tables have hundreds
constexpr std::size_t kValueColumn = 11;  // "  records  "

void add_line(Page& page, std::string_view label, const std::string& value) {
  page.add("  ");
  page.add(label, Style::dim);
  page.tab(kValueColumn);
  page.add_wrapped(value, kValueColumn);
  page.end_line();
}

std::string with_share(std::int64_t part, std::int64_t all) {
  const auto shown = count_text(static_cast<std::uint64_t>(std::max<std::int64_t>(0, part)));
  if (all <= 0) return shown;
  return fmt::format("{} ({})", shown, share_text(static_cast<double>(part) / static_cast<double>(all)));
}

// "Agent 4: AMD Instinct MI300X, gfx942, 8 XCCs, 304 CUs, at most 2,100 MHz".
std::string agent_text(const std::string& name, const AgentFacts& facts) {
  std::string out = printable(name);
  std::string separator = ": ";
  const auto add = [&](const std::string& what) {
    if (what.empty()) return;
    out += separator + what;
    separator = ", ";
  };
  const auto number = [](std::int64_t value) {
    return count_text(static_cast<std::uint64_t>(std::max<std::int64_t>(0, value)));
  };
  add(printable(facts.product));
  add(printable(facts.architecture));
  if (facts.num_xcc != kNoNumber) add(number(facts.num_xcc) + (facts.num_xcc == 1 ? " XCC" : " XCCs"));
  const std::string unit = facts.vendor_name == "NVIDIA" ? " SM" : " CU";
  if (facts.num_cu != kNoNumber) add(number(facts.num_cu) + unit + (facts.num_cu == 1 ? "" : "s"));
  if (facts.max_clock_mhz != kNoNumber) add("at most " + number(facts.max_clock_mhz) + " MHz");
  return out;
}

// ", all with times". Some profilers tell how long a kernel ran, and not when.
std::string timing_text(const CounterPassSummary& pass) {
  const bool has_times = pass.num_timed > 0 || pass.num_with_duration == 0;
  const std::int64_t number = has_times ? pass.num_timed : pass.num_with_duration;
  const std::string_view what = has_times ? "times" : "durations";
  if (pass.num_dispatches == 0) return "";
  if (number == pass.num_dispatches) return fmt::format(", all with {}", what);
  if (number == 0) return ", without times";
  return fmt::format(", {} with {}", count_text(static_cast<std::uint64_t>(number)), what);
}

// What a file of a counter pass holds.
void add_pass(Page& page, const CounterPassSummary& pass) {
  const auto count = [](std::int64_t value, std::string_view one, std::string_view many) {
    return counted(static_cast<std::uint64_t>(std::max<std::int64_t>(0, value)), one, many);
  };
  const std::string writer = pass.writer.empty() ? "" : ", header of " + pass.writer;
  if (pass.content == PassContent::agents) {
    add_line(page, "holds", count(static_cast<std::int64_t>(pass.agents.size()), "agent", "agents"));
    bool first = true;
    for (const AgentFacts& agent : pass.agents) {
      if (!agent.is_gpu) continue;
      const std::string name = agent.node == kNoNumber ? "every gpu" : "node " + std::to_string(agent.node);
      add_line(page, first ? "gpus" : "", agent_text(name, agent));
      first = false;
    }
    return;
  }
  if (pass.content == PassContent::marks) {
    add_line(page, "holds",
             count(pass.num_marks, "mark", "marks") + " of the host, " + count(pass.num_mark_names, "name", "names"));
    return;
  }
  std::string holds =
      count(pass.num_dispatches, "dispatch", "dispatches") + " of " + count(pass.num_kernels, "kernel", "kernels");
  if (pass.content == PassContent::counters) {
    holds += ", " + count(static_cast<std::int64_t>(pass.counters.size()), "counter", "counters") + ", " +
             count(pass.num_values, "value", "values");
  }
  holds += timing_text(pass);
  if (pass.num_marks > 0) holds += ", " + count(pass.num_marks, "mark", "marks") + " of the host";
  add_line(page, "holds", holds + writer);
  std::string counters;
  std::size_t num_shown = 0;
  for (const CounterCount& counter : pass.counters) {
    if (num_shown++ == kCounters) {
      counters += " and " + count(static_cast<std::int64_t>(pass.counters.size() - kCounters), "more", "more");
      break;
    }
    counters += (counters.empty() ? "" : ", ") + printable(counter.name);
    if (counter.num_values != pass.num_dispatches)
      counters += " (" + count_text(static_cast<std::uint64_t>(counter.num_values)) + ")";
  }
  if (!counters.empty()) add_line(page, "counters", counters);
  bool first = true;
  for (const PassDeviceSummary& device : pass.devices) {
    if (device.num_dispatches == 0) continue;
    std::string text = agent_text(device.device.text, device.facts);
    if (device.agents_file.empty()) text += ": nothing beside the file says which product it is";
    add_line(page, first ? "gpus" : "", text + "; " + count(device.num_dispatches, "dispatch", "dispatches"));
    first = false;
  }
}

// "iteration 2: 1 only in the trace (gemm), 2 only in the pass from dispatch 31 (copy)".
std::string gap_text(const AlignmentGapRow& gap) {
  const auto name_text = [](const Field<std::string>& name) {
    return name.present() ? " (" + cut_middle(printable(name.value()), 40) + ")" : std::string();
  };
  std::string text = gap.iteration.present() ? fmt::format("iteration {}: ", gap.iteration.value()) : "";
  if (gap.num_only_trace > 0)
    text += fmt::format("{} only in the trace", gap.num_only_trace) + name_text(gap.trace_name);
  if (gap.num_only_pass == 0) return text;
  text += fmt::format("{}{} only in the pass", gap.num_only_trace > 0 ? ", " : "", gap.num_only_pass);
  if (gap.dispatch.present()) text += fmt::format(" from dispatch {}", gap.dispatch.value());
  return text + name_text(gap.pass_name);
}

// The first gaps that no other warm-up or end explains.
std::string gaps_text(const Answer& answer, const AlignmentRow& row) {
  const auto value = [](const Field<std::int64_t>& field) { return field.present() ? field.value() : -1; };
  std::string text;
  std::size_t num_shown = 0;
  for (const AlignmentGapRow& gap : answer.alignment_gaps) {
    const bool is_of_row = gap.pass == row.pass && gap.input == row.input && value(gap.gpu) == value(row.gpu);
    if (!is_of_row || gap.place != "inside") continue;
    if (num_shown++ == kGaps) return text + "; ...";
    text += (text.empty() ? "" : "; ") + gap_text(gap);
  }
  return text;
}

// How the dispatches of a pass belong to the kernels of the traces.
void add_alignments(Page& page, const Answer& answer, std::int64_t pass) {
  for (const AlignmentRow& row : answer.alignment) {
    if (row.pass != pass) continue;
    const auto number = [](std::int64_t n) { return count_text(static_cast<std::uint64_t>(n)); };
    std::string text =
        fmt::format("with {}: {}, {} matched", printable(answer.inputs[static_cast<std::size_t>(row.input)].path),
                    row.verdict, number(row.num_matched));
    const auto add = [&](std::int64_t n, std::string_view what) {
      if (n > 0) text += fmt::format(", {} {}", number(n), what);
    };
    add(row.num_substituted, "under another name");
    add(row.num_only_trace, "only in the trace");
    add(row.num_only_pass, "only in the pass");
    add(row.num_ambiguous, "ambiguous");
    add_line(page, "aligned", text);
    const std::string gaps = gaps_text(answer, row);
    if (!gaps.empty()) add_line(page, "gaps", fmt::format("{}; the first inside: {}", number(row.num_gaps), gaps));
  }
}

// What a trace counted besides: ranges, not the records of its kernels.
void add_counters(Page& page, const CounterPassSummary& pass, bool have_launches) {
  const auto count = [](std::int64_t value, std::string_view one, std::string_view many) {
    return counted(static_cast<std::uint64_t>(std::max<std::int64_t>(0, value)), one, many);
  };
  std::string text = count(pass.num_dispatches, "range", "ranges") + " of " + count(pass.num_kernels, "name", "names") +
                     ", " + count(static_cast<std::int64_t>(pass.counters.size()), "counter", "counters") + ", " +
                     count(pass.num_values, "value", "values");
  text += have_launches ? ": each of one kernel launch, in their order" : ": of which launches is not known";
  add_line(page, "counters", text);
}

void add_input(Page& page, const InputRow& input, const InputSummary& summary) {
  const HealthLog& health = summary.health;
  page.add(fmt::format("input {}", input.input), Style::title);
  page.tab(kValueColumn);
  page.add_wrapped(printable(input.path), kValueColumn);
  page.end_line();
  std::string format = fmt::format("{}, {}", printable(input.format), bytes_text(static_cast<double>(input.bytes)));
  if (input.text_bytes != input.bytes)
    format += fmt::format(", {} of text", bytes_text(static_cast<double>(input.text_bytes)));
  if (input.vendor.present()) format += ", " + input.vendor.value();
  add_line(page, "format", format);
  const Losses losses = losses_of(health);
  const auto records_text = [&](std::string_view word) {
    return fmt::format("{}: {} lost, {} quarantined, {} repaired",
                       counted(static_cast<std::uint64_t>(std::max<std::int64_t>(0, input.records)), word),
                       count_text(losses.lost), count_text(losses.quarantined),
                       count_text(health.count(HealthKind::text_repaired)));
  };
  if (summary.pass) {
    if (input.rank.present()) add_line(page, "rank", fmt::format("{}, from {}", input.rank.value(), input.rank_source));
    add_line(page, "records", records_text("row"));
    add_pass(page, *summary.pass);
    return;
  }
  add_line(page, "rank",
           input.rank.present() ? fmt::format("{}, from {}", input.rank.value(), input.rank_source)
                                : std::string("unknown; state it with --set-rank FILE=N"));
  add_line(page, "host", input.host.present() ? printable(input.host.value()) : std::string("not stated"));
  add_line(page, "clock", fmt::format("{}, quantum {} ns", input.clock, input.quantum_ns));

  add_line(page, "records", records_text("event"));
  std::int64_t found = 0;
  std::int64_t linked = 0;
  std::int64_t in_range = 0;
  for (const GpuSummary& gpu : summary.gpus) {
    found += gpu.all.records;
    linked += gpu.launched.records;
    in_range += gpu.in_range.records;
  }
  if (summary.counters) add_counters(page, *summary.counters, summary.counters_have_launches);
  if (found == 0) {
    add_line(page, "gpu work", "none");
    return;
  }
  add_line(page, "gpu work",
           fmt::format("{} on {}: {} linked to a launch call, {} below a host range",
                       counted(static_cast<std::uint64_t>(found), "record"), counted(summary.gpus.size(), "gpu"),
                       with_share(linked, found), with_share(in_range, found)));
}

void add_finding(Page& page, HealthKind kind, const HealthEntry& entry) {
  constexpr std::size_t kIndent = 10;
  const HealthKindInfo& facts = info(kind);
  page.add("  ");
  page.add(facts.name, facts.severity == Severity::note ? Style::plain : Style::bad);
  page.tab(32);
  page.add(fmt::format("{:>12}  ", count_text(entry.count)));
  page.add_wrapped(facts.meaning, 46);
  page.end_line();
  if (!facts.cost.empty()) {
    page.add("    costs", Style::dim);
    page.tab(kIndent);
    page.add_wrapped(facts.cost, kIndent);
    page.end_line();
  }
  for (std::size_t i = 0; i < std::min(kExamples, entry.examples.size()); i++) {
    const HealthExample& example = entry.examples[i];
    page.add(i == 0 ? "    at" : "", Style::dim);
    page.tab(kIndent);
    const std::string separator = example.where.empty() || example.what.empty() ? "" : ": ";
    page.add_wrapped(printable(example.where + separator + example.what), kIndent + 2);
    page.end_line();
  }
}

std::string_view title_of(Severity severity) {
  switch (severity) {
    case Severity::data_loss:
      return "data loss: something the file should hold is not there";
    case Severity::skipped:
      return "skipped: records set aside";
    case Severity::note:
      return "notes: nothing was lost";
  }
  return "";
}

std::string verdict_of(const Answer& answer) {
  const std::string losses = losses_text(losses_of(answer.health_log));
  if (answer.lost_something) return losses + "; the numbers hold for what is left (exit code 3)";
  if (!has_trace(answer))
    return losses + ", but there is no trace: counters are used beside the traces of the same job";
  if (answer.timeline.empty()) return losses + ", but there is no gpu work to analyse";
  return losses;
}

}  // namespace

std::string check_text(const Answer& answer, const TextOptions& options) {
  Page page(std::max<std::size_t>(options.width, 80), options.colour);
  bool first_input = true;
  for (std::size_t i = 0; i < std::min(answer.inputs.size(), answer.summaries.size()); i++) {
    if (!answer.summaries[i].selected) continue;
    if (!first_input) page.end_line();
    first_input = false;
    add_input(page, answer.inputs[i], answer.summaries[i]);
    add_alignments(page, answer, answer.inputs[i].input);
  }
  for (const Severity severity : {Severity::data_loss, Severity::skipped, Severity::note}) {
    bool first = true;
    for (std::size_t k = 0; k < kNumHealthKinds; k++) {
      const auto kind = static_cast<HealthKind>(k);
      const HealthEntry& entry = answer.health_log.entry(kind);
      if (entry.count == 0 || info(kind).severity != severity) continue;
      if (first) {
        page.end_line();
        page.add(title_of(severity), Style::title);
        page.end_line();
      }
      first = false;
      add_finding(page, kind, entry);
    }
  }
  page.end_line();
  page.add("verdict", Style::title);
  page.tab(kValueColumn);
  page.add_wrapped(verdict_of(answer), kValueColumn);
  page.end_line();
  return page.take();
}

std::string formats_text(std::span<const FormatInfo> formats) {
  std::size_t width = 0;
  for (const FormatInfo& format : formats) width = std::max(width, format.name.size());
  std::string out;
  for (const FormatInfo& format : formats) {
    out += fmt::format("{:<{}}  {}", format.name, width, format.summary);
    if (!format.reads.empty()) out += fmt::format(" ({})", format.reads);
    out += '\n';
  }
  return out;
}

}  // namespace chopper
