// SPDX-License-Identifier: Apache-2.0
// What a golden case cannot hold: empty folders, unreadable files, links.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "engine/engine.h"

namespace chopper {
namespace {

namespace fs = std::filesystem;

const std::string kTrace =
    R"({"traceEvents": [{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1, "dur": 1}]})";

class RunFolder : public testing::Test {
 protected:
  RunFolder() : folder_(fs::temp_directory_path() / ("chopper_run_" + std::to_string(::getpid()))) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~RunFolder() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  fs::path write(const std::string& name, const std::string& text) {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return folder_ / name;
  }
  fs::path folder_;
};

TEST_F(RunFolder, AnEmptyDirectoryIsAnError) {
  const auto run = find_run_files({folder_}, {});
  ASSERT_FALSE(run.ok());
  EXPECT_EQ(run.error().code, ErrorCode::not_found);
  EXPECT_EQ(run.error().message, "the directory is empty");
}

TEST_F(RunFolder, NothingNamedIsWrongUsage) {
  const auto run = find_run_files({}, {});
  ASSERT_FALSE(run.ok());
  EXPECT_EQ(run.error().code, ErrorCode::usage);
}

TEST_F(RunFolder, FindsBelowInOrderOfPath) {
  write("b/z.json", kTrace);
  write("a.trace", kTrace);
  write("b/a/y", kTrace);
  const auto run = find_run_files({folder_}, {});
  ASSERT_TRUE(run.ok());
  ASSERT_EQ(run.value().files.size(), 3u);
  EXPECT_EQ(run.value().files[0].shown, "a.trace");
  EXPECT_EQ(run.value().files[1].shown, "b/a/y");
  EXPECT_EQ(run.value().files[2].shown, "b/z.json");
  EXPECT_FALSE(run.value().files[0].named);
}

TEST_F(RunFolder, TheSameFileTwiceIsReadOnce) {
  const fs::path file = write("a.json", kTrace);
  const auto run = find_run_files({file, folder_ / "." / "a.json"}, {});
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(run.value().files.size(), 1u);
  EXPECT_TRUE(run.value().files[0].named);
}

TEST_F(RunFolder, AFileThatCannotBeReadFailsAlone) {
  if (::geteuid() == 0) GTEST_SKIP() << "root reads everything";
  write("a.json", kTrace);
  const fs::path closed = write("closed.json", kTrace);
  fs::permissions(closed, fs::perms::none);
  const auto answer = analyse_run({folder_}, {});
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer.value().health_log.count(HealthKind::input_failed), 1u);
  EXPECT_TRUE(answer.value().lost_something);
  const auto alone = analyse_run({closed}, {});
  ASSERT_FALSE(alone.ok());
  EXPECT_EQ(alone.error().code, ErrorCode::unreadable);
}

TEST_F(RunFolder, ALinkToNothingIsLeftAlone) {
  write("a.json", kTrace);
  fs::create_symlink(folder_ / "nowhere", folder_ / "dangling.json");
  fs::create_directory_symlink(folder_, folder_ / "loop");
  const auto run = find_run_files({folder_}, {});
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(run.value().files.size(), 1u);
}

TEST_F(RunFolder, APipeIsNoInput) {
  write("a.json", kTrace);
  ASSERT_EQ(::mkfifo((folder_ / "pipe.json").c_str(), 0600), 0);
  const auto run = find_run_files({folder_}, {});
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(run.value().files.size(), 1u);
}

TEST_F(RunFolder, ProgressEndsAtTheSizeOfTheFiles) {
  write("a.json", kTrace);
  write("b.json", kTrace + "\n");
  Progress progress;
  RunOptions options;
  options.progress = &progress;
  ASSERT_TRUE(analyse_run({folder_}, options).ok());
  EXPECT_EQ(progress.bytes_total, 2 * kTrace.size() + 1);
  EXPECT_EQ(progress.bytes_done, 2 * kTrace.size() + 1);
}

}  // namespace
}  // namespace chopper
