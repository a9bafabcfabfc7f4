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
  if (table == "clock") here.emplace_back("of");
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

constexpr std::string_view kClockHint =
    "an entry is [[clock.of]] with f_eff_mhz, and any of rank, gpu (whole numbers from 0), phase (forward, backward, "
    "optimizer, other), operation";

bool is_phase(std::string_view text) {
  return text == "forward" || text == "backward" || text == "optimizer" || text == "other";
}

Result<Done> set_clock_key(std::string_view key, const toml::node& node, const Place& place, ClockFact& fact) {
  const auto wrong = [&] {
    return place.error(node.source(), "clock.of: " + std::string(key) + " does not have the value it needs",
                       std::string(kClockHint));
  };
  if (key == "rank" || key == "gpu") {
    if (!node.is_integer() || node.as_integer()->get() < 0 || node.as_integer()->get() > INT32_MAX) return wrong();
    (key == "rank" ? fact.rank : fact.gpu) = node.as_integer()->get();
  } else if (key == "phase" || key == "operation") {
    const toml::value<std::string>* text = node.as_string();
    if (text == nullptr || text->get().empty() || (key == "phase" && !is_phase(text->get()))) return wrong();
    (key == "phase" ? fact.phase : fact.operation) = text->get();
  } else if (key == "f_eff_mhz") {
    fact.f_eff_mhz = node.is_number() ? node.value<double>().value_or(0) : 0;
    if (!(fact.f_eff_mhz > 0 && fact.f_eff_mhz < static_cast<double>(kLargest))) return wrong();
  } else {
    return place.error(node.source(), "unknown key clock.of." + std::string(key), std::string(kClockHint));
  }
  return Done{};
}

Result<Done> check_clock(const ClockFact& fact, const toml::source_region& at, const Place& place) {
  if (fact.f_eff_mhz >= kLeastStatedMhz) return Done{};
  return place.error(at, "f_eff_mhz below 100 MHz: no gpu computes at such a clock",
                     "it is in megahertz: 1.7 GHz is f_eff_mhz = 1700");
}

// Whether some kernel is in both.
bool may_meet(const ClockFact& a, const ClockFact& b) {
  const auto meet = [](const auto& x, const auto& y) { return !x || !y || *x == *y; };
  return meet(a.rank, b.rank) && meet(a.gpu, b.gpu) && meet(a.phase, b.phase) && meet(a.operation, b.operation);
}

Result<Done> read_clocks(const toml::node& node, const Place& place, RunFacts& facts) {
  const toml::array* entries = node.as_array();
  if (entries == nullptr) return place.error(node.source(), "clock.of is no list of tables", std::string(kClockHint));
  for (const toml::node& entry : *entries) {
    if (!entry.is_table()) return place.error(entry.source(), "clock.of is no list of tables", std::string(kClockHint));
    ClockFact fact;
    fact.place.text = std::string(place.shown) + ":" + std::to_string(entry.source().begin.line);
    for (const auto& [key, value] : *entry.as_table()) {
      CHOPPER_TRY([[maybe_unused]] const Done set, set_clock_key(key.str(), value, place, fact));
    }
    if (fact.f_eff_mhz == 0 || fact.num_keys() == 0) {
      return place.error(entry.source(), fact.f_eff_mhz == 0 ? "clock.of without f_eff_mhz" : "clock.of of nothing",
                         fact.f_eff_mhz == 0 ? std::string(kClockHint) : "what holds for all is [clock] f_eff_mhz");
    }
    CHOPPER_TRY([[maybe_unused]] const Done checked, check_clock(fact, entry.source(), place));
    for (const ClockFact& other : facts.clocks) {
      if (other.num_keys() == fact.num_keys() && may_meet(other, fact))
        return place.error(entry.source(), "a kernel may be of this clock.of and of the one at " + other.place.text,
                           "the one with more keys holds: name what they differ in");
    }
    facts.clocks.push_back(std::move(fact));
  }
  return Done{};
}

Result<Done> read_table(std::string_view name, const toml::table& table, const Place& place, RunFacts& facts) {
  for (const auto& [key, node] : table) {
    if (name == "clock" && key.str() == "of") {
      CHOPPER_TRY([[maybe_unused]] const Done clocks, read_clocks(node, place, facts));
      continue;
    }
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
  if (facts.f_eff_mhz) {
    const toml::source_region& at = root["clock"]["f_eff_mhz"].node()->source();
    ClockFact all;
    all.f_eff_mhz = *facts.f_eff_mhz;
    all.place.text = std::string(place.shown) + ":" + std::to_string(at.begin.line);
    CHOPPER_TRY([[maybe_unused]] const Done checked, check_clock(all, at, place));
    facts.clocks.push_back(std::move(all));
  }
  std::stable_sort(facts.clocks.begin(), facts.clocks.end(),
                   [](const ClockFact& a, const ClockFact& b) { return a.num_keys() > b.num_keys(); });
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
