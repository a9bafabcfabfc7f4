// SPDX-License-Identifier: Apache-2.0
// That shells accept the scripts is tested by tools/check_completion.py.
#include "cli/completion.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "cli/command_line.h"
#include "cli/man_page.h"

namespace chopper {
namespace {

const std::vector<FormatInfo> kFormatsHere = {{"pytorch", "Trace of the PyTorch profiler", ""}};

const CommandDescription* find(const std::vector<CommandDescription>& commands, const std::string& name) {
  const auto found = std::find_if(commands.begin(), commands.end(), [&](const auto& c) { return c.name == name; });
  return found == commands.end() ? nullptr : &*found;
}

const OptionDescription* find(const CommandDescription& command, const std::string& name) {
  const auto found = std::find_if(command.options.begin(), command.options.end(),
                                  [&](const OptionDescription& o) { return o.long_name == name; });
  return found == command.options.end() ? nullptr : &*found;
}

TEST(DescribeCommandLine, ReadsTheParser) {
  const auto commands = describe_command_line(kFormatsHere);
  const CommandDescription* report = find(commands, "report");
  const CommandDescription* synth = find(commands, "synth");
  const CommandDescription* completion = find(commands, "completion");
  ASSERT_TRUE(report != nullptr && synth != nullptr && completion != nullptr);
  EXPECT_TRUE(report->takes_runs);
  EXPECT_FALSE(synth->takes_runs);
  EXPECT_TRUE(report->in_help);
  EXPECT_FALSE(completion->in_help);
  EXPECT_EQ(completion->words, (std::vector<std::string>{"bash", "zsh", "fish"}));
  EXPECT_EQ(find(*report, "--help"), nullptr);
  EXPECT_EQ(find(*report, "--json")->value, "FILE");
  EXPECT_FALSE(find(*report, "--json")->repeatable);
  EXPECT_EQ(find(*report, "--kernels")->value, "");
  EXPECT_EQ(find(*report, "--quiet")->short_name, "-q");
  EXPECT_EQ(find(*report, "--format")->words, std::vector<std::string>{"pytorch"});
  EXPECT_TRUE(find(*report, "--gpu")->words.empty());
  EXPECT_TRUE(find(*report, "--set-rank")->repeatable);
  EXPECT_TRUE(find(*synth, "--fault")->repeatable);
  EXPECT_EQ(find(*synth, "--output")->short_name, "-o");
  const auto& gpus = find(*synth, "--gpu")->words;
  EXPECT_NE(std::find(gpus.begin(), gpus.end(), "mi300x"), gpus.end());
  const CommandDescription* metrics = find(commands, "metrics");
  ASSERT_NE(metrics, nullptr);
  EXPECT_EQ(metrics->words.front(), "plan");
  EXPECT_EQ(metrics->usage, "[plan] [NAME...]");
  EXPECT_EQ(find(*metrics, "--format")->words, (std::vector<std::string>{"rocprofv3", "ncu"}));
  const auto& presets = find(*synth, "--preset")->words;
  EXPECT_NE(std::find(presets.begin(), presets.end(), "tiny-fsdp2"), presets.end());
}

TEST(Completion, HasEveryCommandOptionAndWord) {
  const auto commands = describe_command_line(kFormatsHere);
  const std::string bash = bash_completion(commands), zsh = zsh_completion(commands), fish = fish_completion(commands);
  const std::string page = man_page(commands, "1.2.3");
  std::string plain;
  std::copy_if(page.begin(), page.end(), std::back_inserter(plain), [](char c) { return c != '\\'; });
  EXPECT_NE(page.find(".TH CHOPPER 1 \"\" \"chopper 1.2.3\""), std::string::npos);
  for (const CommandDescription& command : commands) {
    EXPECT_NE(bash.find("\n    " + command.name + ")\n"), std::string::npos) << command.name;
    EXPECT_NE(zsh.find("\n    " + command.name + ")\n"), std::string::npos) << command.name;
    EXPECT_NE(plain.find(".SS \"chopper " + command.name), std::string::npos) << command.name;
    if (command.in_help) {
      EXPECT_NE(fish.find(" -a " + command.name + " "), std::string::npos) << command.name;
    }
    for (const OptionDescription& option : command.options) {
      for (const std::string& text : {bash, zsh, plain})
        EXPECT_NE(text.find(option.long_name), std::string::npos) << option.long_name;
      EXPECT_NE(fish.find("from " + command.name + "' " +
                          (option.short_name.empty() ? "" : "-s " + option.short_name.substr(1) + " ") + "-l " +
                          option.long_name.substr(2) + " "),
                std::string::npos)
          << option.long_name;
      for (const std::string& word : option.words) {
        for (const std::string& text : {bash, zsh, fish}) EXPECT_NE(text.find(word), std::string::npos) << word;
      }
    }
  }
}

TEST(Completion, TextsOfPeopleAreQuoted) {
  CommandDescription command;
  command.name = "report";
  command.summary = "what's [up]: a \\ b";
  OptionDescription& option = command.options.emplace_back();
  option.long_name = "--json";
  option.summary = "it's [a] \\ b";
  option.value = "FILE[:N]";
  const std::vector<CommandDescription> commands = {command};
  EXPECT_NE(zsh_completion(commands).find(R"('--json[it'\''s \[a\] \\ b]:FILE\[\:N\]:')"), std::string::npos)
      << zsh_completion(commands);
  EXPECT_NE(fish_completion(commands).find(R"(-d 'it\'s [a] \\ b')"), std::string::npos);
  command.options[0].summary = "'.TH' begins";
  EXPECT_NE(man_page({&command, 1}, "1").find("\n\\&'.TH' begins.\n"), std::string::npos);
}

}  // namespace
}  // namespace chopper
