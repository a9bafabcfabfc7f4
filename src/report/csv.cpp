// SPDX-License-Identifier: Apache-2.0
#include "report/csv.h"

#include <fmt/format.h>

#include <cstdint>
#include <iterator>

#include "report/answer_tables.h"
#include "report/json.h"
#include "report/utf8.h"

namespace chopper {
namespace {

void append_value(std::string& out, std::int64_t value) {
  const fmt::format_int digits(value);
  out.append(digits.data(), digits.size());
}

void append_value(std::string& out, double value) { append_json_number(out, value); }
void append_value(std::string& out, bool value) { out += value ? "true" : "false"; }
void append_value(std::string& out, const std::string& value) { append_csv_cell(out, value); }

void append_value(std::string& out, const ExtentList& value) {
  fmt::format_to(std::back_inserter(out), "{}x{}x{}", value.values[0], value.values[1], value.values[2]);
}

void append_value(std::string& out, const std::vector<HealthExample>& examples) {
  std::string cell;
  for (const HealthExample& example : examples) {
    if (!cell.empty()) cell += "; ";
    cell += example.where + (example.where.empty() || example.what.empty() ? "" : ": ") + example.what;
  }
  append_csv_cell(out, cell);
}

template <class T>
void append_value(std::string& out, const Field<T>& field) {
  if (field.present()) append_value(out, field.value());
}

template <class Row>
void append_header(std::string& out) {
  bool first = true;
  for_each_column_of<Row>([&](const auto& column) {
    if (!first) out += ',';
    first = false;
    out += column.name;
  });
  out += '\n';
}

template <class Row>
void append_row(std::string& out, const Row& row) {
  bool first = true;
  for_each_column_of<Row>([&](const auto& column) {
    if (!first) out += ',';
    first = false;
    append_value(out, row.*column.member);
  });
  out += '\n';
}

template <class Row>
void append_table(TextBuffer& buffer, const TableView<Row>& table) {
  append_header<Row>(buffer.text());
  table.for_each([&](const Row& row) {
    if (buffer.stopped()) return;
    append_row(buffer.text(), row);
    buffer.flush_when_full();
  });
}

}  // namespace

std::vector<std::string_view> csv_table_names(bool with_kernels) {
  std::vector<std::string_view> names;
  const Answer none;
  for_each_table(none, with_kernels, [&](const auto& table) { names.push_back(table.name); });
  return names;
}

bool write_csv_table(const Answer& answer, std::string_view table, const TextSink& sink) {
  TextBuffer buffer(sink);
  for_each_table(answer, true, [&](const auto& candidate) {
    if (candidate.name == table) append_table(buffer, candidate);
  });
  return buffer.finish();
}

bool write_csv_tables(const Answer& answer, bool with_kernels, const TextSink& sink) {
  TextBuffer buffer(sink);
  bool first = true;
  for_each_table(answer, with_kernels, [&](const auto& table) {
    if (!first) buffer.text() += '\n';
    first = false;
    buffer.text().append("# ").append(table.name).append("\n");
    append_table(buffer, table);
  });
  return buffer.finish();
}

void append_csv_cell(std::string& out, std::string_view text) {
  const std::string valid = valid_utf8(text);
  const bool edge_space = !valid.empty() && (valid.front() == ' ' || valid.back() == ' ');
  if (!edge_space && valid.find_first_of(",\"\r\n") == std::string::npos) {
    out += valid;
    return;
  }
  out += '"';
  for (const char c : valid) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

}  // namespace chopper
