// SPDX-License-Identifier: Apache-2.0
#include "catalog/class_rules.h"

#include <toml++/toml.h>

#include <algorithm>
#include <array>

#include "catalog/embedded_data.h"

namespace chopper {
namespace {

struct ListName {
  std::string_view table;
  std::string_view key;
  std::vector<std::string> ClassRules::*list;
};

constexpr std::array<ListName, 18> kLists = {{
    {"memory", "copy_prefix", &ClassRules::copy_prefix},
    {"memory", "fill_prefix", &ClassRules::fill_prefix},
    {"communication", "kernel_prefix_nocase", &ClassRules::comm_kernel_prefix_nocase},
    {"communication", "kernel_contains_nocase", &ClassRules::comm_kernel_contains_nocase},
    {"communication", "operator_exact", &ClassRules::comm_operator_exact},
    {"communication", "operator_prefix", &ClassRules::comm_operator_prefix},
    {"comm_copy", "range_exact", &ClassRules::copy_range_exact},
    {"comm_copy", "range_prefix", &ClassRules::copy_range_prefix},
    {"operator_class", "ignore", &ClassRules::operator_ignore},
    {"kernel_class", "ignore_nocase", &ClassRules::kernel_ignore_nocase},
    {"operator_class", "attention_contains", &ClassRules::operator_attention_contains},
    {"operator_class", "gemm_exact", &ClassRules::operator_gemm_exact},
    {"operator_class", "gemm_contains", &ClassRules::operator_gemm_contains},
    {"operator_class", "vector_prefix", &ClassRules::operator_vector_prefix},
    {"kernel_class", "attention_contains_nocase", &ClassRules::kernel_attention_contains_nocase},
    {"kernel_class", "attention_prefix_nocase", &ClassRules::kernel_attention_prefix_nocase},
    {"kernel_class", "gemm_contains_nocase", &ClassRules::kernel_gemm_contains_nocase},
    {"kernel_class", "vector_contains_nocase", &ClassRules::kernel_vector_contains_nocase},
}};

Error bad(std::string message) {
  return {ErrorCode::bad_input, std::move(message), "classes.toml", "compare it with the shipped data/classes.toml"};
}

Result<ClassRules> read_lists(const toml::table& root) {
  ClassRules rules;
  for (const ListName& name : kLists) {
    const toml::array* values = root[name.table][name.key].as_array();
    const std::string shown = std::string(name.table) + "." + std::string(name.key);
    if (values == nullptr) return bad("missing list " + shown);
    for (const toml::node& node : *values) {
      const toml::value<std::string>* text = node.as_string();
      if (text == nullptr || text->get().empty()) return bad("not a list of texts: " + shown);
      (rules.*name.list).push_back(text->get());
    }
  }
  for (const auto& [table, node] : root) {
    if (node.as_table() == nullptr) return bad("unknown key " + std::string(table.str()));
    for (const auto& [key, value] : *node.as_table()) {
      static_cast<void>(value);
      const bool known = std::any_of(kLists.begin(), kLists.end(),
                                     [&](const ListName& n) { return n.table == table.str() && n.key == key.str(); });
      if (!known) return bad("unknown list " + std::string(table.str()) + "." + std::string(key.str()));
    }
  }
  return rules;
}

}  // namespace

Result<ClassRules> parse_class_rules(std::string_view text) {
  try {
    return read_lists(toml::parse(text));
  } catch (const toml::parse_error& error) {
    return bad("line " + std::to_string(error.source().begin.line) + ": " + std::string(error.description()));
  }
}

Result<ClassRules> embedded_class_rules() {
  for (std::size_t i = 0; i < kNumEmbeddedFiles; i++) {
    if (kEmbeddedFiles[i].name == "classes.toml") return parse_class_rules(kEmbeddedFiles[i].text);
  }
  return Error{ErrorCode::internal, "classes.toml is not in this build", "", "rebuild"};
}

}  // namespace chopper
