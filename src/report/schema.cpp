// SPDX-License-Identifier: Apache-2.0
#include "report/schema.h"

#include <fmt/format.h>

#include <cstdint>
#include <string_view>
#include <type_traits>
#include <vector>

#include "engine/engine.h"
#include "report/answer_tables.h"
#include "report/json.h"

namespace chopper {
namespace {

std::string json_string(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

// Words joined to a JSON array.
std::string array_of(const std::vector<std::string_view>& words) {
  std::string out = "[";
  for (const std::string_view word : words) {
    if (out.size() > 1) out += ", ";
    out += json_string(word);
  }
  return out + "]";
}

std::vector<std::string_view> gpu_classes() {
  std::vector<std::string_view> words;
  for (int c = 0; c <= static_cast<int>(GpuClass::memset); c++) words.push_back(to_string(static_cast<GpuClass>(c)));
  return words;
}

// The values of a text column that has a closed list of them; empty for free text.
std::vector<std::string_view> closed_values(std::string_view table, std::string_view column) {
  std::vector<std::string_view> words;
  if (column == "class") {
    words = gpu_classes();
  } else if (table == "health" && column == "kind") {
    for (std::size_t k = 0; k < kNumHealthKinds; k++) words.push_back(info(static_cast<HealthKind>(k)).name);
  } else if (table == "health" && column == "severity") {
    for (const Severity s : {Severity::note, Severity::skipped, Severity::data_loss}) words.push_back(to_string(s));
  } else if (table == "inputs" && column == "rank_source") {
    for (const RankSource s :
         {RankSource::none, RankSource::metadata, RankSource::process_group, RankSource::file_name, RankSource::user}) {
      words.push_back(to_string(s));
    }
  } else if (table == "inputs" && column == "clock") {
    for (const ClockDomain c : {ClockDomain::unix_time, ClockDomain::relative}) words.push_back(to_string(c));
  }
  return words;
}

template <class T>
std::string type_of(bool nullable) {
  std::string_view word;
  std::string more;
  if constexpr (std::is_same_v<T, bool>) {
    word = "boolean";
  } else if constexpr (std::is_same_v<T, std::int64_t>) {
    word = "integer";
  } else if constexpr (std::is_same_v<T, double>) {
    word = "number";
  } else if constexpr (std::is_same_v<T, std::string>) {
    word = "string";
  } else if constexpr (std::is_same_v<T, ExtentList>) {
    word = "array";
    more = R"(, "items": {"type": "integer"}, "minItems": 3, "maxItems": 3)";
  } else {
    static_assert(std::is_same_v<T, std::vector<HealthExample>>);
    word = "array";
    more = R"(, "items": {"$ref": "#/$defs/health_example"})";
  }
  return nullable ? fmt::format(R"("type": ["{}", "null"]{})", word, more)
                  : fmt::format(R"("type": "{}"{})", word, more);
}

std::string description_of(std::string_view summary, std::string_view unit) {
  if (unit.empty()) return json_string(summary);
  if (unit == "1") return json_string(fmt::format("{} (ratio)", summary));
  return json_string(fmt::format("{} ({})", summary, unit));
}

template <class Row>
std::string table_schema(std::string_view name) {
  std::string properties;
  std::vector<std::string_view> required;
  std::vector<std::string_view> nullable;
  for_each_column_of<Row>([&](const auto& column) {
    using Cell = ValueOf<std::remove_cvref_t<decltype(std::declval<Row>().*column.member)>>;
    std::string type = type_of<typename Cell::Type>(Cell::can_be_missing);
    const std::vector<std::string_view> values = closed_values(name, column.name);
    if (!values.empty()) type += fmt::format(R"(, "enum": {})", array_of(values));
    properties += fmt::format("          {}: {{{}, \"description\": {}}},\n", json_string(column.name), type,
                              description_of(column.summary, column.unit));
    (Cell::can_be_missing ? nullable : required).push_back(column.name);
  });
  properties += fmt::format(
      "          \"unavailable\": {{\"type\": \"object\", \"propertyNames\": {{\"enum\": {}}},\n"
      "            \"additionalProperties\": {{\"$ref\": \"#/$defs/reason\"}},\n"
      "            \"description\": \"why a key of this row is null\"}}\n",
      array_of(nullable));
  return fmt::format(
      "    {}: {{\n"
      "      \"type\": \"array\",\n"
      "      \"items\": {{\n"
      "        \"type\": \"object\",\n"
      "        \"additionalProperties\": false,\n"
      "        \"required\": {},\n"
      "        \"properties\": {{\n{}"
      "        }}\n"
      "      }}\n"
      "    }}",
      json_string(name), array_of(required), properties);
}

std::string definitions() {
  std::vector<std::string_view> reasons;
  for (const Reason reason : kAllReasons) reasons.push_back(to_string(reason));
  return fmt::format(
      "  \"$defs\": {{\n"
      "    \"reason\": {{\"enum\": {}}},\n"
      "    \"health_example\": {{\"type\": \"object\", \"additionalProperties\": false, \"required\": [\"where\", "
      "\"what\"],\n"
      "      \"properties\": {{\"where\": {{\"type\": \"string\"}}, \"what\": {{\"type\": \"string\"}}}}}}\n"
      "  }}\n",
      array_of(reasons));
}

}  // namespace

std::string json_schema_text() {
  std::vector<std::string_view> required = {"chopper"};
  const Answer none;
  for_each_table(none, false, [&](const auto& table) { required.push_back(table.name); });
  std::string tables;
  for_each_table(none, true,
                 [&]<class Row>(const TableView<Row>& table) { tables += ",\n" + table_schema<Row>(table.name); });
  return fmt::format(
      "{{\n"
      "  \"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n"
      "  \"title\": \"Output of chopper report --json\",\n"
      "  \"description\": \"Generated by chopper schema. Rows are sorted by their first columns, null last. A key that "
      "does not "
      "apply is absent; a value that cannot be known is null, with its reason under unavailable.\",\n"
      "  \"type\": \"object\",\n"
      "  \"additionalProperties\": false,\n"
      "  \"required\": {},\n"
      "  \"properties\": {{\n"
      "    \"chopper\": {{\n"
      "      \"type\": \"object\",\n"
      "      \"additionalProperties\": false,\n"
      "      \"required\": [\"version\", \"schema\"],\n"
      "      \"properties\": {{\"version\": {{\"type\": \"string\"}}, \"schema\": {{\"const\": {}}}}}\n"
      "    }}{}\n"
      "  }},\n"
      "{}"
      "}}\n",
      array_of(required), kJsonSchema, tables, definitions());
}

}  // namespace chopper
