// SPDX-License-Identifier: Apache-2.0
#include "align/kernel_names.h"

#include <algorithm>
#include <unordered_map>

namespace chopper {
namespace {

constexpr std::string_view kAnonymous = "(anonymous namespace)";

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) { return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$'; }

void strip(std::string_view& name) {
  while (!name.empty() && is_space(name.front())) name.remove_prefix(1);
  while (!name.empty() && is_space(name.back())) name.remove_suffix(1);
}

// Takes off ".kd" and "[clone ...]" at the end, as often as they are there.
void strip_endings(std::string_view& name) {
  while (true) {
    strip(name);
    if (name.size() > 3 && name.ends_with(".kd")) {
      name.remove_suffix(3);
    } else if (const std::size_t clone = name.rfind("[clone ");
               name.ends_with("]") && clone != name.npos && clone > 0) {
      name = name.substr(0, clone);
    } else {
      return;
    }
  }
}

// Keeps a blank only between two words: "unsigned int". All else reads the same without.
std::string without_blanks(std::string_view name) {
  std::string text;
  text.reserve(name.size());
  bool blank = false;
  for (const char c : name) {
    if (is_space(c)) {
      blank = true;
      continue;
    }
    if (blank && !text.empty() && is_word(text.back()) && is_word(c)) text += ' ';
    blank = false;
    text += c;
  }
  return text;
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != text.npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

// Length of a cast "(int)" at `at` that stands before a number, or 0.
std::size_t cast_at(std::string_view text, std::size_t at) {
  static constexpr std::string_view kTypes[] = {
      "int",   "unsigned int", "long",           "unsigned long", "long long",   "unsigned long long",
      "short", "bool",         "unsigned short", "char",          "signed char", "unsigned char"};
  // A parameter list follows a name; a cast follows "<" or ",".
  if (at == 0 || (text[at - 1] != '<' && text[at - 1] != ',')) return 0;
  const std::size_t close = text.find(')', at);
  if (close == text.npos || close + 1 >= text.size()) return 0;
  const char next = text[close + 1];
  if (!is_digit(next) && next != '-') return 0;
  const std::string_view type = text.substr(at + 1, close - at - 1);
  return std::find(std::begin(kTypes), std::end(kTypes), type) != std::end(kTypes) ? type.size() + 2 : 0;
}

// Template arguments that are numbers: "(int)8", "8u", "8ul" become "8", "true" and "(bool)1" become "1".
std::string with_plain_numbers(std::string_view text) {
  std::string plain;
  plain.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] == '(') {
      if (const std::size_t length = cast_at(text, i); length > 0) {
        i += length;
        continue;
      }
    }
    const bool starts_word = i == 0 || !is_word(text[i - 1]);
    if (!starts_word || !is_word(text[i])) {
      plain += text[i++];
      continue;
    }
    std::size_t end = i;
    while (end < text.size() && is_word(text[end])) end++;
    std::string_view word = text.substr(i, end - i);
    const bool is_argument = i > 0 &&
                             (text[i - 1] == '<' || text[i - 1] == ',' || text[i - 1] == '-' || text[i - 1] == ')') &&
                             end < text.size() && (text[end] == '>' || text[end] == ',');
    if (is_argument && word == "true") word = "1";
    if (is_argument && word == "false") word = "0";
    if (is_argument && is_digit(word.front())) {
      const std::size_t last = word.find_last_not_of("uUlL");
      if (std::all_of(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(last) + 1, is_digit))
        word = word.substr(0, last + 1);
    }
    plain += word;
    i = end;
  }
  return plain;
}

}  // namespace

std::string normalise_kernel_name(std::string_view name) {
  strip_endings(name);
  if (name.size() > 5 && name.starts_with("void") && is_space(name[4])) name.remove_prefix(5);
  std::string text = without_blanks(name);
  replace_all(text, "{anonymous}", kAnonymous);
  replace_all(text, "std::__1::", "std::");
  replace_all(text, "std::__cxx11::", "std::");
  return with_plain_numbers(text);
}

std::string_view kernel_stem(std::string_view normalised) {
  for (std::size_t i = 0; i < normalised.size(); i++) {
    if (normalised.substr(i).starts_with(kAnonymous)) {
      i += kAnonymous.size() - 1;
      continue;
    }
    const char c = normalised[i];
    if (c != '<' && c != '(') continue;
    // A name that begins with an argument list, such as "<lambda>", has no stem.
    if (i == 0) return normalised;
    // The signs of "operator<", "operator<<" and "operator()" belong to the name.
    const std::string_view before = normalised.substr(0, i);
    if (before.ends_with("operator") || (c == '<' && before.ends_with("operator<"))) continue;
    return normalised.substr(0, i);
  }
  return normalised;
}

NameKeys match_kernel_names(std::span<const std::string_view> first, std::span<const std::string_view> second) {
  struct Name {
    bool sides[2] = {false, false};
  };
  std::vector<std::string> texts;  // of each key
  std::vector<Name> names;
  std::unordered_map<std::string, std::uint32_t> keys;
  NameKeys result;
  const auto add = [&](std::span<const std::string_view> side, std::size_t number, std::vector<std::uint32_t>& out) {
    for (const std::string_view name : side) {
      std::string text = normalise_kernel_name(name);
      const auto [place, is_new] = keys.try_emplace(text, static_cast<std::uint32_t>(texts.size()));
      if (is_new) {
        texts.push_back(std::move(text));
        names.emplace_back();
      }
      names[place->second].sides[number] = true;
      out.push_back(place->second);
    }
  };
  add(first, 0, result.first);
  add(second, 1, result.second);

  // Names with the same stem, of either side.
  std::unordered_map<std::string_view, std::vector<std::uint32_t>> by_stem;
  for (std::uint32_t key = 0; key < texts.size(); key++) by_stem[kernel_stem(texts[key])].push_back(key);
  std::vector<std::uint32_t> same(texts.size());
  for (std::uint32_t key = 0; key < texts.size(); key++) {
    same[key] = key;
    const std::vector<std::uint32_t>& alike = by_stem[kernel_stem(texts[key])];
    if (alike.size() != 2) continue;
    const Name &a = names[alike[0]], &b = names[alike[1]];
    const bool apart = a.sides[0] != a.sides[1] && b.sides[0] != b.sides[1] && a.sides[0] != b.sides[0];
    if (!apart) continue;
    same[key] = alike[0];
    if (key == alike[0]) result.num_by_stem++;
  }
  for (std::uint32_t& key : result.first) key = same[key];
  for (std::uint32_t& key : result.second) key = same[key];
  return result;
}

}  // namespace chopper
