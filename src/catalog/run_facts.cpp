// SPDX-License-Identifier: Apache-2.0
#include "catalog/run_facts.h"

#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <variant>

namespace chopper {
namespace {

using Target = std::variant<std::optional<std::string> RunFacts::*, std::optional<bool> RunFacts::*,
                            std::optional<std::int64_t> RunFacts::*, std::optional<double> RunFacts::*>;

struct Fact {
  std::string_view table, name;
  Target value;
};

// In the order in which messages list them.
constexpr std::array kFacts = {
    Fact{"run", "name", &RunFacts::run_name},
    Fact{"run", "synthetic", &RunFacts::synthetic},
    Fact{"gpu", "spec", &RunFacts::gpu_spec},
    Fact{"model", "name", &RunFacts::model_name},
    Fact{"model", "layers", &RunFacts::layers},
    Fact{"model", "hidden", &RunFacts::hidden},
    Fact{"model", "feed_forward", &RunFacts::feed_forward},
    Fact{"model", "heads", &RunFacts::heads},
    Fact{"model", "kv_heads", &RunFacts::kv_heads},
    Fact{"model", "head_dim", &RunFacts::head_dim},
    Fact{"model", "vocabulary", &RunFacts::vocabulary},
    Fact{"model", "parameters", &RunFacts::parameters},
    Fact{"training", "batch", &RunFacts::batch},
    Fact{"training", "sequence", &RunFacts::sequence},
    Fact{"training", "micro_steps", &RunFacts::micro_steps},
    Fact{"training", "data_parallel", &RunFacts::data_parallel},
    Fact{"training", "tensor_parallel", &RunFacts::tensor_parallel},
    Fact{"training", "pipeline_parallel", &RunFacts::pipeline_parallel},
    Fact{"training", "context_parallel", &RunFacts::context_parallel},
    Fact{"training", "sharding", &RunFacts::sharding},
    Fact{"labels", "iteration_mark", &RunFacts::iteration_mark},
    Fact{"clock", "f_eff_mhz", &RunFacts::f_eff_mhz},
};

// Larger numbers are slips, and products of a few stay far from the limits of a double.
constexpr std::int64_t kLargest = 1'000'000'000'000'000;

struct Place {
  std::string_view shown;
  Error error(const toml::source_region& at, std::string message, std::string hint) const {
    return {ErrorCode::bad_input, std::move(message), std::string(shown) + ":" + std::to_string(at.begin.line),
            std::move(hint)};
  }
};

std::string join(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

std::string tables_there_are() {
  std::vector<std::string> tables;
  for (const Fact& fact : kFacts) {
    const std::string shown = "[" + std::string(fact.table) + "]";
    if (tables.empty() || tables.back() != shown) tables.push_back(shown);
  }
  return join(tables);
}

// Where else the key belongs, or what the table holds.
std::string hint_for(std::string_view table, std::string_view name) {
  std::vector<std::string> here;
  for (const Fact& fact : kFacts) {
    if (fact.name == name) return std::string(name) + " belongs to [" + std::string(fact.table) + "]";
    if (fact.table == table) here.emplace_back(fact.name);
  }
  if (here.empty()) return "the tables are " + tables_there_are();
  return "[" + std::string(table) + "] has " + join(here);
}

struct Setter {
  RunFacts& facts;
  const toml::node& node;
  std::string& wanted;  // what the value should have been

  bool operator()(std::optional<std::string> RunFacts::*member) const {
    wanted = "a text that is not empty";
    const toml::value<std::string>* text = node.as_string();
    if (text == nullptr || text->get().empty()) return false;
    facts.*member = text->get();
    return true;
  }
  bool operator()(std::optional<bool> RunFacts::*member) const {
    wanted = "true or false";
    if (!node.is_boolean()) return false;
    facts.*member = node.as_boolean()->get();
    return true;
  }
  bool operator()(std::optional<std::int64_t> RunFacts::*member) const {
    wanted = "a whole number from 1";
    if (!node.is_integer()) return false;
    const std::int64_t value = node.as_integer()->get();
    if (value < 1 || value > kLargest) return false;
    facts.*member = value;
    return true;
  }
  bool operator()(std::optional<double> RunFacts::*member) const {
    wanted = "a number above 0";
    if (!node.is_number()) return false;
    const double value = node.value<double>().value_or(0);
    if (!(value > 0 && value < static_cast<double>(kLargest))) return false;
    facts.*member = value;
    return true;
  }
};

Result<Done> read_table(std::string_view name, const toml::table& table, const Place& place, RunFacts& facts) {
  for (const auto& [key, node] : table) {
    const std::string shown = std::string(name) + "." + std::string(key.str());
    const auto* fact = std::find_if(kFacts.begin(), kFacts.end(),
                                    [&, &k = key](const Fact& f) { return f.table == name && f.name == k.str(); });
    if (fact == kFacts.end()) return place.error(key.source(), "unknown key " + shown, hint_for(name, key.str()));
    std::string wanted;
    if (!std::visit(Setter{facts, node, wanted}, fact->value))
      return place.error(node.source(), shown + " does not have the value it needs", "it takes " + wanted);
  }
  return Done{};
}

Result<RunFacts> read(const toml::table& root, const Place& place) {
  RunFacts facts;
  for (const auto& [key, node] : root) {
    const bool known =
        std::any_of(kFacts.begin(), kFacts.end(), [&, &k = key](const Fact& f) { return f.table == k.str(); });
    if (!known || node.as_table() == nullptr) {
      return place.error(key.source(), (node.is_table() ? "unknown table " : "unknown key ") + std::string(key.str()),
                         hint_for("", key.str()));
    }
    CHOPPER_TRY([[maybe_unused]] const Done done, read_table(key.str(), *node.as_table(), place, facts));
  }
  if (facts.heads && facts.kv_heads && *facts.heads % *facts.kv_heads != 0) {
    return place.error(root["model"]["kv_heads"].node()->source(),
                       "model.kv_heads does not divide model.heads: " + std::to_string(*facts.kv_heads) + " and " +
                           std::to_string(*facts.heads),
                       "each head of keys and values serves equally many heads of queries");
  }
  return facts;
}

}  // namespace

Result<RunFacts> parse_run_facts(std::string_view text, std::string_view shown) {
  const Place place{shown};
  try {
    return read(toml::parse(text), place);
  } catch (const toml::parse_error& error) {
    return place.error(error.source(), "no TOML: " + std::string(error.description()),
                       "a fact is written as in: [training], below it batch = 2");
  }
}

}  // namespace chopper
