// SPDX-License-Identifier: Apache-2.0
#include "cli/man_page.h"

#include <fmt/format.h>

namespace chopper {
namespace {

// Text for roff: hyphens that can be copied, backslashes, and no line that begins like a request.
std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (out.empty() && (c == '.' || c == '\'')) out += "\\&";
    if (c == '-') {
      out += "\\-";
    } else if (c == '\\') {
      out += "\\e";
    } else {
      out += c;
    }
  }
  return out;
}

std::string option_text(const OptionDescription& option) {
  std::string text = ".TP\n";
  if (!option.short_name.empty()) text += fmt::format("\\fB{}\\fR, ", roff(option.short_name));
  text += fmt::format("\\fB{}\\fR", roff(option.long_name));
  if (!option.value.empty()) text += fmt::format(" \\fI{}\\fR", roff(option.value));
  return text + "\n" + roff(option.summary) + ".\n";
}

std::string command_text(const CommandDescription& command) {
  std::string text = fmt::format(".SS \"chopper {}", roff(command.name));
  if (!command.options.empty()) text += " [options]";
  if (command.takes_runs) text += " RUN...";
  if (!command.usage.empty()) {
    text += " " + roff(command.usage);
  } else if (!command.words.empty()) {
    std::string words;
    for (const std::string& word : command.words) words += (words.empty() ? "" : "|") + word;
    text += " " + roff(words);
  }
  text += "\"\n" + roff(command.summary) + ".\n";
  for (const OptionDescription& option : command.options) text += option_text(option);
  return text;
}

constexpr std::string_view kHead = R"(.SH NAME
chopper \- where does the time of a GPU training run go?
.SH SYNOPSIS
.B chopper
\fIcommand\fR [\fIoptions\fR] \fIRUN\fR...
.SH DESCRIPTION
Chopper reads the profiler traces of a GPU training run and says where the time of every gpu goes: computation, exposed
communication, copies, launching, idling. A
.I RUN
is a trace file, or a directory that is searched recursively; traces are recognised by their content. Results go to
standard output, errors, notes and progress to standard error. Options follow the command;
.B \-\-
ends them.
.SH COMMANDS
)";

constexpr std::string_view kTail = R"(.SH EXIT STATUS
.TP
.B 0
All was read.
.TP
.B 1
Nothing recognisable could be read, ranks conflict, or an output cannot be written.
.TP
.B 2
Wrong usage; the message names the remedy.
.TP
.B 3
Done, but a record was lost or set aside, a file was cut, or one of several inputs failed:
.BR "chopper check" .
.SH FILES
.TP
.I chopper.toml
In a RUN directory: facts that no trace states, such as gpu, model, batch and sequence.
.SH ENVIRONMENT
.TP
.B NO_COLOR
No colours when set and not empty.
.SH EXAMPLES
.TP
.B chopper report runs/fsdp2\-b2s4
The answer on one screen.
.TP
.B chopper report runs/fsdp2\-b2s4 \-\-json answer.json
And all tables for programs.
.TP
.B chopper check runs/fsdp2\-b2s4
Can the numbers be trusted?
.TP
.B chopper demo
An answer without a trace of one's own.
)";

}  // namespace

std::string man_page(std::span<const CommandDescription> commands, std::string_view version) {
  std::string text = fmt::format(
      ".\\\" Printed by: chopper man\n.TH CHOPPER 1 \"\" \"chopper {}\" \"User Commands\"\n{}", version, kHead);
  for (const CommandDescription& command : commands) text += command_text(command);
  return text + std::string(kTail);
}

}  // namespace chopper
