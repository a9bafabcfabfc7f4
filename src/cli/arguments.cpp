// SPDX-License-Identifier: Apache-2.0
#include "cli/arguments.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

#include "cli/closest_word.h"
#include "cli/command_line.h"
#include "cli/selection_words.h"
#include "cli/size_words.h"
#include "engine/gpus.h"
#include "synth/presets.h"

namespace chopper {
namespace {

constexpr std::string_view kHelp =
    "chopper: where does the time of a GPU training run go?\n"
    "\n"
    "usage: chopper <command> [options] RUN...      RUN: a trace file, or a directory of traces\n"
    "\n"
    "  report      the answer as text; -o FILE.html as a page; --json FILE or --csv DIR for programs\n"
    "  check       health of the traces: found, linked, lost, repaired, and what that costs\n"
    "  synth       writes a synthetic run whose truth is known (--list: presets)\n"
    "  demo        reports on a small synthetic run\n"
    "  formats     the input formats this build reads\n"
    "  gpus        the gpus this build knows, with their peaks\n"
    "  operations  the operations this build knows, and how it tells them\n"
    "  metrics     the metrics this build knows; metrics plan: the counter passes they need\n"
    "  version     the version of chopper\n"
    "\n"
    "example: chopper report runs/fsdp2-b2s4\n"
    "options: chopper <command> --help\n";

// What CLI11 fills; numbers stay text so that the message about a bad one is ours.
struct Typed {
  std::vector<std::string> runs;
  SelectionWords selection;
  std::string html, json, csv, gpu, rank, config, iteration_mark, format, threads, memory, progress;
  std::vector<std::string> operations, metric_files;
  std::vector<std::string> set_rank;
  bool kernels = false, strict = false, quiet = false, version = false;
  SynthOptions synth;
  std::string shell;
  std::string mode, shares;
  MetricsWords metrics;
};

const std::vector<std::string> kShells = {"bash", "zsh", "fish"};

Reply usage_error(const std::string& message, const std::string& hint) {
  std::string text = "chopper: error: " + message + "\n";
  if (!hint.empty()) text += "  " + hint + "\n";
  return {text, 2, false};
}

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

// An empty value is most often a shell variable that is not set; it must not read as "not given".
std::string refuse_empty(const std::string& value) { return value.empty() ? "needs a value, not ''" : ""; }

void add_work_options(CLI::App& command, Typed& typed) {
  command.add_option("--threads", typed.threads, "Threads to use; 0, the default: all")
      ->type_name("N")
      ->check(refuse_empty);
  command.add_option("--memory", typed.memory, "Read fewer files at once, to take about this much at most")
      ->type_name("SIZE")
      ->check(refuse_empty);
  command.add_option("--progress", typed.progress, "auto (on a terminal), plain (a line every 5 s), off")
      ->type_name("MODE")
      ->check(refuse_empty);
  command.add_flag("-q,--quiet", typed.quiet, "No notes and no progress on standard error");
}

void add_run_options(CLI::App& command, Typed& typed) {
  command.add_option("RUN", typed.runs, "Trace files, or directories of them (searched recursively)")
      ->type_name("")
      ->required()
      ->check(refuse_empty);
  command.add_option("--gpu", typed.gpu, "Only this device ordinal")->type_name("N")->check(refuse_empty);
  command.add_option("--rank", typed.rank, "Only this rank")->type_name("N")->check(refuse_empty);
  command.add_option("--set-rank", typed.set_rank, "State the rank of a file; repeatable")
      ->type_name("FILE=N")
      ->allow_extra_args(false);
  command.add_option("--config", typed.config, "Facts about the run, in place of its chopper.toml")
      ->type_name("FILE")
      ->check(refuse_empty);
  command.add_option("--iteration-mark", typed.iteration_mark, "Ranges whose names begin with TEXT delimit iterations")
      ->type_name("TEXT")
      ->check(refuse_empty);
  command
      .add_option("--operations", typed.operations, "A map of operations of your own (chopper operations); repeatable")
      ->type_name("FILE")
      ->check(refuse_empty)
      ->allow_extra_args(false);
  command.add_option("--format", typed.format, "Read every file as this input format (chopper formats)")
      ->type_name("NAME")
      ->check(refuse_empty);
  command.add_flag("--strict", typed.strict, "Fail on the first record that is lost or set aside");
  add_work_options(command, typed);
}

void add_report_options(CLI::App& command, Typed& typed) {
  command
      .add_option("-o,--output", typed.html, "Write the answer as one HTML page; - is standard output, then no text")
      ->type_name("FILE")
      ->check(refuse_empty);
  command.add_option("--json", typed.json, "Write the tables as JSON; - is standard output, then no text")
      ->type_name("FILE")
      ->check(refuse_empty);
  command.add_option("--csv", typed.csv, "Write each table to DIR/<table>.csv; - is standard output, then no text")
      ->type_name("DIR")
      ->check(refuse_empty);
  command.add_flag("--kernels", typed.kernels, "Add every kernel and copy to --json and --csv");
  const auto words = [&](const char* name, std::string& value, const char* summary, const char* type) {
    command.add_option(name, value, summary)->type_name(type)->check(refuse_empty);
  };
  words("--grain", typed.selection.grain, "What rows of operations tell apart besides phase and operation",
        "layer,iteration");
  words("--iterations", typed.selection.iterations, "Only these iterations", "A-B");
  words("--phase", typed.selection.phases, "Only this phase: forward, backward, optimizer, other; several with commas",
        "NAME");
  words("--layer", typed.selection.layers, "Only these layers", "A-B");
  words("--operation", typed.selection.operations, "Only this operation; several with commas", "NAME");
  words("--metric", typed.selection.metrics, "Only this metric of counters in table metrics; several with commas",
        "NAME");
  command.add_option("--metrics", typed.metric_files, "Metrics and counters of your own; repeatable")
      ->type_name("FILE")
      ->allow_extra_args(false)
      ->check(refuse_empty);
  words("--mode", typed.mode, "Theory against measurement as measured, or as the paper computes it", "measured|paper");
  words("--shares", typed.shares, "Nanoseconds of factors: free of their order, or one after the other as in the paper",
        "log-mean|sequential");
}

void add_synth_options(CLI::App& command, Typed& typed) {
  SynthOptions& synth = typed.synth;
  const auto text = [&](const char* names, std::string& value, const char* summary, const char* type) {
    command.add_option(names, value, summary)->type_name(type)->check(refuse_empty);
  };
  text("--preset", synth.preset, "The job to simulate (--list)", "NAME");
  text("-o,--output", synth.output, "The folder to write; an earlier synthetic run in it is replaced", "RUN");
  text("--seed", synth.seed, "Another seed is another repetition; default 1", "N");
  text("--num-iterations", synth.num_iterations, "Recorded iterations", "N");
  text("--target-size", synth.target_size, "As many iterations as make one rank's trace about this large, uncompressed",
       "SIZE");
  text("--gpu", synth.gpu, "Another gpu than the preset's (chopper gpus)", "KEY");
  text("--dialect", synth.dialect, "nvidia, amd-queue (until June 2026), amd-stream: how the traces name things",
       "NAME");
  const auto list = [&](const char* name, std::vector<std::string>& values, const char* summary, const char* type) {
    command.add_option(name, values, summary)->type_name(type)->allow_extra_args(false)->check(refuse_empty);
  };
  list("--set", synth.settings, "Change a setting or a parameter of the physics; repeatable", "NAME=VALUE");
  list("--fault", synth.faults, "Disturb the job; repeatable", "NAME[:RANK[:AMOUNT]]");
  list("--imperfection", synth.imperfections, "Damage the files; repeatable", "NAME[:RANK[:AMOUNT]]");
  command.add_flag("--list", synth.list, "Print presets, faults, imperfections, settings and parameters");
  add_work_options(command, typed);
}

void add_metrics_options(CLI::App& command, MetricsWords& metrics) {
  command.add_option("NAME", metrics.names, "Metrics or counters to explain; plan NAME...: to plan passes for")
      ->type_name("")
      ->check(refuse_empty);
  const auto text = [&](const char* name, std::string& value, const char* summary, const char* type) {
    command.add_option(name, value, summary)->type_name(type)->check(refuse_empty);
  };
  text("--gpu", metrics.gpu, "Only for this gpu (chopper gpus) or architecture; needed to plan", "KEY");
  command.add_option("--metrics", metrics.files, "Metrics and counters of your own; repeatable")
      ->type_name("FILE")
      ->check(refuse_empty)
      ->allow_extra_args(false);
  text("--format", metrics.format, "Write the plan for rocprofv3 or ncu; by default as the gpu needs", "NAME");
  text("--json", metrics.json, "Write the list as JSON; - is standard output", "FILE");
  text("--csv", metrics.csv, "Write the list as CSV; - is standard output", "FILE");
}

std::vector<std::string> options_of(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

// Names an option that no command has, or that is in the wrong place.
Reply unknown_option(const std::string& word, const CLI::App& app, const CLI::App* command) {
  const std::string name = word.substr(0, word.find('='));
  if (command == nullptr) {
    for (const CLI::App* other : app.get_subcommands({})) {
      const std::vector<std::string> known = options_of(*other);
      if (std::find(known.begin(), known.end(), name) != known.end()) {
        return usage_error(fmt::format("'{}' stands before a command", name),
                           fmt::format("options follow the command: chopper {} RUN {}", other->get_name(), name));
      }
    }
    return usage_error(fmt::format("unknown option '{}'", name), "see: chopper --help");
  }
  const std::string guess = closest_word(name, options_of(*command));
  const std::string help = fmt::format("see: chopper {} --help", command->get_name());
  return usage_error(fmt::format("unknown option '{}' of {}", name, command->get_name()),
                     guess.empty() ? help : fmt::format("did you mean {}? {}", guess, help));
}

Reply unknown_command(const std::string& word, const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  std::error_code ignored;
  const std::string guess = closest_word(word, names);
  std::string hint = "commands: report, check, synth, demo, formats, gpus, metrics, version; see: chopper --help";
  if (!guess.empty()) {
    hint = fmt::format("did you mean {}?", guess);
  } else if (std::filesystem::exists(word, ignored)) {
    hint = fmt::format("to analyse it: chopper report {}", word);
  }
  return usage_error(fmt::format("unknown command '{}'", word), hint);
}

// What the parser could not place, in the words of a person.
std::optional<Reply> reply_to_extras(const CLI::App& app, const CLI::App* command) {
  for (const CLI::App* parser : {&app, command}) {
    if (parser == nullptr) continue;
    for (const std::string& word : parser->remaining()) {
      if (word == "--") continue;  // "what follows is no option" has done its work
      if (word.size() > 1 && word[0] == '-') return unknown_option(word, app, parser == &app ? nullptr : command);
      if (command == nullptr) return unknown_command(word, app);
      return usage_error(fmt::format("'{}' is more than {} takes", word, command->get_name()),
                         fmt::format("see: chopper {} --help", command->get_name()));
    }
  }
  return std::nullopt;
}

std::optional<Reply> read_format(const Typed& typed, std::span<const FormatInfo> formats, RunOptions& options) {
  if (typed.format.empty()) return std::nullopt;
  std::vector<std::string> names;
  for (const FormatInfo& format : formats) names.emplace_back(format.name);
  if (std::find(names.begin(), names.end(), typed.format) == names.end()) {
    const std::string guess = closest_word(typed.format, names);
    return usage_error(
        fmt::format("unknown input format '{}'", typed.format),
        guess.empty() ? "the formats there are: chopper formats" : fmt::format("did you mean {}?", guess));
  }
  options.format = typed.format;
  return std::nullopt;
}

std::optional<Reply> read_set_rank(const Typed& typed, RunOptions& options) {
  for (const std::string& word : typed.set_rank) {
    const std::size_t equals = word.rfind('=');
    const auto rank =
        equals == std::string::npos ? std::nullopt : whole_number(std::string_view(word).substr(equals + 1));
    if (!rank || equals == 0) {
      return usage_error(fmt::format("--set-rank takes FILE=N, not '{}'", word), "example: --set-rank trace.json=3");
    }
    const auto [entry, added] = options.set_rank.emplace(word.substr(0, equals), *rank);
    if (!added && entry->second != *rank) {
      return usage_error(
          fmt::format("--set-rank states two ranks for '{}': {} and {}", entry->first, entry->second, *rank),
          "keep one of them");
    }
  }
  return std::nullopt;
}

std::optional<Reply> read_numbers(const Typed& typed, RunOptions& options) {
  const auto bad = [](std::string_view option, const std::string& text, std::string_view range) {
    return usage_error(fmt::format("{} takes {}, not '{}'", option, range, text), fmt::format("example: {} 4", option));
  };
  if (!typed.gpu.empty()) {
    options.only_gpu = whole_number(typed.gpu);
    if (!options.only_gpu) return bad("--gpu", typed.gpu, "a whole number from 0");
  }
  if (!typed.rank.empty()) {
    options.only_rank = whole_number(typed.rank);
    if (!options.only_rank) return bad("--rank", typed.rank, "a whole number from 0");
  }
  if (!typed.threads.empty()) {
    constexpr std::int64_t kMaxThreads = 4096;  // beyond any machine; a larger one is a slip
    const auto threads = whole_number(typed.threads);
    if (!threads || *threads > kMaxThreads) return bad("--threads", typed.threads, "a whole number from 0 to 4096");
    options.threads = static_cast<unsigned>(*threads);
  }
  if (!typed.memory.empty()) {
    const auto bytes = size_of_words(typed.memory);
    if (!bytes)
      return usage_error(fmt::format("--memory takes a size such as 4G or 500MB, not '{}'", typed.memory),
                         "example: --memory 4G");
    options.memory_bytes = static_cast<std::uint64_t>(*bytes);
  }
  return std::nullopt;
}

std::optional<Reply> read_progress(const Typed& typed, ProgressMode& mode) {
  if (typed.progress.empty() || typed.progress == "auto") {
    mode = ProgressMode::automatic;
  } else if (typed.progress == "plain") {
    mode = ProgressMode::plain;
  } else if (typed.progress == "off") {
    mode = ProgressMode::off;
  } else {
    return usage_error(fmt::format("--progress takes auto, plain or off, not '{}'", typed.progress),
                       "example: --progress plain");
  }
  return std::nullopt;
}

// A value that is missing, empty or given twice.
Reply unparsable(const CLI::ParseError& error, const CLI::App& app) {
  std::string message = error.what();
  // CLI11: "--json: At Most 1 required but received 2".
  const std::size_t twice = message.find(": At Most 1 required");
  if (twice != std::string::npos) message = message.substr(0, twice) + " is given more than once";
  const bool known = !app.get_subcommands().empty();
  return usage_error(message, known ? fmt::format("see: chopper {} --help", app.get_subcommands().front()->get_name())
                                    : std::string("see: chopper --help"));
}

// Turns the text of the options into values, or explains the first that is wrong.
std::variant<Arguments, Reply> arguments_from(const Typed& typed, Command command, const std::string& name,
                                              std::span<const FormatInfo> formats) {
  Arguments arguments;
  arguments.command = command;
  if (command == Command::synth || command == Command::demo) {
    if (auto reply = read_numbers(typed, arguments.options)) return *reply;
    if (auto reply = read_progress(typed, arguments.progress)) return *reply;
    arguments.quiet = typed.quiet;
    arguments.synth = typed.synth;
    return arguments;
  }
  if (command == Command::completion) {
    if (std::find(kShells.begin(), kShells.end(), typed.shell) == kShells.end())
      return usage_error(fmt::format("completion takes bash, zsh or fish, not '{}'", typed.shell),
                         "example: chopper completion bash");
    arguments.shell = typed.shell;
  }
  if (command == Command::metrics) {
    const Result<MetricsArguments> metrics = read_metrics_words(typed.metrics);
    if (!metrics.ok()) return usage_error(metrics.error().message, metrics.error().hint);
    arguments.metrics = metrics.value();
    return arguments;
  }
  if (command != Command::report && command != Command::check) return arguments;
  if (typed.runs.empty()) {
    return usage_error(name + " needs a RUN: a trace file, or a directory of traces",
                       fmt::format("example: chopper {} runs/fsdp2-b2s4", name));
  }
  arguments.runs.assign(typed.runs.begin(), typed.runs.end());
  RunOptions& options = arguments.options;
  options.strict = typed.strict;
  options.config = typed.config;
  options.iteration_mark = typed.iteration_mark;
  options.operation_files.assign(typed.operations.begin(), typed.operations.end());
  options.metric_files.assign(typed.metric_files.begin(), typed.metric_files.end());
  if (const auto error = read_selection(typed.selection, options)) return usage_error(error->message, error->hint);
  if (auto reply = read_format(typed, formats, options)) return *reply;
  if (auto reply = read_set_rank(typed, options)) return *reply;
  if (auto reply = read_numbers(typed, options)) return *reply;
  if (auto reply = read_progress(typed, arguments.progress)) return *reply;
  const auto to_stdout = [](const std::string& target) { return target == "-" ? 1 : 0; };
  if (to_stdout(typed.json) + to_stdout(typed.csv) + to_stdout(typed.html) > 1) {
    return usage_error("only one of -o, --json and --csv can go to standard output",
                       "give the others a file: --json out.json");
  }
  if (!typed.mode.empty() && typed.mode != "measured" && typed.mode != "paper")
    return usage_error(fmt::format("--mode takes measured or paper, not '{}'", typed.mode), "example: --mode paper");
  arguments.paper = typed.mode == "paper";
  if (!typed.shares.empty() && typed.shares != "log-mean" && typed.shares != "sequential")
    return usage_error(fmt::format("--shares takes log-mean or sequential, not '{}'", typed.shares),
                       "example: --shares sequential");
  options.sequential_shares = typed.shares == "sequential";
  options.keep_kernels = typed.kernels;
  arguments.json_path = typed.json;
  arguments.csv_path = typed.csv;
  arguments.html_path = typed.html;
  arguments.quiet = typed.quiet;
  return arguments;
}

// The parser with all commands and options: the one place that lists them.
struct CommandLine {
  struct Parser {
    Command command;
    CLI::App* app;
  };
  Typed typed;
  CLI::App app{"", "chopper"};
  std::vector<Parser> parsers;  // in order of the help

  CommandLine() {
    app.require_subcommand(0, 1);
    app.allow_extras();
    app.add_flag("--version", typed.version, "Print the version");

    CLI::App& report =
        add(Command::report, "report", "Where the time goes: the answer as text, HTML page, JSON or CSV");
    add_report_options(report, typed);
    add_run_options(report, typed);
    add_run_options(add(Command::check, "check", "Health of the traces, and what it costs which number"), typed);
    add_synth_options(
        add(Command::synth, "synth", "A synthetic run whose truth is known: traces, truth.json, chopper.toml"), typed);
    CLI::App& demo = add(Command::demo, "demo", "Reports on a small synthetic run");
    add_work_options(demo, typed);
    demo.add_option("-o,--output", typed.synth.output, "Keep the run in this folder")
        ->type_name("RUN")
        ->check(refuse_empty);
    add(Command::formats, "formats", "The input formats this build reads");
    add(Command::gpus, "gpus", "The gpus this build knows, with their peaks");
    add(Command::operations, "operations", "The operations this build knows, and how it tells them");
    add_metrics_options(
        add(Command::metrics, "metrics", "The metrics this build knows; plan: the counter passes they need"),
        typed.metrics);
    add(Command::version, "version", "The version of chopper");
    // For those who build on or package chopper: in the reference, not in the help.
    add(Command::schema, "schema", "The JSON Schema of report --json").group("");
    CLI::App& completion = add(Command::completion, "completion", "The completion script of bash, zsh or fish");
    completion.group("");
    completion.add_option("SHELL", typed.shell, "bash, zsh or fish")->type_name("");
    add(Command::man, "man", "The manual page, for man -l").group("");
  }

 private:
  CLI::App& add(Command command, const std::string& name, const std::string& summary) {
    CLI::App* parser = app.add_subcommand(name, summary);
    parser->allow_extras();
    parsers.push_back({command, parser});
    return *parser;
  }
};

// The values of options that have few.
std::vector<std::string> words_of(Command command, std::string_view option, std::span<const FormatInfo> formats) {
  std::vector<std::string> words;
  if (option == "--progress") return {"auto", "plain", "off"};
  if (option == "--mode") return {"measured", "paper"};
  if (option == "--shares") return {"log-mean", "sequential"};
  if (option == "--dialect") return {"nvidia", "amd-queue", "amd-stream"};
  if (option == "--format" && command == Command::metrics) return {"rocprofv3", "ncu"};
  if (option == "--format") {
    for (const FormatInfo& format : formats) words.emplace_back(format.name);
  } else if (option == "--preset") {
    for (const synth::Preset& preset : synth::list_presets()) words.emplace_back(preset.name);
  } else if (option == "--gpu" && (command == Command::synth || command == Command::metrics)) {
    const auto gpus = list_gpus();
    if (!gpus.ok()) return words;
    for (const GpuSpec& gpu : gpus.value()) words.push_back(gpu.key);
  }
  return words;
}

}  // namespace

std::vector<CommandDescription> describe_command_line(std::span<const FormatInfo> formats) {
  const CommandLine line;
  std::vector<CommandDescription> commands;
  for (const CommandLine::Parser& parser : line.parsers) {
    CommandDescription& command = commands.emplace_back();
    command.name = parser.app->get_name();
    command.summary = parser.app->get_description();
    command.in_help = !parser.app->get_group().empty();
    if (parser.command == Command::completion) command.words = kShells;
    if (parser.command == Command::metrics) {
      command.words = metrics_words_there_are();
      command.usage = "[plan] [NAME...]";
    }
    for (const CLI::Option* option : parser.app->get_options()) {
      command.takes_runs = command.takes_runs || option->get_name() == "RUN";
      if (option->get_lnames().empty() || option->get_lnames().front() == "help") continue;
      OptionDescription& described = command.options.emplace_back();
      described.long_name = "--" + option->get_lnames().front();
      if (!option->get_snames().empty()) described.short_name = "-" + option->get_snames().front();
      if (option->get_items_expected_max() > 0) described.value = option->get_type_name();
      described.repeatable = option->get_items_expected_max() > 1;
      described.summary = option->get_description();
      described.words = words_of(parser.command, described.long_name, formats);
    }
  }
  return commands;
}

std::variant<Arguments, Reply> parse_arguments(const std::vector<std::string>& words,
                                               std::span<const FormatInfo> formats) {
  if (words.empty()) return Reply{std::string(kHelp), 2, false};
  CommandLine line;
  CLI::App& app = line.app;
  const Typed& typed = line.typed;
  const CLI::App* chosen = nullptr;
  try {
    std::vector<std::string> reversed(words.rbegin(), words.rend());  // as CLI11 wants them
    app.parse(reversed);
    if (!app.get_subcommands().empty()) chosen = app.get_subcommands().front();
  } catch (const CLI::CallForHelp&) {
    return Reply{app.get_subcommands().empty() ? std::string(kHelp) : app.help(), 0, true};
  } catch (const CLI::RequiredError&) {
    chosen = app.get_subcommands().front();  // without RUN; an unknown option is the more likely slip
  } catch (const CLI::ParseError& error) {
    return unparsable(error, app);
  }
  if (auto reply = reply_to_extras(app, chosen)) return *reply;
  if (chosen == nullptr) {
    if (typed.version) return arguments_from(typed, Command::version, "version", formats);
    return Reply{std::string(kHelp), 2, false};
  }
  const auto parser = std::find_if(line.parsers.begin(), line.parsers.end(),
                                   [&](const CommandLine::Parser& p) { return p.app == chosen; });
  return arguments_from(typed, parser->command, chosen->get_name(), formats);
}

}  // namespace chopper
