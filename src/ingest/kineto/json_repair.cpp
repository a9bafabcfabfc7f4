// SPDX-License-Identifier: Apache-2.0
#include "ingest/kineto/json_repair.h"

#include <array>
#include <cstdint>
#include <vector>

#include "base/utf8.h"

namespace chopper {
namespace {

constexpr bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }
constexpr bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20; }

constexpr char kHex[] = "0123456789abcdef";

constexpr std::array<std::string_view, 10> kEventKeys = {"ph", "name", "cat",  "pid", "tid",
                                                         "ts", "dur",  "args", "id",  "bp"};

// Whether a token is a JSON number: -12, 3.5, 1e-9.
bool is_json_number(std::string_view token) {
  std::size_t i = 0;
  const auto digits = [&] {
    const std::size_t begin = i;
    while (i < token.size() && token[i] >= '0' && token[i] <= '9') i++;
    return i - begin;
  };
  if (i < token.size() && token[i] == '-') i++;
  const bool zero = i < token.size() && token[i] == '0';
  const std::size_t whole = digits();
  if (whole == 0 || (zero && whole > 1)) return false;
  if (i < token.size() && token[i] == '.') {
    i++;
    if (digits() == 0) return false;
  }
  if (i < token.size() && (token[i] == 'e' || token[i] == 'E')) {
    i++;
    if (i < token.size() && (token[i] == '-' || token[i] == '+')) i++;
    if (digits() == 0) return false;
  }
  return i == token.size();
}

// A reader that copies what it reads to valid JSON. Nesting is kept in a vector, so depth is bounded by the text alone.
class Repairer {
 public:
  explicit Repairer(std::string_view text) : text_(text) {}

  Repair run() {
    Repair result;
    result.status = object();
    if (result.status == RepairStatus::repaired) {
      result.consumed = at_;
      result.json = std::move(out_);
    }
    return result;
  }

 private:
  enum class State { value, key, after_value };

  bool ended() const { return at_ >= text_.size(); }
  void skip_space() {
    while (!ended() && is_space(text_[at_])) at_++;
  }

  RepairStatus object() {
    State state = State::value;
    for (;;) {
      skip_space();
      if (ended()) return RepairStatus::cut;
      const char c = text_[at_];
      if (state == State::after_value) {
        if (c == ',') {
          at_++;
          skip_space();
          if (ended()) return RepairStatus::cut;
          if (text_[at_] == '}' || text_[at_] == ']' || text_[at_] == ',') continue;  // a trailing or doubled comma
          out_.push_back(',');
          state = nesting_.back() == '{' ? State::key : State::value;
        } else if (c == (nesting_.back() == '{' ? '}' : ']')) {
          at_++;
          out_.push_back(c);
          nesting_.pop_back();
          if (nesting_.empty()) return RepairStatus::repaired;
        } else {
          return RepairStatus::unreadable;
        }
      } else if (state == State::key) {
        if (c == '}' && out_.back() == '{') {
          state = State::after_value;
          continue;
        }
        if (c == ',' && out_.back() == '{') {
          at_++;
          continue;
        }
        if (c != '"') return RepairStatus::unreadable;
        const RepairStatus status = string(true);
        if (status != RepairStatus::repaired) return status;
        skip_space();
        if (ended()) return RepairStatus::cut;
        if (text_[at_] != ':') return RepairStatus::unreadable;
        at_++;
        out_.push_back(':');
        state = State::value;
      } else {
        if (nesting_.empty() && c != '{') return RepairStatus::unreadable;
        if (c == '{' || c == '[') {
          at_++;
          out_.push_back(c);
          nesting_.push_back(c);
          state = c == '{' ? State::key : State::value;
        } else if (c == ']' && nesting_.back() == '[' && out_.back() == '[') {
          state = State::after_value;
        } else if (c == '"') {
          const RepairStatus status = string(false);
          if (status != RepairStatus::repaired) return status;
          state = State::after_value;
        } else {
          const RepairStatus status = scalar();
          if (status != RepairStatus::repaired) return status;
          state = State::after_value;
        }
      }
    }
  }

  // Numbers and the three words as they are; another short word becomes null.
  static constexpr std::size_t kLongestWord = 64;

  RepairStatus scalar() {
    const std::size_t begin = at_;
    while (!ended() && text_[at_] != ',' && text_[at_] != '}' && text_[at_] != ']' && text_[at_] != '"' &&
           !is_space(text_[at_]))
      at_++;
    if (ended()) return RepairStatus::cut;
    const std::string_view token = text_.substr(begin, at_ - begin);
    if (token.empty()) return RepairStatus::unreadable;
    const bool word = token == "true" || token == "false" || token == "null";
    if (word || is_json_number(token)) {
      out_.append(token);
    } else if (token.find_first_not_of("0123456789+-.eE") ==
               std::string_view::npos) {  // 007, 1.2.3: left to whoever reads it
      out_.push_back('"');
      out_.append(token);
      out_.push_back('"');
    } else if (token.size() <= kLongestWord) {  // NaN, Infinity, N/A and whatever else is no JSON
      out_.append("null");
    } else {
      return RepairStatus::unreadable;
    }
    return RepairStatus::repaired;
  }

  // A quote ends a key when ':' follows; it ends a value when '}' or ']' or, after a comma, the start of what may come
  // next follows. Any other quote belongs to the text (an unescaped one, as in "foo("a")").
  RepairStatus closes(std::size_t quote, bool key, bool& yes) const {
    std::size_t i = quote + 1;
    while (i < text_.size() && is_space(text_[i])) i++;
    yes = false;
    if (i >= text_.size()) return RepairStatus::cut;
    if (key) {
      yes = text_[i] == ':';
      return RepairStatus::repaired;
    }
    if (text_[i] == (nesting_.back() == '{' ? '}' : ']')) {
      yes = true;
      return RepairStatus::repaired;
    }
    if (text_[i] != ',') return RepairStatus::repaired;
    for (i++; i < text_.size() && is_space(text_[i]); i++) {
    }
    if (i >= text_.size()) return RepairStatus::cut;
    if (nesting_.back() == '[') {
      yes = true;
      return RepairStatus::repaired;
    }
    if (text_[i] == '}') {
      yes = true;
      return RepairStatus::repaired;
    }
    if (text_[i] != '"') return RepairStatus::repaired;
    // In an object the comma must lead to a key: a short text without quotes, then a quote and a colon.
    for (i++; i < text_.size() && text_[i] != '"' && !is_control(text_[i]); i++) {
    }
    if (i >= text_.size()) return RepairStatus::cut;
    if (text_[i] != '"') return RepairStatus::repaired;
    for (i++; i < text_.size() && is_space(text_[i]); i++) {
    }
    if (i >= text_.size()) return RepairStatus::cut;
    yes = text_[i] == ':';
    return RepairStatus::repaired;
  }

  RepairStatus string(bool key) {
    at_++;  // the opening quote
    out_.push_back('"');
    while (!ended()) {
      const char c = text_[at_];
      if (c == '"') {
        bool yes = false;
        const RepairStatus status = closes(at_, key, yes);
        if (status != RepairStatus::repaired) return status;
        at_++;
        if (yes) {
          out_.push_back('"');
          return RepairStatus::repaired;
        }
        if (key)
          return RepairStatus::unreadable;  // no writer puts quotes into keys; going on would swallow what follows
        bool into_key = false;
        const RepairStatus looked = runs_into_key(into_key);
        if (looked != RepairStatus::repaired) return looked;
        if (into_key) return close_before_comma(at_ - 1);
        out_.append("\\\"");
      } else if (c == '\\') {
        if (at_ + 1 >= text_.size()) return RepairStatus::cut;
        escape();
      } else if (is_control(c)) {
        if (c == '\n') {
          const RepairStatus next = next_line();
          if (next == RepairStatus::unreadable && !key) return close_before_comma(at_);
          if (next != RepairStatus::repaired) return next;
        }
        const auto byte = static_cast<unsigned char>(c);
        out_.append("\\u00");
        out_.push_back(kHex[byte >> 4]);
        out_.push_back(kHex[byte & 15]);
        at_++;
      } else if (const std::size_t length = utf8_sequence(text_.substr(at_)); length > 0) {
        out_.append(text_.substr(at_, length));
        at_ += length;
      } else {
        if (utf8_is_cut(text_.substr(at_))) return RepairStatus::cut;
        out_.append(kReplacement);
        at_++;
      }
    }
    return RepairStatus::cut;
  }

  // Whether the quote before `at_` opens one of the usual keys behind a comma: `kernel, "name":`. Then the quote that
  // should close this text is missing, and going on would swallow the members that follow.
  RepairStatus runs_into_key(bool& yes) const {
    yes = false;
    std::size_t before = at_ - 1;
    while (before > 0 && is_space(text_[before - 1])) before--;
    if (before == 0 || text_[before - 1] != ',' || nesting_.back() != '{') return RepairStatus::repaired;
    for (const std::string_view key : kEventKeys) {
      const std::string_view here = text_.substr(at_, key.size() + 1);
      if (here.size() < key.size() + 1 && (std::string(key) + "\"").starts_with(here)) return RepairStatus::cut;
      if (here.substr(0, key.size()) != key || here.back() != '"') continue;
      std::size_t i = at_ + key.size() + 1;
      while (i < text_.size() && is_space(text_[i])) i++;
      if (i >= text_.size()) return RepairStatus::cut;
      yes = text_[i] == ':';
      return RepairStatus::repaired;
    }
    return RepairStatus::repaired;
  }

  // Ends the text before the comma that stands before `at`, white space between them left out; unreadable when there is
  // none.
  RepairStatus close_before_comma(std::size_t at) {
    while (at > 0 && is_space(text_[at - 1])) at--;
    while (!out_.empty() && out_.back() == ' ') out_.pop_back();
    if (at == 0 || text_[at - 1] != ',' || out_.back() != ',') return RepairStatus::unreadable;
    out_.back() = '"';
    at_ = at - 1;
    return RepairStatus::repaired;
  }

  void escape() {
    const char c = text_[at_ + 1];
    if (c == 'u') {
      bool valid = at_ + 6 <= text_.size();
      for (std::size_t i = 2; valid && i < 6; i++)
        valid = std::string_view("0123456789abcdefABCDEF").find(text_[at_ + i]) != std::string_view::npos;
      if (valid) {
        out_.append(text_.substr(at_, 6));
        at_ += 6;
        return;
      }
    } else if (std::string_view("\"\\/bfnrt").find(c) != std::string_view::npos) {
      out_.append(text_.substr(at_, 2));
      at_ += 2;
      return;
    }
    out_.append("\\\\");  // an invalid escape: a backslash, then what follows it
    at_++;
  }

  // `unreadable` when a new line of the form `"key":` begins behind the line break at `at_`: the closing quote is
  // missing. `cut` when only more text can tell.
  RepairStatus next_line() const {
    std::size_t i = at_ + 1;
    while (i < text_.size() && is_space(text_[i])) i++;
    if (i >= text_.size()) return RepairStatus::cut;
    if (text_[i] != '"') return RepairStatus::repaired;
    const std::size_t begin = ++i;
    while (i < text_.size() && text_[i] != '"' && i - begin < 64 && !is_control(text_[i])) i++;
    if (i + 1 >= text_.size()) return RepairStatus::cut;
    return text_[i] == '"' && text_[i + 1] == ':' ? RepairStatus::unreadable : RepairStatus::repaired;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string out_;
  std::vector<char> nesting_;
};

// Parses four hexadecimal digits at `at`; 0x110000 when they are not.
std::uint32_t hex4(std::string_view raw, std::size_t at) {
  if (at + 4 > raw.size()) return 0x110000;
  std::uint32_t value = 0;
  for (std::size_t i = at; i < at + 4; i++) {
    const char c = raw[i];
    const char lower = static_cast<char>(c | 0x20);
    if (c >= '0' && c <= '9') {
      value = value << 4 | static_cast<std::uint32_t>(c - '0');
    } else if (lower >= 'a' && lower <= 'f') {
      value = value << 4 | static_cast<std::uint32_t>(lower - 'a' + 10);
    } else {
      return 0x110000;
    }
  }
  return value;
}

}  // namespace

Repair repair_object(std::string_view text) { return Repairer(text).run(); }

std::size_t find_event_start(std::string_view text, std::size_t from) {
  for (std::size_t at = text.find('{', from); at != std::string_view::npos; at = text.find('{', at + 1)) {
    std::size_t i = at + 1;
    while (i < text.size() && is_space(text[i])) i++;
    if (i >= text.size() || text[i] != '"') continue;
    for (const std::string_view key : kEventKeys) {
      if (text.substr(i + 1, key.size()) != key || i + 1 + key.size() >= text.size() || text[i + 1 + key.size()] != '"')
        continue;
      return at;
    }
  }
  return std::string_view::npos;
}

std::string unescape(std::string_view raw, bool& invalid) {
  std::string out;
  out.reserve(raw.size());
  for (std::size_t i = 0; i < raw.size(); i++) {
    if (raw[i] != '\\' || i + 1 >= raw.size()) {
      out.push_back(raw[i]);
      continue;
    }
    const char c = raw[++i];
    switch (c) {
      case '"':
      case '\\':
      case '/':
        out.push_back(c);
        break;
      case 'b':
        out.push_back('\b');
        break;
      case 'f':
        out.push_back('\f');
        break;
      case 'n':
        out.push_back('\n');
        break;
      case 'r':
        out.push_back('\r');
        break;
      case 't':
        out.push_back('\t');
        break;
      case 'u': {
        std::uint32_t unit = hex4(raw, i + 1);
        if (unit == 0x110000) {
          invalid = true;
          out.append("\\u");
          break;
        }
        i += 4;
        if (unit >= 0xd800 && unit < 0xdc00 && raw.substr(i + 1, 2) == "\\u") {
          const std::uint32_t low = hex4(raw, i + 3);
          if (low >= 0xdc00 && low < 0xe000) {
            unit = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
            i += 6;
          }
        }
        append_utf8(out, unit);
        break;
      }
      default:
        invalid = true;
        out.push_back('\\');
        out.push_back(c);
    }
  }
  return out;
}

}  // namespace chopper
