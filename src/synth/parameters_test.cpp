// SPDX-License-Identifier: Apache-2.0
#include "synth/parameters.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "synth/presets.h"

namespace chopper::synth {
namespace {

Job tiny() { return make_job("tiny-fsdp2", "").value(); }

TEST(Parameters, NamesAreUniqueAndDefaultsInRange) {
  std::set<std::string_view> names;
  for (const Parameter& p : list_parameters()) {
    EXPECT_TRUE(names.insert(p.name).second) << p.name;
    EXPECT_GE(p.initial, p.low) << p.name;
    EXPECT_LE(p.initial, p.high) << p.name;
    EXPECT_FALSE(p.source.empty()) << p.name;
  }
  for (const Setting& s : list_settings()) EXPECT_TRUE(names.insert(s.name).second) << s.name;
  for (const Switch& s : list_switches()) EXPECT_TRUE(names.insert(s.name).second) << s.name;
}

// All parameters of the struct are in the list: nothing is left at zero.
TEST(Parameters, CoverThePhysics) {
  static_assert(sizeof(Physics) % sizeof(double) == 0);
  EXPECT_EQ(list_parameters().size(), sizeof(Physics) / sizeof(double));
}

TEST(Parameters, SettingsAreApplied) {
  Job job = tiny();
  EXPECT_TRUE(apply_setting(job, "layers=6").ok());
  EXPECT_EQ(job.model.num_layers, 6);
  EXPECT_TRUE(apply_setting(job, "stacks=on").ok());
  EXPECT_TRUE(job.stacks);
  EXPECT_TRUE(apply_setting(job, "gemm_utilisation=0.5").ok());
  EXPECT_EQ(job.physics.gemm_utilisation, 0.5);
  EXPECT_TRUE(apply_setting(job, "sharding=ddp").ok());
  EXPECT_EQ(job.sharding, Sharding::ddp);
}

TEST(Parameters, WrongSettingsAreRefusedAndChangeNothing) {
  Job job = tiny();
  for (const char* text : {"", "layers", "=3", "layers=", "layers=x", "layers=0", "layers=1.5", "layers=1e99",
                           "stacks=yes", "gemm_utilisation=2", "gemm_utilisation=nan", "nothing=1", "sharding=fsdp3",
                           "optimizer=ddp", "sharding=every"}) {
    const Result<Done> done = apply_setting(job, text);
    ASSERT_FALSE(done.ok()) << text;
    EXPECT_EQ(done.error().code, ErrorCode::usage) << text;
  }
  EXPECT_EQ(job.model.num_layers, 2);
  EXPECT_EQ(job.sharding, Sharding::fsdp2);
}

TEST(Parameters, EffectsAreParsed) {
  EXPECT_EQ(parse_fault("straggler").value().rank, -1);
  EXPECT_EQ(parse_fault("straggler").value().amount, 8);
  EXPECT_EQ(parse_fault("straggler:3").value().rank, 3);
  EXPECT_EQ(parse_fault("straggler::12").value().amount, 12);
  EXPECT_EQ(parse_fault("straggler::12").value().rank, -1);
  EXPECT_EQ(parse_imperfection("clock-offset:1:-5.5").value().amount, -5.5);
  for (const char* text :
       {"drop-random::500", "truncated::-10", "zero-time::0.5", "clock-drift:0:-2000000", "drop-stream::10"}) {
    EXPECT_FALSE(parse_imperfection(text).ok()) << text;
  }
  for (const char* text : {"", "nothing", "straggler:x", "straggler:-1", "straggler:1:", "straggler:1:y",
                           "late-rank:1:-5", "late-rank:1:1e9", "sync-calls:3", "sync-calls::2"}) {
    EXPECT_FALSE(parse_fault(text).ok()) << text;
  }
}

TEST(Parameters, PartsThatDoNotFitAreRefused) {
  const auto refused = [](std::initializer_list<const char*> settings) {
    Job job = tiny();
    for (const char* each : settings) EXPECT_TRUE(apply_setting(job, each).ok()) << each;
    return !check_job(job).ok();
  };
  EXPECT_FALSE(refused({}));
  EXPECT_TRUE(refused({"tensor_parallel=3"}));
  EXPECT_TRUE(refused({"pipeline_parallel=2"}));
  EXPECT_TRUE(refused({"pipeline_parallel=4", "sharding=ddp"}));
  EXPECT_TRUE(refused({"kv_heads=3"}));
  EXPECT_TRUE(refused({"context_parallel=2", "sequence=1025"}));
  EXPECT_TRUE(refused({"graphs=on", "compiled=on"}));
  EXPECT_TRUE(refused({"compiled=on", "checkpointing=on"}));
}

TEST(Presets, EveryGpuCanRunTheDemo) {
  const Result<std::vector<GpuSpec>> gpus = embedded_gpus();
  ASSERT_TRUE(gpus.ok());
  for (const GpuSpec& gpu : gpus.value()) {
    const Result<Job> job = make_job("demo", gpu.key);
    ASSERT_TRUE(job.ok()) << gpu.key;
    EXPECT_TRUE(check_job(job.value()).ok()) << gpu.key;
  }
  EXPECT_FALSE(make_job("demo", "h1000").ok());
  EXPECT_FALSE(make_job("dem", "").ok());
}

}  // namespace
}  // namespace chopper::synth
