// SPDX-License-Identifier: Apache-2.0
#include "catalog/pass_plan_text.h"

#include <string_view>
#include <vector>

namespace chopper {
namespace {

std::string joined(const std::vector<std::string>& words, std::string_view between) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? std::string() : std::string(between)) + word;
  return text;
}

std::string escaped(std::string_view name) {
  std::string text;
  for (const char c : name) {
    if (std::string_view("\\^$.|?*+()[]{}").find(c) != std::string_view::npos) text += '\\';
    text += c;
  }
  return text;
}

std::string any_of(const std::vector<std::string>& names) {
  std::vector<std::string> patterns;
  for (const std::string& name : names) patterns.push_back(escaped(name));
  return "(" + joined(patterns, "|") + ")";
}

// Lines of a comment, broken between words.
std::string comment(std::string_view text) {
  constexpr std::size_t kWidth = 110;
  std::string out, line = "#";
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    if (line.size() + 1 + (end - at) > kWidth && line != "#") {
      out += line + "\n";
      line = "#";
    }
    line += " " + std::string(text.substr(at, end - at));
    at = end + 1;
  }
  return out + line + "\n";
}

std::string head(const PassPlan& plan, const std::string& title) {
  std::string text = comment(title);
  for (const std::string& name : plan.spread)
    text += comment(name + " needs more counters than a pass holds: it is computed where passes are put together");
  if (!plan.not_known.empty())
    text +=
        comment("not in the list of counters, counted with the block of their name: " + joined(plan.not_known, " "));
  return text;
}

// Inside single quotes of YAML a quote is doubled; in double quotes of YAML backslashes would be escapes.
std::string yaml_text(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("''") : std::string(1, c);
  return out + "'";
}

}  // namespace

std::string communication_pattern(const ClassRules& rules) {
  return "^(void )?" + any_of(rules.comm_kernel_prefix_nocase) + ".*|.*" + any_of(rules.comm_kernel_contains_nocase) +
         ".*";
}

std::string rocprofv3_input(const PassPlan& plan, const ClassRules& rules, const std::string& title) {
  std::string text = head(plan, title);
  text += comment("rocprofv3 -i THIS_FILE -d RUN/counters -- COMMAND runs COMMAND once a pass");
  text += "jobs:\n";
  for (std::size_t i = 0; i < plan.passes.size(); i++) {
    const PlannedPass& pass = plan.passes[i];
    text += comment("pass " + std::to_string(i + 1) + (pass.metrics.empty() ? "" : ": " + joined(pass.metrics, ", ")));
    text += "  - pmc: [" + joined(pass.counters, ", ") + "]\n";
    text += "    kernel_exclude_regex: " + yaml_text(communication_pattern(rules)) + "\n";
    text += "    kernel_trace: true\n    marker_trace: true\n    output_format: [csv]\n";
  }
  return text;
}

std::string ncu_command(const PassPlan& plan, const ClassRules& rules, const std::string& title) {
  std::vector<std::string> counters;
  for (const PlannedPass& pass : plan.passes)
    counters.insert(counters.end(), pass.counters.begin(), pass.counters.end());
  std::string text = head(plan, title);
  text += comment("runs COMMAND once; kernels are replayed until all is counted");
  text += "ncu --target-processes all --clock-control none --cache-control none \\\n";
  text += "  --kernel-name-base demangled --kernel-name 'regex:^(?!(void )?" + any_of(rules.comm_kernel_prefix_nocase) +
          "|.*" + any_of(rules.comm_kernel_contains_nocase) + ").*' \\\n";
  text += "  --metrics " + joined(counters, ",") + " \\\n";
  text += "  --csv --page raw --print-units base --log-file RUN/counters/ncu_%p.csv \\\n  COMMAND\n";
  return text;
}

}  // namespace chopper
