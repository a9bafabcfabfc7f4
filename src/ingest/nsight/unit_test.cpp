// SPDX-License-Identifier: Apache-2.0
#include "ingest/nsight/unit.h"

#include <gtest/gtest.h>

#include "ingest/nsight/metric_names.h"

namespace chopper::nsight {
namespace {

TEST(NsightUnit, TakesTheScaleOut) {
  const struct {
    const char* text;
    const char* name;
    int exponent;
  } cases[] = {
      {"", "", 0},
      {"%", "%", 0},
      {"byte", "byte", 0},
      {"Kbyte", "byte", 3},
      {"Mbyte", "byte", 6},
      {"Gbyte", "byte", 9},
      {"Tbyte", "byte", 12},
      {"MB", "byte", 6},
      {"Kbyte/block", "byte/block", 3},
      {"byte/second", "byte/second", 0},
      {"Gbyte/second", "byte/second", 9},
      {"Gbyte/s", "byte/second", 9},
      {"byte/nsecond", "byte/second", 9},
      {"second", "ns", 9},
      {"s", "ns", 9},
      {"msecond", "ns", 6},
      {"ms", "ns", 6},
      {"usecond", "ns", 3},
      {"us", "ns", 3},
      {"nsecond", "ns", 0},
      {"ns", "ns", 0},
      {"hz", "Hz", 0},
      {"Mhz", "Hz", 6},
      {"Ghz", "Hz", 9},
      {"cycle", "cycle", 0},
      {"Kcycle", "cycle", 3},
      {"cycle/second", "cycle/second", 0},
      {"cycle/usecond", "cycle/second", 6},
      {"cycle/nsecond", "cycle/second", 9},
      {"inst", "inst", 0},
      {"Minst", "inst", 6},
      {"inst/cycle", "inst/cycle", 0},
      {"inst/ns", "inst/second", 9},
      {"sector", "sector", 0},
      {"register/thread", "register/thread", 0},
      {"SM", "SM", 0},
      {"warp", "warp", 0},
      {"Kernel", "Kernel", 0},
      {"msomething", "msomething", 0},
  };
  for (const auto& test : cases) {
    const Unit unit = base_unit(test.text);
    EXPECT_EQ(unit.name, test.name) << test.text;
    EXPECT_EQ(unit.exponent, test.exponent) << test.text;
    EXPECT_EQ(unit.factor, 1) << test.text;
  }
  EXPECT_EQ(base_unit("KiB").factor, 1024);
  EXPECT_EQ(base_unit("Gibyte/s").factor, 1024.0 * 1024 * 1024);
  EXPECT_EQ(base_unit("Gibyte/s").name, "byte/second");
}

TEST(NsightMetric, GivesDifferentMetricsDifferentNames) {
  MetricNames names;
  EXPECT_EQ(names.find("Memory Throughput", "%", "GPU Speed Of Light Throughput").name, "Memory Throughput");
  EXPECT_EQ(names.find("Memory Throughput", "Gbyte/second", "Memory Workload Analysis").name,
            "Memory Throughput (Memory Workload Analysis)");
  EXPECT_EQ(names.find("Duration", "usecond", "GPU Speed Of Light Throughput").name, "Duration");
  EXPECT_TRUE(names.find("Duration", "msecond", "GPU Speed Of Light Throughput").is_duration);
  EXPECT_EQ(names.find("L2 Hit Rate", "%", "A").name, "L2 Hit Rate");
  EXPECT_EQ(names.find("L2 Hit Rate", "%", "B").name, "L2 Hit Rate (B)");
  EXPECT_EQ(names.find("L2 Hit Rate", "%", "A").name, "L2 Hit Rate");
  // Ids are one metric each, wherever they stand; a unit that is no scale of the first makes another counter.
  EXPECT_EQ(names.find("dram__bytes.sum", "Mbyte", "A").name, "dram__bytes.sum");
  EXPECT_EQ(names.find("dram__bytes.sum", "Kbyte", "B").name, "dram__bytes.sum");
  EXPECT_EQ(names.find("dram__bytes.sum", "", "B").name, "dram__bytes.sum");
  EXPECT_EQ(names.find("dram__bytes.sum", "sector", "B").name, "dram__bytes.sum in sector");
  EXPECT_TRUE(names.find("gpu__time_duration.sum", "nsecond", "").is_duration);
  EXPECT_FALSE(names.find("gpu__time_duration.sum", "", "X").is_duration);
}

TEST(NsightMetric, TheOnlySectionOfMemoryThroughputDoesNotTakeTheNameOfTheShare) {
  MetricNames names;
  EXPECT_EQ(names.find("Memory Throughput", "byte/second", "Memory Workload Analysis").name,
            "Memory Throughput (Memory Workload Analysis)");
  EXPECT_EQ(names.find("Memory Throughput", "%", "GPU Speed Of Light Throughput").name, "Memory Throughput");
}

}  // namespace
}  // namespace chopper::nsight
