// SPDX-License-Identifier: Apache-2.0
#include "cli/selection_words.h"

#include <fmt/format.h>

#include <charconv>
#include <string_view>
#include <system_error>
#include <vector>

#include "cli/closest_word.h"

namespace chopper {
namespace {

std::vector<std::string> parts_of(std::string_view text) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t comma = text.find(',');
    parts.emplace_back(text.substr(0, comma));
    if (comma == std::string_view::npos) return parts;
    text.remove_prefix(comma + 1);
  }
}

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

std::optional<SelectionError> read_range(std::string_view option, const std::string& text,
                                         std::optional<NumberRange>& range) {
  if (text.empty()) return std::nullopt;
  const std::size_t dash = text.find('-');
  const auto first = whole_number(std::string_view(text).substr(0, dash));
  const auto last = dash == std::string::npos ? first : whole_number(std::string_view(text).substr(dash + 1));
  if (!first || !last || *last < *first)
    return SelectionError{fmt::format("{} takes N or A-B, not '{}'", option, text),
                          fmt::format("example: {} 4-8", option)};
  range = NumberRange{*first, *last};
  return std::nullopt;
}

std::optional<SelectionError> unknown_word(std::string_view option, const std::string& word,
                                           const std::vector<std::string>& known) {
  const std::string guess = closest_word(word, known);
  return SelectionError{
      fmt::format("{} takes {}, not '{}'", option, fmt::join(known, ", "), word),
      guess.empty() ? fmt::format("example: {} {}", option, known.front()) : fmt::format("did you mean {}?", guess)};
}

std::optional<SelectionError> read_grain(const std::string& text, RunOptions& options) {
  if (text.empty()) return std::nullopt;
  for (const std::string& word : parts_of(text)) {
    if (word == "layer") {
      options.grain_layer = true;
    } else if (word == "iteration") {
      options.grain_iteration = true;
    } else if (word != "phase" && word != "operation") {  // always there
      return unknown_word("--grain", word, {"phase", "operation", "layer", "iteration"});
    }
  }
  return std::nullopt;
}

std::optional<SelectionError> read_phases(const std::string& text, std::vector<Phase>& phases) {
  if (text.empty()) return std::nullopt;
  std::vector<std::string> known;
  for (int p = 0; p <= static_cast<int>(Phase::unlabelled); p++) known.emplace_back(to_string(static_cast<Phase>(p)));
  for (const std::string& word : parts_of(text)) {
    std::size_t p = 0;
    while (p < known.size() && known[p] != word) p++;
    if (p == known.size()) return unknown_word("--phase", word, known);
    phases.push_back(static_cast<Phase>(p));
  }
  return std::nullopt;
}

}  // namespace

std::optional<SelectionError> read_selection(const SelectionWords& words, RunOptions& options) {
  Selection& selection = options.selection;
  if (auto error = read_grain(words.grain, options)) return error;
  if (auto error = read_range("--iterations", words.iterations, selection.iterations)) return error;
  if (auto error = read_range("--layer", words.layers, selection.layers)) return error;
  if (auto error = read_phases(words.phases, selection.phases)) return error;
  if (!words.operations.empty()) selection.operations = parts_of(words.operations);
  if (!words.metrics.empty()) options.metrics = parts_of(words.metrics);
  return std::nullopt;
}

}  // namespace chopper
