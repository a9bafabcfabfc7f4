// SPDX-License-Identifier: Apache-2.0
// Real databases: numbers of records and sums of durations as the sqlite3 program gives them, for example
//   sqlite3 FILE "SELECT deviceId, count(*), sum(end-start) FROM CUPTI_ACTIVITY_KIND_KERNEL GROUP BY deviceId"
// Skipped where the files (CHOPPER_TEST_DATA) are not there.
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>

#include "attribute/links.h"
#include "ingest/format.h"
#include "support/trace_dump.h"

namespace chopper::test {
namespace {

// (gpu, category) to (records, sum of durations).
using Sums = std::map<std::pair<std::int32_t, GpuCategory>, std::pair<std::size_t, std::int64_t>>;

class RealDatabases : public testing::Test {
 protected:
  void read(const std::string& name, std::string_view format_name) {
    const std::filesystem::path path = std::filesystem::path(CHOPPER_TEST_DATA) / name;
    if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not there";
    ReadOptions options;
    options.path = path;
    for (std::size_t i = 0; i < kNumFormats; i++) {
      if (kFormats[i]->name != format_name) continue;
      auto result = kFormats[i]->read([&] { return open_byte_source(path); }, "input", options);
      ASSERT_TRUE(result.ok()) << result.error().text();
      trace_ = std::move(result).value();
    }
    ASSERT_EQ(broken_invariant(trace_), "");
    ASSERT_EQ(trace_.health.worst(), Severity::note);
    is_read_ = true;
  }

  Sums sums() const {
    Sums found;
    const GpuWorkTable& gpu = trace_.gpu_work;
    for (std::size_t i = 0; i < num_rows(gpu); i++) {
      auto& [records, duration] = found[{gpu.device[i], gpu.category[i]}];
      records++;
      duration += gpu.duration_ns[i];
    }
    return found;
  }
  std::size_t num_linked() const {
    const LaunchLinks links = link_launches(trace_);
    std::size_t linked = 0;
    for (const RowId launch : links.launch) linked += launch == kNoRow ? 0 : 1;
    return linked;
  }

  TraceTables trace_;
  bool is_read_ = false;
};

constexpr GpuCategory kKernel = GpuCategory::kernel, kCopy = GpuCategory::memcpy, kFill = GpuCategory::memset;

TEST_F(RealDatabases, H100FastVideo) {
  read("nsys/h100_2gpu_fastvideo_1s.sqlite", "nsight-systems");
  if (!is_read_) return;
  const Sums found = sums();
  EXPECT_EQ(found.at({0, kKernel}), std::pair(std::size_t{1721}, std::int64_t{22385163}));
  EXPECT_EQ(found.at({1, kKernel}), std::pair(std::size_t{1721}, std::int64_t{22444359}));
  EXPECT_EQ(found.at({0, kCopy}).first + found.at({1, kCopy}).first, 904u);
  EXPECT_EQ(found.at({0, kCopy}).second + found.at({1, kCopy}).second, 1880842214);
  EXPECT_EQ(found.at({0, kFill}).second + found.at({1, kFill}).second, 29216);
  EXPECT_EQ(num_rows(trace_.launches), 5796u);
  EXPECT_EQ(num_rows(trace_.ranges), 16782u);
  EXPECT_EQ(num_linked(), 2092u);  // of an SQL join on process and correlation
  EXPECT_EQ(trace_.facts.clock, ClockDomain::unix_time);
}

TEST_F(RealDatabases, MfuBefore) {
  read("nsys/mfu_2gpu_before.sqlite", "nsight-systems");
  if (!is_read_) return;
  const Sums found = sums();
  EXPECT_EQ(found.at({0, kKernel}), std::pair(std::size_t{1993}, std::int64_t{270875926}));
  EXPECT_EQ(found.at({1, kKernel}), std::pair(std::size_t{2017}, std::int64_t{264324724}));
  EXPECT_EQ(found.at({0, kCopy}).first + found.at({1, kCopy}).first, 1020u);
  EXPECT_EQ(found.at({0, kCopy}).second + found.at({1, kCopy}).second, 5692087);
  EXPECT_EQ(found.at({0, kFill}).first + found.at({1, kFill}).first, 269u);
  EXPECT_EQ(num_rows(trace_.launches), 7466u);
  EXPECT_EQ(num_rows(trace_.ranges), 19118u);
  EXPECT_EQ(num_linked(), 5268u);
}

TEST_F(RealDatabases, Mock) {
  read("nsys/mock.sqlite", "nsight-systems");
  if (!is_read_) return;
  EXPECT_EQ(sums().at({0, kKernel}), std::pair(std::size_t{2}, std::int64_t{4129}));
  EXPECT_EQ(sums().at({0, kCopy}), std::pair(std::size_t{1}, std::int64_t{1632}));
  EXPECT_EQ(trace_.gpu_work.start_ns[0], 1776781226557295056 + 1517727052);
  ASSERT_EQ(trace_.facts.devices.size(), 1u);
  EXPECT_EQ(trace_.facts.devices[0].name, "NVIDIA GeForce RTX 3080");
  EXPECT_EQ(trace_.facts.devices[0].num_units, 68);
  EXPECT_EQ(num_linked(), 3u);
}

TEST_F(RealDatabases, WithoutKernels) {
  read("nsys/rtx5060ti_no_kernels.sqlite", "nsight-systems");
  if (!is_read_) return;
  EXPECT_EQ(num_rows(trace_.gpu_work), 0u);
  EXPECT_EQ(num_rows(trace_.launches), 3u);
  EXPECT_EQ(trace_.health.count(HealthKind::no_gpu_records), 1u);
}

TEST_F(RealDatabases, FewColumns) {
  read("nsys/synthetic_400_kernels.sqlite", "nsight-systems");
  if (!is_read_) return;
  EXPECT_EQ(sums().at({0, kKernel}), std::pair(std::size_t{400}, std::int64_t{400000000}));
  EXPECT_EQ(num_linked(), 400u);
  EXPECT_EQ(trace_.facts.clock, ClockDomain::relative);
}

TEST_F(RealDatabases, RocmProfileData) {
  struct Case {
    const char* name;
    std::int64_t kernels_ns, copies_ns, fills_ns;
  };
  for (const Case& c : {Case{"rocprofv3/rpd_matmul_result.rpd", 26399795, 157512821, 5440},
                        Case{"rocprofv3/rpd_matmul_result_large.rpd", 532986691, 1577639533, 5280}}) {
    read(c.name, "rpd");
    if (!is_read_) return;
    EXPECT_EQ(sums().at({2, kKernel}), std::pair(std::size_t{29}, c.kernels_ns));
    EXPECT_EQ(sums().at({2, kCopy}), std::pair(std::size_t{55}, c.copies_ns));
    EXPECT_EQ(sums().at({2, kFill}), std::pair(std::size_t{1}, c.fills_ns));
    EXPECT_EQ(num_rows(trace_.launches) + num_rows(trace_.ranges), 125u);
    EXPECT_EQ(num_linked(), 85u);
  }
}

}  // namespace
}  // namespace chopper::test
