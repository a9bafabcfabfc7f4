// SPDX-License-Identifier: Apache-2.0
// Reads the fields of TOML tables, with the file and line of what is wrong. Only for sources that include toml++, and
// only inside a function that turns BadField into an Error.
#pragma once

#include <toml++/toml.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace chopper {

/// A problem with a file; thrown by the readers below, never beyond the source that calls them.
struct BadField {
  std::string message;
  std::size_t line = 0;    ///< 0: not known
  std::string where = {};  ///< file and line, where it is another file than the one that is read
};

inline std::size_t line_of(const toml::node& node) { return node.source().begin.line; }

/// Returns "FILE, line N".
inline std::string place_of(std::string_view file, std::size_t line) {
  return line == 0 ? std::string(file) : std::string(file) + ", line " + std::to_string(line);
}

inline void refuse_unknown_keys(const toml::table& table, std::initializer_list<std::string_view> known) {
  for (const auto& [key, node] : table) {
    if (std::find(known.begin(), known.end(), key.str()) == known.end())
      throw BadField{"unknown key " + std::string(key.str()), line_of(node)};
  }
}

inline std::string text_field(const toml::node& node, std::string_view name) {
  const toml::value<std::string>* text = node.as_string();
  if (text == nullptr || text->get().empty()) throw BadField{"not a text: " + std::string(name), line_of(node)};
  return text->get();
}

/// Returns the text `name`, or `otherwise` where the table has none.
inline std::string optional_text(const toml::table& table, std::string_view name, std::string_view otherwise = "") {
  const toml::node* node = table.get(name);
  return node == nullptr ? std::string(otherwise) : text_field(*node, name);
}

inline std::string needed_text(const toml::table& table, std::string_view name) {
  const toml::node* node = table.get(name);
  if (node == nullptr) throw BadField{"missing text " + std::string(name), line_of(table)};
  return text_field(*node, name);
}

/// Returns the texts of a list, or the one text that stands in its place; none where the table has no such key.
inline std::vector<std::string> text_list(const toml::table& table, std::string_view name) {
  const toml::node* node = table.get(name);
  if (node == nullptr) return {};
  if (node->is_string()) return {text_field(*node, name)};
  const toml::array* array = node->as_array();
  if (array == nullptr || array->empty()) throw BadField{"not a list of texts: " + std::string(name), line_of(*node)};
  std::vector<std::string> texts;
  for (const toml::node& element : *array) texts.push_back(text_field(element, name));
  return texts;
}

/// Returns a whole number of at least `lowest`, or `otherwise` where the table has none.
inline std::int64_t whole_field(const toml::table& table, std::string_view name, std::int64_t lowest,
                                std::int64_t otherwise) {
  const toml::node* node = table.get(name);
  if (node == nullptr) return otherwise;
  const toml::value<std::int64_t>* value = node->as_integer();
  if (value == nullptr || value->get() < lowest)
    throw BadField{"not a whole number from " + std::to_string(lowest) + ": " + std::string(name), line_of(*node)};
  return value->get();
}

/// Returns the tables of `[[name]]`; none where there is no such key.
inline std::vector<const toml::table*> tables_of(const toml::table& table, std::string_view name) {
  std::vector<const toml::table*> tables;
  const toml::node* node = table.get(name);
  if (node == nullptr) return tables;
  const toml::array* array = node->as_array();
  if (array == nullptr) throw BadField{"not a list of tables: " + std::string(name), line_of(*node)};
  for (const toml::node& element : *array) {
    if (element.as_table() == nullptr) throw BadField{"not a table: " + std::string(name), line_of(element)};
    tables.push_back(element.as_table());
  }
  return tables;
}

}  // namespace chopper
