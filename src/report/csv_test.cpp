// SPDX-License-Identifier: Apache-2.0
#include "report/csv.h"

#include <gtest/gtest.h>

#include <string>

namespace chopper {
namespace {

std::string cell_of(std::string_view text) {
  std::string out;
  append_csv_cell(out, text);
  return out;
}

std::string table_of(const Answer& answer, std::string_view table) {
  std::string out;
  EXPECT_TRUE(write_csv_table(answer, table, [&](std::string_view piece) {
    out += piece;
    return true;
  }));
  return out;
}

TEST(CsvCell, QuotesOnlyWhatNeedsIt) {
  EXPECT_EQ(cell_of("plain text"), "plain text");
  EXPECT_EQ(cell_of(""), "");
  EXPECT_EQ(cell_of("f<4, float>"), "\"f<4, float>\"");
  EXPECT_EQ(cell_of("say \"x\""), "\"say \"\"x\"\"\"");
  EXPECT_EQ(cell_of("two\nlines"), "\"two\nlines\"");
  EXPECT_EQ(cell_of(" edge"), "\" edge\"");
  EXPECT_EQ(cell_of("a\xFF"), "a\xEF\xBF\xBD");
}

TEST(CsvTable, WritesMissingAsEmpty) {
  Answer answer;
  KernelSummaryRow kernel;
  kernel.rank = Reason::rank_unknown;
  kernel.gpu = 2;
  kernel.name = "a,b";
  kernel.gpu_class = "vector";
  kernel.grid = ExtentList{{16, 2, 1}};
  kernel.num = 3;
  answer.kernel_summary = {kernel};
  EXPECT_EQ(table_of(answer, "kernel_summary"),
            "input,rank,gpu,name,class,operation,grid,block,num,total_ns,min_ns,p50_ns,p95_ns,max_ns\n"
            "0,,2,\"a,b\",vector,,16x2x1,,3,0,0,0,0,0\n");
}

TEST(CsvTable, JoinsExamples) {
  Answer answer;
  HealthRow health;
  health.kind = "truncated";
  health.severity = "data_loss";
  health.count = 2;
  health.examples = {{"f @ byte 1", "cut"}, {"g", "cut, too"}};
  answer.health = {health};
  EXPECT_EQ(table_of(answer, "health"),
            "input,kind,severity,count,examples\n,truncated,data_loss,2,\"f @ byte 1: cut; g: cut, too\"\n");
}

TEST(CsvTables, AreNamedAndApart) {
  std::string out;
  EXPECT_TRUE(write_csv_tables({}, true, [&](std::string_view piece) {
    out += piece;
    return true;
  }));
  EXPECT_TRUE(out.starts_with("# inputs\ninput,path,"));
  EXPECT_NE(out.find("\n\n# gpus\ninput,rank,"), std::string::npos);
  EXPECT_NE(out.find("\n\n# copies\n"), std::string::npos);
  EXPECT_EQ(csv_table_names(true).size(), csv_table_names(false).size() + 2);
}

}  // namespace
}  // namespace chopper
