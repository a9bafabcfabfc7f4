// SPDX-License-Identifier: Apache-2.0
#include "ingest/rocprof/columns.h"

#include <gtest/gtest.h>

#include "ingest/rocprof/pass_builder.h"

namespace chopper::rocprof {
namespace {

TableKind kind(std::string_view head) { return kind_of(header_in(head)); }

TEST(Columns, TellTablesByNamesInAnyOrder) {
  EXPECT_EQ(kind("Counter_Value,Kernel_Name,\"Agent_Id\",Counter_Name,Dispatch_Id\n1,"), TableKind::counter_collection);
  EXPECT_EQ(kind("\xef\xbb\xbf\"Kernel_Name\",\"Agent_Id\",\"End_Timestamp\",\"Start_Timestamp\"\r\n"),
            TableKind::kernel_trace);
  EXPECT_EQ(kind("\n\nCu_Count,Agent_Type,Node_Id"), TableKind::agent_info);
  EXPECT_EQ(kind("Dispatch_Id,Agent_Id,Kernel_Name,Counter_Name"), TableKind::incomplete);
  EXPECT_EQ(kind("Agent_Id,Kernel_Name,Start_Timestamp,End_Timestamp,Counter_Value"), TableKind::incomplete);
  EXPECT_EQ(kind("Dispatch_ID,GPU_ID,Kernel_Name,Counter_Name,Counter_Value"), TableKind::other);  // rocprof-compute
  EXPECT_EQ(kind("counter_name,counter_value,dispatch_id,agent_id,kernel_name"), TableKind::other);
  EXPECT_EQ(kind(""), TableKind::other);
  EXPECT_EQ(kind("{\"traceEvents\": []}"), TableKind::other);
}

TEST(Columns, TakeTheFirstOfTwoWithOneName) {
  const auto columns = dispatch_columns(header_in("Agent_Id,Dispatch_Id,Dispatch_Id,Agent_Id"));
  EXPECT_EQ(columns.agent, 0u);
  ASSERT_EQ(columns.numbers.size(), 1u);
  EXPECT_EQ(columns.numbers[0].column, 1u);
}

TEST(Columns, NameWhatIsMissing) {
  const auto error = refusal(TableKind::incomplete, header_in("Dispatch_Id,Agent_Id,Kernel_Name"), "x.csv");
  ASSERT_TRUE(error);
  EXPECT_EQ(error->message, "a header of rocprofv3 without the columns Counter_Name, Counter_Value");
}

TEST(PassDevice, KeepsTheWordBeforeTheNumber) {
  const auto form = [](std::string_view text) { return parse_device(text).form; };
  EXPECT_EQ(form("4"), AgentForm::node);
  EXPECT_EQ(form("Agent 4"), AgentForm::agent);
  EXPECT_EQ(form("GPU 0"), AgentForm::gpu);
  EXPECT_EQ(form("CPU 0"), AgentForm::cpu);
  for (const std::string_view text :
       {"", "Agent", "Agent ", "Agent x", "GPU 1a", "-1", "GPU -1", "0x4", "GPU4", "99999999999999999999"})
    EXPECT_EQ(form(text), AgentForm::unknown) << text;
  EXPECT_EQ(parse_device("GPU 12").number, 12);
  EXPECT_EQ(parse_device("GPU 12").text, "GPU 12");
}

}  // namespace
}  // namespace chopper::rocprof
