// SPDX-License-Identifier: Apache-2.0
#include "report/json.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <iterator>
#include <type_traits>

#include "base/check.h"
#include "report/answer_tables.h"
#include "report/utf8.h"

namespace chopper {
namespace {

void append_value(std::string& out, std::int64_t value) {
  const fmt::format_int digits(value);
  out.append(digits.data(), digits.size());
}

void append_value(std::string& out, double value) { append_json_number(out, value); }
void append_value(std::string& out, bool value) { out += value ? "true" : "false"; }
void append_value(std::string& out, const std::string& value) { append_json_string(out, value); }

void append_value(std::string& out, const ExtentList& value) {
  fmt::format_to(std::back_inserter(out), "[{},{},{}]", value.values[0], value.values[1], value.values[2]);
}

void append_value(std::string& out, const std::vector<HealthExample>& examples) {
  out += '[';
  for (std::size_t i = 0; i < examples.size(); i++) {
    out += i == 0 ? "{\"where\":" : ",{\"where\":";
    append_json_string(out, examples[i].where);
    out += ",\"what\":";
    append_json_string(out, examples[i].what);
    out += '}';
  }
  out += ']';
}

// Column names are our own words: nothing in them needs escaping.
void append_key(std::string& out, std::string_view key) {
  if (out.back() != '{') out += ',';
  out += '"';
  out += key;
  out += "\":";
}

template <class T>
bool is_unavailable(const Field<T>& field) {
  return field.applicable() && !field.present();
}
template <class T>
bool is_unavailable(const T&) {
  return false;
}

template <class T>
void append_cell(std::string& out, std::string_view key, const Field<T>& field) {
  if (!field.applicable()) return;
  append_key(out, key);
  if (field.present()) {
    append_value(out, field.value());
  } else {
    out += "null";
  }
}
template <class T>
void append_cell(std::string& out, std::string_view key, const T& value) {
  append_key(out, key);
  append_value(out, value);
}

template <class Row>
void append_reasons(std::string& out, const Row& row) {
  append_key(out, "unavailable");
  out += '{';
  for_each_column_of<Row>([&](const auto& column) {
    const auto& cell = row.*column.member;
    if constexpr (ValueOf<std::remove_cvref_t<decltype(cell)>>::can_be_missing) {
      if (!is_unavailable(cell)) return;
      append_key(out, column.name);
      append_json_string(out, to_string(cell.reason()));
    }
  });
  out += '}';
}

template <class Row>
void append_row(std::string& out, const Row& row) {
  out += '{';
  bool incomplete = false;
  for_each_column_of<Row>([&](const auto& column) {
    const auto& cell = row.*column.member;
    append_cell(out, column.name, cell);
    incomplete = incomplete || is_unavailable(cell);
  });
  if (incomplete) append_reasons(out, row);
  out += '}';
}

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    const char c = text.front();
    std::size_t taken = 1;
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (static_cast<unsigned char>(c) < 0x20) {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(c));
    } else if (const std::size_t length = utf8_sequence(text); length == 0) {
      out += kReplacement;
    } else {
      out += text.substr(0, length);
      taken = length;
    }
    text.remove_prefix(taken);
  }
  out += '"';
}

void append_json_number(std::string& out, double value) {
  CHOPPER_CHECK(std::isfinite(value));
  const std::size_t start = out.size();
  fmt::format_to(std::back_inserter(out), "{}", value);
  if (out.find_first_of(".e", start) == std::string::npos) out += ".0";
}

bool write_json(const Answer& answer, const JsonOptions& options, const TextSink& sink) {
  TextBuffer buffer(sink);
  std::string& out = buffer.text();
  out += "{\n\"chopper\":{\"version\":";
  append_json_string(out, options.version);
  fmt::format_to(std::back_inserter(out), ",\"schema\":{}}}", kJsonSchema);
  for_each_table(answer, options.with_kernels, [&]<class Row>(const TableView<Row>& table) {
    fmt::format_to(std::back_inserter(out), ",\n\"{}\":[", table.name);
    bool first = true;
    table.for_each([&](const Row& row) {
      if (buffer.stopped()) return;
      out += first ? "\n" : ",\n";
      first = false;
      append_row(out, row);
      buffer.flush_when_full();
    });
    out += first ? "]" : "\n]";
  });
  out += "\n}\n";
  return buffer.finish();
}

}  // namespace chopper
