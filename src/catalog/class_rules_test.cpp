// SPDX-License-Identifier: Apache-2.0
#include "catalog/class_rules.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "catalog/embedded_data.h"

namespace chopper {
namespace {

std::string shipped() {
  for (std::size_t i = 0; i < kNumEmbeddedFiles; i++) {
    if (kEmbeddedFiles[i].name == "classes.toml") return std::string(kEmbeddedFiles[i].text);
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
  const Result<ClassRules> rules = parse_class_rules(text);
  EXPECT_FALSE(rules.ok());
  return rules.ok() ? "" : rules.error().message;
}

TEST(ClassRules, TheShippedListsAreWhole) {
  const Result<ClassRules> rules = embedded_class_rules();
  ASSERT_TRUE(rules.ok());
  EXPECT_EQ(rules.value().fill_prefix, (std::vector<std::string>{"__amd_rocclr_fillBuffer", "FillBuffer"}));
  EXPECT_EQ(rules.value().operator_vector_prefix, std::vector<std::string>{"aten::"});
  EXPECT_FALSE(rules.value().copy_range_exact.empty());
}

TEST(ClassRules, ListsWithoutCaseAreWrittenInLowerCase) {
  const Result<ClassRules> rules = embedded_class_rules();
  ASSERT_TRUE(rules.ok());
  const ClassRules& r = rules.value();
  for (const auto* list :
       {&r.comm_kernel_prefix_nocase, &r.comm_kernel_contains_nocase, &r.kernel_attention_contains_nocase,
        &r.kernel_attention_prefix_nocase, &r.kernel_gemm_contains_nocase, &r.kernel_gemm_prefix_nocase,
        &r.kernel_vector_contains_nocase}) {
    for (const std::string& word : *list)
      EXPECT_TRUE(std::none_of(word.begin(), word.end(), [](char c) { return c >= 'A' && c <= 'Z'; })) << word;
  }
}

TEST(ClassRules, SaysWhatIsWrong) {
  EXPECT_EQ(message_of(replaced("fill_prefix = ", "fil_prefix = ")), "missing list memory.fill_prefix");
  EXPECT_EQ(message_of(replaced("[memory]", "[memory]\nmore = []")), "unknown list memory.more");
  EXPECT_EQ(message_of(shipped() + "\n[extra]\nlist = [\"a\"]\n"), "unknown list extra.list");
  EXPECT_EQ(message_of("answer = 42\n" + shipped()), "unknown key answer");
  EXPECT_EQ(message_of(replaced("[\"aten::\"]", "[\"aten::\", 7]")),
            "not a list of texts: operator_class.vector_prefix");
  EXPECT_EQ(message_of(replaced("[\"aten::\"]", "[\"\"]")), "not a list of texts: operator_class.vector_prefix");
  EXPECT_EQ(message_of(replaced("[\"aten::\"]", "\"aten::\"")), "missing list operator_class.vector_prefix");
  EXPECT_TRUE(message_of("[memory\n").starts_with("line 1: "));
  EXPECT_EQ(message_of(""), "missing list memory.copy_prefix");
}

}  // namespace
}  // namespace chopper
