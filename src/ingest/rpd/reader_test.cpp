// SPDX-License-Identifier: Apache-2.0
#include "ingest/rpd/reader.h"

#include <gtest/gtest.h>

#include <string>

#include "support/database.h"
#include "support/trace_dump.h"

namespace chopper::rpd {
namespace {

TEST(Rpd, ReadsWorkWithItsCalls) {
  const std::string bytes = test::database_of(test::rpd_tables());
  const auto result = read_database([&]() -> Result<std::unique_ptr<ByteSource>> { return open_memory_source(bytes); },
                                    "input", ReadOptions());
  ASSERT_TRUE(result.ok()) << result.error().text();
  const TraceTables& tables = result.value();
  EXPECT_EQ(test::broken_invariant(tables), "");
  const auto text = [&](StringId id) { return std::string(tables.strings.view(id)); };
  const GpuWorkTable& gpu = tables.gpu_work;
  ASSERT_EQ(num_rows(gpu), 2u);  // a barrier is no work
  EXPECT_EQ(text(gpu.name[0]), "gemm");
  EXPECT_EQ(gpu.category[0], GpuCategory::kernel);
  EXPECT_EQ(gpu.device[0], 2);
  EXPECT_EQ(gpu.start_ns[0], 150);
  EXPECT_EQ(gpu.duration_ns[0], 30);
  EXPECT_EQ(gpu.block[0], (Extent{256, 1, 1}));
  EXPECT_EQ(text(gpu.name[1]), "CopyHostToDevice");
  EXPECT_EQ(gpu.category[1], GpuCategory::memcpy);
  EXPECT_EQ(gpu.bytes[1], 4096);
  ASSERT_EQ(num_rows(tables.launches), 2u);
  EXPECT_EQ(gpu.correlation, tables.launches.correlation);
  EXPECT_EQ(text(tables.launches.name[1]), "hipMemcpyAsync");
  ASSERT_EQ(num_rows(tables.ranges), 1u);
  EXPECT_EQ(text(tables.ranges.name[0]), "step 3");
  EXPECT_EQ(tables.facts.num_records, 6u);
}

}  // namespace
}  // namespace chopper::rpd
