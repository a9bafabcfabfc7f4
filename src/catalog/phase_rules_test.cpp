// SPDX-License-Identifier: Apache-2.0
#include "catalog/phase_rules.h"

#include <gtest/gtest.h>

#include "catalog/embedded_data.h"

namespace chopper {
namespace {

std::string shipped() {
  for (std::size_t i = 0; i < kNumEmbeddedFiles; i++) {
    if (kEmbeddedFiles[i].name == "phases.toml") return std::string(kEmbeddedFiles[i].text);
  }
  return "";
}

std::string replaced(std::string_view from, std::string_view to) {
  std::string text = shipped();
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

std::string message_of(const std::string& text) {
  const Result<PhaseRules> rules = parse_phase_rules(text);
  EXPECT_FALSE(rules.ok());
  if (rules.ok()) return "";
  EXPECT_EQ(rules.error().where, "phases.toml");
  return rules.error().message;
}

TEST(PhaseRules, TheShippedListsAreWhole) {
  const Result<PhaseRules> parsed = embedded_phase_rules();
  ASSERT_TRUE(parsed.ok());
  const PhaseRules& rules = parsed.value();
  EXPECT_EQ(rules.engine_prefix, std::vector<std::string>{"autograd::engine::evaluate_function: "});
  EXPECT_EQ(rules.accumulate_contains, std::vector<std::string>{"AccumulateGrad"});
  EXPECT_EQ(rules.block_parts, (std::vector<std::string>{"Layer", "Block", "Bottleneck"}));
  EXPECT_EQ(rules.not_block_parts, (std::vector<std::string>{"Norm", "Embedding", "Linear"}));
  EXPECT_EQ(rules.optimizer_prefix.front(), "Optimizer.");
  EXPECT_FALSE(rules.clip_operators.empty());
}

TEST(PhaseRules, ListsComparedWithoutCaseAreInLowerCase) {
  const Result<PhaseRules> rules = embedded_phase_rules();
  ASSERT_TRUE(rules.ok());
  for (const auto* list : {&rules.value().optimizer_contains_nocase, &rules.value().optimizer_words,
                           &rules.value().forward_words, &rules.value().backward_words}) {
    for (const std::string& word : *list) {
      for (const char c : word) EXPECT_FALSE(c >= 'A' && c <= 'Z') << word;
    }
  }
}

TEST(PhaseRules, ErrorsNameFileAndLineOrList) {
  EXPECT_EQ(message_of(replaced("accumulate_contains", "accumulates")), "missing list engine.accumulate_contains");
  EXPECT_EQ(message_of(shipped() + "\nmore = [\"x\"]\n"), "unknown list modules.more");
  EXPECT_EQ(message_of(shipped() + "\n[more]\nx = [\"y\"]\n"), "unknown list more.x");
  EXPECT_EQ(message_of(replaced("[\"AccumulateGrad\"]", "[3]")), "not a list of texts: engine.accumulate_contains");
  EXPECT_EQ(message_of(replaced("[\"AccumulateGrad\"]", "[\"\"]")), "not a list of texts: engine.accumulate_contains");
  EXPECT_TRUE(message_of("\n\n[optimizer\n").starts_with("line 3: "));
}

}  // namespace
}  // namespace chopper
