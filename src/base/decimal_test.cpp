// SPDX-License-Identifier: Apache-2.0
#include "base/decimal.h"

#include <gtest/gtest.h>

namespace chopper {
namespace {

std::int64_t ns(std::string_view text, bool unpadded = false) {
  const Nanoseconds out = micros_to_ns(text, unpadded);
  EXPECT_EQ(out.status, NumberStatus::ok) << text;
  return out.value;
}

TEST(MicrosToNs, KeepsEveryDigitOfANanosecond) {
  EXPECT_EQ(ns("0"), 0);
  EXPECT_EQ(ns("12"), 12000);
  EXPECT_EQ(ns("12.5"), 12500);
  EXPECT_EQ(ns("0.001"), 1);
  EXPECT_EQ(ns("123456.789"), 123456789);
  EXPECT_EQ(ns("1700000000123456.789"), 1700000000123456789);
  EXPECT_EQ(ns("9223372036854775.807"), INT64_MAX);
}

TEST(MicrosToNs, CutsTowardsZero) {
  EXPECT_EQ(ns("1.0009"), 1000);
  EXPECT_EQ(ns("-1.0009"), -1000);
  EXPECT_EQ(ns("0.0009"), 0);
  EXPECT_EQ(ns("-0.9999999999999999999999999999999999999999"), -999);
}

TEST(MicrosToNs, ReadsSignsAndExponents) {
  EXPECT_EQ(ns("-3.25"), -3250);
  EXPECT_EQ(ns("+3.25"), 3250);
  EXPECT_EQ(ns("1.5e3"), 1500000);
  EXPECT_EQ(ns("1E-3"), 1);
  EXPECT_EQ(ns("1e-4"), 0);
  EXPECT_EQ(ns("0e999999999"), 0);
  EXPECT_EQ(ns("0.00000000000000000000000000000000001e38"), 1000000);
  EXPECT_EQ(ns("5."), 5000);
  EXPECT_EQ(ns(".5"), 500);
}

TEST(MicrosToNs, TellsOverflowFromNoNumber) {
  for (const char* text :
       {"9223372036854775.808", "-9223372036854775.808", "1e16", "1e308", "123456789012345678901234567890"}) {
    EXPECT_EQ(micros_to_ns(text, false).status, NumberStatus::overflow) << text;
  }
  for (const char* text : {"", "-", "+", ".", "e3", "1e", "1e+", "1.2.3", "1 ", " 1", "0x10", "NaN", "Infinity", "null",
                           "1,5", "--1", "1e2.5"}) {
    EXPECT_EQ(micros_to_ns(text, false).status, NumberStatus::not_a_number) << text;
  }
}

TEST(MicrosToNs, UnpaddedFractionsAreWholeNanoseconds) {
  EXPECT_EQ(ns("12.5", true), 12005);
  EXPECT_EQ(ns("12.50", true), 12050);
  EXPECT_EQ(ns("12.500", true), 12500);
  EXPECT_EQ(ns("12", true), 12000);
}

TEST(FractionShape, TellsUnpaddedWriters) {
  const auto shape = [](std::initializer_list<const char*> texts) {
    std::uint8_t bits = 0;
    for (const char* text : texts) bits |= micros_to_ns(text, false).shape;
    return bits;
  };
  EXPECT_EQ(shape({"12", "-3"}), 0);
  EXPECT_TRUE(FractionShape::is_unpadded(shape({"1.5", "2.120"})));
  EXPECT_TRUE(FractionShape::is_unpadded(shape({"1.50", "2.123"})));
  EXPECT_FALSE(FractionShape::is_unpadded(shape({"1.5", "2.25"})));     // no trailing zero: a writer that drops them
  EXPECT_FALSE(FractionShape::is_unpadded(shape({"1.500", "2.120"})));  // always three digits
  EXPECT_FALSE(FractionShape::is_unpadded(shape({"1.5", "2.120", "3.05"})));  // zero padded
  EXPECT_FALSE(FractionShape::is_unpadded(shape({"1.5", "2.120", "3.1234"})));
}

TEST(ParseInt64, KeepsTheBitsOfUnsignedValues) {
  EXPECT_EQ(parse_int64("0"), 0);
  EXPECT_EQ(parse_int64("-1"), -1);
  EXPECT_EQ(parse_int64("9223372036854775807"), INT64_MAX);
  EXPECT_EQ(parse_int64("9223372036854775808"), INT64_MIN);
  EXPECT_EQ(parse_int64("18446744073709551615"), -1);
  EXPECT_EQ(parse_int64("9007199254740993"), 9007199254740993);
  EXPECT_EQ(parse_int64("42.0"), 42);
  EXPECT_EQ(parse_int64("+7"), 7);
}

TEST(ParseInt64, RefusesWhatIsNoInteger) {
  for (const char* text :
       {"", "-", "1.5", "1e3", "18446744073709551616", "-9223372036854775809", "12a", " 1", "1 ", "true"}) {
    EXPECT_EQ(parse_int64(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace chopper
