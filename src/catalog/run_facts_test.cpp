// SPDX-License-Identifier: Apache-2.0
#include "catalog/run_facts.h"

#include <gtest/gtest.h>

#include <string>

namespace chopper {
namespace {

constexpr std::string_view kAll = R"(# all there is
[run]
name = "b2s4"
synthetic = true
[gpu]
spec = "mi300x"
[model]
name = "llama3-8b"
layers = 32
hidden = 4096
feed_forward = 14336
heads = 32
kv_heads = 8
head_dim = 128
vocabulary = 128256
parameters = 8030261248
[training]
batch = 2
sequence = 4096
micro_steps = 3
data_parallel = 4
tensor_parallel = 5
pipeline_parallel = 6
context_parallel = 7
sharding = "fsdp2"
[labels]
iteration_mark = "train_step"
[clock]
f_eff_mhz = 1710.5
)";

TEST(ParseRunFacts, ReadsEveryFact) {
  const auto parsed = parse_run_facts(kAll, "chopper.toml");
  ASSERT_TRUE(parsed.ok()) << parsed.error().text();
  const RunFacts& f = parsed.value();
  EXPECT_EQ(f.run_name, "b2s4");
  EXPECT_EQ(f.synthetic, true);
  EXPECT_EQ(f.gpu_spec, "mi300x");
  EXPECT_EQ(f.model_name, "llama3-8b");
  EXPECT_EQ(f.layers, 32);
  EXPECT_EQ(f.hidden, 4096);
  EXPECT_EQ(f.feed_forward, 14336);
  EXPECT_EQ(f.heads, 32);
  EXPECT_EQ(f.kv_heads, 8);
  EXPECT_EQ(f.head_dim, 128);
  EXPECT_EQ(f.vocabulary, 128256);
  EXPECT_EQ(f.parameters, 8030261248);
  EXPECT_EQ(f.batch, 2);
  EXPECT_EQ(f.sequence, 4096);
  EXPECT_EQ(f.micro_steps, 3);
  EXPECT_EQ(f.data_parallel, 4);
  EXPECT_EQ(f.tensor_parallel, 5);
  EXPECT_EQ(f.pipeline_parallel, 6);
  EXPECT_EQ(f.context_parallel, 7);
  EXPECT_EQ(f.sharding, "fsdp2");
  EXPECT_EQ(f.iteration_mark, "train_step");
  EXPECT_EQ(f.f_eff_mhz, 1710.5);
}

TEST(ParseRunFacts, AnythingMayBeLeftOut) {
  const auto empty = parse_run_facts("", "chopper.toml");
  ASSERT_TRUE(empty.ok());
  EXPECT_EQ(empty.value(), RunFacts());
  EXPECT_TRUE(empty.value().clocks.empty());
  const auto one = parse_run_facts("[clock]\nf_eff_mhz = 1700", "chopper.toml");
  ASSERT_TRUE(one.ok());
  EXPECT_EQ(one.value().f_eff_mhz, 1700.0);
}

TEST(ParseRunFacts, ClocksOfParts) {
  const auto parsed = parse_run_facts(
      "[clock]\nf_eff_mhz = 1500\n[[clock.of]]\ngpu = 1\nf_eff_mhz = 1600\n[[clock.of]]\ngpu = 1\nphase = "
      "\"backward\"\noperation = \"lp\"\nf_eff_mhz = 1700\n[[clock.of]]\nrank = 9\ngpu = 1\nf_eff_mhz = 1800\n",
      "chopper.toml");
  ASSERT_TRUE(parsed.ok()) << parsed.error().message;
  const ClockFacts& clocks = parsed.value().clocks;
  EXPECT_EQ(stated_clock(clocks, {0, 0, "backward", "lp"}), 1500.0);
  EXPECT_EQ(stated_clock(clocks, {0, 1, "forward", "lp"}), 1600.0);
  EXPECT_EQ(stated_clock(clocks, {0, 1, "backward", "lp"}), 1700.0);
  EXPECT_EQ(stated_clock(clocks, {9, 1, "forward", "lp"}), 1800.0);
  EXPECT_EQ(stated_clock(clocks, {9, 1, "backward", "lp"}), 1700.0);  // three keys before two
  EXPECT_EQ(stated_clock({}, {}), std::nullopt);
}

void expect_error(const std::string& text, const std::string& where, const std::string& message,
                  const std::string& hint) {
  const auto parsed = parse_run_facts(text, "run/chopper.toml");
  ASSERT_FALSE(parsed.ok()) << text;
  EXPECT_EQ(parsed.error().code, ErrorCode::bad_input);
  EXPECT_EQ(parsed.error().where, where) << text;
  EXPECT_NE(parsed.error().message.find(message), std::string::npos) << parsed.error().message;
  EXPECT_NE(parsed.error().hint.find(hint), std::string::npos) << parsed.error().hint;
}

TEST(ParseRunFacts, SlipsAreErrorsWithTheLineAndARemedy) {
  expect_error("[training]\n\nbach = 2\n", "run/chopper.toml:3", "unknown key training.bach",
               "[training] has batch, sequence, micro_steps");
  expect_error("[training]\nlayers = 2\n", "run/chopper.toml:2", "unknown key training.layers",
               "layers belongs to [model]");
  expect_error("[traning]\nbatch = 2\n", "run/chopper.toml:1", "unknown table traning",
               "the tables are [run], [gpu], [model], [training], [labels], [clock]");
  expect_error("\nbatch = 2\n", "run/chopper.toml:2", "unknown key batch", "batch belongs to [training]");
  expect_error("[training]\nbatch = \"2\"\n", "run/chopper.toml:2", "training.batch", "a whole number from 1");
  expect_error("[training]\nbatch = 0\n", "run/chopper.toml:2", "training.batch", "a whole number from 1");
  expect_error("[training]\nbatch = 2.5\n", "run/chopper.toml:2", "training.batch", "a whole number from 1");
  expect_error("[model]\nname = \"\"\n", "run/chopper.toml:2", "model.name", "a text that is not empty");
  expect_error("[clock]\nf_eff_mhz = -1\n", "run/chopper.toml:2", "clock.f_eff_mhz", "a number above 0");
  expect_error("[clock]\nf_eff_mhz = 1.7\n", "run/chopper.toml:2", "below 100 MHz", "f_eff_mhz = 1700");
  expect_error("[clock]\nof = 3\n", "run/chopper.toml:2", "no list of tables", "[[clock.of]]");
  expect_error("[[clock.of]]\ngpu = 0\n", "run/chopper.toml:1", "without f_eff_mhz", "[[clock.of]]");
  expect_error("[[clock.of]]\nf_eff_mhz = 1700\n", "run/chopper.toml:1", "of nothing", "[clock] f_eff_mhz");
  expect_error("[[clock.of]]\ngpu = -1\nf_eff_mhz = 1700\n", "run/chopper.toml:2", "gpu", "from 0");
  expect_error("[[clock.of]]\nphase = \"fwd\"\nf_eff_mhz = 1700\n", "run/chopper.toml:2", "phase", "forward");
  expect_error("[[clock.of]]\nlayer = 1\nf_eff_mhz = 1700\n", "run/chopper.toml:2", "unknown key clock.of.layer",
               "rank, gpu");
  expect_error("[[clock.of]]\ngpu = 0\nf_eff_mhz = 50\n", "run/chopper.toml:1", "below 100 MHz", "megahertz");
  expect_error("[[clock.of]]\ngpu = 0\nf_eff_mhz = 1700\n[[clock.of]]\noperation = \"lp\"\nf_eff_mhz = 1600\n",
               "run/chopper.toml:4", "the one at run/chopper.toml:1", "more keys");
  expect_error("[clock]\nf_eff_mhz = nan\n", "run/chopper.toml:2", "clock.f_eff_mhz", "a number above 0");
  expect_error("[run]\nsynthetic = 1\n", "run/chopper.toml:2", "run.synthetic", "true or false");
  expect_error("[model]\nheads = 32\nkv_heads = 5\n", "run/chopper.toml:3", "does not divide", "equally many");
  expect_error("[training]\nbatch == 2\n", "run/chopper.toml:2", "no TOML", "[training]");
  expect_error("training = 3\n", "run/chopper.toml:1", "unknown key training", "the tables are");
}

}  // namespace
}  // namespace chopper
