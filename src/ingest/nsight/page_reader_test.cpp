// SPDX-License-Identifier: Apache-2.0
#include "ingest/nsight/page_reader.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>

namespace chopper::nsight {
namespace {

Result<TraceTables> read(const std::string& text) {
  return read_page([&]() -> Result<std::unique_ptr<ByteSource>> { return open_memory_source(text); }, "x.csv", {});
}

std::string read_error(const std::string& text) {
  const auto result = read(text);
  return result.ok() ? "read" : result.error().message + " | " + result.error().hint;
}

// The counters of one dispatch.
std::map<std::string, double> counters_of(const CounterPass& pass, std::uint32_t dispatch) {
  std::map<std::string, double> found;
  for (std::size_t i = 0; i < num_rows(pass.values); i++) {
    if (pass.values.dispatch[i] == dispatch)
      found[std::string(pass.strings.view(pass.counters[pass.values.counter[i]]))] = pass.values.value[i];
  }
  return found;
}

std::string unit_of(const CounterPass& pass, std::string_view counter) {
  for (std::size_t i = 0; i < pass.counters.size(); i++) {
    if (pass.strings.view(pass.counters[i]) == counter) return std::string(pass.strings.view(pass.counter_units[i]));
  }
  return "no such counter";
}

constexpr std::string_view kDetails =
    R"csv("ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","Section Name","Metric Name","Metric Unit","Metric Value")csv"
    "\n";

std::string details_row(const std::string& id, const std::string& metric, const std::string& unit,
                        const std::string& value, const std::string& section = "Command line profiler metrics") {
  return "\"" + id +
         R"csv(","77","app","node-1","void f<""a"">(int, int)","1","7","(128, 2, 1)","(9, 32, 4)","3","9.0",")csv" +
         section + "\",\"" + metric + "\",\"" + unit + "\",\"" + value + "\"\n";
}

TEST(NsightPage, ReadsEveryColumnOfADetailsRow) {
  const auto result = read(std::string(kDetails) + details_row("5", "sm__cycles_elapsed.max", "cycle", "840000") +
                           details_row("5", "gpu__time_duration.sum", "usecond", "499.2"));
  ASSERT_TRUE(result.ok()) << result.error().text();
  const CounterPass& pass = *result.value().pass;
  EXPECT_EQ(pass.content, PassContent::counters);
  EXPECT_EQ(pass.writer, "Nsight Compute, page details");
  ASSERT_EQ(num_rows(pass.dispatches), 1u);
  EXPECT_EQ(pass.dispatches.dispatch_id[0], 5);
  EXPECT_EQ(pass.dispatches.process[0], 77);
  EXPECT_EQ(pass.dispatches.stream[0], 7);
  EXPECT_EQ(pass.dispatches.start_ns[0], kNoNumber);
  EXPECT_EQ(pass.dispatches.end_ns[0], kNoNumber);
  EXPECT_EQ(pass.dispatches.duration_ns[0], 499200);
  EXPECT_EQ(pass.dispatches.offset[0], kDetails.size());
  EXPECT_EQ(result.value().facts.host, "node-1");
  EXPECT_EQ(result.value().facts.vendor, Vendor::nvidia);
  EXPECT_EQ(pass.devices[0].form, AgentForm::gpu);
  EXPECT_EQ(pass.devices[0].number, 3);
  const PassKernel& kernel = pass.kernels[0];
  EXPECT_EQ(pass.strings.view(kernel.name), "void f<\"a\">(int, int)");
  // Grids are written in blocks, and kept in work-items.
  EXPECT_EQ(kernel.workgroup, (Extent{128, 2, 1}));
  EXPECT_EQ(kernel.grid, (Extent{9 * 128, 32 * 2, 4}));
  EXPECT_EQ(kernel.workgroup_size, 256);
  EXPECT_EQ(kernel.grid_size, 256 * 9 * 32 * 4);
  EXPECT_EQ(counters_of(pass, 0),
            (std::map<std::string, double>{{"sm__cycles_elapsed.max", 840000}, {"gpu__time_duration.sum", 499200}}));
  EXPECT_EQ(unit_of(pass, "gpu__time_duration.sum"), "ns");
  EXPECT_EQ(unit_of(pass, "sm__cycles_elapsed.max"), "cycle");
  const CounterPassSummary summary = summarise_pass(pass);
  EXPECT_EQ(summary.num_with_duration, 1);
  EXPECT_EQ(summary.num_timed, 0);
  EXPECT_EQ(summary.devices[0].facts.architecture, "sm_90");
}

// What is no capability is no architecture, which would be that of another gpu.
TEST(NsightPage, TheArchitectureIsThatOfACapability) {
  const std::string row = details_row("5", "sm__cycles_elapsed.max", "cycle", "840000");
  for (const auto& [capability, architecture] : std::map<std::string, std::string>{
           {"12.0", "sm_120"}, {"9,0", "sm_90"}, {"", ""}, {"n/a", ""}, {"9", ""}, {"9.", ""}, {"9.0.1", ""}}) {
    std::string with = row;
    with.replace(with.find("9.0"), 3, capability);
    const auto result = read(std::string(kDetails) + with);
    ASSERT_TRUE(result.ok()) << capability;
    EXPECT_EQ(summarise_pass(*result.value().pass).devices[0].facts.architecture, architecture) << capability;
  }
}

// A damaged header may have section and unit behind what a row needs (found by the fuzzer: cells that are not there
// were read).
TEST(NsightPage, RowsMayBeShortOfSectionAndUnit) {
  const auto result = read(
      "\"ID\",\"Process ID\",\"Kernel Name\",\"Metric Name\",\"Metric Value\",\"Section Name\",\"Metric Unit\"\n"
      "\"0\",\"77\",\"f\",\"Elapsed Cycles\",\"840\",\"GPU Speed Of Light Throughput\",\"cycle\"\n"
      "\"1\",\"77\",\"f\",\"Memory Throughput\",\"25\"\n");
  ASSERT_TRUE(result.ok()) << result.error().text();
  const CounterPass& pass = *result.value().pass;
  ASSERT_EQ(num_rows(pass.values), 2u);
  EXPECT_EQ(pass.values.value[1], 25);
  EXPECT_EQ(pass.strings.view(pass.counters[pass.values.counter[1]]), "Memory Throughput");
}

TEST(NsightPage, ReadsARawPage) {
  const auto result = read(
      R"csv("ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","device__attribute_display_name","device__attribute_multiprocessor_count","dram__bytes.sum","gpu__time_duration.sum","launch__func_cache_config","sm__cycles_elapsed.max","thread Domain:Push/Pop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg")csv"
      "\n"
      R"csv("","","","","","","","","","","","","","Mbyte","msecond","","cycle","")csv"
      "\n"
      R"csv("0","1","app","h","k1","1","7","(32, 1, 1)","(2, 1, 1)","0","8.0","NVIDIA A100","108","1.25","0.5","CachePreferNone","500000","<default domain>")csv"
      "\n"
      R"csv("1","1","app","h","k2","1","7","(64, 1, 1)","(4, 1, 1)","0","8.0","NVIDIA A100","108","","0.25","CachePreferNone","n/a","")csv"
      "\n");
  ASSERT_TRUE(result.ok()) << result.error().text();
  const CounterPass& pass = *result.value().pass;
  EXPECT_EQ(pass.writer, "Nsight Compute, page raw");
  ASSERT_EQ(num_rows(pass.dispatches), 2u);
  EXPECT_EQ(counters_of(pass, 0), (std::map<std::string, double>{{"device__attribute_multiprocessor_count", 108},
                                                                 {"dram__bytes.sum", 1250000},
                                                                 {"gpu__time_duration.sum", 500000},
                                                                 {"sm__cycles_elapsed.max", 500000}}));
  EXPECT_EQ(counters_of(pass, 1), (std::map<std::string, double>{{"device__attribute_multiprocessor_count", 108},
                                                                 {"gpu__time_duration.sum", 250000}}));
  EXPECT_EQ(pass.dispatches.duration_ns, (std::vector<std::int64_t>{500000, 250000}));
  EXPECT_EQ(pass.kernels[1].grid, (Extent{256, 1, 1}));
  const AgentFacts facts = summarise_pass(pass).devices[0].facts;
  EXPECT_EQ(facts.product, "NVIDIA A100");
  EXPECT_EQ(facts.num_cu, 108);
  const HealthLog& health = result.value().health;
  EXPECT_EQ(health.count(HealthKind::missing_value), 1u);
  EXPECT_EQ(health.count(HealthKind::incomplete_counters), 1u);
  EXPECT_EQ(health.count(HealthKind::not_a_counter), 4u);  // the product and the cache, of two kernels
  EXPECT_EQ(result.value().facts.num_records, 2u);
}

TEST(NsightPage, ARawPageWithoutSizesTakesThemFromItsMetrics) {
  const auto result = read(
      R"csv("ID","Process ID","Process Name","Host Name","Kernel Name","Kernel Time","Context","Stream","launch__block_dim_x","launch__block_dim_y","launch__block_dim_z","launch__grid_dim_x","launch__grid_dim_y","launch__grid_dim_z")csv"
      "\n"
      R"csv("","","","","","","","","block","","","","","")csv"
      "\n"
      R"csv("0","1","app","h","k","2020-Jun-18 12:06:51","1","7","256","1","1","1,024","2","1")csv"
      "\n");
  ASSERT_TRUE(result.ok()) << result.error().text();
  const CounterPass& pass = *result.value().pass;
  EXPECT_EQ(pass.kernels[0].grid, (Extent{256 * 1024, 2, 1}));
  EXPECT_EQ(pass.devices[0].form, AgentForm::unknown);
}

// The separator of thousands is that of decimals elsewhere: what one file says in one cell holds for its others.
TEST(NsightPage, OneFileHasOneLocale) {
  const auto read_two = [](const std::string& doubtful, const std::string& telling) {
    const auto result = read(std::string(kDetails) + details_row("0", "gpu__time_duration.sum", "ns", doubtful) +
                             details_row("0", "dram__bytes.sum", "byte", telling));
    EXPECT_TRUE(result.ok());
    const std::int64_t duration = result.value().pass->dispatches.duration_ns[0];
    const auto counters = counters_of(*result.value().pass, 0);
    const auto found = counters.find("gpu__time_duration.sum");
    EXPECT_EQ(duration == kNoNumber, found == counters.end());
    EXPECT_EQ(result.value().health.count(HealthKind::ambiguous_number), found == counters.end() ? 1u : 0u);
    return found == counters.end() ? std::nan("") : found->second;
  };
  EXPECT_EQ(read_two("117.344", "27.595.520"), 117344);
  EXPECT_EQ(read_two("117.344", "27,595,520"), 117.344);
  EXPECT_EQ(read_two("117,344", "27,595,520"), 117344);
  EXPECT_EQ(read_two("117,344", "65.77"), 117344);
  EXPECT_EQ(read_two("117,344", "65,77"), 117.344);
  EXPECT_EQ(read_two("117,344", "27595520"), 117.344);
  EXPECT_EQ(read_two("117,344", "27 595 520"), 117.344);
  EXPECT_TRUE(std::isnan(read_two("117,344", "12")));
  EXPECT_TRUE(std::isnan(read_two("117,344", "n/a")));
}

TEST(NsightPage, ContradictingLocalesLeaveOutWhatIsAmbiguous) {
  const auto result = read(std::string(kDetails) + details_row("0", "a__b", "byte", "1.234") +
                           details_row("0", "c__d", "byte", "1,5") + details_row("0", "e__f", "byte", "1.5"));
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(counters_of(*result.value().pass, 0), (std::map<std::string, double>{{"c__d", 1.5}, {"e__f", 1.5}}));
  EXPECT_EQ(result.value().health.count(HealthKind::ambiguous_number), 1u);
}

TEST(NsightPage, OutputOfTheApplicationIsNoRow) {
  const std::string row = details_row("0", "a__b", "byte", "12"), other = details_row("1", "a__b", "byte", "13");
  const auto result = read(
      "==PROF== Connected to process 77 (/bin/app)\nloss 1.5, step \"2\n{\"loss\": 1.2, \"step\": 3}\n"
      "\"quoted\"\n" +
      std::string(kDetails) + row + "==PROF== 0: 50%\n[1, 2, \"x\"]\nit's, \"odd\n==WARNING== slow\nstep 12" + other +
      "==PROF== Disconnected from process 77\nlast line");
  ASSERT_TRUE(result.ok()) << result.error().text();
  const TraceTables& tables = result.value();
  EXPECT_EQ(tables.facts.num_records, 2u);
  EXPECT_EQ(counters_of(*tables.pass, 0).at("a__b"), 12);
  EXPECT_EQ(counters_of(*tables.pass, 1).at("a__b"), 13);
  EXPECT_EQ(tables.health.count(HealthKind::other_output), 10u);
  EXPECT_EQ(tables.health.count(HealthKind::text_repaired), 1u);
  EXPECT_EQ(tables.health.count(HealthKind::unreadable_row), 0u);
  EXPECT_EQ(tables.health.worst(), Severity::note);
}

TEST(NsightPage, ErrorsOfTheProfilerAreLosses) {
  const auto result = read(std::string(kDetails) + details_row("0", "a__b", "byte", "12") +
                           "==ERROR== Failed to profile \"k2\" in process 77\n");
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result.value().health.count(HealthKind::profiler_error), 1u);
  EXPECT_EQ(
      read_error("==PROF== Connected to process 1 (a)\n==ERROR== ERR_NVGPUCTRPERM - no permission\n"),
      "no metrics, but an error of Nsight Compute: ==ERROR== ERR_NVGPUCTRPERM - no permission | mend what it says "
      "and profile again");
  EXPECT_EQ(
      read_error("==PROF== Connected to process 1 (a)\n==WARNING== No kernels were profiled.\n"),
      "no table of Nsight Compute in it | print one with ncu --import REPORT --csv --page raw --print-units base");
}

TEST(NsightPage, RefusesAReportWithTheCommandThatPrintsIt) {
  EXPECT_EQ(
      read_error(std::string("NVR\0\x1c\0\0\0\x0a", 9)),
      "a report that only Nsight Compute reads: print it with ncu --import FILE --csv --page raw --print-units base "
      "| ncu --import x.csv --csv --page raw --print-units base > counters.csv");
}

TEST(NsightPage, WithoutUnitsARawPageIsNotGuessed) {
  EXPECT_EQ(
      read_error("\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"gpu__time_duration.sum\"\n"
                 "\"1\",\"10\",\"python\",\"host\",\"k\",\"5.0\"\n"),
      "the line of units below the header is missing | print it again with ncu --import REPORT --csv --page raw "
      "--print-units base");
}

// The figures of the real file, taken from it by hand.
TEST(NsightPage, RealFileOfAB200) {
  const char* folder = std::getenv("CHOPPER_TEST_DATA");
  if (folder == nullptr) GTEST_SKIP() << "CHOPPER_TEST_DATA is not set";
  const std::filesystem::path path = std::filesystem::path(folder) / "ncu/b200_cublaslt_ncu_details.csv";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not there";
  const auto result = read_page([&] { return open_byte_source(path); }, "b200.csv", {});
  ASSERT_TRUE(result.ok()) << result.error().text();
  const CounterPass& pass = *result.value().pass;
  ASSERT_EQ(num_rows(pass.dispatches), 1u);
  EXPECT_EQ(pass.dispatches.duration_ns[0], 406240);
  EXPECT_EQ(pass.dispatches.process[0], 371693);
  EXPECT_EQ(pass.kernels[0].workgroup, (Extent{384, 1, 1}));
  EXPECT_EQ(pass.kernels[0].grid, (Extent{9 * 384, 32, 1}));
  EXPECT_EQ(pass.kernels[0].grid_size, 110592);  // "Threads" of the same file
  const auto counters = counters_of(pass, 0);
  EXPECT_EQ(counters.size(), 47u);
  EXPECT_EQ(counters.at("Threads"), 110592);
  EXPECT_EQ(counters.at("Elapsed Cycles"), 508757);
  EXPECT_EQ(counters.at("SM Active Cycles"), 462061.91);
  EXPECT_EQ(counters.at("DRAM Frequency"), 3995313115.40);
  EXPECT_EQ(counters.at("SM Frequency"), 1239496049.13);
  EXPECT_EQ(counters.at("Memory Throughput"), 21.68);
  EXPECT_EQ(counters.at("Compute (SM) Throughput"), 23.59);
  EXPECT_EQ(counters.at("Total SMSP Elapsed Cycles"), 300954008);
  EXPECT_EQ(counters.at("Dynamic Shared Memory Per Block"), 205696);
  EXPECT_EQ(unit_of(pass, "SM Frequency"), "Hz");
  EXPECT_EQ(unit_of(pass, "Duration"), "ns");
  // The clock of the pass: 508757 cycles in 406240 ns.
  EXPECT_NEAR(counters.at("Elapsed Cycles") / static_cast<double>(pass.dispatches.duration_ns[0]), 1.252356, 1e-6);
  EXPECT_EQ(result.value().facts.num_records, 58u);
  EXPECT_EQ(result.value().health.count(HealthKind::not_a_counter), 11u);  // 8 rules, 3 words
}

}  // namespace
}  // namespace chopper::nsight
