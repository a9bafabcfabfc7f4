// SPDX-License-Identifier: Apache-2.0
#include "cli/output.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

namespace chopper {
namespace {

namespace fs = std::filesystem;

class WriteFile : public testing::Test {
 protected:
  void SetUp() override {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::path(testing::TempDir()) / (std::string("chopper_output_") + test->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string content(const fs::path& path) const {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  std::ptrdiff_t num_files() const { return std::distance(fs::directory_iterator(folder_), fs::directory_iterator()); }

  fs::path folder_;
};

const Writer kWriteTwice = [](const TextSink& sink) { return sink("one\n") && sink("two\n"); };

TEST_F(WriteFile, ReplacesTheTargetAndLeavesNothingElse) {
  const fs::path target = folder_ / "out.json";
  std::ofstream(target) << "old";
  ASSERT_TRUE(write_file(target, kWriteTwice).ok());
  EXPECT_EQ(content(target), "one\ntwo\n");
  EXPECT_EQ(num_files(), 1);
}

TEST_F(WriteFile, TheTargetIsUntouchedWhileWriting) {
  const fs::path target = folder_ / "out.json";
  std::ofstream(target) << "old";
  ASSERT_TRUE(write_file(target, [&](const TextSink& sink) {
                sink("new");
                EXPECT_EQ(content(target), "old");
                return true;
              }).ok());
  EXPECT_EQ(content(target), "new");
}

TEST_F(WriteFile, FollowsALink) {
  std::ofstream(folder_ / "real.json") << "old";
  fs::create_symlink("real.json", folder_ / "link.json");
  ASSERT_TRUE(write_file(folder_ / "link.json", kWriteTwice).ok());
  EXPECT_TRUE(fs::is_symlink(folder_ / "link.json"));
  EXPECT_EQ(content(folder_ / "real.json"), "one\ntwo\n");
}

TEST_F(WriteFile, DevicesAreWrittenInPlace) {
  EXPECT_TRUE(write_file("/dev/null", kWriteTwice).ok());
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(WriteFile, SaysWhyItCannot) {
  EXPECT_FALSE(write_file(folder_ / "no" / "out.json", kWriteTwice).ok());
  const Result<Done> missing = check_can_write(folder_ / "no" / "out.json");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().message, "there is no such directory");
  EXPECT_FALSE(check_can_write(folder_).ok());
  EXPECT_TRUE(check_can_write(folder_ / "out.json").ok());
  EXPECT_TRUE(check_can_write("/dev/null").ok());
}

}  // namespace
}  // namespace chopper
