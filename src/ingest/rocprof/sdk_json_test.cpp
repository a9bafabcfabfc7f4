// SPDX-License-Identifier: Apache-2.0
#include "ingest/rocprof/sdk_json.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/sanitizer.h"

namespace chopper::rocprof {
namespace {

TraceTables read(const std::string& text, std::size_t window = 0) {
  ReadOptions options;
  options.window_bytes = window;
  auto tables = read_sdk_json([&]() -> Result<std::unique_ptr<ByteSource>> { return open_memory_source(text); },
                              "x.json", options);
  EXPECT_TRUE(tables.ok()) << tables.error().text();
  return tables.ok() ? std::move(tables.value()) : TraceTables{};
}

std::string info(int agent, int kernel, int dispatch) {
  return "\"dispatch_info\":{\"size\":72,\"agent_id\":{\"handle\":" + std::to_string(agent) +
         "},\"queue_id\":{\"handle\":16},\"kernel_id\":" + std::to_string(kernel) +
         ",\"dispatch_id\":" + std::to_string(dispatch) +
         ",\"private_segment_size\":4,\"group_segment_size\":64,\"workgroup_size\":{\"x\":64,\"y\":2,\"z\":1},"
         "\"grid_size\":{\"x\":640,\"y\":4,\"z\":3}}";
}

std::string times(int start, int end) {
  return "\"start_timestamp\":" + std::to_string(start) + ",\"end_timestamp\":" + std::to_string(end);
}

std::string counted(int dispatch, const std::string& records, const std::string& of_time = "") {
  return "{\"dispatch_data\":{\"size\":128,\"correlation_id\":{\"internal\":9,\"external\":0}," + of_time +
         (of_time.empty() ? "" : ",") + info(104, 8, dispatch) + "},\"records\":[" + records +
         "],\"thread_id\":157,\"arch_vgpr_count\":32,\"sgpr_count\":96,\"lds_block_size_v\":512}";
}

std::string instance(int counter, const std::string& value) {
  return "{\"counter_id\":{\"handle\":" + std::to_string(counter) + "},\"value\":" + value + "}";
}

std::string listed(int dispatch, int start, int end) {
  return "{\"size\":184,\"kind\":11,\"thread_id\":157,\"correlation_id\":{\"internal\":9,\"external\":0}," +
         times(start, end) + "," + info(104, 8, dispatch) + ",\"stream_id\":{\"handle\":3}}";
}

std::string document(const std::string& counters, const std::string& dispatches, const std::string& marks = "") {
  return "{\"rocprofiler-sdk-tool\":[{\"metadata\":{\"pid\":156,\"config\":{\"pid\":1}},"
         "\"agents\":[{\"size\":1,\"id\":{\"handle\":100},\"type\":1,\"node_id\":0,\"logical_node_id\":0},"
         "{\"size\":1,\"id\":{\"handle\":104},\"type\":2,\"node_id\":4,\"logical_node_id\":1,\"num_xcc\":8,"
         "\"cu_count\":304,\"max_engine_clk_fcompute\":2100,\"wave_front_size\":64,\"simd_count\":1216,"
         "\"name\":\"gfx942\",\"product_name\":\"MI300X\",\"vendor_name\":\"AMD\",\"location_id\":768}],"
         "\"counters\":[{\"agent_id\":{\"handle\":104},\"id\":{\"handle\":11},\"name\":\"GRBM_GUI_ACTIVE\"},"
         "{\"agent_id\":{\"handle\":104},\"id\":{\"handle\":12},\"name\":\"SQ_WAVES\"}],"
         "\"strings\":{\"marker_api\":[{\"key\":5,\"value\":\"step 0\"}]},"
         "\"kernel_symbols\":[{\"size\":88,\"kernel_id\":8,\"kernel_name\":\"k.kd\",\"formatted_kernel_name\":"
         "\"k<\\\"x\\\">\",\"arch_vgpr_count\":8,\"accum_vgpr_count\":4,\"sgpr_count\":32}],"
         "\"callback_records\":{\"counter_collection\":[" +
         counters + "]},\"buffer_records\":{\"kernel_dispatch\":[" + dispatches + "],\"hip_api\":[{\"a\":[1,2,{}]}]," +
         "\"marker_api\":[" + marks + "]}}]}";
}

TEST(SdkJson, ReadsEveryFieldOfADispatch) {
  const TraceTables tables = read(document(
      counted(1, instance(11, "840000.0") + "," + instance(11, "850000.5") + "," + instance(12, "7"), times(10, 20)),
      listed(1, 10, 20)));
  const CounterPass& pass = *tables.pass;
  EXPECT_EQ(pass.content, PassContent::counters);
  ASSERT_EQ(num_rows(pass.dispatches), 1u);
  EXPECT_EQ(pass.dispatches.dispatch_id[0], 1);
  EXPECT_EQ(pass.dispatches.process[0], 156);
  EXPECT_EQ(pass.dispatches.thread[0], 157);
  EXPECT_EQ(pass.dispatches.queue[0], 16);
  EXPECT_EQ(pass.dispatches.stream[0], 3);
  EXPECT_EQ(pass.dispatches.correlation[0], 9);
  EXPECT_EQ(pass.dispatches.start_ns[0], 10);
  EXPECT_EQ(pass.dispatches.end_ns[0], 20);
  const PassKernel& kernel = pass.kernels.at(0);
  EXPECT_EQ(pass.strings.view(kernel.name), "k<\"x\">");
  EXPECT_EQ(kernel.kernel_id, 8);
  EXPECT_EQ(kernel.grid, (Extent{640, 4, 3}));
  EXPECT_EQ(kernel.workgroup, (Extent{64, 2, 1}));
  EXPECT_EQ(kernel.grid_size, 7680);
  EXPECT_EQ(kernel.workgroup_size, 128);
  EXPECT_EQ(kernel.lds_bytes, 512);  // of the launch; the symbol has what is fixed alone
  EXPECT_EQ(kernel.scratch_bytes, 4);
  EXPECT_EQ(kernel.num_vgpr, 32);
  EXPECT_EQ(kernel.num_accum_vgpr, 4);
  EXPECT_EQ(kernel.num_sgpr, 96);
  EXPECT_EQ(pass.devices[0].form, AgentForm::node);
  EXPECT_EQ(pass.devices[0].number, 4);
  ASSERT_EQ(num_rows(pass.values), 2u);
  EXPECT_EQ(pass.strings.view(pass.counters[pass.values.counter[0]]), "GRBM_GUI_ACTIVE");
  EXPECT_EQ(pass.values.value[0], 1690000.5);
  EXPECT_EQ(pass.values.maximum[0], 850000.5);
  EXPECT_EQ(pass.values.value[1], 7);
  EXPECT_EQ(pass.values.maximum[1], 7);
}

TEST(SdkJson, ReadsAgents) {
  const TraceTables tables = read(document("", listed(1, 10, 20)));
  ASSERT_EQ(tables.pass->agents.size(), 2u);
  EXPECT_FALSE(tables.pass->agents[0].is_gpu);
  const AgentFacts& gpu = tables.pass->agents[1];
  EXPECT_TRUE(gpu.is_gpu);
  EXPECT_EQ(gpu.node, 4);
  EXPECT_EQ(gpu.visible_index, 1);
  EXPECT_EQ(gpu.type_index, 0);
  EXPECT_EQ(gpu.num_xcc, 8);
  EXPECT_EQ(gpu.num_cu, 304);
  EXPECT_EQ(gpu.num_simd, 1216);
  EXPECT_EQ(gpu.wave_size, 64);
  EXPECT_EQ(gpu.max_clock_mhz, 2100);
  EXPECT_EQ(gpu.pci_location, 768);
  EXPECT_EQ(gpu.architecture, "gfx942");
  EXPECT_EQ(gpu.product, "MI300X");
}

TEST(SdkJson, TakesTimesFromTheListOfDispatches) {
  const TraceTables tables =
      read(document(counted(1, instance(12, "7")) + "," + counted(2, instance(12, "8"), times(30, 40)),
                    listed(2, 30, 40) + "," + listed(1, 10, 20) + "," + listed(3, 50, 60)));
  const CounterPass& pass = *tables.pass;
  EXPECT_EQ(pass.dispatches.dispatch_id, (std::vector<std::int64_t>{1, 2, 3}));
  EXPECT_EQ(pass.dispatches.start_ns, (std::vector<std::int64_t>{10, 30, 50}));
  EXPECT_EQ(pass.values.value, (std::vector<double>{7, 8}));
  EXPECT_EQ(tables.health.count(HealthKind::repeated_row), 0u);
}

TEST(SdkJson, CountsADispatchThatIsListedTwice) {
  const TraceTables tables = read(document("", listed(1, 10, 20) + "," + listed(1, 10, 20) + "," + listed(1, 10, 21)));
  EXPECT_EQ(num_rows(tables.pass->dispatches), 1u);
  EXPECT_EQ(tables.health.count(HealthKind::repeated_row), 1u);
  EXPECT_EQ(tables.health.count(HealthKind::conflicting_value), 1u);
  EXPECT_EQ(tables.facts.num_records, 5u);  // with two agents
}

TEST(SdkJson, ReadsMarks) {
  const TraceTables tables = read(document(
      "", "",
      "{\"size\":56,\"correlation_id\":{\"internal\":5,\"external\":0},\"thread_id\":157," + times(10, 90) + "}"));
  const CounterPass& pass = *tables.pass;
  EXPECT_EQ(pass.content, PassContent::marks);
  ASSERT_EQ(num_rows(pass.marks), 1u);
  EXPECT_EQ(pass.strings.view(pass.marks.name[0]), "step 0");
  EXPECT_EQ(pass.marks.process[0], 156);
  EXPECT_EQ(pass.marks.start_ns[0], 10);
  EXPECT_EQ(pass.marks.end_ns[0], 90);
}

TEST(SdkJson, NotesInstancesTheWriterOfRocm62Dropped) {
  std::string many;
  for (int i = 0; i < 512; i++) many += (i > 0 ? "," : "") + instance(12, "1");
  EXPECT_EQ(read(document(counted(1, many), "")).health.count(HealthKind::instances_dropped), 1u);
  EXPECT_EQ(read(document(counted(1, many + "," + instance(12, "1")), "")).health.count(HealthKind::instances_dropped),
            0u);
}

// A lost quote or bracket costs its record; the others are read.
TEST(SdkJson, AFlippedByteCostsTwoRecordsAtMost) {
  std::string list;
  constexpr int kDispatches = 12;
  for (int i = 1; i <= kDispatches; i++) list += (i > 1 ? "," : "") + listed(i, 10 * i, 10 * i + 5);
  const std::string whole = document("", list);
  const std::size_t first = whole.find(list), behind = first + list.size();
  for (std::size_t at = first; at < behind; at += test::kPlaceStride) {
    for (const char other : {'"', '}', '{', ',', 'x'}) {
      std::string text = whole;
      if (text[at] == other) continue;
      text[at] = other;
      const TraceTables tables = read(text);
      ASSERT_GE(num_rows(tables.pass->dispatches) + 2, static_cast<std::size_t>(kDispatches))
          << "byte " << at << " is " << other;
    }
  }
}

}  // namespace
}  // namespace chopper::rocprof
