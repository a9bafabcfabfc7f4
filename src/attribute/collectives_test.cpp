// SPDX-License-Identifier: Apache-2.0
#include "attribute/collectives.h"

#include <gtest/gtest.h>

#include "support/hand_trace.h"
#include "support/host_trace.h"

namespace chopper {
namespace {

RowId describe(TraceTables& trace, std::string_view kind, std::string_view ranks = {}, std::string_view dtype = {},
               std::int64_t in = kNoNumber, std::int64_t out = kNoNumber) {
  CollectiveTable& t = trace.collectives;
  const auto text = [&](std::string_view s) { return s.empty() ? kNoString : trace.strings.intern(s); };
  t.kind.push_back(trace.strings.intern(kind));
  t.group.push_back(kNoString);
  t.description.push_back(kNoString);
  t.ranks.push_back(text(ranks));
  t.dtype.push_back(text(dtype));
  t.group_size.push_back(kNoNumber);
  t.in_elements.push_back(in);
  t.out_elements.push_back(out);
  t.sequence.push_back(kNoNumber);
  return RowId{static_cast<std::uint32_t>(num_rows(t) - 1)};
}

TEST(Collectives, MetadataOfTheRecordThenOfTheOperator) {
  test::HandTrace hand;
  TraceTables& trace = hand.trace;
  const std::uint32_t row = hand.add({.gpu_class = GpuClass::comm});
  CallStack stack;
  EXPECT_EQ(metadata_of(trace, row, nullptr), kNoRow);
  EXPECT_EQ(metadata_of(trace, row, &stack), kNoRow);
  stack.comms = test::add_range(trace, {.name = "record_param_comms"});
  EXPECT_EQ(metadata_of(trace, row, &stack), kNoRow) << "an operator that says nothing";
  const RowId of_operator = describe(trace, "allreduce"), of_record = describe(trace, "broadcast");
  trace.ranges.collective[0] = of_operator;
  EXPECT_EQ(metadata_of(trace, row, &stack), of_operator);
  trace.gpu_work.collective[row] = of_record;
  EXPECT_EQ(metadata_of(trace, row, &stack), of_record);
  EXPECT_EQ(metadata_of(trace, row, nullptr), of_record);
}

TEST(Collectives, KindFromMetadataThenStackThenName) {
  test::HandTrace hand;
  TraceTables& trace = hand.trace;
  const std::uint32_t named = hand.add({.gpu_class = GpuClass::comm, .name = "ncclDevKernel_AllGather"});
  const std::uint32_t generic = hand.add({.gpu_class = GpuClass::comm, .name = "ncclDevKernel_Generic"});
  const RowId allreduce = describe(trace, "allreduce"), wait = describe(trace, "wait");
  StringTable operations;
  CallStack stack;
  stack.kind = operations.intern("rs");
  const auto kind = [&](std::uint32_t row, RowId metadata, const CallStack* s) {
    return kind_of_collective(trace, operations, row, metadata, s);
  };
  EXPECT_EQ(kind(named, allreduce, &stack), "ar");
  EXPECT_EQ(kind(named, wait, &stack), "rs");
  EXPECT_EQ(kind(named, kNoRow, &stack), "rs");
  EXPECT_EQ(kind(named, kNoRow, nullptr), "ag");
  EXPECT_EQ(kind(generic, kNoRow, nullptr), "comm");
  EXPECT_EQ(kind(generic, wait, nullptr), "comm");
}

TEST(Collectives, Bytes) {
  TraceTables trace;
  const struct {
    std::string_view dtype;
    std::int64_t in, out, bytes;
  } cases[] = {
      {"BFloat16", 8, 64, 128},    {"Float", 64, 8, 256},
      {"Byte", kNoNumber, 32, 32}, {"Byte", 32, kNoNumber, 32},
      {"Byte", 0, 0, 0},           {"Byte", kNoNumber, kNoNumber, kNoNumber},
      {"", 8, 8, kNoNumber},       {"Mystery", 8, 8, kNoNumber},
      {"ComplexDouble", 1, 1, 16}, {"UInt16", 1, 1, 2},
      {"Float8_e5m2", 1, 1, 1},    {"Double", INT64_MAX, 1, kNoNumber},
  };
  for (const auto& c : cases)
    EXPECT_EQ(bytes_of_collective(trace, describe(trace, "x", {}, c.dtype, c.in, c.out)), c.bytes) << c.dtype;
  EXPECT_EQ(bytes_of_collective(trace, kNoRow), kNoNumber);
}

TEST(Collectives, PlaceInTheGroup) {
  TraceTables trace;
  const struct {
    std::string_view ranks;
    std::int64_t rank;
    std::int32_t place;
  } cases[] = {
      {"[0, 4, 8, 12]", 8, 2},
      {"[0, 4, 8, 12]", 0, 0},
      {"[0, 4, 8, 12]", 1, -1},
      {"0,4", 4, 1},
      {"[0, 1, ..., 63]", 0, -1},
      {"", 0, -1},
      {"[12]", 12, 0},
      {"[12]", 1, -1},
      {"[99999999999999999999, 3]", 3, 1},
  };
  for (const auto& c : cases)
    EXPECT_EQ(place_in_group(trace, describe(trace, "send", c.ranks), c.rank).value_or(-1), c.place) << c.ranks;
}

TEST(Collectives, GroupsOfStages) {
  const Result<GroupDimensionRules> rules = embedded_group_dimension_rules();
  ASSERT_TRUE(rules.ok());
  const struct {
    std::string_view description, name;
    bool is_pipeline;
  } cases[] = {
      {"mesh_pp", "", true},      {"PIPELINE_MODEL_PARALLEL_GROUP", "7", true},
      {"mesh_cp", "7", false},    {"default_pg", "0", true},
      {"undefined", "tp", false}, {"", "pp", true},
  };
  for (const auto& c : cases) {
    TraceTables trace;
    const RowId metadata = describe(trace, "send", "[0, 1]");
    if (!c.description.empty()) trace.collectives.description[index_of(metadata)] = trace.strings.intern(c.description);
    if (!c.name.empty()) trace.collectives.group[index_of(metadata)] = trace.strings.intern(c.name);
    EXPECT_EQ(is_pipeline_group(trace, rules.value(), metadata), c.is_pipeline) << c.description << " " << c.name;
  }
}

}  // namespace
}  // namespace chopper
