// SPDX-License-Identifier: Apache-2.0
// Files that profilers wrote, with sums added up by hand over the columns of a row. Skipped where the files are not.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <numeric>
#include <string>

#include "ingest/rocprof/sdk_json.h"
#include "ingest/rocprof/wide_reader.h"

namespace chopper::rocprof {
namespace {

const std::filesystem::path kData = CHOPPER_TEST_DATA;

TraceTables read(const std::string& file,
                 Result<TraceTables> (*reader)(const SourceOpener&, std::string_view, const ReadOptions&)) {
  const ReadOptions options;
  auto tables = reader([&] { return open_byte_source(kData / file); }, file, options);
  EXPECT_TRUE(tables.ok()) << tables.error().text();
  return tables.ok() ? std::move(tables.value()) : TraceTables{};
}

struct Expected {
  const char* file;
  std::size_t dispatch;
  const char* counter;
  double sum, maximum;  ///< NAN: the file has the sum alone
};
const Expected kExpected[] = {
    {"omniperf1_no_roof_mixbench1_mi100/pmc_perf.csv", 0, "TCC_CYCLE", 16156960, 504905},
    {"omniperf1_no_roof_mixbench1_mi100/pmc_perf.csv", 166, "GRBM_GUI_ACTIVE", 6814564, NAN},
    {"vcopy_MI100/pmc_perf.csv", 0, "TCC_EA_RDREQ_LEVEL", 115248127, 4569791},
    {"vcopy_MI100/pmc_perf.csv", 0, "TCP_PENDING_STALL_CYCLES_sum", 2468054, NAN},
    {"vcopy_MI100/pmc_perf.csv", 2, "SQ_BUSY_CYCLES", 231394, NAN},
    {"vcopy_MI100/SQ_LEVEL_WAVES.csv", 0, "SQ_ACCUM_PREV_HIRES", 101647680, NAN},
    {"vcopy_MI200/pmc_perf.csv", 1, "TCC_HIT", 69404, 2224},
    {"vcopy_MI200/pmc_perf.csv", 1, "TCC_HIT_sum", 69652, NAN},
    {"vcopy_MI300X_A1/pmc_perf.csv", 0, "TCC_HIT", 66160, 590},
    {"vcopy_MI300X_A1/pmc_perf.csv", 0, "TCC_HIT_sum", 66160, NAN},
    {"vcopy_MI300X_A1/pmc_perf.csv", 2, "TCC_EA0_WRREQ_LEVEL", 87706199, 866969},
    {"vcopy_MI300X_A1/pmc_perf.csv", 0, "GRBM_GUI_ACTIVE", 2572147, NAN},
    {"vcopy_MI350/SQ_INST_LEVEL_VMEM.csv", 0, "TCC_EA0_WRREQ", 131072, 4096},
    {"vcopy_MI350/pmc_perf.csv", 0, "TCC_EA0_WRREQ", 131072, 4096},
    {"vcopy_MI350/pmc_perf_0.csv", 2, "SQ_BUSY_CYCLES", 96768, NAN},
};

TEST(RealFiles, HaveTheSumsAddedUpByHand) {
  if (!std::filesystem::exists(kData / "rocprof-compute")) GTEST_SKIP() << "no files in " << kData;
  for (const Expected& expected : kExpected) {
    SCOPED_TRACE(std::string(expected.file) + " " + expected.counter);
    const TraceTables tables = read(std::string("rocprof-compute/") + expected.file, read_wide_table);
    ASSERT_TRUE(tables.pass.has_value());
    const CounterPass& pass = *tables.pass;
    bool found = false;
    for (std::size_t i = 0; i < num_rows(pass.values); i++) {
      if (pass.values.dispatch[i] != expected.dispatch ||
          pass.strings.view(pass.counters[pass.values.counter[i]]) != expected.counter)
        continue;
      found = true;
      EXPECT_EQ(pass.values.value[i], expected.sum);
      EXPECT_EQ(std::isnan(pass.values.maximum[i]), std::isnan(expected.maximum));
      if (!std::isnan(expected.maximum)) {
        EXPECT_EQ(pass.values.maximum[i], expected.maximum);
      }
    }
    EXPECT_TRUE(found);
    EXPECT_EQ(tables.health.worst(), Severity::note);
  }
}

TEST(RealFiles, HaveInstancesOfALongTableAddedUp) {
  if (!std::filesystem::exists(kData / "rocprof-compute")) GTEST_SKIP() << "no files in " << kData;
  const TraceTables tables = read("rocprof-compute/vcopy_MI300X_A1_rocpd/pmc_perf.csv", read_wide_table);
  const CounterPass& pass = *tables.pass;
  EXPECT_EQ(pass.counters.size(), 231u);
  EXPECT_EQ(num_rows(pass.values), 693u);
  // Twelve executions of three dispatches, 231 counters of each.
  ASSERT_EQ(num_rows(pass.dispatches), 3u);
  EXPECT_EQ(pass.dispatches.start_ns[0], 13386742234691895);
  std::size_t found = 0;
  for (std::size_t i = 0; i < num_rows(pass.values); i++) {
    const std::uint32_t dispatch = pass.values.dispatch[i];
    if (pass.dispatches.dispatch_id[dispatch] != 1) continue;
    const std::string_view name = pass.strings.view(pass.counters[pass.values.counter[i]]);
    if (name == "TCC_HIT") {  // of the third execution
      found++;
      EXPECT_EQ(pass.values.value[i], 68496);
      EXPECT_EQ(pass.values.maximum[i], 590);
    }
    if (name == "GRBM_GUI_ACTIVE") {  // of the second
      found++;
      EXPECT_EQ(pass.values.value[i], 272355);
    }
  }
  EXPECT_EQ(found, 2u);
}

TEST(RealFiles, JsonOfATrainingHasAllItsDispatches) {
  const std::string file = "rocprofv3/rocprofv3_results_fsdp_train_part1.json.gz";
  if (!std::filesystem::exists(kData / file)) GTEST_SKIP() << "no files in " << kData;
  const TraceTables tables = read(file, read_sdk_json);
  const CounterPass& pass = *tables.pass;
  const PassDispatchTable& dispatches = pass.dispatches;
  ASSERT_EQ(num_rows(dispatches), 17566u);
  std::int64_t duration = 0, items = 0, copies = 0;
  for (std::size_t i = 0; i < num_rows(dispatches); i++) {
    const PassKernel& kernel = pass.kernels[dispatches.kernel[i]];
    duration += dispatches.end_ns[i] - dispatches.start_ns[i];
    items += kernel.grid_size;
    copies += pass.strings.view(kernel.name) == "__amd_rocclr_copyBuffer" ? 1 : 0;
  }
  EXPECT_EQ(duration, 2777327231);
  EXPECT_EQ(items, 2380179115);
  EXPECT_EQ(copies, 2255);
  EXPECT_EQ(dispatches.start_ns.front(), 63857982592000);
  EXPECT_EQ(dispatches.end_ns.back(), 63871248761373);
  EXPECT_EQ(pass.agents.size(), 10u);
  EXPECT_EQ(tables.health.worst(), Severity::note);
}

}  // namespace
}  // namespace chopper::rocprof
