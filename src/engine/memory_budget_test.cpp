// SPDX-License-Identifier: Apache-2.0
#include "engine/memory_budget.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <string>

namespace chopper {
namespace {

TEST(MemoryBudget, AsManyFilesAsFit) {
  EXPECT_EQ(files_at_once({30, 30, 30, 30}, 100), 3u);
  EXPECT_EQ(files_at_once({10, 80, 20}, 100), 2u);  // the two largest
  EXPECT_EQ(files_at_once({10, 10, 95}, 100), 1u);
  EXPECT_EQ(files_at_once({1000, 1000}, 100), 1u);  // each more than there is: alone
  EXPECT_EQ(files_at_once({1000, 1000}, 0), 2u);
  EXPECT_EQ(files_at_once({}, 100), 1u);
  EXPECT_EQ(files_at_once({UINT64_MAX, 1}, UINT64_MAX), 1u);
}

TEST(MemoryBudget, EstimatesByTheLengthOfTheText) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "chopper_memory_budget";
  std::filesystem::create_directories(folder);
  const auto write = [&](const char* name, const std::string& content) {
    std::ofstream(folder / name, std::ios::binary) << content;
    return reading_bytes(folder / name);
  };
  const std::uint64_t base = write("empty", "");
  EXPECT_EQ(write("plain", std::string(1000, '{')), base + 400);
  std::string gzip("\x1f\x8b", 2);
  gzip += std::string(94, 'x');
  EXPECT_EQ(write("short.gz", gzip + std::string("\x10\x27\x00\x00", 4)), base + 4000);  // 10,000 bytes
  EXPECT_EQ(write("wrong.gz", gzip + std::string("\x01\x00\x00\x00", 4)), base + 400);   // ten times the file
  EXPECT_EQ(write("a.zst", std::string("\x28\xb5\x2f\xfd", 4) + std::string(96, 'x')), base + 400);
  EXPECT_EQ(reading_bytes(folder / "absent"), base);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace chopper
