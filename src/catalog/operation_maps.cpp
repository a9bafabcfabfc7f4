// SPDX-License-Identifier: Apache-2.0
#include "catalog/operation_maps.h"

#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <optional>

#include "catalog/embedded_data.h"

namespace chopper {
namespace {

constexpr std::array<std::string_view, kNumFeatures> kFeatureNames = {"gemm",      "attention",  "vector",   "bmm",
                                                                      "embedding", "activation", "multiply", "add",
                                                                      "copy",      "softmax",    "loss",     "fused"};

// A problem with one map; thrown inside this file, turned into an Error at its door.
struct Bad {
  std::string message;
};

FeatureSet feature_of(std::string_view word) {
  const auto at = std::find(kFeatureNames.begin(), kFeatureNames.end(), word);
  if (at == kFeatureNames.end()) throw Bad{"unknown feature " + std::string(word)};
  return FeatureSet{1} << (at - kFeatureNames.begin());
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    if (end > at) words.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

// "left = right"
std::pair<std::string, std::string> equation(std::string_view text) {
  const std::vector<std::string> words = words_of(text);
  if (words.size() != 3 || words[1] != "=") throw Bad{"not of the form 'left = right': " + std::string(text)};
  return {words[0], words[2]};
}

const std::string& text_of(const toml::node& node, std::string_view what) {
  const toml::value<std::string>* text = node.as_string();
  if (text == nullptr || text->get().empty()) throw Bad{"not a text: " + std::string(what)};
  return text->get();
}

std::vector<std::string> texts_of(const toml::node& node, std::string_view what) {
  const toml::array* array = node.as_array();
  if (array == nullptr) throw Bad{"not a list: " + std::string(what)};
  std::vector<std::string> texts;
  for (const toml::node& element : *array) texts.push_back(text_of(element, what));
  return texts;
}

std::int64_t whole_of(const toml::node& node, std::string_view what) {
  const toml::value<std::int64_t>* value = node.as_integer();
  if (value == nullptr || value->get() < 0) throw Bad{"not a count: " + std::string(what)};
  return value->get();
}

bool flag_of(const toml::node& node, std::string_view what) {
  const toml::value<bool>* value = node.as_boolean();
  if (value == nullptr) throw Bad{"not true or false: " + std::string(what)};
  return value->get();
}

FeatureSet features_of(const toml::node& node, std::string_view what) {
  FeatureSet set = 0;
  if (node.is_string()) return feature_of(text_of(node, what));
  for (const std::string& word : texts_of(node, what)) set |= feature_of(word);
  return set;
}

const toml::table& table_of(const toml::node& node, std::string_view what) {
  const toml::table* table = node.as_table();
  if (table == nullptr) throw Bad{"not a table: " + std::string(what)};
  return *table;
}

const toml::array& array_of(const toml::node& node, std::string_view what) {
  const toml::array* array = node.as_array();
  if (array == nullptr) throw Bad{"not a list: " + std::string(what)};
  return *array;
}

void read_names(const toml::table& names, OperationMaps& maps) {
  for (const auto& [key, node] : names) {
    if (key.str() == "canonical") {
      for (std::string& name : texts_of(node, "canonical")) maps.canonical.push_back(std::move(name));
    } else if (key.str() == "alias_prefixes") {
      for (const std::string& text : texts_of(node, "alias_prefixes")) maps.alias_prefixes.push_back(equation(text));
    } else {
      throw Bad{"unknown key names." + std::string(key.str())};
    }
  }
}

void read_words(const toml::table& words, std::map<std::string, FeatureSet, std::less<>>& into) {
  for (const auto& [feature, node] : words) {
    for (const std::string& word : texts_of(node, feature.str())) into[word] |= feature_of(feature.str());
  }
}

void read_kernel_parts(const toml::table& kernels, FeatureRules& rules) {
  for (const auto& [key, node] : kernels) {
    if (key.str() != "order") throw Bad{"unknown key kernels." + std::string(key.str())};
    for (const std::string& text : texts_of(node, "kernels.order")) {
      const auto [part, feature] = equation(text);
      rules.kernel_parts.emplace_back(part, feature_of(feature));
    }
  }
}

void read_path(const toml::table& path, OperationMaps& maps) {
  std::vector<std::string> ends;
  std::string operation;
  for (const auto& [key, node] : path) {
    if (key.str() == "ends") {
      ends = texts_of(node, "path.ends");
    } else if (key.str() == "operation") {
      operation = text_of(node, "path.operation");
    } else {
      throw Bad{"unknown key path." + std::string(key.str())};
    }
  }
  if (ends.empty() || operation.empty()) throw Bad{"a path needs ends and operation"};
  for (std::string& end : ends) maps.paths.emplace_back(std::move(end), operation);
}

void read_module(const toml::table& module, OperationMaps& maps) {
  ModuleRule rule;
  for (const auto& [key, node] : module) {
    if (key.str() == "class") {
      rule.class_parts = texts_of(node, "module.class");
    } else if (key.str() == "parent") {
      rule.parent_parts = texts_of(node, "module.parent");
    } else if (key.str() == "index") {
      rule.index = whole_of(node, "module.index");
    } else if (key.str() == "of") {
      rule.of = whole_of(node, "module.of");
    } else if (key.str() == "accepts") {
      rule.accepts = features_of(node, "module.accepts");
    } else if (key.str() == "operation") {
      rule.operation = text_of(node, "module.operation");
    } else {
      throw Bad{"unknown key module." + std::string(key.str())};
    }
  }
  if (rule.class_parts.empty() || rule.operation.empty()) throw Bad{"a module needs class and operation"};
  maps.modules.push_back(std::move(rule));
}

SequenceState read_state(const toml::table& table, std::vector<std::string>& next) {
  SequenceState state;
  for (const auto& [key, node] : table) {
    const std::string_view k = key.str();
    if (k == "name") {
      state.name = text_of(node, k);
    } else if (k == "operation") {
      state.operation = text_of(node, k);
    } else if (k == "accepts") {
      state.accepts = features_of(node, k);
    } else if (k == "rejects") {
      state.rejects = features_of(node, k);
    } else if (k == "followed_by") {
      state.followed_by = features_of(node, k);
    } else if (k == "ahead") {
      state.ahead = features_of(node, k);
    } else if (k == "before") {
      state.before = features_of(node, k);
    } else if (k == "max") {
      state.max = whole_of(node, k);
    } else if (k == "entry") {
      state.entry = flag_of(node, k);
    } else if (k == "layer") {
      state.layer = flag_of(node, k);
    } else if (k == "next") {
      next = texts_of(node, k);
    } else if (k == "by_count") {
      for (const std::string& names : texts_of(node, k)) state.by_count.push_back(words_of(names));
    } else {
      throw Bad{"unknown key state." + std::string(k)};
    }
  }
  if (state.name.empty() || state.operation.empty() || state.accepts == 0)
    throw Bad{"a state needs name, operation and accepts: " + state.name};
  return state;
}

KernelSequence read_sequence(const toml::table& table, std::string_view map) {
  KernelSequence sequence;
  sequence.map = map;
  std::vector<std::vector<std::string>> next;
  for (const auto& [key, node] : table) {
    if (key.str() == "pass") {
      const std::string& pass = text_of(node, "pass");
      if (pass != "forward" && pass != "backward") throw Bad{"pass is forward or backward, not " + pass};
      sequence.backward = pass == "backward";
    } else if (key.str() == "state") {
      for (const toml::node& state : array_of(node, "state"))
        sequence.states.push_back(read_state(table_of(state, "state"), next.emplace_back()));
    } else {
      throw Bad{"unknown key sequence." + std::string(key.str())};
    }
  }
  for (std::size_t i = 0; i < next.size(); i++) {
    for (const std::string& name : next[i]) {
      const auto at = std::find_if(sequence.states.begin(), sequence.states.end(),
                                   [&](const SequenceState& s) { return s.name == name; });
      if (at == sequence.states.end()) throw Bad{"no state " + name + " to follow " + sequence.states[i].name};
      sequence.states[i].next.push_back(static_cast<std::size_t>(at - sequence.states.begin()));
    }
  }
  return sequence;
}

void read_map(const toml::table& root, std::string_view name, OperationMaps& maps) {
  OperationMaps::Map map;
  map.name = name;
  for (const auto& [key, node] : root) {
    const std::string_view k = key.str();
    if (k == "summary") {
      map.summary = text_of(node, k);
    } else if (k == "names") {
      read_names(table_of(node, k), maps);
    } else if (k == "ranges") {
      for (const auto& [range, operation] : table_of(node, k))
        maps.ranges.emplace_back(std::string(range.str()), text_of(operation, range.str()));
    } else if (k == "operators") {
      read_words(table_of(node, k), maps.features.operators);
    } else if (k == "fused") {
      read_words(table_of(node, k), maps.features.fused_words);
    } else if (k == "kernels") {
      read_kernel_parts(table_of(node, k), maps.features);
    } else if (k == "path") {
      for (const toml::node& path : array_of(node, k)) read_path(table_of(path, k), maps), map.num_paths++;
    } else if (k == "module") {
      for (const toml::node& module : array_of(node, k)) read_module(table_of(module, k), maps), map.num_modules++;
    } else if (k == "sequence") {
      for (const toml::node& sequence : array_of(node, k)) {
        maps.sequences.push_back(read_sequence(table_of(sequence, k), name));
        map.num_sequences++;
      }
    } else {
      throw Bad{"unknown key " + std::string(k)};
    }
  }
  maps.maps.push_back(std::move(map));
}

}  // namespace

Result<Done> add_operation_map(OperationMaps& maps, std::string_view text, std::string_view name) {
  const auto bad = [&](const std::string& message) {
    return Error{ErrorCode::bad_input, message, "operations/" + std::string(name) + ".toml",
                 "data/operations/llama.toml explains the form"};
  };
  try {
    OperationMaps extended = maps;
    read_map(toml::parse(text), name, extended);
    std::stable_sort(extended.paths.begin(), extended.paths.end(),
                     [](const auto& a, const auto& b) { return a.first.size() > b.first.size(); });
    maps = std::move(extended);
    return Done{};
  } catch (const toml::parse_error& error) {
    return bad("line " + std::to_string(error.source().begin.line) + ": " + std::string(error.description()));
  } catch (const Bad& problem) {
    return bad(problem.message);
  }
}

Result<Done> add_embedded_operation_maps(OperationMaps& maps) {
  for (std::size_t i = 0; i < kNumEmbeddedFiles; i++) {
    std::string_view name = kEmbeddedFiles[i].name;
    if (!name.starts_with("operations/") || !name.ends_with(".toml")) continue;
    name.remove_prefix(std::string_view("operations/").size());
    name.remove_suffix(std::string_view(".toml").size());
    CHOPPER_TRY(const Done done, add_operation_map(maps, kEmbeddedFiles[i].text, name));
    static_cast<void>(done);
  }
  return Done{};
}

Result<OperationMaps> embedded_operation_maps() {
  OperationMaps maps;
  CHOPPER_TRY(const Done done, add_embedded_operation_maps(maps));
  static_cast<void>(done);
  return maps;
}

}  // namespace chopper
