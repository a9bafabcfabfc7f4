// SPDX-License-Identifier: Apache-2.0
// The 64-bytes-at-a-time scanner against one that reads character by character.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "ingest/kineto/json_scan.h"
#include "support/trace_builder.h"

namespace chopper::test {
namespace {

ElementScan scan_naively(std::string_view text, bool first_only) {
  ElementScan result;
  bool in_string = false;
  long depth = 0;
  std::size_t previous = 0;
  for (std::size_t i = 0; i < text.size(); i++) {
    const char c = text[i];
    if (c == '\\') {  // hides a quote, inside a string or out of it
      if (i + 1 < text.size() && (text[i + 1] == '"' || text[i + 1] == '\\')) i++;
    } else if (c == '"') {
      in_string = !in_string;
    } else if (!in_string && (c == '{' || c == '[')) {
      depth++;
    } else if (!in_string && (c == '}' || c == ']')) {
      if (--depth > 0) continue;
      if (depth < 0) {
        result.closed_at = i;
        return result;
      }
      if (result.first_end == 0) result.first_end = i + 1;
      result.longest = std::max(result.longest, i + 1 - previous);
      result.last_end = previous = i + 1;
      if (first_only) return result;
    }
  }
  return result;
}

void expect_same(const std::string& text) {
  for (const bool first_only : {false, true}) {
    const ElementScan expected = scan_naively(text, first_only);
    const ElementScan scan = scan_elements(text, first_only);
    EXPECT_EQ(scan.first_end, expected.first_end) << text;
    EXPECT_EQ(scan.last_end, expected.last_end) << text;
    EXPECT_EQ(scan.longest, expected.longest) << text;
    EXPECT_EQ(scan.closed_at, expected.closed_at) << text;
  }
}

TEST(ScanProperty, AgreesWithOneCharacterAtATime) {
  constexpr std::string_view kAlphabet = "\"\"\\\\{{}}[]]{}, :a0\n;|\x1b\x5b";
  for (std::uint64_t seed = 1; seed <= 20000; seed++) {
    Random random(seed);
    std::string text;
    const std::size_t size = random.below(random.chance(3) ? 400 : 140);
    const std::size_t letters =
        random.chance(2) ? kAlphabet.size() : 8;  // many quotes, backslashes and brackets, or some
    while (text.size() < size) {
      if (random.chance(10)) text.append(random.below(70), '\\');
      if (random.chance(12)) text.append(random.below(70), 'x');
      text.push_back(kAlphabet[random.below(letters)]);
    }
    SCOPED_TRACE(seed_text(seed));
    expect_same(text);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(ScanProperty, EveryPositionInABlock) {
  for (std::size_t before = 0; before < 140; before++) {
    const std::string blank(before, ' ');
    for (const char* element : {"{}", "[[]]", "{\"a\\\"}\": 1}", "{\"\\\\\": \"}\"}", "{\"\\\\\\\"]\": {}}", "]",
                                "{\"a\": [1, {\"b\": \"\\\\\\\\\"}]}"}) {
      expect_same(blank + element);
      expect_same(blank + element + blank + element + "]");
      expect_same("{\"" + std::string(before, '\\') + "\"}" + element);
      expect_same("{\"" + std::string(before, 'x') + "\": \"" + element + "\"} ] " + element);
    }
    if (testing::Test::HasFailure()) return;
  }
}

TEST(ScanProperty, GeneratedTraces) {
  for (std::uint64_t seed = 1; seed <= 20; seed++) {
    SCOPED_TRACE(seed_text(seed));
    const BuiltTrace trace = build_trace(seed, {});
    std::string events;
    for (const std::string& event : trace.events) events += event + ",\n";
    const ElementScan scan = scan_elements(events + trace.tail, false);
    std::size_t longest = trace.events.front().size();
    for (std::size_t i = 1; i < trace.events.size(); i++) longest = std::max(longest, trace.events[i].size() + 2);
    EXPECT_EQ(scan.first_end, trace.events.front().size());
    EXPECT_EQ(scan.last_end, events.size() - 2);
    EXPECT_EQ(scan.longest, longest);
    EXPECT_EQ(scan.closed_at, events.size() + trace.tail.find(']'));
  }
}

}  // namespace
}  // namespace chopper::test
