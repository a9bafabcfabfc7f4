// SPDX-License-Identifier: Apache-2.0
#include "cli/synth_command.h"

#include <gtest/gtest.h>

#include <string>

namespace chopper {
namespace {

// A request that is right; each case below changes one thing.
SynthOptions tiny() {
  SynthOptions options;
  options.preset = "tiny-ddp";
  options.output = "run";
  return options;
}

void expect_usage_error(const SynthOptions& options, const std::string& message, const std::string& hint) {
  const Result<SynthRequest> request = read_synth_options(options);
  ASSERT_FALSE(request.ok()) << message;
  EXPECT_EQ(request.error().code, ErrorCode::usage);
  EXPECT_EQ(request.error().message, message);
  EXPECT_EQ(request.error().hint, hint);
}

TEST(ReadSynthOptions, ReadsWhatIsGiven) {
  SynthOptions options = tiny();
  options.seed = "18446744073709551615";
  options.gpu = "h100_sxm";
  options.settings = {"batch=3", "sharding=fsdp2", "optimizer=never", "stacks=on", "queue_depth=64.5"};
  options.faults = {"straggler:1:12.5", "slow-link"};
  options.imperfections = {"truncated::5"};
  options.target_size = "3MB";
  const Result<SynthRequest> result = read_synth_options(options);
  ASSERT_TRUE(result.ok()) << result.error().text();
  const synth::Job& job = result.value().job;
  EXPECT_EQ(result.value().output, "run");
  EXPECT_EQ(result.value().target_bytes, 3000000);
  EXPECT_EQ(job.seed, 18446744073709551615u);
  EXPECT_EQ(job.gpu.key, "h100_sxm");
  EXPECT_EQ(job.batch, 3);
  EXPECT_EQ(job.sharding, synth::Sharding::fsdp2);
  EXPECT_EQ(job.optimizer, synth::OptimizerSteps::never);
  EXPECT_TRUE(job.stacks);
  EXPECT_EQ(job.physics.queue_depth, 64.5);
  ASSERT_EQ(job.faults.size(), 2u);
  EXPECT_EQ(job.faults[0].name, "straggler");
  EXPECT_EQ(job.faults[0].rank, 1);
  EXPECT_EQ(job.faults[0].amount, 12.5);
  EXPECT_EQ(job.faults[1].rank, -1);
  EXPECT_EQ(job.faults[1].amount, 100);
  ASSERT_EQ(job.imperfections.size(), 1u);
  EXPECT_EQ(job.imperfections[0].rank, -1);
  EXPECT_EQ(job.imperfections[0].amount, 5);
}

TEST(ReadSynthOptions, NeedsAPresetAndAFolder) {
  SynthOptions options = tiny();
  options.preset = "";
  expect_usage_error(options, "synth needs --preset", "all presets: chopper synth --list");
  options = tiny();
  options.output = "";
  expect_usage_error(options, "synth needs -o RUN: the folder to write",
                     "example: chopper synth --preset tiny-ddp -o run");
}

TEST(ReadSynthOptions, GuessesTheMeantPreset) {
  SynthOptions options = tiny();
  options.preset = "paper-b2s4-fdsp2";
  expect_usage_error(options, "unknown preset 'paper-b2s4-fdsp2'", "did you mean paper-b2s4-fsdp2?");
  options.preset = "nonsense";
  expect_usage_error(options, "unknown preset 'nonsense'", "all presets: chopper synth --list");
}

TEST(ReadSynthOptions, RefusesABadSeed) {
  for (const std::string seed : {"-1", "1.5", "seven", "18446744073709551616", " 1", "0x10"}) {
    SynthOptions options = tiny();
    options.seed = seed;
    expect_usage_error(options, "--seed takes a whole number from 0, not '" + seed + "'", "example: --seed 7");
  }
}

TEST(ReadSynthOptions, RefusesABadSetting) {
  const auto with = [](const std::string& setting) {
    SynthOptions options = tiny();
    options.settings = {setting};
    return options;
  };
  expect_usage_error(with("batch"), "--set takes NAME=VALUE, not 'batch'", "example: --set layers=4");
  expect_usage_error(with("=2"), "--set takes NAME=VALUE, not '=2'", "example: --set layers=4");
  expect_usage_error(with("bach=2"), "unknown setting 'bach'", "all settings: chopper synth --list");
  expect_usage_error(with("num_iterations=0"), "num_iterations takes a whole number from 1 to 100000, not '0'", "");
  expect_usage_error(with("num_iterations="), "num_iterations takes a whole number from 1 to 100000, not ''", "");
  expect_usage_error(with("num_iterations=2.5"), "num_iterations takes a whole number from 1 to 100000, not '2.5'", "");
  expect_usage_error(with("stacks=yes"), "stacks takes on or off, not 'yes'", "");
  expect_usage_error(with("idle_w=hot"), "idle_w takes a number from 0 to 100000, not 'hot'", "");
  expect_usage_error(with("idle_w=nan"), "idle_w takes a number from 0 to 100000, not 'nan'", "");
  expect_usage_error(with("sharding=once"), "sharding takes fsdp1, fsdp2 or ddp, not 'once'", "");
  expect_usage_error(with("optimizer=ddp"), "optimizer takes every, once or never, not 'ddp'", "");
}

TEST(ReadSynthOptions, RefusesABadFault) {
  const auto with = [](const std::string& fault) {
    SynthOptions options = tiny();
    options.faults = {fault};
    return options;
  };
  expect_usage_error(
      with("stragler"), "unknown fault 'stragler'",
      "there are: straggler, thermal-throttle, late-rank, slow-link, host-jitter, sync-calls, data-loading");
  expect_usage_error(with("straggler:one"), "'one' is no rank in 'straggler:one'", "example: straggler:5:8");
  expect_usage_error(with("straggler:0.5"), "'0.5' is no rank in 'straggler:0.5'", "example: straggler:5:8");
  expect_usage_error(with("straggler:1:much"), "the amount of straggler is a number from 0 to 90 %, not 'much'", "");
  expect_usage_error(with("straggler:1:nan"), "the amount of straggler is a number from 0 to 90 %, not 'nan'", "");
  expect_usage_error(with("straggler:1:91"), "the amount of straggler is a number from 0 to 90 %, not '91'", "");
  expect_usage_error(with("sync-calls:1"), "sync-calls concerns all ranks, not one: 'sync-calls:1'",
                     "leave the rank out");
  expect_usage_error(with("straggler:4"), "fault straggler names a rank that is not there: 4", "");
}

TEST(ReadSynthOptions, RefusesABadImperfection) {
  SynthOptions options = tiny();
  options.imperfections = {"truncated:4"};
  expect_usage_error(options, "imperfection truncated names a rank that is not there: 4", "");
  options.imperfections = {"cut"};
  EXPECT_EQ(read_synth_options(options).error().message, "unknown imperfection 'cut'");
}

TEST(ReadSynthOptions, TakesOneLength) {
  SynthOptions options = tiny();
  options.num_iterations = "3";
  options.target_size = "1MB";
  expect_usage_error(options, "--target-size and --num-iterations both set the number of iterations",
                     "give one of them");
  options.num_iterations = "";
  for (const std::string size : {"big", "0", "0MB", "MB", "-1MB", "1.5GB", "2TB", "1000000GB"}) {
    options.target_size = size;
    expect_usage_error(options, "--target-size takes a size such as 500MB or 1GB, not '" + size + "'", "");
  }
}

TEST(ReadSynthOptions, RefusesUnknownGpusAndDialects) {
  SynthOptions options = tiny();
  options.gpu = "h100";
  const Result<SynthRequest> request = read_synth_options(options);
  ASSERT_FALSE(request.ok());
  EXPECT_EQ(request.error().code, ErrorCode::usage);
  EXPECT_EQ(request.error().message, "unknown gpu 'h100'");
  options = tiny();
  options.dialect = "amd";
  expect_usage_error(options, "--dialect takes nvidia, amd-queue or amd-stream, not 'amd'", "");
}

}  // namespace
}  // namespace chopper
