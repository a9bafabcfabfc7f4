// SPDX-License-Identifier: Apache-2.0
#include "ingest/rocpd/reader.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "support/database.h"
#include "support/trace_dump.h"

namespace chopper::rocpd {
namespace {

using test::rocpd_rows;
using test::rocpd_tables;

const std::string kTables = rocpd_tables("_0a", "g");
const std::string kRows = rocpd_rows("_0a", 500);

Result<TraceTables> read(const std::string& sql) {
  const std::string bytes = test::database_of(sql);
  Result<TraceTables> tables = read_database(
      [&]() -> Result<std::unique_ptr<ByteSource>> { return open_memory_source(bytes); }, "input", ReadOptions());
  if (tables.ok()) {
    EXPECT_EQ(test::broken_invariant(tables.value()), "");
  }
  return tables;
}

// (dispatch row, counter) to (sum, maximum).
std::map<std::pair<std::uint32_t, std::string>, std::pair<double, double>> values_of(const CounterPass& pass) {
  std::map<std::pair<std::uint32_t, std::string>, std::pair<double, double>> values;
  for (std::size_t i = 0; i < num_rows(pass.values); i++) {
    const std::string counter(pass.strings.view(pass.counters[pass.values.counter[i]]));
    values[{pass.values.dispatch[i], counter}] = {pass.values.value[i], pass.values.maximum[i]};
  }
  return values;
}

TEST(Rocpd, ReadsDispatchesWithWhatTheirIdsMean) {
  const auto tables = read(kTables + kRows);
  ASSERT_TRUE(tables.ok()) << tables.error().text();
  const CounterPass& pass = *tables.value().pass;
  EXPECT_EQ(pass.content, PassContent::counters);
  ASSERT_EQ(num_rows(pass.dispatches), 4u);
  const PassDispatchTable& d = pass.dispatches;
  EXPECT_EQ(d.dispatch_id, (std::vector<std::int64_t>{1, 2, 3, 4}));
  EXPECT_EQ(d.correlation, (std::vector<std::int64_t>{101, 102, 103, 104}));
  EXPECT_EQ(d.process, (std::vector<std::int64_t>(4, 500)));
  EXPECT_EQ(d.thread, (std::vector<std::int64_t>(4, 700)));
  EXPECT_EQ(d.start_ns, (std::vector<std::int64_t>{1000, 1200, 1300, 1500}));
  EXPECT_EQ(d.end_ns, (std::vector<std::int64_t>{1100, 1250, 1400, 1600}));
  ASSERT_EQ(pass.devices.size(), 2u);
  EXPECT_EQ(pass.devices[0].form, AgentForm::node);
  EXPECT_EQ(pass.devices[0].number, 4);
  EXPECT_EQ(d.device, (std::vector<std::uint32_t>{0, 0, 1, 0}));
  ASSERT_EQ(pass.kernels.size(), 2u);
  const PassKernel& gemm = pass.kernels[0];
  EXPECT_EQ(pass.strings.view(gemm.name), "gemm(float*)");
  EXPECT_EQ(gemm.grid, (Extent{65536, 2, 1}));
  EXPECT_EQ(gemm.grid_size, 131072);
  EXPECT_EQ(gemm.workgroup_size, 256);
  EXPECT_EQ(gemm.lds_bytes, 4096);
  EXPECT_EQ(gemm.num_vgpr, 64);
  EXPECT_EQ(gemm.num_accum_vgpr, 32);
  EXPECT_EQ(gemm.num_sgpr, 96);
  EXPECT_EQ(pass.strings.view(pass.kernels[1].name), "_Z3add");  // it has no name for people
}

TEST(Rocpd, KeepsSumAndMaximumOfInstances) {
  const auto tables = read(kTables + kRows);
  const auto values = values_of(*tables.value().pass);
  ASSERT_EQ(values.size(), 8u);
  // Dispatch 0 is event 21: instances 210.5 and 211.5; 210.5 to 213.5.
  EXPECT_EQ(values.at({0, "GRBM_GUI_ACTIVE"}), std::pair(422.0, 211.5));
  EXPECT_EQ(values.at({0, "SQ_WAVES"}), std::pair(848.0, 213.5));
  EXPECT_EQ(values.at({3, "GRBM_GUI_ACTIVE"}), std::pair(482.0, 241.5));
  EXPECT_EQ(tables.value().health.worst(), Severity::note);
}

TEST(Rocpd, InstancesOfADispatchNeedNotFollowEachOther) {
  const std::string mixed =
      kTables + kRows +
      "CREATE TABLE other AS SELECT event_id, pmc_id, value FROM rocpd_pmc_event_0a ORDER BY value * 7919 % 101;"
      "DELETE FROM rocpd_pmc_event_0a;"
      "INSERT INTO rocpd_pmc_event_0a (event_id, pmc_id, value) SELECT * FROM other;";
  const auto plain = read(kTables + kRows), tables = read(mixed);
  EXPECT_EQ(values_of(*tables.value().pass), values_of(*plain.value().pass));
  EXPECT_NE(tables.value().pass->values.offset, plain.value().pass->values.offset);  // they were mixed
}

TEST(Rocpd, ReadsAgentsAndMarks) {
  const auto tables = read(kTables + kRows);
  const CounterPass& pass = *tables.value().pass;
  ASSERT_EQ(pass.agents.size(), 3u);
  EXPECT_FALSE(pass.agents[0].is_gpu);
  const AgentFacts& gpu = pass.agents[1];
  EXPECT_TRUE(gpu.is_gpu);
  EXPECT_EQ(gpu.node, 4);
  EXPECT_EQ(gpu.visible_index, 1);
  EXPECT_EQ(gpu.type_index, 0);
  EXPECT_EQ(gpu.product, "AMD Instinct MI300X");
  EXPECT_EQ(gpu.num_xcc, 8);
  EXPECT_EQ(gpu.num_cu, 304);
  EXPECT_EQ(gpu.max_clock_mhz, 2100);
  EXPECT_EQ(gpu.pci_domain, 0);
  EXPECT_EQ(gpu.pci_location, 256);
  EXPECT_EQ(pass.agents[2].num_xcc, kNoNumber);  // its facts are no JSON
  ASSERT_EQ(num_rows(pass.marks), 2u);
  EXPECT_EQ(pass.strings.view(pass.marks.name[0]), "step 1");
  EXPECT_EQ(pass.marks.start_ns, (std::vector<std::int64_t>{900, 1500}));
  EXPECT_EQ(pass.marks.end_ns, (std::vector<std::int64_t>{5000, 1500}));
  EXPECT_EQ(pass.strings.view(pass.marks.name[1]), "here");
  EXPECT_EQ(pass.marks.thread, (std::vector<std::int64_t>{700, 700}));
  EXPECT_EQ(pass.marks.process, (std::vector<std::int64_t>{500, 500}));
}

// Two files merged: equal ids mean different things.
TEST(Rocpd, GuidIsPartOfEveryJoin) {
  const std::string second =
      "UPDATE rocpd_info_kernel_symbol_0b SET display_name = 'other(float*)' WHERE id = 11;"
      "UPDATE rocpd_info_pmc_0b SET name = 'SQ_BUSY_CYCLES' WHERE id = 8;";
  const std::string sql = kTables + kRows + rocpd_tables("_0b", "h") + rocpd_rows("_0b", 501) + second;
  const auto check = [](const Result<TraceTables>& tables) {
    ASSERT_TRUE(tables.ok()) << tables.error().text();
    const CounterPass& pass = *tables.value().pass;
    ASSERT_EQ(num_rows(pass.dispatches), 8u);
    EXPECT_EQ(pass.dispatches.process, (std::vector<std::int64_t>{500, 500, 500, 500, 501, 501, 501, 501}));
    EXPECT_EQ(pass.strings.view(pass.kernels[pass.dispatches.kernel[4]].name), "other(float*)");
    const auto values = values_of(pass);
    EXPECT_EQ(values.size(), 16u);
    EXPECT_EQ(values.at({0, "SQ_WAVES"}), std::pair(848.0, 213.5));
    EXPECT_EQ(values.at({4, "SQ_BUSY_CYCLES"}), std::pair(848.0, 213.5));
    EXPECT_EQ(values.count({4, "SQ_WAVES"}), 0u);
    EXPECT_EQ(pass.agents.size(), 3u);  // of one machine
  };
  check(read(sql));
  // The same in one set of tables, where only the guid tells them apart.
  std::string joined = sql;
  for (const char* table : {"string", "info_node", "info_process", "info_thread", "info_agent", "info_pmc",
                            "info_kernel_symbol", "event", "pmc_event", "kernel_dispatch"}) {
    const std::string name = std::string("rocpd_") + table;
    joined += "CREATE TABLE x AS SELECT * FROM " + name + "_0a UNION ALL SELECT * FROM " + name + "_0b; DROP TABLE " +
              name + "_0a; DROP TABLE " + name + "_0b; ALTER TABLE x RENAME TO y; CREATE TABLE " + name +
              "_0c AS SELECT * FROM y; DROP TABLE y;";
  }
  check(read("PRAGMA legacy_alter_table=ON;" + joined));
}

TEST(Rocpd, TablesNeedNoViewsAndNoSuffix) {
  const auto plain = read(kTables + kRows);
  std::string without_views = kTables + kRows;
  for (const char* table : {"string", "info_pmc", "event", "pmc_event", "kernel_dispatch", "metadata"})
    without_views += std::string("DROP VIEW rocpd_") + table + ";";
  EXPECT_EQ(values_of(*read(without_views).value().pass), values_of(*plain.value().pass));
  std::string bare = rocpd_tables("", "g");
  for (std::size_t at = bare.find("CREATE VIEW"); at != std::string::npos; at = bare.find("CREATE VIEW"))
    bare.erase(at, bare.find(';', at) + 1 - at);
  EXPECT_EQ(values_of(*read(bare + rocpd_rows("", 500)).value().pass), values_of(*plain.value().pass));
}

TEST(Rocpd, WithoutRowsOfInstancesTheViewGivesSums) {
  const auto tables = read(
      "CREATE TABLE counters_collection (guid TEXT, dispatch_id INTEGER, kernel_id INTEGER, pid INTEGER, "
      "agent_abs_index INTEGER, kernel_name TEXT, counter_name TEXT, value REAL, start INTEGER, \"end\" INTEGER);"
      "INSERT INTO counters_collection VALUES ('g', 1, 11, 500, 4, 'gemm', 'SQ_WAVES', 12.5, 100, 200), ('g', 1, 11, "
      "500, 4, 'gemm', 'GRBM_COUNT', 7, 100, 200), ('g', 2, 11, 500, 4, 'gemm', 'SQ_WAVES', NULL, 300, 400);");
  ASSERT_TRUE(tables.ok()) << tables.error().text();
  const CounterPass& pass = *tables.value().pass;
  EXPECT_EQ(num_rows(pass.dispatches), 2u);
  ASSERT_EQ(num_rows(pass.values), 2u);
  EXPECT_EQ(pass.values.value, (std::vector<double>{12.5, 7}));
  EXPECT_TRUE(std::isnan(pass.values.maximum[0]));
  EXPECT_EQ(tables.value().health.count(HealthKind::missing_value), 1u);
}

TEST(Rocpd, WithoutCountersItIsTimesOfKernels) {
  const auto tables = read(kTables + kRows + "DELETE FROM rocpd_pmc_event_0a;");
  EXPECT_EQ(tables.value().pass->content, PassContent::kernel_times);
  EXPECT_EQ(num_rows(tables.value().pass->dispatches), 4u);
  EXPECT_EQ(tables.value().health.count(HealthKind::incomplete_counters), 0u);
  const auto empty = read(kTables);
  EXPECT_EQ(empty.value().pass->content, PassContent::kernel_times);
  EXPECT_EQ(empty.value().health.count(HealthKind::no_rows), 1u);
}

TEST(Rocpd, UnknownVersionsAreRefusedWithARemedy) {
  for (const char* version : {"4", "2", "30", ""}) {
    const auto tables =
        read(kTables + "UPDATE rocpd_metadata_0a SET value = '" + version + "' WHERE tag = 'schema_version';");
    ASSERT_FALSE(tables.ok()) << version;
    EXPECT_NE(tables.error().message.find("schema version"), std::string::npos);
    EXPECT_NE(tables.error().hint.find("--output-format csv"), std::string::npos);
  }
  EXPECT_TRUE(read(kTables + "UPDATE rocpd_metadata_0a SET value = '3.0.5' WHERE tag = 'schema_version';").ok());
  EXPECT_TRUE(read(kTables + "DELETE FROM rocpd_metadata_0a;").ok());
  EXPECT_FALSE(read(kTables + "INSERT INTO rocpd_metadata_0a VALUES (9, 'compression', 'lz4-frame-v1');").ok());
  const auto other = read("CREATE TABLE rocpd_kernel_dispatch_0a (id INTEGER, track_id INTEGER, start_id INTEGER);");
  ASSERT_FALSE(other.ok());
  EXPECT_NE(other.error().message.find("no column start"), std::string::npos);
}

TEST(Rocpd, CellsOfAnotherTypeAreCounted) {
  struct Case {
    const char* sql;
    HealthKind kind;
    std::size_t num_dispatches, num_values;
  };
  for (const Case& c : {
           Case{"UPDATE rocpd_kernel_dispatch_0a SET start = 'soon' WHERE id = 1", HealthKind::unreadable_value, 3, 6},
           Case{"UPDATE rocpd_kernel_dispatch_0a SET start = NULL WHERE id = 1", HealthKind::missing_dispatch_time, 4,
                8},
           Case{"UPDATE rocpd_kernel_dispatch_0a SET \"end\" = 5 WHERE id = 1", HealthKind::negative_duration, 3, 6},
           Case{"UPDATE rocpd_kernel_dispatch_0a SET start = 1 << 62, \"end\" = 1 << 62 WHERE id = 1",
                HealthKind::time_overflow, 3, 6},
           Case{"UPDATE rocpd_kernel_dispatch_0a SET agent_id = 'x' WHERE id = 1", HealthKind::unreadable_value, 3, 6},
           Case{"UPDATE rocpd_kernel_dispatch_0a SET kernel_id = 99 WHERE id = 1", HealthKind::missing_field, 4, 8},
           Case{"UPDATE rocpd_pmc_event_0a SET value = NULL WHERE id = 1", HealthKind::missing_value, 4, 8},
           Case{"UPDATE rocpd_pmc_event_0a SET value = 'many' WHERE id < 3", HealthKind::missing_value, 4, 7},
           Case{"UPDATE rocpd_pmc_event_0a SET pmc_id = 99 WHERE id < 3", HealthKind::unreadable_value, 4, 7},
           Case{"UPDATE rocpd_pmc_event_0a SET event_id = NULL WHERE id < 3", HealthKind::unreadable_value, 4, 7},
           Case{"UPDATE rocpd_region_0a SET start = 'x' WHERE id = 1", HealthKind::unreadable_value, 4, 8},
           Case{"ALTER TABLE rocpd_pmc_event_0a ADD COLUMN sample_id INTEGER; UPDATE rocpd_pmc_event_0a SET sample_id "
                "= 1 "
                "WHERE id < 3",
                HealthKind::rows_not_read, 4, 7},
       }) {
    const auto tables = read(kTables + kRows + c.sql + ";");
    ASSERT_TRUE(tables.ok()) << c.sql;
    EXPECT_GT(tables.value().health.count(c.kind), 0u) << c.sql;
    EXPECT_EQ(num_rows(tables.value().pass->dispatches), c.num_dispatches) << c.sql;
    EXPECT_EQ(num_rows(tables.value().pass->values), c.num_values) << c.sql;
  }
}

TEST(Rocpd, NodesOfSeveralMachinesAreToldApart) {
  const std::string second = "UPDATE rocpd_info_node_0b SET hostname = 'host-1';";
  const auto tables = read(kTables + kRows + rocpd_tables("_0b", "h") + rocpd_rows("_0b", 501) + second);
  const CounterPass& pass = *tables.value().pass;
  ASSERT_EQ(pass.devices.size(), 4u);
  EXPECT_EQ(pass.devices[0].text, "host-0:4");
  EXPECT_EQ(pass.devices[2].text, "host-1:4");
  EXPECT_EQ(pass.devices[2].form, AgentForm::node);
  EXPECT_EQ(pass.devices[2].number, 4);
}

}  // namespace
}  // namespace chopper::rocpd
