// SPDX-License-Identifier: Apache-2.0
#include "ingest/rocprof/table_reader.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace chopper::rocprof {
namespace {

Result<TraceTables> read(const std::string& text) {
  ReadOptions options;
  return read_table([&]() -> Result<std::unique_ptr<ByteSource>> { return open_memory_source(text); }, "x.csv",
                    options);
}

constexpr std::string_view kCounters =
    "Dispatch_Id,Agent_Id,Process_Id,Grid_Size,Kernel_Id,Kernel_Name,Workgroup_Size,LDS_Block_Size,Scratch_Size,"
    "VGPR_Count,Accum_VGPR_Count,SGPR_Count,Counter_Name,Counter_Value,Start_Timestamp,End_Timestamp\n";

TEST(RocprofTable, ReadsEveryColumnOfACounterRow) {
  const auto read_one = read(std::string(kCounters) +
                             "3,\"Agent 4\",77,65536,9,\"f<\"\"a\"\">(int, int)\",256,512,16,32,8,96,\"SQ_WAVES\","
                             "1024.500000,1000,1900\n");
  ASSERT_TRUE(read_one.ok()) << read_one.error().text();
  const CounterPass& pass = *read_one.value().pass;
  EXPECT_EQ(pass.content, PassContent::counters);
  ASSERT_EQ(num_rows(pass.dispatches), 1u);
  ASSERT_EQ(num_rows(pass.values), 1u);
  EXPECT_EQ(pass.dispatches.dispatch_id[0], 3);
  EXPECT_EQ(pass.dispatches.process[0], 77);
  EXPECT_EQ(pass.dispatches.start_ns[0], 1000);
  EXPECT_EQ(pass.dispatches.end_ns[0], 1900);
  EXPECT_EQ(pass.dispatches.correlation[0], kNoNumber);
  EXPECT_EQ(pass.dispatches.offset[0], kCounters.size());
  EXPECT_EQ(pass.devices[0].number, 4);
  const PassKernel& kernel = pass.kernels[0];
  EXPECT_EQ(pass.strings.view(kernel.name), "f<\"a\">(int, int)");
  EXPECT_EQ(kernel.kernel_id, 9);
  EXPECT_EQ(kernel.grid_size, 65536);
  EXPECT_EQ(kernel.workgroup_size, 256);
  EXPECT_FALSE(kernel.grid.known());
  EXPECT_EQ(kernel.lds_bytes, 512);
  EXPECT_EQ(kernel.scratch_bytes, 16);
  EXPECT_EQ(kernel.num_vgpr, 32);
  EXPECT_EQ(kernel.num_accum_vgpr, 8);
  EXPECT_EQ(kernel.num_sgpr, 96);
  EXPECT_EQ(pass.strings.view(pass.counters[0]), "SQ_WAVES");
  EXPECT_EQ(pass.values.value[0], 1024.5);
  EXPECT_EQ(pass.values.offset[0], kCounters.size());
}

TEST(RocprofTable, ReadsExtentsAndSegmentsOfAKernelRow) {
  const auto read_one = read(
      "Agent_Id,Kernel_Name,Start_Timestamp,End_Timestamp,Private_Segment_Size,Group_Segment_Size,Workgroup_Size_X,"
      "Workgroup_Size_Y,Workgroup_Size_Z,Grid_Size_X,Grid_Size_Y,Grid_Size_Z\n2,k,10,20,8,64,4,3,2,400,30,20\n");
  ASSERT_TRUE(read_one.ok()) << read_one.error().text();
  const CounterPass& pass = *read_one.value().pass;
  EXPECT_EQ(pass.content, PassContent::kernel_times);
  const PassKernel& kernel = pass.kernels.at(0);
  EXPECT_EQ(kernel.grid, (Extent{400, 30, 20}));
  EXPECT_EQ(kernel.workgroup, (Extent{4, 3, 2}));
  EXPECT_EQ(kernel.lds_bytes, 64);
  EXPECT_EQ(kernel.scratch_bytes, 8);
  EXPECT_EQ(pass.dispatches.dispatch_id[0], kNoNumber);
}

TEST(RocprofTable, PutsRowsOfADispatchTogetherWhateverTheirOrder) {
  const auto row = [](int dispatch, const char* counter, int value, int process = 1) {
    return std::to_string(dispatch) + ",GPU 0," + std::to_string(process) + ",1,1,k,1,0,0,0,0,0," + counter + "," +
           std::to_string(value) + ",10,20\n";
  };
  const auto read_one = read(std::string(kCounters) + row(1, "A", 1) + row(2, "A", 2) + row(1, "B", 3) +
                             row(1, "A", 4, 2) + row(2, "B", 5));
  ASSERT_TRUE(read_one.ok());
  const CounterPass& pass = *read_one.value().pass;
  EXPECT_EQ(num_rows(pass.dispatches), 3u);  // another process has a dispatch 1 of its own
  EXPECT_EQ(pass.kernels.size(), 1u);
  EXPECT_EQ(pass.values.value, (std::vector<double>{1, 3, 2, 5, 4}));
  EXPECT_EQ(pass.values.dispatch, (std::vector<std::uint32_t>{0, 0, 1, 1, 2}));
  EXPECT_EQ(pass.values.counter, (std::vector<std::uint32_t>{0, 1, 0, 1, 0}));
}

TEST(RocprofTable, KeepsTheFirstOfTwoValues) {
  const std::string row = "1,GPU 0,1,1,1,k,1,0,0,0,0,0,A,";
  const auto read_one = read(std::string(kCounters) + row + "1,10,20\n" + row + "1.000000,10,20\n" + row + "2,10,20\n");
  ASSERT_TRUE(read_one.ok());
  EXPECT_EQ(read_one.value().pass->values.value, std::vector<double>{1});
  EXPECT_EQ(read_one.value().health.count(HealthKind::repeated_row), 1u);
  EXPECT_EQ(read_one.value().health.count(HealthKind::conflicting_value), 1u);
  EXPECT_EQ(read_one.value().facts.num_records, 3u);
}

TEST(RocprofTable, ReadsNumbersOfOtherWriters) {
  const auto read_one = read(
      "Dispatch_Id,Agent_Id,Kernel_Name,Counter_Name,Counter_Value,Thread_Id,Queue_Id\n"
      "7.0,4,k,A,1.25e+03,18446744073709551615,\n");
  ASSERT_TRUE(read_one.ok());
  const CounterPass& pass = *read_one.value().pass;
  ASSERT_EQ(num_rows(pass.values), 1u);
  EXPECT_EQ(pass.dispatches.dispatch_id[0], 7);
  EXPECT_EQ(pass.dispatches.thread[0], -1);
  EXPECT_EQ(pass.dispatches.queue[0], kNoNumber);
  EXPECT_EQ(pass.values.value[0], 1250);
}

// A last row without a line end is used only where its last cell cannot have lost a digit.
TEST(RocprofTable, TrustsAnUnendedRowOnlyWhereNothingCanBeMissing) {
  const auto num_values = [](const std::string& text) {
    const auto result = read(text);
    return result.ok() ? static_cast<int>(num_rows(result.value().pass->values)) : -1;
  };
  const std::string timed = std::string(kCounters) + "1,GPU 0,1,1,1,k,1,0,0,0,0,0,A,1.000000,1000,";
  EXPECT_EQ(num_values(timed + "1900"), 1);
  EXPECT_EQ(num_values(timed + "190"), 0);
  EXPECT_EQ(num_values(timed + "0900"), 0);
  EXPECT_EQ(num_values(timed), 0);
  const std::string untimed = "Dispatch_Id,Agent_Id,Kernel_Name,Counter_Name,Counter_Value\n1,4,k,A,";
  EXPECT_EQ(num_values(untimed + "12.000000"), 1);
  EXPECT_EQ(num_values(untimed + "5.00000000e-01"), 1);
  for (const char* cut : {"12.00000", "12.", "12", "5.000000", "5.00000000e-0", "5.00000000", "", "-12.000000"})
    EXPECT_EQ(num_values(untimed + cut), 0) << cut;
  EXPECT_EQ(num_values(untimed + "5.000000\n"), 1);
}

TEST(RocprofTable, ReadsMarksAndRefusesCalls) {
  const std::string header = "Domain,Function,Process_Id,Thread_Id,Correlation_Id,Start_Timestamp,End_Timestamp\n";
  const auto marks = read(header + "\"MARKER_CORE_API\",\"step \"7\", \"x\"\",5,6,1,100,200\n" +
                          "MARKER_CORE_RANGE_API,step,5,6,2,300,300\nMARKER_CORE_API,s,5,6,3,300,200\n" +
                          "HIP_RUNTIME_API,hipFree,5,6,4,1,2\n");
  ASSERT_TRUE(marks.ok()) << marks.error().text();
  const CounterPass& pass = *marks.value().pass;
  EXPECT_EQ(pass.content, PassContent::marks);
  ASSERT_EQ(num_rows(pass.marks), 2u);
  EXPECT_EQ(pass.strings.view(pass.marks.name[0]), "step \"7\", \"x\"");
  EXPECT_EQ(pass.marks.process[0], 5);
  EXPECT_EQ(pass.marks.thread[0], 6);
  EXPECT_EQ(pass.marks.start_ns[0], 100);
  EXPECT_EQ(pass.marks.end_ns[0], 200);
  EXPECT_EQ(pass.marks.offset[0], header.size());
  EXPECT_EQ(marks.value().health.count(HealthKind::negative_duration), 1u);
  EXPECT_EQ(marks.value().health.count(HealthKind::unreadable_value), 1u);
  for (const char* rows : {"", "HIP_RUNTIME_API,hipFree,5,6,4,1,2\n", "MARKER_CORE_API,s,5\n"}) {
    const auto calls = read(header + rows);
    ASSERT_FALSE(calls.ok()) << rows;
    EXPECT_EQ(calls.error().code, ErrorCode::unrecognised);
  }
}

TEST(RocprofTable, ReadsAgentsAndNumbersThemByType) {
  const auto read_one = read(
      "Node_Id,Logical_Node_Id,Agent_Type,Num_Xcc,Cu_Count,Max_Engine_Clk_Ccompute,Max_Engine_Clk_Fcompute,Location_Id,"
      "Domain,Name,Product_Name\n5,2,GPU,8,304,0,2100,1280,0,gfx942,MI300X\n0,0,CPU,1,0,3700,0,0,0,EPYC,EPYC\n"
      "3,1,GPU,,0,0,0,0,0,gfx90a,\n");
  ASSERT_TRUE(read_one.ok()) << read_one.error().text();
  const std::vector<AgentFacts>& agents = read_one.value().pass->agents;
  ASSERT_EQ(agents.size(), 3u);
  EXPECT_TRUE(agents[0].is_gpu);
  EXPECT_EQ(agents[0].type_index, 1);
  EXPECT_EQ(agents[0].visible_index, 2);
  EXPECT_EQ(agents[0].num_xcc, 8);
  EXPECT_EQ(agents[0].max_clock_mhz, 2100);
  EXPECT_EQ(agents[0].pci_location, 1280);
  EXPECT_EQ(agents[0].architecture, "gfx942");
  EXPECT_FALSE(agents[1].is_gpu);
  EXPECT_EQ(agents[1].type_index, 0);
  EXPECT_EQ(agents[2].type_index, 0);
  EXPECT_EQ(agents[2].num_xcc, kNoNumber);
  EXPECT_EQ(agents[2].num_cu, kNoNumber);
}

}  // namespace
}  // namespace chopper::rocprof
