// SPDX-License-Identifier: Apache-2.0
#include "engine/facts.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "engine/engine.h"

namespace chopper {
namespace {

namespace fs = std::filesystem;

const std::string kTrace =
    R"({"deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3"}], "traceEvents": [{"ph": "X", "cat": "kernel", )"
    R"("name": "k", "pid": 0, "tid": 7, "ts": 1, "dur": 1, "args": {"device": 0}}]})";

class Facts : public testing::Test {
 protected:
  Facts() : folder_(fs::temp_directory_path() / ("chopper_facts_" + std::to_string(::getpid()))) {
    fs::remove_all(folder_);
    write("run/rank0.json", kTrace);
  }
  ~Facts() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  fs::path write(const std::string& name, const std::string& text) {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return folder_ / name;
  }
  Result<Answer> analyse(const RunOptions& options = {}) { return analyse_run({folder_ / "run"}, options); }
  fs::path folder_;
};

TEST_F(Facts, AreFoundInTheRunAndAreNoForeignFile) {
  write("run/chopper.toml", "[training]\nbatch = 2\n[gpu]\nspec = \"mi300x\"\n");
  const auto answer = analyse();
  ASSERT_TRUE(answer.ok()) << answer.error().text();
  EXPECT_EQ(answer.value().facts.batch, 2);
  EXPECT_EQ(answer.value().gpus.front().spec, "mi300x");  // stated before found
  EXPECT_EQ(answer.value().health_log.count(HealthKind::foreign_file), 0u);
}

TEST_F(Facts, NothingStatedIsNothingKnown) {
  const auto answer = analyse();
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer.value().facts, RunFacts());
  EXPECT_EQ(answer.value().gpus.front().spec, "h100_sxm");
}

TEST_F(Facts, TheNearestFileHolds) {
  write("run/deep/er/chopper.toml", "[training]\nbatch = 9\n");
  write("run/deep/chopper.toml", "[training]\nbatch = 2\n");
  const auto answer = analyse();
  ASSERT_TRUE(answer.ok()) << answer.error().text();
  EXPECT_EQ(answer.value().facts.batch, 2);
  EXPECT_EQ(answer.value().health_log.count(HealthKind::foreign_file), 1u);
}

TEST_F(Facts, FilesSideBySideMustAgree) {
  write("run/a/chopper.toml", "[training]\nbatch = 2\n");
  write("run/b/chopper.toml", "[training]\nbatch = 2  # again\n");
  EXPECT_TRUE(analyse().ok());
  write("run/b/chopper.toml", "[training]\nbatch = 3\n");
  const auto answer = analyse();
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code, ErrorCode::conflict);
  EXPECT_EQ(answer.error().where, "b/chopper.toml");
  EXPECT_NE(answer.error().message.find("a/chopper.toml"), std::string::npos);
}

TEST_F(Facts, ConfigWinsOverTheRun) {
  write("run/chopper.toml", "[training]\nno such key = 2\n");
  RunOptions options;
  options.config = write("mine.toml", "[training]\nbatch = 4\n");
  const auto answer = analyse(options);
  ASSERT_TRUE(answer.ok()) << answer.error().text();
  EXPECT_EQ(answer.value().facts.batch, 4);
}

TEST_F(Facts, WhatIsWrongWithThemIsSaid) {
  const auto expect = [&](const RunOptions& options, ErrorCode code, const std::string& message) {
    const auto answer = analyse(options);
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.error().code, code) << answer.error().text();
    EXPECT_NE(answer.error().text().find(message), std::string::npos) << answer.error().text();
  };
  RunOptions options;
  options.config = folder_ / "not-there.toml";
  expect(options, ErrorCode::not_found, "no such file");
  options.config = folder_;
  expect(options, ErrorCode::unreadable, "cannot be read");
  options.config = write("large.toml", std::string((std::size_t{1} << 20) + 1, ' '));
  expect(options, ErrorCode::bad_input, "larger than 1 MB");
  write("run/chopper.toml", "[gpu]\nspec = \"mi300\"\n");
  expect({}, ErrorCode::bad_input, "gpu.spec is no gpu of this build: mi300 (the keys there are: chopper gpus)");
  write("run/chopper.toml", "[training]\nbach = 2\n");
  expect({}, ErrorCode::bad_input, "chopper.toml:2: unknown key training.bach");
}

}  // namespace
}  // namespace chopper
