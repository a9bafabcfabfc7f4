// SPDX-License-Identifier: Apache-2.0
#include "ingest/kineto/json_repair.h"

#include <gtest/gtest.h>
#include <simdjson.h>

#include <string>

namespace chopper {
namespace {

// Repairs `text`, which must give valid JSON, and returns it.
std::string repaired(const std::string& text) {
  const Repair repair = repair_object(text);
  EXPECT_EQ(repair.status, RepairStatus::repaired) << text;
  if (repair.status != RepairStatus::repaired) return "";
  simdjson::dom::parser parser;
  simdjson::dom::element element;
  EXPECT_EQ(parser.parse(repair.json).get(element), simdjson::SUCCESS) << repair.json;
  return repair.json;
}

// The value of "k" in the repaired object.
std::string value_of(const std::string& text) {
  simdjson::dom::parser parser;
  std::string_view value;
  const std::string json = repaired(text);
  if (json.empty()) return "";
  EXPECT_EQ(parser.parse(json)["k"].get_string().get(value), simdjson::SUCCESS) << json;
  return std::string(value);
}

RepairStatus status_of(const std::string& text) { return repair_object(text).status; }

TEST(RepairObject, LeavesGoodTextAsItIs) {
  for (const char* text : {"{}", "{\"a\":1}", "{\"a\":[],\"b\":{\"c\":[1,2,{}]}}",
                           "{\"a\":\"\\u00e9\\\\\\\"\",\"b\":-1.5e+3,\"c\":null,\"d\":true}"})
    EXPECT_EQ(repaired(text), text);
}

TEST(RepairObject, DropsWhiteSpaceOutsideOfStrings) { EXPECT_EQ(repaired("{ \"a\" :\n[ 1 , 2 ]\t}"), "{\"a\":[1,2]}"); }

TEST(RepairObject, SaysHowMuchItUsed) {
  const Repair repair = repair_object("{\"a\":1} , {\"b\":2}");
  EXPECT_EQ(repair.consumed, 7u);
  EXPECT_EQ(repair.json, "{\"a\":1}");
}

TEST(RepairObject, KeepsRawControlCharacters) {
  EXPECT_EQ(value_of(std::string("{\"k\": \"a\nb\tc\x01"
                                 "d\x1f\"}")),
            "a\nb\tc\x01"
            "d\x1f");
}

TEST(RepairObject, KeepsAZeroByte) {
  EXPECT_EQ(value_of(std::string("{\"k\": \"a\0b\"}", 12)), std::string("a\0b", 3));
}

TEST(RepairObject, ReplacesInvalidUtf8ByteByByte) {
  EXPECT_EQ(value_of("{\"k\": \"a\xff"
                     "b\"}"),
            "a\xef\xbf\xbd"
            "b");
  EXPECT_EQ(value_of("{\"k\": \"\xc0\x80....\"}"), "\xef\xbf\xbd\xef\xbf\xbd....");                  // overlong
  EXPECT_EQ(value_of("{\"k\": \"\xed\xa0\x80....\"}"), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd....");  // a surrogate
  EXPECT_EQ(value_of("{\"k\": \"\xf4\x90\x80\x80....\"}"),
            "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd....");  // too large
  EXPECT_EQ(value_of("{\"k\": \"\xc3\xa9\xe2\x82\xac\xf0\x9f\x9a\x80\"}"), "\xc3\xa9\xe2\x82\xac\xf0\x9f\x9a\x80");
}

TEST(RepairObject, ReadsAnInvalidEscapeAsABackslash) {
  EXPECT_EQ(value_of("{\"k\": \"C:\\path\\x41\\u12g4\\u1\"}"), "C:\\path\\x41\\u12g4\\u1");
  EXPECT_EQ(value_of("{\"k\": \"\\n\\u0041\\/\"}"), "\nA/");
}

TEST(RepairObject, BareWordsBecomeNull) {
  EXPECT_EQ(repaired("{\"a\": NaN, \"b\": -Infinity, \"c\": [Infinity, N/A], \"d\": nan, \"e\": -inf}"),
            "{\"a\":null,\"b\":null,\"c\":[null,null],\"d\":null,\"e\":null}");
}

TEST(RepairObject, OtherShortWordsBecomeNull) {
  EXPECT_EQ(repaired("{\"a\": nothing}"), "{\"a\":null}");
  EXPECT_EQ(repaired("{\"a\": True, \"b\": 1}"), "{\"a\":null,\"b\":1}");
  EXPECT_EQ(repaired("{\"a\": <html>}"), "{\"a\":null}");
  EXPECT_EQ(repaired("{\"a\": 1.2.3}"), "{\"a\":\"1.2.3\"}");
}

TEST(RepairObject, WhatHasNoMembersIsUnreadable) {
  const std::string long_word = "{\"a\": " + std::string(65, 'w') + "}";
  for (const std::string text : {"{\"a\": }", "{a: 1}", "{\"a\":1 \"b\":2}", "{1:2}", "[1]", long_word.c_str()}) {
    EXPECT_EQ(status_of(text), RepairStatus::unreadable) << text;
  }
}

TEST(RepairObject, AStringThatRunsIntoAKeyEndsBeforeTheComma) {
  EXPECT_EQ(repaired("{\"cat\": \"kernel, \"name\": \"k\"}"), "{\"cat\":\"kernel\",\"name\":\"k\"}");
  EXPECT_EQ(repaired("{\"cat\": \"kernel,\n \"name\": \"k\"}"), "{\"cat\":\"kernel\",\"name\":\"k\"}");
  EXPECT_EQ(repaired("{\"name\": \"a, \"b\", c\"}"), "{\"name\":\"a, \\\"b\\\", c\"}");
}

TEST(RepairObject, DropsTrailingAndDoubledCommas) {
  EXPECT_EQ(repaired("{\"a\":1,}"), "{\"a\":1}");
  EXPECT_EQ(repaired("{\"a\":[1,2,],}"), "{\"a\":[1,2]}");
  EXPECT_EQ(repaired("{\"a\":1,,\"b\":2}"), "{\"a\":1,\"b\":2}");
  EXPECT_EQ(repaired("{,\"a\":1}"), "{\"a\":1}");
}

TEST(RepairObject, KeepsUnescapedQuotes) {
  EXPECT_EQ(value_of(R"~({"k": "foo("a")"})~"), R"~(foo("a"))~");
  EXPECT_EQ(value_of(R"~({"k": "foo("a", [1])", "b": 2})~"), R"~(foo("a", [1]))~");
  EXPECT_EQ(value_of(R"~({"k": ""quoted"", "b": 2})~"), R"~("quoted")~");
  EXPECT_EQ(value_of(R"~({"k": "he said "go", then left"})~"), R"~(he said "go", then left)~");
  EXPECT_EQ(value_of(R"~({"k": ""})~"), "");
}

TEST(RepairObject, AQuoteEndsAValueBeforeTheNextKey) {
  EXPECT_EQ(repaired(R"({"k": "a" , "b": "c"})"), R"({"k":"a","b":"c"})");
}

TEST(RepairObject, AsksForMoreTextWhereItEnds) {
  const std::string text = "{\"a\": [1, {\"b\": \"c\\u00e9\xc3\xa9\"}, -1.5], \"d\": null}";
  for (std::size_t size = 0; size < text.size(); size++)
    EXPECT_EQ(status_of(text.substr(0, size)), RepairStatus::cut) << text.substr(0, size);
}

TEST(RepairObject, NothingButAnObjectIsAnObject) {
  for (const char* text : {"\"a\"", "1", "}", ":"}) EXPECT_EQ(status_of(text), RepairStatus::unreadable) << text;
}

TEST(RepairObject, BracketsThatDoNotMatchAreUnreadable) {
  for (const char* text : {"{\"a\":[1}", "{\"a\":{]", "{\"a\":1]"})
    EXPECT_EQ(status_of(text), RepairStatus::unreadable) << text;
}

TEST(RepairObject, DepthIsBoundedByTheTextAlone) {
  const std::string deep = "{\"k\":" + std::string(200000, '[') + std::string(200000, ']') + "}";
  const Repair repair = repair_object(deep);
  EXPECT_EQ(repair.status, RepairStatus::repaired);
  EXPECT_EQ(repair.consumed, deep.size());
}

TEST(FindEventStart, WantsABraceAndAnEventKey) {
  EXPECT_EQ(find_event_start("xx {\"ph\": 1", 0), 3u);
  EXPECT_EQ(find_event_start("{\"ph\": {\"args\":", 1), 7u);
  EXPECT_EQ(find_event_start("{ \n\t\"name\" :", 0), 0u);
  for (const char* text : {"", "{", "{\"", "{\"ph", "{ph:", "{\"phase\": 1}", "{\"device\": 0}", "{}", "[\"ph\"]"})
    EXPECT_EQ(find_event_start(text, 0), std::string_view::npos) << text;
}

TEST(Unescape, DecodesWhatJsonAllows) {
  bool invalid = false;
  EXPECT_EQ(unescape(R"(\"\\\/\b\f\n\r\t)", invalid), "\"\\/\b\f\n\r\t");
  EXPECT_EQ(unescape(R"(\u0041\u00e9\u20ac\ud83d\ude80)", invalid), "A\xc3\xa9\xe2\x82\xac\xf0\x9f\x9a\x80");
  EXPECT_EQ(unescape(R"(\u0000)", invalid), std::string(1, '\0'));
  EXPECT_FALSE(invalid);
}

TEST(Unescape, LoneSurrogatesAreReplaced) {
  bool invalid = false;
  EXPECT_EQ(unescape(R"(\ud83dx)", invalid), "\xef\xbf\xbdx");
  EXPECT_EQ(unescape(R"(\ude80)", invalid), "\xef\xbf\xbd");
  EXPECT_EQ(unescape(R"(\ud83d\u0041)", invalid),
            "\xef\xbf\xbd"
            "A");
}

TEST(Unescape, InvalidEscapesStayAndAreTold) {
  for (const char* text : {R"(C:\path)", R"(\x41)", R"(\u12)", R"(\u12g4)"}) {
    bool invalid = false;
    EXPECT_EQ(unescape(text, invalid), text);
    EXPECT_TRUE(invalid) << text;
  }
  bool invalid = false;
  EXPECT_EQ(unescape("end\\", invalid), "end\\");
}

}  // namespace
}  // namespace chopper
