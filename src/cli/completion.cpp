// SPDX-License-Identifier: Apache-2.0
#include "cli/completion.h"

#include <fmt/format.h>

#include <string_view>
#include <vector>

namespace chopper {
namespace {

std::string join(std::span<const std::string> words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

// Puts a backslash before each of these characters.
std::string escaped(std::string_view text, std::string_view characters) {
  std::string out;
  for (const char c : text) {
    if (characters.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

// Inside single quotes of bash and zsh a quote ends the text, stands escaped by itself, and begins it again.
std::string in_single_quotes(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

bool is_file(const OptionDescription& option) { return option.value == "FILE"; }
bool is_folder(const OptionDescription& option) { return option.value == "DIR" || option.value == "RUN"; }

std::vector<std::string> names_of(const OptionDescription& option) {
  std::vector<std::string> names;
  if (!option.short_name.empty()) names.push_back(option.short_name);
  names.push_back(option.long_name);
  return names;
}

// The branches of one command in bash: the values of its options, then its options.
std::string bash_command(const CommandDescription& command) {
  std::string all = "--help", values, text = fmt::format("    {})\n", command.name);
  for (const OptionDescription& option : command.options) {
    const std::vector<std::string> names = names_of(option);
    for (const std::string& name : names) all += " " + name;
    // Of files and folders bash completes the names by itself.
    if (option.value.empty() || is_file(option) || is_folder(option)) {
      if (!option.value.empty()) values += fmt::format("        {}) return ;;\n", fmt::join(names, "|"));
      continue;
    }
    values += fmt::format("        {}) _chopper_words \"{}\"; return ;;\n", fmt::join(names, "|"), join(option.words));
  }
  if (!values.empty()) text += "      case $before in\n" + values + "      esac\n";
  text += fmt::format("      case $word in -*) _chopper_words \"{}\"; return ;; esac\n", all);
  if (!command.takes_runs) text += fmt::format("      _chopper_words \"{}\"\n", join(command.words));
  return text + "      ;;\n";
}

// A specification of _arguments: '(-q --quiet)'{-q,--quiet}'[summary]:FILE:_files'.
std::string zsh_option(const OptionDescription& option) {
  std::string action;
  if (is_file(option)) action = "_files";
  if (is_folder(option)) action = "_files -/";
  if (!option.words.empty()) action = "(" + join(option.words) + ")";
  std::string rest = "[" + escaped(option.summary, "[]\\") + "]";
  if (!option.value.empty()) rest += ":" + escaped(option.value, ":[]\\") + ":" + action;
  const std::string repeats = option.repeatable ? "*" : "";
  if (option.short_name.empty()) return in_single_quotes(repeats + option.long_name + rest);
  return fmt::format("'({0} {1})'{{{0},{1}}}{2}", option.short_name, option.long_name, in_single_quotes(rest));
}

std::string fish_text(std::string_view text) { return "'" + escaped(text, "'\\") + "'"; }

std::string fish_option(const CommandDescription& command, const OptionDescription& option) {
  std::string line = fmt::format("complete -c chopper -n '__fish_seen_subcommand_from {}'", command.name);
  if (!option.short_name.empty()) line += " -s " + option.short_name.substr(1);
  line += " -l " + option.long_name.substr(2);
  if (is_file(option) || is_folder(option)) {
    line += " -r -F";
  } else if (!option.value.empty()) {
    line += option.words.empty() ? " -x" : fmt::format(" -x -a {}", fish_text(join(option.words)));
  }
  return line + " -d " + fish_text(option.summary) + "\n";
}

}  // namespace

std::string bash_completion(std::span<const CommandDescription> commands) {
  std::string names = "--help --version", branches;
  for (const CommandDescription& command : commands) {
    if (command.in_help) names += " " + command.name;
    branches += bash_command(command);
  }
  return fmt::format(
      R"(# Completion of chopper in bash, as "chopper completion bash" prints it. Where no words fit, bash offers files.

_chopper_words() {{
  COMPREPLY=($(compgen -W "$1" -- "$word"))
  # Not a word that fits: nothing, rather than files.
  compopt +o default +o bashdefault 2>/dev/null
}}

_chopper() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}} command="" i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    case ${{COMP_WORDS[i]}} in
      -*) ;;
      *) command=${{COMP_WORDS[i]}}; break ;;
    esac
  done
  case $command in
    "") _chopper_words "{}" ;;
{}  esac
}}

complete -o bashdefault -o default -F _chopper chopper
)",
      names, branches);
}

std::string zsh_completion(std::span<const CommandDescription> commands) {
  std::string names, branches;
  for (const CommandDescription& command : commands) {
    if (command.in_help) names += "    " + in_single_quotes(escaped(command.name + ":" + command.summary, "\\")) + "\n";
    branches +=
        fmt::format("    {})\n      _arguments -s -S '(-h --help)'{{-h,--help}}'[Print the options]'", command.name);
    for (const OptionDescription& option : command.options) branches += " \\\n        " + zsh_option(option);
    if (command.takes_runs) branches += " \\\n        '*:RUN:_files'";
    const std::string_view place = command.usage.empty() ? "1" : "*";
    if (!command.words.empty()) branches += fmt::format(" \\\n        '{}:word:({})'", place, join(command.words));
    branches += "\n      ;;\n";
  }
  return fmt::format(R"(#compdef chopper
# Completion of chopper in zsh, as "chopper completion zsh" prints it.

_chopper_commands() {{
  local -a commands=(
{}  )
  _describe -t commands command commands
}}

_chopper() {{
  local curcontext=$curcontext context state line
  typeset -A opt_args
  _arguments -C '(- *)'{{-h,--help}}'[Print the commands]' '(- *)--version[Print the version]' \
    '1:command:_chopper_commands' '*::argument:->arguments'
  [[ $state == arguments ]] || return 0
  case $words[1] in
{}  esac
}}

# As a file of $fpath this is the function itself; sourced, it registers it.
if [[ $funcstack[1] == _chopper ]]; then
  _chopper "$@"
else
  compdef _chopper chopper
fi
)",
                     names, branches);
}

std::string fish_completion(std::span<const CommandDescription> commands) {
  std::string text =
      "# Completion of chopper in fish, as \"chopper completion fish\" prints it.\n"
      "complete -c chopper -f\n"
      "complete -c chopper -s h -l help -d 'Print the options'\n"
      "complete -c chopper -n __fish_use_subcommand -l version -d 'Print the version'\n";
  std::string takers;
  for (const CommandDescription& command : commands) {
    if (command.takes_runs) takers += " " + command.name;
    if (!command.in_help) continue;
    text += fmt::format("complete -c chopper -n __fish_use_subcommand -a {} -d {}\n", command.name,
                        fish_text(command.summary));
  }
  text += fmt::format("complete -c chopper -n '__fish_seen_subcommand_from{}' -F\n", takers);
  for (const CommandDescription& command : commands) {
    if (!command.words.empty())
      text += fmt::format("complete -c chopper -n '__fish_seen_subcommand_from {}' -a {}\n", command.name,
                          fish_text(join(command.words)));
    for (const OptionDescription& option : command.options) text += fish_option(command, option);
  }
  return text;
}

}  // namespace chopper
