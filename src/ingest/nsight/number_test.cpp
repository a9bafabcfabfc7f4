// SPDX-License-Identifier: Apache-2.0
#include "ingest/nsight/number.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/random.h"

namespace chopper::nsight {
namespace {

using Evidence = SeparatorEvidence;
using Meaning = SeparatorEvidence::Meaning;

struct Case {
  std::string text;
  double value;
  int evidence;
};

TEST(NsightNumber, ReadsWhatCanBeReadInOneWay) {
  const std::vector<Case> cases = {
      {"0", 0, 0},
      {"384", 384, 0},
      {"508757", 508757, Evidence::ungrouped},
      {"-12", -12, 0},
      {"0.74", 0.74, Evidence::dot_decimal},
      {"21,68", 21.68, Evidence::comma_decimal},
      {"0.123", 0.123, Evidence::dot_decimal},
      {"0,123", 0.123, Evidence::comma_decimal},
      {".5", 0.5, Evidence::dot_decimal},
      {"3995313115.40", 3995313115.4, Evidence::dot_decimal | Evidence::ungrouped},
      {"1234.567", 1234.567, Evidence::dot_decimal | Evidence::ungrouped},
      {"1.234e+05", 123400, Evidence::dot_decimal},
      {"2e3", 2000, 0},
      {"27,595,520", 27595520, Evidence::comma_thousands},
      {"27.595.520", 27595520, Evidence::dot_thousands},
      {"1,215,000,000.50", 1215000000.5, Evidence::comma_thousands | Evidence::dot_decimal},
      {"1.215.000.000,5", 1215000000.5, Evidence::dot_thousands | Evidence::comma_decimal},
      {"1,234.567", 1234.567, Evidence::comma_thousands | Evidence::dot_decimal},
      {"1 234", 1234, Evidence::other_thousands},
      {"1 234,5", 1234.5, Evidence::other_thousands | Evidence::comma_decimal},
      {"1\xc2\xa0"
       "234\xc2\xa0"
       "567,8",
       1234567.8, Evidence::other_thousands | Evidence::comma_decimal},
      {"1\xe2\x80\xaf"
       "234,5",
       1234.5, Evidence::other_thousands | Evidence::comma_decimal},
      {"1'234.5", 1234.5, Evidence::other_thousands | Evidence::dot_decimal},
      {" 12 ", 12, 0},
      {"(!) 12", 12, 0},
      {"1.50 (1; 2)", 1.5, Evidence::dot_decimal},
  };
  for (const Case& test : cases) {
    const NumberCell cell = parse_number(test.text, 0);
    EXPECT_EQ(cell.form, NumberForm::number) << test.text;
    EXPECT_EQ(cell.value, test.value) << test.text;
    EXPECT_EQ(cell.evidence, test.evidence) << test.text;
  }
}

TEST(NsightNumber, TakesAnAmbiguousOneForThousands) {
  for (const char separator : {',', '.'}) {
    const NumberCell cell = parse_number(std::string("117") + separator + "344", 0);
    EXPECT_EQ(cell.form, NumberForm::ambiguous);
    EXPECT_EQ(cell.separator, separator);
    EXPECT_EQ(cell.value, 117344);
    EXPECT_EQ(cell.evidence, 0);
  }
  EXPECT_EQ(parse_number("-1,234", 3).value, -1234000);
}

// A sign makes a cell one that is read closely.
TEST(NsightNumber, ReadsPlainCellsAsItReadsAllOthers) {
  test::Random random(5);
  for (int i = 0; i < 200'000; i++) {
    std::string cell;
    const std::size_t length = 1 + random.below(14);
    for (std::size_t k = 0; k < length; k++) {
      const bool is_separator = random.chance(5);
      cell += is_separator ? (random.chance(4) ? ',' : '.') : static_cast<char>('0' + random.below(10));
    }
    if (random.chance(3)) cell = std::to_string(random.below(1000)) + "," + std::to_string(100 + random.below(900));
    if (random.chance(5)) cell += "." + std::to_string(random.below(1000));
    const int exponent = static_cast<int>(random.below(13)) - 3;
    const NumberCell plain = parse_number(cell, exponent), close = parse_number("+" + cell, exponent);
    ASSERT_EQ(plain.form, close.form) << cell;
    if (plain.form == NumberForm::malformed) continue;
    ASSERT_EQ(plain.value, close.value) << cell;
    ASSERT_EQ(plain.separator, close.separator) << cell;
    ASSERT_EQ(plain.evidence, close.evidence) << cell;
  }
}

TEST(NsightNumber, TellsWhatIsNone) {
  for (const char* text : {"", " ", "n/a", "N/A", "nan", "-nan", "inf", "-inf", "Infinity", "(!) nan"})
    EXPECT_EQ(parse_number(text, 0).form, NumberForm::none) << text;
  for (const char* text : {"PolicySpread", "all", "NVIDIA B200", "infinite"})
    EXPECT_EQ(parse_number(text, 0).form, NumberForm::text) << text;
  for (const char* text : {"12x4", "1,23,456", "1.234.56", "1,", "1.2.3", "1,234,56", "1 23", "--1", "1e", "1e5x",
                           "1e99999", "1,234 567.8", "#5", "(1, 2, 3)", ",", "-", "1.234,567.8"}) {
    const NumberForm form = parse_number(text, 0).form;
    EXPECT_TRUE(form == NumberForm::malformed || (form == NumberForm::none && std::string(text) == "-")) << text;
  }
  EXPECT_EQ(parse_number(std::string(80, '1'), 0).form, NumberForm::malformed);
}

TEST(NsightNumber, ScalesWithoutRounding) {
  // In floating point 406.24 * 1000 need not be 406240.
  EXPECT_EQ(parse_number("406.24", 3).value, 406240);
  EXPECT_EQ(parse_number("1.23", 9).value, 1230000000);
  EXPECT_EQ(parse_number("0.1", 3).value, 100);
}

TEST(NsightNumber, OtherCellsTellWhatASeparatorMeans) {
  const auto meaning = [](std::uint8_t bits, char separator) {
    SeparatorEvidence evidence;
    evidence.add(bits);
    return evidence.meaning_of(separator);
  };
  EXPECT_EQ(meaning(0, ','), Meaning::unknown);
  EXPECT_EQ(meaning(Evidence::dot_decimal, ','), Meaning::thousands);
  EXPECT_EQ(meaning(Evidence::dot_decimal, '.'), Meaning::decimals);
  EXPECT_EQ(meaning(Evidence::comma_thousands, ','), Meaning::thousands);
  EXPECT_EQ(meaning(Evidence::comma_thousands, '.'), Meaning::decimals);
  EXPECT_EQ(meaning(Evidence::dot_thousands, '.'), Meaning::thousands);
  EXPECT_EQ(meaning(Evidence::comma_decimal, '.'), Meaning::thousands);
  EXPECT_EQ(meaning(Evidence::comma_decimal, ','), Meaning::decimals);
  // Where thousands are parted by spaces, or by nothing, a comma is not theirs.
  EXPECT_EQ(meaning(Evidence::other_thousands, ','), Meaning::decimals);
  EXPECT_EQ(meaning(Evidence::ungrouped, '.'), Meaning::decimals);
  EXPECT_EQ(meaning(Evidence::dot_decimal | Evidence::comma_decimal, ','), Meaning::unknown);
  EXPECT_EQ(meaning(Evidence::dot_thousands | Evidence::comma_thousands, '.'), Meaning::unknown);
}

}  // namespace
}  // namespace chopper::nsight
