// SPDX-License-Identifier: Apache-2.0
#include "ingest/kineto/metadata.h"

#include <gtest/gtest.h>

namespace chopper {
namespace {

TEST(Metadata, ReadsWhatIsThere) {
  const TraceMetadata m = parse_metadata(
      {{"baseTimeNanoseconds", "1767225600000000000"},
       {"distributedInfo", R"({"backend": "nccl", "rank": 3, "world_size": 8})"},
       {"deviceProperties",
        R"([{"id": 0, "name": "NVIDIA H100", "warpSize": 32, "numSms": 132, "totalGlobalMem": 85899345920}, {"id": 1}])"},
       {"host_name", "\"node-4\""}});
  EXPECT_EQ(m.base_ns, 1767225600000000000);
  EXPECT_EQ(m.rank, 3);
  EXPECT_EQ(m.world_size, 8);
  EXPECT_EQ(m.host, "node-4");
  ASSERT_EQ(m.devices.size(), 2u);
  EXPECT_EQ(m.devices[0].name, "NVIDIA H100");
  EXPECT_EQ(m.devices[0].warp_size, 32);
  EXPECT_EQ(m.devices[0].num_units, 132);
  EXPECT_EQ(m.devices[0].memory_bytes, 85899345920);
  EXPECT_EQ(m.devices[1].id, 1);
  EXPECT_EQ(m.devices[1].num_units, kNoNumber);
}

TEST(Metadata, WhatIsMissingOrOfAnotherTypeStaysEmpty) {
  for (const char* value : {"", "null", "17", "\"text\"", "[]", "{}", "[1, null]",
                            "{\"rank\": \"zero\", \"world_size\": null}", "{\"rank\": [0]}", "{", "nonsense"}) {
    const TraceMetadata m = parse_metadata({{"distributedInfo", value}, {"deviceProperties", value}});
    EXPECT_EQ(m.rank, std::nullopt) << value;
    EXPECT_EQ(m.world_size, std::nullopt) << value;
    EXPECT_TRUE(m.devices.empty()) << value;
  }
  EXPECT_EQ(parse_metadata({}).base_ns, std::nullopt);
}

TEST(Metadata, IntegersMayBeQuoted) {
  const TraceMetadata m =
      parse_metadata({{"baseTimeNanoseconds", "\"1767225600000000000\""}, {"distributedInfo", R"({"rank": "3"})"}});
  EXPECT_EQ(m.base_ns, 1767225600000000000);
  EXPECT_EQ(m.rank, 3);
}

TEST(Metadata, DamagedTextIsRepaired) {
  const TraceMetadata m = parse_metadata({{"distributedInfo", "{\"rank\": 3, \"pg_config\": [NaN, ], }"},
                                          {"deviceProperties", "[{\"id\": 0, \"name\": \"a\tb\"}]"}});
  EXPECT_EQ(m.rank, 3);
  ASSERT_EQ(m.devices.size(), 1u);
  EXPECT_EQ(m.devices[0].name, "a\tb");
}

}  // namespace
}  // namespace chopper
