// SPDX-License-Identifier: Apache-2.0
#include "cli/commands.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>

#include "cli/command_line.h"
#include "cli/completion.h"
#include "cli/man_page.h"
#include "cli/metrics_command.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/synth_command.h"
#include "engine/formats.h"
#include "engine/operations.h"
#include "report/check_text.h"
#include "report/csv.h"
#include "report/health_counts.h"
#include "report/html.h"
#include "report/json.h"
#include "report/schema.h"
#include "report/text.h"
#include "report/utf8.h"
#include "version.h"

namespace chopper {
namespace {

namespace fs = std::filesystem;

void print_error(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stderr); }

int fail(const Error& error) {
  std::string text = "chopper: error: ";
  if (!error.where.empty()) text += printable(error.where) + ": ";
  text += printable(error.message) + "\n";
  if (!error.hint.empty()) text += "  " + printable(error.hint) + "\n";
  print_error(text);
  return error.code == ErrorCode::usage ? kExitUsage : kExitFailed;
}

int print(const std::string& text) {
  const Result<Done> done = write_to_stdout([&](const TextSink& sink) { return sink(text); });
  return done.ok() ? kExitDone : fail(done.error());
}

// A path by which files can be compared, whatever way they were named.
fs::path comparable(const fs::path& path) {
  std::error_code unreadable;
  const fs::path resolved = fs::weakly_canonical(path, unreadable);
  return unreadable ? path.lexically_normal() : resolved;
}

bool is_below(const fs::path& file, const fs::path& run) {
  return std::mismatch(run.begin(), run.end(), file.begin(), file.end()).first == run.end();
}

// How many RUNs have an input that no RUN before them has: a file may be given twice, by itself and by its folder.
std::size_t count_runs(const std::vector<fs::path>& runs, const Answer& answer) {
  std::vector<fs::path> files;
  for (const InputSummary& summary : answer.summaries) files.push_back(comparable(summary.full_path));
  std::size_t count = 0;
  for (const fs::path& run : runs) {
    fs::path folder = comparable(run);
    if (!folder.has_filename()) folder = folder.parent_path();
    count += std::erase_if(files, [&](const fs::path& file) { return is_below(file, folder); }) > 0 ? 1u : 0u;
  }
  return count;
}

// The last part of the first RUN that has one: "." is the directory we are in.
std::string run_name_of(const std::vector<fs::path>& runs, const Answer& answer) {
  std::error_code unreadable;
  const fs::path absolute = fs::absolute(runs.front(), unreadable).lexically_normal();
  fs::path name = absolute.filename();
  if (name.empty()) name = absolute.parent_path().filename();
  std::string text = name.empty() ? runs.front().string() : name.string();
  if (const std::size_t count = count_runs(runs, answer); count > 1) text += fmt::format(" + {} more", count - 1);
  return text;
}

// Bars, colours and the width of the window belong to terminals only.
TextOptions text_options(const Arguments& arguments, const Answer& answer) {
  TextOptions options;
  options.run_name = run_name_of(arguments.runs, answer);
  options.paper = arguments.paper;
  if (::isatty(STDOUT_FILENO) == 0) return options;
  options.bars = true;
  const char* terminal = std::getenv("TERM");
  const char* no_colour = std::getenv("NO_COLOR");  // no-color.org: set and not empty
  const bool dumb = terminal == nullptr || std::string_view(terminal) == "dumb";
  options.colour = !dumb && (no_colour == nullptr || *no_colour == '\0');
  winsize window{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 0) {
    options.width = std::clamp<std::size_t>(window.ws_col, 80, 100);
  }
  return options;
}

Result<Answer> analyse(const Arguments& arguments) {
  Progress progress;
  RunOptions options = arguments.options;
  options.progress = &progress;
  // The kernels have no place in the text: not kept for nothing.
  if (arguments.json_path.empty() && arguments.csv_path.empty()) options.keep_kernels = false;
  const ProgressDisplay display(progress, arguments.quiet ? ProgressMode::off : arguments.progress);
  return analyse_run(arguments.runs, options);
}

// Refuses to write over a trace that was read.
Result<Done> check_is_no_input(const Answer& answer, const fs::path& target) {
  for (const InputSummary& summary : answer.summaries) {
    std::error_code differs;
    if (!fs::equivalent(summary.full_path, target, differs) || differs) continue;
    return Error{ErrorCode::usage, "is an input of this run", target.string(), "write to another file"};
  }
  return Done{};
}

Result<Done> check_targets(const Arguments& arguments) {
  if (!arguments.html_path.empty() && !has_html_page()) {
    return Error{ErrorCode::unreadable, "this chopper was built without the HTML page", "",
                 "install node and the packages of viewer/ (tools/setup.sh viewer), then build again"};
  }
  if (!arguments.html_path.empty() && arguments.html_path != "-") {
    CHOPPER_TRY([[maybe_unused]] const Done html, check_can_write(arguments.html_path));
  }
  if (!arguments.json_path.empty() && arguments.json_path != "-") {
    CHOPPER_TRY([[maybe_unused]] const Done json, check_can_write(arguments.json_path));
  }
  if (arguments.csv_path.empty() || arguments.csv_path == "-") return Done{};
  std::error_code failed;
  fs::create_directories(arguments.csv_path, failed);
  if (!failed && !fs::is_directory(arguments.csv_path, failed) && !failed) {
    failed = std::make_error_code(std::errc::not_a_directory);
  }
  if (failed) {
    return Error{ErrorCode::unreadable, "cannot make this directory: " + failed.message(), arguments.csv_path,
                 "choose another one"};
  }
  return Done{};
}

Result<Done> write_json_output(const Arguments& arguments, const Answer& answer) {
  const Writer writer = [&](const TextSink& sink) {
    return write_json(answer, {.version = kChopperVersion, .with_kernels = arguments.options.keep_kernels}, sink);
  };
  if (arguments.json_path == "-") return write_to_stdout(writer);
  CHOPPER_TRY([[maybe_unused]] const Done safe, check_is_no_input(answer, arguments.json_path));
  return write_file(arguments.json_path, writer);
}

Result<Done> write_html_output(const Arguments& arguments, const Answer& answer) {
  const std::string run_name = run_name_of(arguments.runs, answer);
  const Writer writer = [&](const TextSink& sink) {
    return write_html(answer, {.version = kChopperVersion, .run_name = run_name}, sink);
  };
  if (arguments.html_path == "-") return write_to_stdout(writer);
  CHOPPER_TRY([[maybe_unused]] const Done safe, check_is_no_input(answer, arguments.html_path));
  return write_file(arguments.html_path, writer);
}

Result<Done> write_csv_output(const Arguments& arguments, const Answer& answer) {
  const bool with_kernels = arguments.options.keep_kernels;
  if (arguments.csv_path == "-") {
    return write_to_stdout([&](const TextSink& sink) { return write_csv_tables(answer, with_kernels, sink); });
  }
  for (const std::string_view table : csv_table_names(with_kernels)) {
    const fs::path target = fs::path(arguments.csv_path) / fmt::format("{}.csv", table);
    CHOPPER_TRY([[maybe_unused]] const Done safe, check_is_no_input(answer, target));
    CHOPPER_TRY([[maybe_unused]] const Done written,
                write_file(target, [&](const TextSink& sink) { return write_csv_table(answer, table, sink); }));
  }
  return Done{};
}

void note_unused_kernels(const Arguments& arguments) {
  const bool used = !arguments.json_path.empty() || !arguments.csv_path.empty();
  if (used || !arguments.options.keep_kernels || arguments.quiet) return;
  print_error("chopper: note: --kernels adds to --json and --csv, and neither is given\n");
}

void note_losses(const Arguments& arguments, const Answer& answer) {
  if (!answer.lost_something || arguments.quiet) return;
  std::string runs;
  for (std::size_t i = 0; i < arguments.runs.size(); i++)
    runs += i < 3 ? " " + printable(arguments.runs[i].string()) : i == 3 ? " ..." : "";
  print_error(
      fmt::format("chopper: note: {}; run 'chopper check{}'\n", losses_text(losses_of(answer.health_log)), runs));
}

int exit_code_of(const Answer& answer) { return answer.lost_something ? kExitLost : kExitDone; }

int run_report(const Arguments& arguments) {
  if (const Result<Done> ready = check_targets(arguments); !ready.ok()) return fail(ready.error());
  const Result<Answer> result = analyse(arguments);
  if (!result.ok()) return fail(result.error());
  const Answer& answer = result.value();
  if (!arguments.json_path.empty()) {
    if (const Result<Done> done = write_json_output(arguments, answer); !done.ok()) return fail(done.error());
  }
  if (!arguments.csv_path.empty()) {
    if (const Result<Done> done = write_csv_output(arguments, answer); !done.ok()) return fail(done.error());
  }
  if (!arguments.html_path.empty()) {
    if (const Result<Done> done = write_html_output(arguments, answer); !done.ok()) return fail(done.error());
  }
  if (arguments.json_path != "-" && arguments.csv_path != "-" && arguments.html_path != "-") {
    if (const int code = print(answer_text(answer, text_options(arguments, answer))); code != kExitDone) return code;
  }
  note_unused_kernels(arguments);
  note_losses(arguments, answer);
  return exit_code_of(answer);
}

int run_check(const Arguments& arguments) {
  const Result<Answer> result = analyse(arguments);
  if (!result.ok()) return fail(result.error());
  if (const int code = print(check_text(result.value(), text_options(arguments, result.value()))); code != kExitDone)
    return code;
  return exit_code_of(result.value());
}

unsigned threads_of(const Arguments& arguments) {
  if (arguments.options.threads > 0) return arguments.options.threads;
  return std::max(1u, std::thread::hardware_concurrency());
}

bool shows_progress(const Arguments& arguments) {
  if (arguments.quiet || arguments.progress == ProgressMode::off) return false;
  return arguments.progress == ProgressMode::plain || ::isatty(STDERR_FILENO) != 0;
}

int run_synth_command(const Arguments& arguments) {
  if (arguments.synth.list) return print(synth_list_text());
  const Result<SynthRequest> request = read_synth_options(arguments.synth);
  if (!request.ok()) return fail(request.error());
  if (const Result<Done> done = run_synth(request.value(), threads_of(arguments), shows_progress(arguments));
      !done.ok()) {
    return fail(done.error());
  }
  return kExitDone;
}

// Without -o the run lives as long as the report takes.
int run_demo(const Arguments& arguments) {
  Arguments report = arguments;
  report.command = Command::report;
  report.synth.preset = "demo";
  std::error_code failed;
  fs::path temporary;
  if (report.synth.output.empty()) {
    temporary = fs::temp_directory_path(failed) / fmt::format("chopper-demo-{}", ::getpid());
    if (failed)
      return fail({ErrorCode::unreadable, "no folder for temporary files", "", "name one: chopper demo -o RUN"});
    report.synth.output = (temporary / "demo").string();
  }
  report.runs = {report.synth.output};
  const int made = run_synth_command(report);
  const int code = made == kExitDone ? run_report(report) : made;
  if (!temporary.empty()) fs::remove_all(temporary, failed);
  return code;
}

int run_completion(const std::string& shell) {
  const std::vector<FormatInfo> formats = list_formats();
  const std::vector<CommandDescription> commands = describe_command_line(formats);
  if (shell == "bash") return print(bash_completion(commands));
  return print(shell == "zsh" ? zsh_completion(commands) : fish_completion(commands));
}

int run_gpus() {
  const Result<std::string> text = gpus_text();
  return text.ok() ? print(text.value()) : fail(text.error());
}

}  // namespace

int run_command(const Arguments& arguments) {
  switch (arguments.command) {
    case Command::report:
      return run_report(arguments);
    case Command::check:
      return run_check(arguments);
    case Command::synth:
      return run_synth_command(arguments);
    case Command::demo:
      return run_demo(arguments);
    case Command::gpus:
      return run_gpus();
    case Command::operations: {
      const Result<std::string> text = describe_operations();
      return text.ok() ? print(text.value()) : fail(text.error());
    }
    case Command::metrics: {
      const Result<Done> done = run_metrics(arguments.metrics);
      return done.ok() ? kExitDone : fail(done.error());
    }
    case Command::formats:
      return print(formats_text(list_formats()));
    case Command::schema:
      return print(json_schema_text());
    case Command::completion:
      return run_completion(arguments.shell);
    case Command::man:
      return print(man_page(describe_command_line(list_formats()), kChopperVersion));
    case Command::version:
      return print(fmt::format("chopper {}\n", kChopperVersion));
  }
  return kExitFailed;
}

}  // namespace chopper
