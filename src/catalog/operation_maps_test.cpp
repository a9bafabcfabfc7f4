// SPDX-License-Identifier: Apache-2.0
#include "catalog/operation_maps.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "catalog/embedded_data.h"

namespace chopper {
namespace {

OperationMaps shipped() {
  Result<OperationMaps> maps = embedded_operation_maps();
  EXPECT_TRUE(maps.ok());
  return maps.ok() ? std::move(maps.value()) : OperationMaps();
}

OperationMaps parsed(std::string_view toml) {
  OperationMaps maps;
  const Result<Done> done = add_operation_map(maps, toml, "mine");
  EXPECT_TRUE(done.ok()) << (done.ok() ? "" : done.error().message);
  return maps;
}

std::string message_of(std::string_view toml) {
  OperationMaps maps;
  const Result<Done> done = add_operation_map(maps, toml, "mine");
  EXPECT_FALSE(done.ok());
  EXPECT_TRUE(maps.maps.empty() && maps.paths.empty() && maps.sequences.empty()) << "a bad map adds nothing";
  if (done.ok()) return "";
  EXPECT_EQ(done.error().where, "operations/mine.toml");
  return done.error().message;
}

TEST(OperationMaps, EveryFileOfTheFolderIsAMap) {
  std::vector<std::string> expected, found;
  for (std::size_t i = 0; i < kNumEmbeddedFiles; i++) {
    if (kEmbeddedFiles[i].name.starts_with("operations/")) expected.emplace_back(kEmbeddedFiles[i].name);
  }
  for (const OperationMaps::Map& map : shipped().maps) {
    found.push_back("operations/" + map.name + ".toml");
    EXPECT_FALSE(map.summary.empty()) << map.name;
  }
  EXPECT_EQ(found, expected);
  EXPECT_GE(found.size(), 6u);
}

// A typing error in a map would be a new operation in every report.
TEST(OperationMaps, ShippedMapsUseCanonicalNames) {
  const OperationMaps maps = shipped();
  const std::set<std::string> canonical(maps.canonical.begin(), maps.canonical.end());
  EXPECT_EQ(canonical.size(), maps.canonical.size()) << "a name stands there twice";
  const auto expect_known = [&](const std::string& name, const std::string& where) {
    EXPECT_TRUE(canonical.contains(name)) << name << " of " << where;
  };
  for (const auto& [prefix, operation] : maps.ranges) expect_known(operation, prefix);
  for (const auto& [end, operation] : maps.paths) expect_known(operation, end);
  for (const ModuleRule& rule : maps.modules) expect_known(rule.operation, rule.class_parts.front());
  for (const KernelSequence& sequence : maps.sequences) {
    for (const SequenceState& state : sequence.states) {
      expect_known(state.operation, sequence.map + " " + state.name);
      for (const auto& counted : state.by_count) {
        for (const std::string& name : counted) expect_known(name, sequence.map + " " + state.name);
      }
    }
  }
}

TEST(OperationMaps, ShippedSequencesBeginAndRepeat) {
  std::size_t forward = 0;
  for (const KernelSequence& sequence : shipped().sequences) {
    std::set<std::string> names;
    bool entry = false, layer = false;
    for (const SequenceState& state : sequence.states) {
      EXPECT_TRUE(names.insert(state.name).second) << sequence.map << " " << state.name << " stands there twice";
      EXPECT_EQ(state.ahead == 0, state.before == 0) << state.name;
      for (std::size_t n = 0; n < state.by_count.size(); n++) EXPECT_EQ(state.by_count[n].size(), n + 1) << state.name;
      entry = entry || state.entry;
      layer = layer || state.layer;
    }
    EXPECT_TRUE(entry) << sequence.map;
    EXPECT_EQ(layer, !sequence.backward) << sequence.map;
    if (!sequence.backward) forward++;
  }
  EXPECT_GE(forward, 2u);
}

TEST(OperationMaps, PathsAreSortedByLength) {
  const OperationMaps maps = shipped();
  EXPECT_TRUE(std::is_sorted(maps.paths.begin(), maps.paths.end(),
                             [](const auto& a, const auto& b) { return a.first.size() > b.first.size(); }));
}

TEST(OperationMaps, ReadsEachPart) {
  const OperationMaps maps = parsed(R"(summary = "s"
path = [{ends = ["a.b", "long.path"], operation = "x"}]
module = [{class = ["C"], parent = ["P"], index = 1, of = 2, accepts = ["gemm", "bmm"], operation = "y"}]
[names]
canonical = ["x", "y"]
alias_prefixes = ["fc_ = mlp_"]
[ranges]
"R.step#" = "x"
[operators]
add = ["add", "add_"]
multiply = ["add"]
[fused]
copy = ["clone"]
[kernels]
order = ["silu = activation"]
[[sequence]]
pass = "backward"
state = [
  {name = "one", operation = "x", accepts = ["gemm"], rejects = ["add"], max = 3, entry = true, by_count = ["x", "x y"], next = ["two", "one"]},
  {name = "two", operation = "y", accepts = "vector", followed_by = "gemm", ahead = "attention", before = "loss", layer = true},
]
)");
  ASSERT_EQ(maps.maps.size(), 1u);
  EXPECT_EQ(maps.maps[0].name, "mine");
  EXPECT_EQ(maps.maps[0].summary, "s");
  EXPECT_EQ(maps.maps[0].num_paths, 1u);
  EXPECT_EQ(maps.maps[0].num_modules, 1u);
  EXPECT_EQ(maps.maps[0].num_sequences, 1u);
  using Pairs = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(maps.paths, (Pairs{{"long.path", "x"}, {"a.b", "x"}}));
  EXPECT_EQ(maps.alias_prefixes, (Pairs{{"fc_", "mlp_"}}));
  EXPECT_EQ(maps.ranges, (Pairs{{"R.step#", "x"}}));
  ASSERT_EQ(maps.modules.size(), 1u);
  EXPECT_EQ(maps.modules[0].index, 1);
  EXPECT_EQ(maps.modules[0].of, 2);
  EXPECT_EQ(maps.modules[0].accepts, bit(Feature::gemm) | bit(Feature::bmm));
  EXPECT_EQ(maps.features.operators.at("add"), bit(Feature::add) | bit(Feature::multiply));
  EXPECT_EQ(maps.features.operators.at("add_"), bit(Feature::add));
  EXPECT_EQ(maps.features.fused_words.at("clone"), bit(Feature::copy));
  ASSERT_EQ(maps.features.kernel_parts.size(), 1u);
  EXPECT_EQ(maps.features.kernel_parts[0].second, bit(Feature::activation));
  ASSERT_EQ(maps.sequences.size(), 1u);
  EXPECT_TRUE(maps.sequences[0].backward);
  const std::vector<SequenceState>& states = maps.sequences[0].states;
  ASSERT_EQ(states.size(), 2u);
  EXPECT_EQ(states[0].next, (std::vector<std::size_t>{1, 0}));
  EXPECT_EQ(states[0].rejects, bit(Feature::add));
  EXPECT_EQ(states[0].max, 3);
  EXPECT_TRUE(states[0].entry);
  EXPECT_EQ(states[0].by_count, (std::vector<std::vector<std::string>>{{"x"}, {"x", "y"}}));
  EXPECT_EQ(states[1].accepts, bit(Feature::vector));
  EXPECT_EQ(states[1].followed_by, bit(Feature::gemm));
  EXPECT_EQ(states[1].ahead, bit(Feature::attention));
  EXPECT_EQ(states[1].before, bit(Feature::loss));
  EXPECT_TRUE(states[1].layer);
  EXPECT_EQ(states[1].max, INT64_MAX);
}

TEST(OperationMaps, AMapOfTheUserAddsToTheOthers) {
  OperationMaps maps = shipped();
  const std::size_t before = maps.paths.size();
  ASSERT_TRUE(add_operation_map(maps, R"(path = [{ends = ["adapter"], operation = "lora"}])", "mine").ok());
  EXPECT_EQ(maps.paths.size(), before + 1);
  EXPECT_EQ(maps.maps.back().name, "mine");
}

TEST(OperationMaps, ErrorsSayWhatIsWrong) {
  const struct {
    std::string_view toml, message;
  } cases[] = {
      {"[nmes]\nx = 1", "unknown key nmes"},
      {"[names]\ncanon = []", "unknown key names.canon"},
      {"[names]\nalias_prefixes = [\"fc_ mlp_\"]", "not of the form 'left = right': fc_ mlp_"},
      {"[operators]\nmatmul = [\"mm\"]", "unknown feature matmul"},
      {"[kernels]\nordr = []", "unknown key kernels.ordr"},
      {"path = 3", "not a list: path"},
      {"path = [{ends = [\"a\"]}]", "a path needs ends and operation"},
      {"path = [{ends = [\"a\"], operation = \"x\", op = 1}]", "unknown key path.op"},
      {"module = [{class = [\"A\"]}]", "a module needs class and operation"},
      {"module = [{class = [\"A\"], operation = \"x\", index = -1}]", "not a count: module.index"},
      {"module = [{clas = [\"A\"], operation = \"x\"}]", "unknown key module.clas"},
      {"sequence = [{pass = \"sideways\"}]", "pass is forward or backward, not sideways"},
      {"sequence = [{pas = \"forward\"}]", "unknown key sequence.pas"},
      {"sequence = [{state = [{name = \"a\", operation = \"x\", accepts = \"gemm\", next = [\"b\"]}]}]",
       "no state b to follow a"},
      {"sequence = [{state = [{name = \"a\", operation = \"x\"}]}]", "a state needs name, operation and accepts: a"},
      {"sequence = [{state = [{name = \"a\", operation = \"x\", accepts = \"gem\"}]}]", "unknown feature gem"},
      {"sequence = [{state = [{name = \"a\", entry = 1}]}]", "not true or false: entry"},
      {"sequence = [{state = [{nam = \"a\"}]}]", "unknown key state.nam"},
      {"summary = 3", "not a text: summary"},
      {"summary = \"\"", "not a text: summary"},
  };
  for (const auto& c : cases) EXPECT_EQ(message_of(c.toml), c.message) << c.toml;
  EXPECT_TRUE(message_of("summary = \"s\"\n\npath == 3\n").starts_with("line 3: "));
}

}  // namespace
}  // namespace chopper
