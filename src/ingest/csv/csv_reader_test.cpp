// SPDX-License-Identifier: Apache-2.0
#include "ingest/csv/csv_reader.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace chopper {
namespace {

// What a reader says about `text`: "a|b" for a row, "! line" for an unreadable one, "... a|b" for a cut one; with
// offsets.
std::vector<std::string> read(const std::string& text, std::size_t window = 0) {
  const auto source = open_memory_source(text);
  CsvReader reader(*source, window);
  std::vector<std::string> seen;
  std::string scratch;
  while (true) {
    const CsvReader::Next next = reader.next();
    if (next == CsvReader::Next::end || next == CsvReader::Next::error) break;
    std::string out = std::to_string(reader.offset()) + " ";
    if (next == CsvReader::Next::unreadable) out += "! " + std::string(reader.line());
    if (next == CsvReader::Next::cut) out += "... ";
    for (std::size_t i = 0; i < reader.cells().size(); i++)
      out += (i > 0 ? "|" : "") + std::string(unquoted(reader.cells()[i], scratch));
    seen.push_back(out);
  }
  EXPECT_EQ(reader.text_bytes(), text.size());
  return seen;
}

using Rows = std::vector<std::string>;

TEST(CsvReader, TakesQuotesOff) { EXPECT_EQ(read("a,\"b\",\n\"x,y\",2\n"), (Rows{"0 a|b|", "7 x,y|2"})); }

TEST(CsvReader, KeepsLineEndsInsideQuotes) {
  EXPECT_EQ(read("\"a\r\nb\",\"say \"\"hi\"\"\"\n1\n"), (Rows{"0 a\r\nb|say \"hi\"", "20 1"}));
}

TEST(CsvReader, PassesMarkLineEndsAndBlankLines) {
  EXPECT_EQ(read("\xef\xbb\xbf"
                 "a,b\r\n\r\n\n\"1\",2\r\n"),
            (Rows{"3 a|b", "11 1|2"}));
  EXPECT_EQ(read("a\n\r"), (Rows{"0 a"}));
  EXPECT_EQ(read(""), Rows{});
}

TEST(CsvReader, GivesEmptyCells) { EXPECT_EQ(read(",,\"\"\n"), (Rows{"0 ||"})); }

TEST(CsvReader, TakesQuotesInsidePlainCellsAsTheyAre) { EXPECT_EQ(read("a\"b,c\n"), (Rows{"0 a\"b|c"})); }

TEST(CsvReader, TellsARowWithoutItsLineEnd) {
  EXPECT_EQ(read("a,b\n1,2"), (Rows{"0 a|b", "4 ... 1|2"}));
  EXPECT_EQ(read("a,b\n1,\"2\""), (Rows{"0 a|b", "4 ... 1|2"}));
  EXPECT_EQ(read("a,b\n1,"), (Rows{"0 a|b", "4 ... 1|"}));
  EXPECT_EQ(read("a,b\n1,\"2"), (Rows{"0 a|b", "4 ... "}));
}

TEST(CsvReader, LosesNoMoreThanTheLineOfAStrayQuote) {
  EXPECT_EQ(read("\"a\nb\",1\n\"c\"\n"), (Rows{"0 a\nb|1", "8 c"}));
  EXPECT_EQ(read("\"a,1\n\"b\",2\n\"c\",3\n"), (Rows{"0 ! \"a,1", "5 b|2", "11 c|3"}));
  EXPECT_EQ(read("\"a\"x,1\n2\n"), (Rows{"0 ! \"a\"x,1", "7 2"}));
  EXPECT_EQ(read("\"a\n1\n2\n"), (Rows{"0 ! \"a", "3 1", "5 2"}));
}

TEST(CsvReader, PassesOverALineThatIsTooLong) {
  const std::string longest(CsvReader::kMaxRowBytes - 1, 'x');
  EXPECT_EQ(read(longest + "\n1\n").size(), 2u);
  EXPECT_EQ(read(longest + "\n1\n")[0].substr(0, 4), "0 xx");
  EXPECT_EQ(read(longest + "x\n1\n"), (Rows{"0 ! " + longest + "x", std::to_string(longest.size() + 2) + " 1"}));
  EXPECT_EQ(read(longest + "xx\n1\n"), (Rows{"0 ! ", std::to_string(longest.size() + 3) + " 1"}));
  EXPECT_EQ(read("\"" + longest + longest + "\n1\n")[0], "0 ! ");
}

// Looking for more text behind a row must not lose the row.
TEST(CsvReader, KeepsACutRowWhereverAPieceEnds) {
  const std::string text = "aa,b\n\"1\",22,\"3\"";
  for (std::size_t window = 1; window <= text.size() + 1; window++)
    EXPECT_EQ(read(text, window), (Rows{"0 aa|b", "5 ... 1|22|3"})) << window;
}

TEST(CsvReader, IsTheSameInPieces) {
  const std::string longest(CsvReader::kMaxRowBytes, 'x');
  for (const std::string& text :
       {std::string("\xef\xbb\xbf\"a\r\nb\",\"\"\"\"\r\n\r\n1,\"2\"x\n,\r,\n\"open\n3,4"), "a\n" + longest + "\n1\n",
        "\"" + longest + "\n\"\n1\n", std::string("\"a\"\r"), std::string("\"a\"\rb\n1\n"), std::string("\xef\xbb")}) {
    for (const std::size_t window : {1u, 2u, 3u, 7u, 64u, 4096u}) EXPECT_EQ(read(text, window), read(text)) << window;
  }
}

}  // namespace
}  // namespace chopper
