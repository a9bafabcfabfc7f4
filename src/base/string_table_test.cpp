// SPDX-License-Identifier: Apache-2.0
#include "base/string_table.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace chopper {
namespace {

TEST(StringTable, GivesEachTextOneIdInOrder) {
  StringTable table;
  EXPECT_EQ(index_of(table.intern("a")), 0u);
  EXPECT_EQ(index_of(table.intern("")), 1u);
  EXPECT_EQ(index_of(table.intern("a")), 0u);
  EXPECT_EQ(index_of(table.intern(std::string_view("a\0b", 3))), 2u);
  EXPECT_EQ(table.size(), 3u);
  EXPECT_EQ(table.view(StringId{1}), "");
  EXPECT_EQ(table.view(StringId{2}).size(), 3u);
}

TEST(StringTable, FindsOnlyWhatIsThere) {
  StringTable table;
  EXPECT_EQ(table.find("a"), kNoString);
  const StringId id = table.intern("a");
  EXPECT_EQ(table.find("a"), id);
  EXPECT_EQ(table.find("A"), kNoString);
  EXPECT_EQ(table.size(), 1u);
}

TEST(StringTable, ViewsStayValidWhileItGrows) {
  StringTable table;
  const std::string_view first = table.view(table.intern("the first"));
  std::vector<std::string> texts;
  for (int i = 0; i < 20000; i++)
    texts.push_back("void kernel<" + std::to_string(i % 7) + ", float, " + std::to_string(i) + ", int>(long)");
  texts.push_back(std::string(200000, 'x'));  // longer than a block
  texts.push_back(std::string(200000, 'x') + "y");
  for (const std::string& text : texts) table.intern(text);
  EXPECT_EQ(first, "the first");
  EXPECT_EQ(table.size(), texts.size() + 1);
  for (std::size_t i = 0; i < texts.size(); i++) {
    ASSERT_EQ(table.view(StringId{static_cast<std::uint32_t>(i + 1)}), texts[i]);
    ASSERT_EQ(index_of(table.intern(texts[i])), i + 1);
  }
  EXPECT_GT(table.memory_bytes(), std::size_t{400000});
}

TEST(StringTable, TellsTextsOfEveryLengthApart) {
  StringTable table;
  for (std::size_t length = 0; length < 100; length++) {
    for (std::size_t at = 0; at < length; at++) {
      std::string text(length, 'a');
      text[at] = 'b';
      table.intern(text);
    }
    table.intern(std::string(length, 'a'));
  }
  EXPECT_EQ(table.size(), 100u * 99 / 2 + 100);
}

}  // namespace
}  // namespace chopper
