// SPDX-License-Identifier: Apache-2.0
#include "report/metrics_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "report/csv.h"
#include "report/json.h"

namespace chopper {
namespace {

std::string trimmed(std::string line) {
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return line + "\n";
}

// Widths of the columns in front of the last.
struct Widths {
  std::size_t id = 2, unit = 4;
};

Widths widths_of(std::span<const MetricInfo> metrics) {
  Widths widths;
  for (const MetricInfo& metric : metrics) {
    widths.id = std::max(widths.id, metric.id.size());
    widths.unit = std::max(widths.unit, metric.unit.size());
  }
  return widths;
}

std::string row(const Widths& widths, std::string_view id, std::string_view unit, std::string_view grain,
                std::string_view roll_up, std::string_view last) {
  return trimmed(
      fmt::format("  {:<{}}  {:<{}}  {:<9}  {:<13}  {}", id, widths.id, unit, widths.unit, grain, roll_up, last));
}

std::string field(std::string_view name, std::string_view value) {
  return value.empty() ? "" : fmt::format("  {:<11}  {}\n", name, value);
}

std::string inner_field(std::string_view name, std::string_view value) {
  return value.empty() ? "" : fmt::format("    {:<11}  {}\n", name, value);
}

std::string json_text(std::string_view key, std::string_view value) {
  std::string out = ",";
  append_json_string(out, key);
  out += ':';
  append_json_string(out, value);
  return value.empty() ? "" : out;
}

std::string json_list(std::string_view key, const std::vector<std::string>& values) {
  if (values.empty()) return "";
  std::string out = ",";
  append_json_string(out, key);
  out += ":[";
  for (std::size_t i = 0; i < values.size(); i++) {
    if (i > 0) out += ',';
    append_json_string(out, values[i]);
  }
  return out + "]";
}

std::string json_head(const MetricInfo& metric) {
  std::string out = "{\"id\":";
  append_json_string(out, metric.id);
  out += json_text("title", metric.title) + json_text("unit", metric.unit) + json_text("grain", metric.grain) +
         json_text("roll_up", metric.roll_up) + json_text("of", metric.table.empty() ? "counters" : "traces");
  return out + json_text("summary", metric.summary);
}

std::string csv_row(const std::vector<std::string>& cells) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); i++) {
    if (i > 0) line += ',';
    append_csv_cell(line, cells[i]);
  }
  return line + "\n";
}

}  // namespace

std::string metrics_text(std::span<const MetricInfo> metrics, bool of_one_gpu) {
  const Widths widths = widths_of(metrics);
  std::string counters, traces;
  for (const MetricInfo& metric : metrics) {
    if (metric.table.empty()) {
      const std::string last = of_one_gpu ? fmt::format("{}", fmt::join(metric.on.front().needs, " ")) : metric.where;
      counters += row(widths, metric.id, metric.unit, metric.grain, metric.roll_up, last);
    } else {
      traces += row(widths, metric.id, metric.unit, metric.grain, metric.roll_up, metric.table + ": " + metric.needs);
    }
  }
  return "metrics of counter passes (chopper metrics NAME explains one; --metrics FILE adds or overrides)\n" +
         row(widths, "id", "unit", "grain", "roll-up", of_one_gpu ? "needs" : "on") + counters +
         "\nmetrics of traces (the table of report --json they are in)\n" +
         row(widths, "id", "unit", "grain", "roll-up", "table: needs") + traces +
         "\ngrain: the finest there is. needs of counters: chopper metrics plan --gpu KEY NAME... makes passes of "
         "them\n";
}

std::string explain_text(const MetricInfo& metric) {
  std::string text = metric.id + ": " + metric.title + "\n";
  text += field("unit", metric.unit) + field("grain", metric.grain + " and coarser") +
          field("roll-up", metric.roll_up) + field("note", metric.summary) + field("table", metric.table) +
          field("needs", metric.needs);
  for (const MetricOn& on : metric.on) {
    text += fmt::format("  on {}\n", on.where);
    const bool is_ratio = !on.denominator.empty();
    for (std::size_t i = 0; i < on.expressions.size(); i++) {
      const std::string tells = i < on.tells.size() ? "   (" + on.tells[i] + ")" : "";
      text += inner_field(i > 0 ? "else" : is_ratio ? "numerator" : "expression", on.expressions[i] + tells);
    }
    text += inner_field("denominator", on.denominator) +
            inner_field("needs", fmt::format("{}", fmt::join(on.needs, " "))) + inner_field("source", on.source);
  }
  return text;
}

std::string explain_text(const CounterInfo& counter) {
  std::string text = counter.name + ": " + counter.summary + "\n" + field("unit", counter.unit);
  if (counter.block_limit > 0)
    text += field("block", fmt::format("{}, {} of its counters a pass", counter.block, counter.block_limit));
  return text + field("on", fmt::format("{}", fmt::join(counter.architectures, " "))) + field("source", counter.source);
}

std::string metrics_json(std::span<const MetricInfo> metrics, std::string_view version) {
  std::string out = "{\"chopper\":{\"version\":";
  append_json_string(out, version);
  out += "},\n\"metrics\":[";
  bool first = true;
  const auto add = [&](const std::string& one) {
    out += (first ? "\n" : ",\n") + one;
    first = false;
  };
  for (const MetricInfo& metric : metrics) {
    if (!metric.table.empty()) {
      add(json_head(metric) + json_text("table", metric.table) + json_list("needs", {metric.needs}) + "}");
    }
    for (const MetricOn& on : metric.on) {
      add(json_head(metric) + json_text("vendor", on.vendor) + json_list("architectures", on.architectures) +
          json_list("expressions", on.expressions) + json_list("tells", on.tells) +
          json_text("denominator", on.denominator) + json_list("needs", on.needs) + json_text("source", on.source) +
          "}");
    }
  }
  return out + "\n]}\n";
}

std::string metrics_csv(std::span<const MetricInfo> metrics) {
  std::string out = csv_row({"id", "title", "unit", "grain", "roll_up", "of", "table", "vendor", "architectures",
                             "expressions", "denominator", "needs", "source"});
  for (const MetricInfo& metric : metrics) {
    if (!metric.table.empty())
      out += csv_row({metric.id, metric.title, metric.unit, metric.grain, metric.roll_up, "traces", metric.table, "",
                      "", "", "", metric.needs, ""});
    for (const MetricOn& on : metric.on) {
      out += csv_row({metric.id, metric.title, metric.unit, metric.grain, metric.roll_up, "counters", "", on.vendor,
                      fmt::format("{}", fmt::join(on.architectures, " ")),
                      fmt::format("{}", fmt::join(on.expressions, " | ")), on.denominator,
                      fmt::format("{}", fmt::join(on.needs, " ")), on.source});
    }
  }
  return out;
}

}  // namespace chopper
