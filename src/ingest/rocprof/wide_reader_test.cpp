// SPDX-License-Identifier: Apache-2.0
#include "ingest/rocprof/wide_reader.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "ingest/rocprof/wide_columns.h"

namespace chopper::rocprof {
namespace {

TraceTables read(const std::string& text) {
  const ReadOptions options;
  auto tables = read_wide_table([&]() -> Result<std::unique_ptr<ByteSource>> { return open_memory_source(text); },
                                "x.csv", options);
  EXPECT_TRUE(tables.ok()) << tables.error().text();
  return tables.ok() ? std::move(tables.value()) : TraceTables{};
}

struct Value {
  double sum = NAN, maximum = NAN;
};

// The value of a counter of the n-th dispatch.
Value value_of(const CounterPass& pass, std::size_t dispatch, std::string_view counter) {
  for (std::size_t i = 0; i < num_rows(pass.values); i++) {
    if (pass.values.dispatch[i] == dispatch && pass.strings.view(pass.counters[pass.values.counter[i]]) == counter)
      return {pass.values.value[i], pass.values.maximum[i]};
  }
  return {};
}

constexpr std::string_view kVersion2 =
    "Dispatch_ID,GPU_ID,Queue_ID,PID,TID,Grid_Size,Workgroup_Size,LDS_Per_Workgroup,Scratch_Per_Workitem,Arch_VGPR,"
    "Accum_VGPR,SGPR,Wave_Size,Kernel_Name,Start_Timestamp,End_Timestamp,Correlation_ID";

std::string row(int dispatch, const std::string& values, const std::string& times = "1000,1900") {
  return std::to_string(dispatch) + ",2,1,156,157,65536,256,512,16,8,4,96,64,\"f<a, b>\"," + times + ",9," + values +
         "\n";
}

TEST(WideTable, ReadsEveryPropertyOfADispatch) {
  const TraceTables tables = read(std::string(kVersion2) + ",Kernel_ID,SQ_WAVES\n" + row(3, "13,1024.5"));
  const CounterPass& pass = *tables.pass;
  ASSERT_EQ(num_rows(pass.dispatches), 1u);
  EXPECT_EQ(pass.dispatches.dispatch_id[0], 3);
  EXPECT_EQ(pass.dispatches.queue[0], 1);
  EXPECT_EQ(pass.dispatches.process[0], 156);
  EXPECT_EQ(pass.dispatches.thread[0], 157);
  EXPECT_EQ(pass.dispatches.correlation[0], 9);
  EXPECT_EQ(pass.dispatches.start_ns[0], 1000);
  EXPECT_EQ(pass.dispatches.end_ns[0], 1900);
  const PassKernel& kernel = pass.kernels[0];
  EXPECT_EQ(pass.strings.view(kernel.name), "f<a, b>");
  EXPECT_EQ(kernel.kernel_id, 13);
  EXPECT_EQ(kernel.grid_size, 65536);
  EXPECT_EQ(kernel.workgroup_size, 256);
  EXPECT_EQ(kernel.lds_bytes, 512);
  EXPECT_EQ(kernel.scratch_bytes, 16);
  EXPECT_EQ(kernel.num_vgpr, 8);
  EXPECT_EQ(kernel.num_accum_vgpr, 4);
  EXPECT_EQ(kernel.num_sgpr, 96);
  EXPECT_EQ(pass.devices[0].text, "2");
  EXPECT_EQ(pass.devices[0].form, AgentForm::unknown);  // of which release decides what it counts
  ASSERT_EQ(pass.counters.size(), 1u);
  EXPECT_EQ(value_of(pass, 0, "SQ_WAVES").sum, 1024.5);
  EXPECT_TRUE(std::isnan(value_of(pass, 0, "SQ_WAVES").maximum));
}

TEST(WideTable, ReadsTheNamesOfVersion1) {
  const TraceTables tables = read(
      "Index,KernelName,gpu-id,queue-id,queue-index,pid,tid,grd,wgr,lds,scr,arch_vgpr,accum_vgpr,sgpr,wave_size,sig,"
      "obj,"
      "SQ_WAVES,DispatchNs,BeginNs,EndNs,CompleteNs,DurationNs\n"
      "7,\"k\",1,5,0,156,157,64,32,1,2,3,4,5,64,0x0,0x7f,11,1,20,30,40,10\n");
  const CounterPass& pass = *tables.pass;
  EXPECT_EQ(pass.writer, "rocprof 1");
  EXPECT_EQ(pass.devices[0].form, AgentForm::gpu);
  EXPECT_EQ(pass.devices[0].number, 1);
  EXPECT_EQ(pass.dispatches.dispatch_id[0], 7);
  EXPECT_EQ(pass.dispatches.start_ns[0], 20);
  EXPECT_EQ(pass.kernels[0].num_accum_vgpr, 4);
  ASSERT_EQ(pass.counters.size(), 1u);
  EXPECT_EQ(value_of(pass, 0, "SQ_WAVES").sum, 11);
}

TEST(WideTable, AddsInstancesUpAndKeepsTheLargest) {
  const TraceTables tables = read(std::string(kVersion2) + ",TCC_HIT[0],TCC_HIT_sum,TCC_HIT[10],TCC_HIT[2]\n" +
                                  row(1, "500,1591,590,501") + row(2, "1,3,2,x", "3000,3900"));
  const CounterPass& pass = *tables.pass;
  EXPECT_EQ(value_of(pass, 0, "TCC_HIT").sum, 1591);
  EXPECT_EQ(value_of(pass, 0, "TCC_HIT").maximum, 590);
  EXPECT_EQ(value_of(pass, 0, "TCC_HIT_sum").sum, 1591);
  // A sum without an instance would be wrong: the other counters of the row stay.
  EXPECT_TRUE(std::isnan(value_of(pass, 1, "TCC_HIT").sum));
  EXPECT_EQ(value_of(pass, 1, "TCC_HIT_sum").sum, 3);
  EXPECT_EQ(tables.health.count(HealthKind::missing_value), 1u);
}

TEST(WideTable, AddsRowsOfSeveralDiesUp) {
  const TraceTables tables =
      read(std::string(kVersion2) + ",XCC_Index,TCC_HIT[0],TCC_HIT[1],SQ_WAVES\n" + row(1, "0,1,2,512") +
           row(1, "1,30,4,500") + row(2, "0,5,5,5", "3000,3900") + row(1, "1,30,4,500"));
  const CounterPass& pass = *tables.pass;
  ASSERT_EQ(num_rows(pass.dispatches), 2u);
  EXPECT_EQ(value_of(pass, 0, "TCC_HIT").sum, 37);
  EXPECT_EQ(value_of(pass, 0, "TCC_HIT").maximum, 30);
  EXPECT_EQ(value_of(pass, 0, "SQ_WAVES").sum, 1012);
  EXPECT_EQ(value_of(pass, 0, "SQ_WAVES").maximum, 512);
  EXPECT_EQ(value_of(pass, 1, "TCC_HIT").sum, 10);
  EXPECT_EQ(tables.health.count(HealthKind::repeated_row), 1u);
}

TEST(WideTable, AddsInstancesOfALongTableUp) {
  const auto line = [](int dispatch, const std::string& counter, const std::string& value) {
    return "2," + std::to_string(dispatch) + ",64,k," + std::to_string(dispatch) + "000," + std::to_string(dispatch) +
           "900," + counter + "," + value + "\n";
  };
  const TraceTables tables =
      read("GPU_ID,Dispatch_ID,Grid_Size,Kernel_Name,Start_Timestamp,End_Timestamp,Counter_Name,Counter_Value\n" +
           line(1, "TCC_HIT[0]", "5.0") + line(2, "TCC_HIT[0]", "1.0") + line(1, "SQ_WAVES", "9.0") +
           line(1, "TCC_HIT[1]", "7.0") + line(2, "TCC_HIT[1]", ""));
  const CounterPass& pass = *tables.pass;
  ASSERT_EQ(pass.counters.size(), 2u);
  EXPECT_EQ(value_of(pass, 0, "TCC_HIT").sum, 12);
  EXPECT_EQ(value_of(pass, 0, "TCC_HIT").maximum, 7);
  EXPECT_EQ(value_of(pass, 0, "SQ_WAVES").sum, 9);
  EXPECT_TRUE(std::isnan(value_of(pass, 0, "SQ_WAVES").maximum));
  EXPECT_TRUE(std::isnan(value_of(pass, 1, "TCC_HIT").sum));
}

TEST(WideTable, TakesTimesThatWereMeansAndNoTimesThatWereRounded) {
  const auto times = [](const std::string& text) {
    const TraceTables tables = read(std::string(kVersion2) + ",SQ_WAVES\n" + row(1, "1", text));
    return std::pair{tables.pass->dispatches.start_ns.at(0), tables.pass->dispatches.end_ns.at(0)};
  };
  using Times = std::pair<std::int64_t, std::int64_t>;
  EXPECT_EQ(times("1248227792617386.5,1248227792639148.0"), (Times{1248227792617386, 1248227792639148}));
  EXPECT_EQ(times("1.3386742234691895e+16,1.3386742234700548e+16"), (Times{13386742234691895, 13386742234700548}));
  EXPECT_EQ(times("1.24822779261738e+15,1.24822779263914e+15"), (Times{1248227792617380, 1248227792639140}));
  EXPECT_EQ(times("8.1097E+14,8.1097E+14"), (Times{kNoNumber, kNoNumber}));
  EXPECT_EQ(times("0,0"), (Times{kNoNumber, kNoNumber}));
  EXPECT_EQ(times(","), (Times{kNoNumber, kNoNumber}));
}

TEST(WideColumns, TellTablesByTheirNames) {
  const auto kind = [](std::string_view line) { return wide_kind_of(header_in(line)); };
  EXPECT_EQ(kind("Index,KernelName,gpu-id,SQ_WAVES"), WideKind::counters);
  EXPECT_EQ(kind("Dispatch_ID,Kernel_Name,GPU_ID,wave_size_3,obj,BeginNs,EndNs"), WideKind::kernel_times);
  EXPECT_EQ(kind("Dispatch_ID,Kernel_Name,GPU_ID"), WideKind::dispatch_list);
  EXPECT_EQ(kind("Dispatch_ID,Kernel_Name"), WideKind::dispatch_list);
  EXPECT_EQ(kind("Dispatch_ID,GPU_ID,Kernel_Name,Counter_Name,Counter_Value"), WideKind::long_counters);
  EXPECT_EQ(kind("Dispatch_ID,Timestamp,GPU_ID,PC_Sample"), WideKind::incomplete);
  EXPECT_EQ(kind("workload_name,gpu_arch"), WideKind::system);
  EXPECT_EQ(kind("device,HBMBw,L2Bw"), WideKind::peaks);
  EXPECT_EQ(kind("Dispatch_Id,Agent_Id,Kernel_Name,Counter_Name,Counter_Value"), WideKind::other);
  EXPECT_EQ(kind("Index,Name,Value"), WideKind::other);
}

TEST(WideColumns, AreCountersUnlessPropertiesOfAPass) {
  const WideColumns columns = wide_columns(header_in(
      ",Unnamed: 0,Dispatch_ID,Kernel_Name,Wave_Size_1,Correlation_ID_12,XCC_Index_2,Kernel_ID_3,SQ_WAVES_LT_16,"
      "TCC_HIT[3],TCC_HIT[4],TCC_HIT[3]_2,FetchSize,SQ_WAVES_LT_16_2"));
  EXPECT_EQ(columns.counters,
            (std::vector<std::string>{"SQ_WAVES_LT_16", "TCC_HIT", "TCC_HIT_2", "FetchSize", "SQ_WAVES_LT_16_2"}));
  EXPECT_EQ(columns.has_instances, (std::vector<std::uint8_t>{0, 1, 1, 0, 0}));
}

}  // namespace
}  // namespace chopper::rocprof
