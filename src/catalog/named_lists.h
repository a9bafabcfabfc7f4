// SPDX-License-Identifier: Apache-2.0
// Reads TOML files that are nothing but lists of texts in tables, by a description of the lists. Only for sources that
// include toml++.
#pragma once

#include <toml++/toml.h>

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace chopper {

/// A list of texts `[table] key` and where it goes.
template <class Rules>
struct NamedList {
  std::string_view table;
  std::string_view key;
  std::vector<std::string> Rules::*list;
};

/// Reads every list of `lists`; fails on missing ones, unknown ones, and what is no list of texts.
template <class Rules>
Result<Rules> read_named_lists(std::string_view text, std::span<const NamedList<Rules>> lists, std::string_view file) {
  const auto bad = [&](const std::string& message) {
    return Error{ErrorCode::bad_input, message, std::string(file),
                 "compare it with the shipped data/" + std::string(file)};
  };
  toml::table root;
  try {
    root = toml::parse(text);
  } catch (const toml::parse_error& error) {
    return bad("line " + std::to_string(error.source().begin.line) + ": " + std::string(error.description()));
  }
  Rules rules;
  for (const NamedList<Rules>& name : lists) {
    const toml::array* values = root[name.table][name.key].as_array();
    const std::string shown = std::string(name.table) + "." + std::string(name.key);
    if (values == nullptr) return bad("missing list " + shown);
    for (const toml::node& node : *values) {
      const toml::value<std::string>* value = node.as_string();
      if (value == nullptr || value->get().empty()) return bad("not a list of texts: " + shown);
      (rules.*name.list).push_back(value->get());
    }
  }
  for (const auto& [table, node] : root) {
    if (node.as_table() == nullptr) return bad("unknown key " + std::string(table.str()));
    for (const auto& [key, value] : *node.as_table()) {
      static_cast<void>(value);
      const bool known = std::any_of(lists.begin(), lists.end(), [&](const NamedList<Rules>& n) {
        return n.table == table.str() && n.key == key.str();
      });
      if (!known) return bad("unknown list " + std::string(table.str()) + "." + std::string(key.str()));
    }
  }
  return rules;
}

}  // namespace chopper
