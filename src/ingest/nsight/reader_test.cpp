// SPDX-License-Identifier: Apache-2.0
#include "ingest/nsight/reader.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "support/database.h"
#include "support/trace_dump.h"

namespace chopper::nsight {
namespace {

const std::string kTables = test::nsight_tables();
constexpr std::int64_t kBase = 1'700'000'000'000'000'000;

Result<TraceTables> read(const std::string& sql) {
  const std::string bytes = test::database_of(sql);
  Result<TraceTables> tables = read_export(
      [&]() -> Result<std::unique_ptr<ByteSource>> { return open_memory_source(bytes); }, "input", ReadOptions());
  if (tables.ok()) {
    EXPECT_EQ(test::broken_invariant(tables.value()), "");
  }
  return tables;
}

TEST(Nsight, ReadsGpuWorkCallsAndRanges) {
  const auto result = read(kTables);
  ASSERT_TRUE(result.ok()) << result.error().text();
  const TraceTables& tables = result.value();
  const auto text = [&](StringId id) { return std::string(tables.strings.view(id)); };
  const GpuWorkTable& gpu = tables.gpu_work;
  ASSERT_EQ(num_rows(gpu), 6u);
  EXPECT_EQ(text(gpu.name[0]), "gemm(float*)");
  EXPECT_EQ(gpu.start_ns[0], kBase + 1200);
  EXPECT_EQ(gpu.duration_ns[0], 100);
  EXPECT_EQ(gpu.stream[0], 7);
  EXPECT_EQ(gpu.grid[0], (Extent{8, 2, 1}));
  EXPECT_EQ(gpu.block[0], (Extent{128, 1, 1}));
  EXPECT_EQ(gpu.category[4], GpuCategory::memcpy);
  EXPECT_EQ(text(gpu.name[4]), "Memcpy HtoD (Pinned -> Device)");
  EXPECT_EQ(gpu.bytes[4], 4096);
  const LaunchTable& calls = tables.launches;
  ASSERT_EQ(num_rows(calls), 6u);
  EXPECT_EQ(text(calls.name[0]), "cudaLaunchKernel");
  EXPECT_EQ(calls.kind[0], CallKind::runtime);
  EXPECT_EQ(text(calls.name[1]), "cuLaunchKernel");
  EXPECT_EQ(calls.kind[1], CallKind::driver);
  EXPECT_EQ(tables.threads[index_of(calls.thread[0])].pid, "100");
  EXPECT_EQ(tables.threads[index_of(calls.thread[0])].tid, "100");
  const HostRangeTable& ranges = tables.ranges;
  ASSERT_EQ(num_rows(ranges), 6u);  // names of domains are none
  EXPECT_EQ(text(ranges.name[0]), "step");
  EXPECT_EQ(ranges.kind[0], RangeKind::annotation);
  EXPECT_EQ(text(ranges.name[1]), "aten::mm");
  EXPECT_EQ(ranges.kind[1], RangeKind::operation);
  EXPECT_EQ(ranges.sequence_number[1], 5);
  EXPECT_EQ(text(ranges.shapes[1]), "[[2, 3], [3, 4]]");
  EXPECT_EQ(text(ranges.name[2]), "ncclAllReduce");  // an instant
  EXPECT_EQ(ranges.duration_ns[2], 0);
}

TEST(Nsight, KeepsProcessesApart) {
  const auto result = read(kTables);
  const TraceTables& tables = result.value();
  EXPECT_TRUE(tables.facts.unique_correlations);
  // Each process calls its gpu 0; the machine has two.
  EXPECT_EQ(tables.gpu_work.device, (std::vector<std::int32_t>{0, 0, 1, 1, 0, 1}));
  // Equal numbers of the two are different ones here, and each has its call.
  const std::set<std::int64_t> work(tables.gpu_work.correlation.begin(), tables.gpu_work.correlation.end());
  const std::set<std::int64_t> calls(tables.launches.correlation.begin(), tables.launches.correlation.end());
  EXPECT_EQ(work.size(), 6u);
  EXPECT_EQ(work, calls);
  for (std::size_t i = 0; i < 6; i++) {
    for (std::size_t k = 0; k < 6; k++) {
      if (tables.gpu_work.correlation[i] != tables.launches.correlation[k]) continue;
      EXPECT_EQ(tables.threads[index_of(tables.launches.thread[k])].pid,
                tables.gpu_work.device[i] == 0 ? "100" : "200");
    }
  }
}

TEST(Nsight, ReadsFactsOfTheMachine) {
  const auto result = read(kTables);
  const TraceFacts& facts = result.value().facts;
  EXPECT_EQ(facts.vendor, Vendor::nvidia);
  EXPECT_EQ(facts.clock, ClockDomain::unix_time);
  EXPECT_EQ(facts.host, "host-7");
  ASSERT_EQ(facts.devices.size(), 2u);
  EXPECT_EQ(facts.devices[1].name, "NVIDIA H100");
  EXPECT_EQ(facts.devices[1].num_units, 132);
  EXPECT_EQ(facts.devices[1].warp_size, 32);
  EXPECT_EQ(facts.devices[1].memory_bytes, 85899345920);
  EXPECT_EQ(facts.host_first_ns, kBase + 900);
  EXPECT_EQ(facts.host_last_ns, kBase + 3100);
  const auto relative = read(kTables + "DROP TABLE TARGET_INFO_SESSION_START_TIME;");
  EXPECT_EQ(relative.value().facts.clock, ClockDomain::relative);
  EXPECT_EQ(relative.value().gpu_work.start_ns[0], 1200);
  EXPECT_EQ(relative.value().health.count(HealthKind::relative_clock), 1u);
}

TEST(Nsight, TablesAndColumnsMayBeMissing) {
  const auto no_kernels =
      read(kTables + "DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL; DROP TABLE CUPTI_ACTIVITY_KIND_MEMCPY;");
  ASSERT_TRUE(no_kernels.ok());
  EXPECT_EQ(num_rows(no_kernels.value().gpu_work), 0u);
  EXPECT_EQ(num_rows(no_kernels.value().launches), 6u);
  EXPECT_EQ(no_kernels.value().health.count(HealthKind::no_gpu_records), 1u);
  EXPECT_EQ(no_kernels.value().health.worst(), Severity::note);
  const auto nothing = read("CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);");
  EXPECT_EQ(nothing.value().health.count(HealthKind::no_gpu_records), 1u);
  // Without processes at the kernels, correlations are as written, and links go by the process that owns a device.
  const auto old = read(kTables + "ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL DROP COLUMN globalPid;");
  EXPECT_FALSE(old.value().facts.unique_correlations);
  EXPECT_EQ(old.value().gpu_work.correlation[0], 1);
  EXPECT_EQ(old.value().launches.correlation[3], 1);
}

TEST(Nsight, KernelsInsideOfGraphsAreMissed) {
  const auto result = read(kTables +
                           "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INTEGER, end INTEGER, graphId INTEGER);"
                           "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (1, 2, 9), (3, 4, 9), (5, 6, 10);"
                           "CREATE TABLE GPU_METRICS (timestamp INTEGER, metricId INTEGER, value INTEGER);"
                           "INSERT INTO GPU_METRICS VALUES (1, 1, 5), (2, 1, 6);");
  const HealthEntry& graphs = result.value().health.entry(HealthKind::graph_kernels_hidden);
  EXPECT_EQ(graphs.count, 3u);
  EXPECT_EQ(graphs.examples.at(0).what, "3 launches of 2 graphs: record with nsys profile --cuda-graph-trace=node");
  EXPECT_EQ(result.value().health.count(HealthKind::rows_not_read), 2u);
  EXPECT_EQ(num_rows(result.value().gpu_work), 6u);
}

TEST(Nsight, CellsOfAnotherTypeAreCounted) {
  struct Case {
    const char* sql;
    HealthKind kind;
    std::size_t num_work, num_calls, num_ranges;
  };
  for (const Case& c : {
           Case{"UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = 'x' WHERE rowid = 1", HealthKind::unreadable_value, 5, 6,
                6},
           Case{"UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = NULL WHERE rowid = 1", HealthKind::missing_time, 5, 6,
                6},
           Case{"UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end = NULL WHERE rowid = 1", HealthKind::missing_duration_gpu, 5,
                6, 6},
           Case{"UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end = 3 WHERE rowid = 1", HealthKind::negative_duration, 5, 6,
                6},
           Case{"UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = 1 << 62, end = 1 << 62", HealthKind::time_overflow, 2, 6,
                6},
           Case{"UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = 200000000000, end = 200000000001 WHERE rowid = 1",
                HealthKind::outside_host_window, 5, 6, 6},
           Case{"UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET demangledName = 'x', shortName = 77", HealthKind::missing_field,
                6, 6, 6},
           Case{"UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET deviceId = NULL", HealthKind::missing_field, 6, 6, 6},
           Case{"UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET end = NULL WHERE rowid = 1", HealthKind::missing_duration, 6, 6,
                6},
           Case{"UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET globalTid = 'x' WHERE rowid = 1", HealthKind::missing_field, 6,
                6, 6},
           Case{"UPDATE NVTX_EVENTS SET end = NULL WHERE rowid = 1", HealthKind::unclosed_span, 6, 6, 6},
           Case{"UPDATE NVTX_EVENTS SET start = 'x' WHERE rowid = 1", HealthKind::unreadable_value, 6, 6, 5},
       }) {
    const auto result = read(kTables + c.sql + ";");
    ASSERT_TRUE(result.ok()) << c.sql;
    EXPECT_GT(result.value().health.count(c.kind), 0u) << c.sql;
    EXPECT_EQ(num_rows(result.value().gpu_work), c.num_work) << c.sql;
    EXPECT_EQ(num_rows(result.value().launches), c.num_calls) << c.sql;
    EXPECT_EQ(num_rows(result.value().ranges), c.num_ranges) << c.sql;
  }
}

TEST(Nsight, OpenRangesEndWithTheFile) {
  const auto result = read(kTables + "UPDATE NVTX_EVENTS SET end = NULL WHERE rowid = 1;");
  EXPECT_EQ(result.value().ranges.start_ns[0] + result.value().ranges.duration_ns[0], kBase + 3300);
}

}  // namespace
}  // namespace chopper::nsight
