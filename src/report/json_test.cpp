// SPDX-License-Identifier: Apache-2.0
#include "report/json.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

namespace chopper {
namespace {

std::string string_of(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

std::string number_of(double value) {
  std::string out;
  append_json_number(out, value);
  return out;
}

std::string json_of(const Answer& answer, bool with_kernels) {
  std::string out;
  const bool done = write_json(answer, {.version = "1.2.3", .with_kernels = with_kernels}, [&](std::string_view piece) {
    out += piece;
    return true;
  });
  EXPECT_TRUE(done);
  return out;
}

// The line of `json` that starts with `start`, without a separating comma.
std::string line_of(const std::string& json, const std::string& start) {
  const std::size_t at = json.find("\n" + start);
  if (at == std::string::npos) return "";
  std::string line = json.substr(at + 1, json.find('\n', at + 1) - at - 1);
  if (line.ends_with(',')) line.pop_back();
  return line;
}

TEST(JsonString, EscapesWhatJsonForbids) {
  EXPECT_EQ(string_of("a\"b\\c/d"), R"("a\"b\\c/d")");
  EXPECT_EQ(string_of(std::string_view("\x00\x01\n\t\r\x1f\x7f", 7)), "\"\\u0000\\u0001\\n\\t\\u000d\\u001f\x7f\"");
}

TEST(JsonString, KeepsUtf8AndReplacesOtherBytes) {
  EXPECT_EQ(string_of("\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80"), "\"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\"");
  const std::string bad = "\xEF\xBF\xBD";
  EXPECT_EQ(string_of("a\xFFz"), "\"a" + bad + "z\"");
  EXPECT_EQ(string_of("\xE2\x82"), "\"" + bad + bad + "\"");            // cut short
  EXPECT_EQ(string_of("\xC0\x80"), "\"" + bad + bad + "\"");            // overlong
  EXPECT_EQ(string_of("\xED\xA0\x80"), "\"" + bad + bad + bad + "\"");  // surrogate
  EXPECT_EQ(string_of("\xF4\x90\x80\x80"), "\"" + bad + bad + bad + bad + "\"");
}

TEST(JsonNumber, IsShortestThatReadsBack) {
  EXPECT_EQ(number_of(0.1), "0.1");
  EXPECT_EQ(number_of(1.0 / 3), "0.3333333333333333");
  EXPECT_EQ(number_of(1), "1.0");
  EXPECT_EQ(number_of(0), "0.0");
  EXPECT_EQ(number_of(-2), "-2.0");
  EXPECT_EQ(number_of(1e300), "1e+300");
  EXPECT_EQ(std::stod(number_of(0.1 + 0.2)), 0.1 + 0.2);
}

TEST(WriteJson, EmptyAnswerHasEveryTable) {
  EXPECT_EQ(
      json_of({}, false),
      "{\n\"chopper\":{\"version\":\"1.2.3\",\"schema\":1},\n\"inputs\":[],\n\"gpus\":[],\n\"health\":[],\n"
      "\"coverage\":[],\n\"label_rules\":[],\n\"timeline\":[],\n\"steps\":[],\n\"ranks\":[],\n\"operations\":[],\n"
      "\"launch\":[],\n\"host_blockers\":[],\n\"collectives\":[],\n\"alignment\":[],\n\"alignment_gaps\":[],"
      "\n\"metrics\":[],"
      "\n\"decomposition\":[],\n\"budget\":[],\n\"memory\":[],\n\"throughput\":[],\n"
      "\"kernel_summary\":[]\n}\n");
  const std::string with_kernels = json_of({}, true);
  EXPECT_NE(with_kernels.find("\"kernels\":[],\n\"copies\":[]\n}"), std::string::npos);
}

TEST(WriteJson, AbsentHasNoKeyAndUnavailableHasAReason) {
  Answer answer;
  GpuRow gpu;
  gpu.input = 0;
  gpu.rank = Reason::rank_unknown;
  gpu.gpu = 3;
  gpu.gpu_id = "a";
  gpu.name = Reason::no_device_facts;
  answer.gpus = {gpu, gpu};
  answer.gpus[1].input = 1;
  answer.gpus[1].rank = 7;
  answer.gpus[1].name = std::string("X");
  const std::string json = json_of(answer, false);
  EXPECT_EQ(line_of(json, "{\"input\":0"),
            R"({"input":0,"rank":null,"gpu":3,"gpu_id":"a","name":null,"num_kernels":0,"num_memcpy":0,"num_memset":0,)"
            R"("num_comm_kernels":0,"unavailable":{"rank":"rank_unknown","name":"no_device_facts"}})");
  EXPECT_EQ(line_of(json, "{\"input\":1"),
            R"({"input":1,"rank":7,"gpu":3,"gpu_id":"a","name":"X","num_kernels":0,"num_memcpy":0,"num_memset":0,)"
            R"("num_comm_kernels":0})");
}

TEST(WriteJson, WritesListsAndLargeIntegers) {
  Answer answer;
  KernelSummaryRow kernel;
  kernel.name = "k";
  kernel.gpu_class = "gemm";
  kernel.grid = ExtentList{{16, 1, 2}};
  kernel.block = Reason::no_extent;
  kernel.total_ns = std::numeric_limits<std::int64_t>::max();
  answer.kernel_summary = {kernel};
  HealthRow health;
  health.kind = "truncated";
  health.examples = {{"f @ byte 1", "cut"}, {"g", ""}};
  answer.health = {health};
  const std::string json = json_of(answer, false);
  EXPECT_NE(json.find(R"("grid":[16,1,2],"block":null,)"), std::string::npos);
  EXPECT_NE(json.find(R"("total_ns":9223372036854775807,)"), std::string::npos);
  EXPECT_NE(json.find(R"("examples":[{"where":"f @ byte 1","what":"cut"},{"where":"g","what":""}]})"),
            std::string::npos);
}

TEST(WriteJson, StopsWhenTheSinkIsFull) {
  Answer answer;
  answer.timeline.resize(2000);
  int calls = 0;
  EXPECT_FALSE(write_json(answer, {.version = "1", .with_kernels = false}, [&](std::string_view) {
    calls++;
    return false;
  }));
  EXPECT_EQ(calls, 1);
}

TEST(WriteJson, LargeTablesComeInPieces) {
  Answer answer;
  answer.timeline.resize(5000);
  std::size_t largest = 0;
  std::size_t total = 0;
  EXPECT_TRUE(write_json(answer, {.version = "1", .with_kernels = false}, [&](std::string_view piece) {
    largest = std::max(largest, piece.size());
    total += piece.size();
    return true;
  }));
  EXPECT_GT(total, std::size_t{1} << 20);
  EXPECT_LT(largest, std::size_t{140} << 10);
}

}  // namespace
}  // namespace chopper
