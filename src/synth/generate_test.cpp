// SPDX-License-Identifier: Apache-2.0
// Whole runs in a temporary folder: the same bytes for the same seed, and what is left alone.
#include "synth/generate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "base/byte_source.h"
#include "synth/counter_plan.h"
#include "synth/parameters.h"
#include "synth/presets.h"

namespace chopper::synth {
namespace {

namespace fs = std::filesystem;

class Generate : public testing::Test {
 protected:
  void SetUp() override {
    const testing::TestInfo* info = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::path(testing::TempDir()) / (std::string("chopper_synth_") + info->name() + "_" +
                                              std::to_string(::testing::UnitTest::GetInstance()->random_seed()));
    fs::remove_all(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  static std::string text_of(const fs::path& path) {
    auto source = open_byte_source(path);
    EXPECT_TRUE(source.ok()) << path;
    std::string text;
    std::vector<char> buffer(1 << 16);
    while (true) {
      const std::size_t got = source.value()->read(buffer).value();
      text.append(buffer.data(), got);
      if (got < buffer.size()) return text;
    }
  }

  // FNV-1a of 64 bits over the uncompressed files of a run.
  static std::uint64_t digest(const fs::path& run, std::int64_t ranks) {
    std::uint64_t hash = 0xcbf29ce484222325u;
    std::vector<fs::path> files = {run / "truth.json", run / "chopper.toml"};
    for (std::int64_t rank = 0; rank < ranks; rank++)
      files.push_back(run / "traces" / ("rank" + std::to_string(rank) + ".trace.json.gz"));
    for (const fs::path& file : files) {
      for (const char c : text_of(file)) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    }
    return hash;
  }

  // What passes add to a run, in order of name.
  static std::vector<fs::path> pass_files(const fs::path& run) {
    std::vector<fs::path> files;
    for (const char* each : {"truth_counters.json", "true_clock.toml"}) {
      if (fs::exists(run / each)) files.emplace_back(each);
    }
    if (fs::exists(run / "counters")) {
      for (const auto& entry : fs::recursive_directory_iterator(run / "counters")) {
        if (entry.is_regular_file()) files.push_back(fs::relative(entry.path(), run));
      }
    }
    std::sort(files.begin(), files.end());
    return files;
  }
  static std::uint64_t pass_digest(const fs::path& run) {
    std::uint64_t hash = 0xcbf29ce484222325u;
    for (const fs::path& file : pass_files(run)) {
      for (const char c : text_of(run / file)) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    }
    return hash;
  }

  static GenerateOptions options(unsigned threads, std::int64_t target_bytes = 0) {
    GenerateOptions made;
    made.threads = threads;
    made.target_bytes = target_bytes;
    return made;
  }

  static Job tiny() {
    Job job = make_job("tiny-fsdp2", "").value();
    job.num_iterations = 2;
    return job;
  }

  fs::path folder_;
};

TEST_F(Generate, IsTheSameForTheSameSeedAndAnyNumberOfThreads) {
  ASSERT_TRUE(generate(tiny(), folder_ / "a", options(1)).ok());
  ASSERT_TRUE(generate(tiny(), folder_ / "b", options(3)).ok());
  Job other = tiny();
  other.seed = 2;
  ASSERT_TRUE(generate(other, folder_ / "c", options(1)).ok());
  const std::uint64_t first = digest(folder_ / "a", 4);
  EXPECT_EQ(first, digest(folder_ / "b", 4));
  EXPECT_NE(first, digest(folder_ / "c", 4));
}

// One value for all compilers, libraries and machines. It changes with the model, and then is written anew; a
// difference between two builds of the same sources is a fault.
TEST_F(Generate, IsTheSameOnEveryPlatform) {
  ASSERT_TRUE(generate(tiny(), folder_, options(2)).ok());
  EXPECT_EQ(digest(folder_, 4), 18148273528177781536u);
}

// Passes are beside the run: they change nothing of it. Their files are the same for the same seed, too.
TEST_F(Generate, CounterPassesChangeNoOtherFile) {
  Job with_passes = tiny();
  with_passes.passes.is_on = true;
  ASSERT_TRUE(generate(with_passes, folder_ / "a", options(1)).ok());
  ASSERT_TRUE(generate(with_passes, folder_ / "b", options(3)).ok());
  EXPECT_EQ(digest(folder_ / "a", 4), 18148273528177781536u);
  const std::vector<fs::path> files = pass_files(folder_ / "a");
  EXPECT_EQ(files.size(), 4u * 4 * 4 + 2);  // passes, ranks, tables; truth and clock
  for (const fs::path& file : files) {
    EXPECT_EQ(text_of(folder_ / "a" / file), text_of(folder_ / "b" / file)) << file;
  }
  EXPECT_EQ(pass_digest(folder_ / "a"), 5408198895237944624u);
  with_passes.passes.marks = false;
  with_passes.passes.compressed = true;
  ASSERT_TRUE(generate(with_passes, folder_ / "a", options(1)).ok());
  const fs::path table = "counters/pass_2/rank3/node0/51110_counter_collection.csv";
  EXPECT_FALSE(fs::exists(folder_ / "a" / table));
  EXPECT_EQ(text_of(folder_ / "a" / (table.string() + ".gz")), text_of(folder_ / "b" / table));
  EXPECT_EQ(pass_files(folder_ / "a").size(), 4u * 4 * 3 + 2);
  ASSERT_TRUE(generate(tiny(), folder_ / "a", options(1)).ok());
  EXPECT_TRUE(pass_files(folder_ / "a").empty());
}

TEST_F(Generate, WritesEachFormatOfPasses) {
  struct Case {
    const char* preset;
    CounterFormat format;
    std::size_t files_of_process;
    const char* begins;  // of the file of the counters
    const char* name;
  };
  constexpr Case kCases[] = {
      {"tiny-fsdp2", CounterFormat::rocprofv3_6_2, 4, "\"Correlation_Id\"", "51001_counter_collection.csv"},
      {"tiny-fsdp2", CounterFormat::rocprofv3_json, 1, "{\"rocprofiler-sdk-tool\":[", "51001_results.json"},
      {"tiny-fsdp2", CounterFormat::rocpd, 1, "SQLite format 3", "51001_results.db"},
      {"llama3-8b-fsdp2-h100", CounterFormat::ncu, 1, "==PROF== Connected", "51001_raw.csv"},
  };
  for (const Case& each : kCases) {
    Job job = make_job(each.preset, "").value();
    job.world_size = job.num_iterations = job.model.num_layers = job.passes.num_iterations = 1;
    job.passes.is_on = true;
    job.passes.format = each.format;
    ASSERT_TRUE(generate(job, folder_, options(1)).ok()) << each.name;
    EXPECT_EQ(pass_files(folder_).size(), static_cast<std::size_t>(num_passes(job)) * each.files_of_process + 2);
    const std::string text = text_of(folder_ / "counters" / "pass_1" / "rank0" / "node0" / each.name);
    EXPECT_TRUE(text.starts_with(each.begins)) << text.substr(0, 80);
  }
}

TEST_F(Generate, ReplacesARunAndRefusesOtherFolders) {
  ASSERT_TRUE(generate(tiny(), folder_, options(1)).ok());
  Job smaller = tiny();
  smaller.world_size = 2;
  ASSERT_TRUE(generate(smaller, folder_, options(1)).ok());
  EXPECT_FALSE(fs::exists(folder_ / "traces" / "rank3.trace.json.gz"));
  fs::remove(folder_ / "truth.json");
  const Result<Done> refused = generate(tiny(), folder_, options(1));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::conflict);
  EXPECT_TRUE(fs::exists(folder_ / "traces" / "rank1.trace.json.gz"));
}

TEST_F(Generate, MeetsTheTargetSize) {
  constexpr std::int64_t kWanted = 6'000'000;
  ASSERT_TRUE(generate(tiny(), folder_, options(2, kWanted)).ok());
  const auto size = static_cast<double>(text_of(folder_ / "traces" / "rank0.trace.json.gz").size());
  EXPECT_NEAR(size / static_cast<double>(kWanted), 1.0, 0.15);
}

TEST_F(Generate, SaysWhyAFolderCannotBeMade) {
  fs::create_directories(folder_);
  std::ofstream(folder_ / "file") << "x";
  const Result<Done> refused = generate(tiny(), folder_ / "file", options(1));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::conflict);
}

}  // namespace
}  // namespace chopper::synth
