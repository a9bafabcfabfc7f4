// SPDX-License-Identifier: Apache-2.0
#include "ingest/kineto/counter_ranges.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "ingest/kineto/reader.h"

namespace chopper {
namespace {

std::string members_of(std::string_view text) {
  std::string found;
  FlatMembers members(text);
  while (const auto member = members.next())
    found += std::string(member->name) + "=" + std::string(member->value) + ";";
  return found;
}

TEST(FlatMembers, AreTakenOneByOne) {
  EXPECT_EQ(members_of(R"("a__b": 1, "c" :"x\"}", "d__e":-2.5e+3 } , "f": 1)"),
            "a__b=1;c=x\\\"}\x3b"
            "d__e=-2.5e+3;");
  EXPECT_EQ(members_of("\"a\":true\n}"), "a=true;");
  EXPECT_EQ(members_of(R"("a": 1, "list": [1, 2], "b": 3})"), "a=1;");
  EXPECT_EQ(members_of(R"("a": 1, "b)"), "a=1;");
  EXPECT_EQ(members_of("}"), "");
  EXPECT_EQ(members_of(""), "");
}

Result<TraceTables> read(const std::string& text, std::size_t window) {
  ReadOptions options;
  options.window_bytes = window;
  options.threads = 2;
  return read_trace_document([&]() -> Result<std::unique_ptr<ByteSource>> { return open_memory_source(text); },
                             "x.json", options);
}

// Members may stand in any order, and in front of the category.
TEST(CounterRanges, AreKeptBesideTheTrace) {
  const std::string text =
      R"([{"args":{"a__b.sum":38731776,"queued":0},"name":"gemm<\"x\">","cat":"cuda_profiler_range","ph":"X","pid":1,"tid":0,"ts":1000,"dur":5},)"
      R"({"ph":"X","cat":"kernel","name":"add","pid":0,"tid":7,"ts":1000,"dur":5,"args":{"x__y":3}},)"
      R"({"ph":"X","cat":"cuda_profiler_range","name":"add","pid":1,"tid":0,"ts":1005,"dur":5,"args":{"c__d.avg":1.5,"a__b.sum":2,"a__b.sum":2}},)"
      R"({"ph":"X","cat":"cuda_profiler_range","name":"add","pid":1,"tid":0,"ts":1010,"dur":5,"args":{}}])";
  for (const std::size_t window : {std::size_t{0}, std::size_t{1}, std::size_t{64}}) {
    const auto result = read(text, window);
    ASSERT_TRUE(result.ok()) << result.error().text();
    const TraceTables& tables = result.value();
    EXPECT_FALSE(tables.pass.has_value());
    EXPECT_EQ(num_rows(tables.gpu_work), 1u);
    ASSERT_TRUE(tables.counters.has_value());
    const CounterPass& pass = *tables.counters;
    ASSERT_EQ(num_rows(pass.dispatches), 3u);
    EXPECT_EQ(pass.strings.view(pass.kernels[pass.dispatches.kernel[0]].name), "gemm<\"x\">");
    EXPECT_EQ(pass.strings.view(pass.kernels[pass.dispatches.kernel[2]].name), "add");
    EXPECT_EQ(pass.devices[0].form, AgentForm::gpu);
    EXPECT_EQ(pass.devices[0].number, 1);
    // The times of ranges are made up by the profiler.
    EXPECT_EQ(pass.dispatches.start_ns, (std::vector<std::int64_t>(3, kNoNumber)));
    EXPECT_EQ(pass.dispatches.duration_ns, (std::vector<std::int64_t>(3, kNoNumber)));
    EXPECT_EQ(pass.values.dispatch, (std::vector<std::uint32_t>{0, 1, 1}));
    EXPECT_EQ(pass.values.value, (std::vector<double>{38731776, 1.5, 2}));
    EXPECT_EQ(pass.strings.view(pass.counters[pass.values.counter[1]]), "c__d.avg");
    EXPECT_EQ(tables.health.count(HealthKind::repeated_row), 1u);
  }
}

// The figures of the real file, taken from it by hand: range 0 and 1, and the last.
TEST(CounterRanges, RealFileOfAnA100) {
  const char* folder = std::getenv("CHOPPER_TEST_DATA");
  if (folder == nullptr) GTEST_SKIP() << "CHOPPER_TEST_DATA is not set";
  const std::filesystem::path path = std::filesystem::path(folder) / "kineto/nvidia_a100_cupti_counters.json.gz";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not there";
  const auto result = read_trace_document([&] { return open_byte_source(path); }, "a100.json", {});
  ASSERT_TRUE(result.ok()) << result.error().text();
  const CounterPass& pass = *result.value().counters;
  ASSERT_EQ(num_rows(pass.dispatches), 77u);
  ASSERT_EQ(pass.counters.size(), 9u);
  ASSERT_EQ(num_rows(pass.values), 693u);
  const auto value = [&](std::size_t range, std::string_view operation) {
    for (std::size_t i = range * 9; i < range * 9 + 9; i++) {
      const std::string_view name = pass.strings.view(pass.counters[pass.values.counter[i]]);
      if (name == "smsp__sass_thread_inst_executed_op_" + std::string(operation) + "_pred_on.sum")
        return pass.values.value[i];
    }
    return -1.0;
  };
  EXPECT_EQ(value(0, "hfma"), 4866048);
  EXPECT_EQ(value(0, "ffma"), 38731776);
  EXPECT_EQ(value(1, "ffma"), 9119334400);
  EXPECT_EQ(value(1, "fmul"), 24780800);
  EXPECT_EQ(value(76, "fadd"), 131072);
  EXPECT_EQ(value(76, "ffma"), 0);
  EXPECT_EQ(pass.strings.view(pass.kernels[pass.dispatches.kernel[1]].name), "__missing__");
}

}  // namespace
}  // namespace chopper
