// SPDX-License-Identifier: Apache-2.0
#include "cli/arguments.h"

#include <gtest/gtest.h>

#include <string>
#include <variant>
#include <vector>

namespace chopper {
namespace {

const std::vector<FormatInfo> kFormatsHere = {{"pytorch", "Trace of the PyTorch profiler", ""}};

Arguments parsed(const std::vector<std::string>& words) {
  const auto result = parse_arguments(words, kFormatsHere);
  if (const Reply* reply = std::get_if<Reply>(&result)) ADD_FAILURE() << reply->text;
  const Arguments* arguments = std::get_if<Arguments>(&result);
  return arguments == nullptr ? Arguments{} : *arguments;
}

Reply refused(const std::vector<std::string>& words) {
  const auto result = parse_arguments(words, kFormatsHere);
  const Reply* reply = std::get_if<Reply>(&result);
  if (reply == nullptr) ADD_FAILURE() << "accepted";
  return reply == nullptr ? Reply{} : *reply;
}

void expect_usage_error(const std::vector<std::string>& words, const std::string& text) {
  const Reply reply = refused(words);
  EXPECT_EQ(reply.exit_code, 2);
  EXPECT_FALSE(reply.to_stdout);
  EXPECT_NE(reply.text.find(text), std::string::npos) << reply.text;
}

TEST(ParseArguments, ReadsEveryOptionOfReport) {
  const Arguments a = parsed({"report",     "a",          "--json",
                              "-",          "--csv",      "d",
                              "--kernels",  "--gpu",      "1",
                              "--rank",     "2",          "--set-rank",
                              "x=y=3",      "--set-rank", "z=4",
                              "b",          "--format",   "pytorch",
                              "--strict",   "--threads",  "5",
                              "--progress", "plain",      "-q",
                              "--config",   "facts.toml", "--iteration-mark",
                              "train step"});
  EXPECT_EQ(a.command, Command::report);
  EXPECT_EQ(a.runs, (std::vector<std::filesystem::path>{"a", "b"}));
  EXPECT_EQ(a.json_path, "-");
  EXPECT_EQ(a.csv_path, "d");
  EXPECT_TRUE(a.options.keep_kernels);
  EXPECT_EQ(a.options.only_gpu, 1);
  EXPECT_EQ(a.options.only_rank, 2);
  EXPECT_EQ(a.options.set_rank, (std::map<std::string, std::int64_t>{{"x=y", 3}, {"z", 4}}));
  EXPECT_EQ(a.options.format, "pytorch");
  EXPECT_TRUE(a.options.strict);
  EXPECT_EQ(a.options.config, "facts.toml");
  EXPECT_EQ(a.options.iteration_mark, "train step");
  EXPECT_EQ(a.options.threads, 5u);
  EXPECT_EQ(a.progress, ProgressMode::plain);
  EXPECT_TRUE(a.quiet);
}

TEST(ParseArguments, WritesOnePageAndOneOutputToStandardOutput) {
  EXPECT_EQ(parsed({"report", "a", "-o", "page.html"}).html_path, "page.html");
  EXPECT_EQ(parsed({"report", "a", "--output", "-", "--json", "x.json"}).html_path, "-");
  EXPECT_EQ(parsed({"report", "a"}).html_path, "");
  expect_usage_error({"report", "a", "-o", "-", "--json", "-"}, "only one of -o, --json and --csv");
  expect_usage_error({"report", "a", "-o", "-", "--csv", "-"}, "only one of -o, --json and --csv");
}

TEST(ParseArguments, DefaultsAskForNothing) {
  const Arguments a = parsed({"check", "run"});
  EXPECT_EQ(a.command, Command::check);
  EXPECT_EQ(a.options.threads, 0u);
  EXPECT_FALSE(a.options.only_rank.has_value());
  EXPECT_EQ(a.progress, ProgressMode::automatic);
}

TEST(ParseArguments, RunsMayLookLikeCommandsAndOptions) {
  EXPECT_EQ(parsed({"report", "check"}).runs, (std::vector<std::filesystem::path>{"check"}));
  EXPECT_EQ(parsed({"report", "--", "-odd"}).runs, (std::vector<std::filesystem::path>{"-odd"}));
}

TEST(ParseArguments, VersionHasTwoForms) {
  EXPECT_EQ(parsed({"--version"}).command, Command::version);
  EXPECT_EQ(parsed({"version"}).command, Command::version);
}

TEST(ParseArguments, HelpGoesToStandardOutput) {
  const Reply help = refused({"report", "--help"});
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_TRUE(help.to_stdout);
  EXPECT_NE(help.text.find("--set-rank FILE=N"), std::string::npos);
  EXPECT_EQ(refused({}).exit_code, 2);
  EXPECT_NE(refused({}).text.find("example: chopper report"), std::string::npos);
}

TEST(ParseArguments, WrongUsageComesWithARemedy) {
  expect_usage_error({"reprot", "run"}, "unknown command 'reprot'\n  did you mean report?");
  expect_usage_error({"report"}, "report needs a RUN");
  expect_usage_error({"report", "--jsn", "x", "run"}, "did you mean --json?");
  expect_usage_error({"report", "--jsn"}, "did you mean --json?");
  expect_usage_error({"--strict", "report", "run"}, "options follow the command");
  expect_usage_error({"report", "run", "--json"}, "--json");
  expect_usage_error({"report", "run", "--json", ""}, "--json: needs a value");
  expect_usage_error({"report", ""}, "needs a value");
  expect_usage_error({"report", "run", "--json", "a", "--json", "b"}, "--json is given more than once");
  expect_usage_error({"report", "run", "--rank", "one"}, "--rank takes a whole number from 0, not 'one'");
  expect_usage_error({"report", "run", "--gpu", "-1"}, "--gpu takes");
  expect_usage_error({"report", "run", "--threads", "5000"}, "--threads takes");
  expect_usage_error({"report", "run", "--memory", "much"}, "--memory takes a size such as 4G or 500MB, not 'much'");
  expect_usage_error({"report", "run", "--set-rank", "file"}, "--set-rank takes FILE=N");
  expect_usage_error({"report", "run", "--set-rank", "f=1", "--set-rank", "f=2"}, "two ranks for 'f': 1 and 2");
  expect_usage_error({"report", "run", "--format", "pytorh"}, "did you mean pytorch?");
  expect_usage_error({"report", "run", "--progress", "fast"}, "auto, plain or off");
  expect_usage_error({"report", "run", "--json", "-", "--csv", "-"}, "standard output");
  expect_usage_error({"check", "run", "--json", "x"}, "unknown option '--json' of check");
  expect_usage_error({"formats", "x"}, "more than formats takes");
  expect_usage_error({"gpus", "x"}, "more than gpus takes");
  expect_usage_error({"demo", "x"}, "more than demo takes");
  expect_usage_error({"syth"}, "unknown command 'syth'\n  did you mean synth?");
  expect_usage_error({"dmeo"}, "did you mean demo?");
  expect_usage_error({"gpu"}, "did you mean gpus?");
  expect_usage_error({"metrics", "plan", "gpu_cycles"}, "chopper metrics plan --gpu mi300x");
  expect_usage_error({"metrics", "--format", "ncu"}, "--format belongs to metrics plan");
  expect_usage_error({"metrics", "plan", "--gpu", "mi300x", "--format", "nsys"}, "rocprofv3 or ncu, not 'nsys'");
  expect_usage_error({"nonsense"}, "commands: report, check, synth, demo, formats, gpus, metrics, version;");
  expect_usage_error({"synth", "--sede", "1"}, "did you mean --seed?");
  expect_usage_error({"synth", "--seed", "1", "--seed", "2"}, "--seed is given more than once");
  expect_usage_error({"synth", "--preset", ""}, "--preset: needs a value");
  expect_usage_error({"--seed", "1", "synth"}, "'--seed' stands before a command");
}

TEST(ParseArguments, HelpListsTheCommands) {
  const Reply help = refused({"--help"});
  EXPECT_EQ(help.exit_code, 0);
  for (const char* command : {"report", "check", "synth", "demo", "formats", "gpus", "version"}) {
    EXPECT_NE(help.text.find(std::string("\n  ") + command + " "), std::string::npos) << command;
  }
}

TEST(ParseArguments, ReadsEveryOptionOfSynth) {
  const Arguments a = parsed({"synth",
                              "--preset",
                              "tiny-ddp",
                              "-o",
                              "run",
                              "--seed",
                              "7",
                              "--gpu",
                              "mi325x",
                              "--num-iterations",
                              "3",
                              "--target-size",
                              "1MB",
                              "--set",
                              "batch=2",
                              "--set",
                              "layers=4",
                              "--fault",
                              "straggler:1:8",
                              "--fault",
                              "slow-link",
                              "--dialect",
                              "nvidia",
                              "--imperfection",
                              "truncated:0:10",
                              "--list",
                              "--threads",
                              "5",
                              "--progress",
                              "off",
                              "-q"});
  EXPECT_EQ(a.command, Command::synth);
  EXPECT_EQ(a.synth.preset, "tiny-ddp");
  EXPECT_EQ(a.synth.output, "run");
  EXPECT_EQ(a.synth.seed, "7");
  EXPECT_EQ(a.synth.gpu, "mi325x");
  EXPECT_EQ(a.synth.num_iterations, "3");
  EXPECT_EQ(a.synth.target_size, "1MB");
  EXPECT_EQ(a.synth.dialect, "nvidia");
  EXPECT_EQ(a.synth.settings, (std::vector<std::string>{"batch=2", "layers=4"}));
  EXPECT_EQ(a.synth.faults, (std::vector<std::string>{"straggler:1:8", "slow-link"}));
  EXPECT_EQ(a.synth.imperfections, std::vector<std::string>{"truncated:0:10"});
  EXPECT_TRUE(a.synth.list);
  EXPECT_EQ(a.options.threads, 5u);
  EXPECT_EQ(a.progress, ProgressMode::off);
  EXPECT_TRUE(a.quiet);
}

TEST(ParseArguments, DemoKeepsItsRunWhenToldWhere) {
  EXPECT_EQ(parsed({"demo"}).synth.output, "");
  const Arguments a = parsed({"demo", "-o", "run", "--threads", "2"});
  EXPECT_EQ(a.command, Command::demo);
  EXPECT_EQ(a.synth.output, "run");
  EXPECT_EQ(a.options.threads, 2u);
  EXPECT_EQ(parsed({"gpus"}).command, Command::gpus);
}

TEST(ParseArguments, CompletionNamesAShell) {
  EXPECT_EQ(parsed({"completion", "zsh"}).command, Command::completion);
  EXPECT_EQ(parsed({"completion", "zsh"}).shell, "zsh");
  EXPECT_EQ(parsed({"man"}).command, Command::man);
  expect_usage_error({"completion"}, "completion takes bash, zsh or fish");
  expect_usage_error({"completion", "tcsh"}, "not 'tcsh'");
  expect_usage_error({"completion", "bash", "zsh"}, "more than completion takes");
  expect_usage_error({"man", "x"}, "more than man takes");
}

}  // namespace
}  // namespace chopper
