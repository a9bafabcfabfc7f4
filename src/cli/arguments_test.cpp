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
  const Arguments a =
      parsed({"report",   "a",       "--json",   "-",          "--csv", "d",          "--kernels", "--gpu",
              "1",        "--rank",  "2",        "--set-rank", "x=y=3", "--set-rank", "z=4",       "b",
              "--format", "pytorch", "--strict", "--threads",  "5",     "--progress", "plain",     "-q"});
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
  EXPECT_EQ(a.options.threads, 5u);
  EXPECT_EQ(a.progress, ProgressMode::plain);
  EXPECT_TRUE(a.quiet);
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
  expect_usage_error({"report", "run", "--set-rank", "file"}, "--set-rank takes FILE=N");
  expect_usage_error({"report", "run", "--set-rank", "f=1", "--set-rank", "f=2"}, "two ranks for 'f': 1 and 2");
  expect_usage_error({"report", "run", "--format", "pytorh"}, "did you mean pytorch?");
  expect_usage_error({"report", "run", "--progress", "fast"}, "auto, plain or off");
  expect_usage_error({"report", "run", "--json", "-", "--csv", "-"}, "standard output");
  expect_usage_error({"check", "run", "--json", "x"}, "unknown option '--json' of check");
  expect_usage_error({"formats", "x"}, "more than formats takes");
}

}  // namespace
}  // namespace chopper
