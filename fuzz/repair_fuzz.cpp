// SPDX-License-Identifier: Apache-2.0
// What the repair of an event returns is JSON and the same again when repaired once more; unescaping never fails.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ingest/kineto/json_repair.h"

namespace {

void expect(bool condition, const char* what, const std::string& text) {
  if (condition) return;
  std::fprintf(stderr, "%s\n%s\n", what, text.c_str());
  std::abort();
}

// Whether `json` is one JSON object without white space. Numbers are told by their characters alone: they keep the text
// they were written with, and who reads their values decides. Depth is not limited.
class Validator {
 public:
  explicit Validator(std::string_view json) : json_(json) {}

  bool valid() {
    std::vector<char> open;
    bool value_due = true;
    if (json_.empty() || json_[0] != '{') return false;
    while (at_ < json_.size()) {
      const char c = json_[at_];
      if (!value_due) {
        if (open.empty()) return false;  // text behind the object
        if (c == ',') {
          at_++;
          if (open.back() == '{' && !key()) return false;
          value_due = true;
        } else if (c == (open.back() == '{' ? '}' : ']')) {
          at_++;
          open.pop_back();
        } else {
          return false;
        }
        continue;
      }
      value_due = false;
      if (c == '{' || c == '[') {
        at_++;
        open.push_back(c);
        const bool empty = at_ < json_.size() && json_[at_] == (c == '{' ? '}' : ']');
        if (empty) continue;
        if (c == '{' && !key()) return false;
        value_due = true;
      } else if (!(c == '"' ? string() : word())) {
        return false;
      }
    }
    return open.empty() && !value_due;
  }

 private:
  bool key() { return string() && take(':'); }
  bool take(char c) { return at_ < json_.size() && json_[at_++] == c; }
  bool word() {
    for (const std::string_view w : {"true", "false", "null"}) {
      if (json_.substr(at_, w.size()) != w) continue;
      at_ += w.size();
      return true;
    }
    const std::size_t end = std::min(json_.find_first_not_of("0123456789+-.eE", at_), json_.size());
    return end > std::exchange(at_, end);
  }
  bool string() {
    if (!take('"')) return false;
    while (at_ < json_.size()) {
      const auto c = static_cast<unsigned char>(json_[at_++]);
      if (c == '"') return true;
      if (c < 0x20) return false;
      if (c == '\\' && !escape()) return false;
      if (c >= 0x80 && !utf8(c)) return false;
    }
    return false;
  }
  bool escape() {
    if (at_ >= json_.size()) return false;
    const char c = json_[at_++];
    if (c != 'u') return std::string_view("\"\\/bfnrt").find(c) != std::string_view::npos;
    for (int i = 0; i < 4; i++) {
      if (at_ >= json_.size() ||
          std::string_view("0123456789abcdefABCDEF").find(json_[at_++]) == std::string_view::npos)
        return false;
    }
    return true;
  }
  bool utf8(unsigned char first) {
    const int more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : first >= 0xc2 ? 1 : 0;
    if (more == 0 || first > 0xf4) return false;
    unsigned value = first & (0x3fu >> more);
    for (int i = 0; i < more; i++) {
      if (at_ >= json_.size() || (static_cast<unsigned char>(json_[at_]) & 0xc0u) != 0x80) return false;
      value = value << 6 | (static_cast<unsigned char>(json_[at_++]) & 0x3fu);
    }
    constexpr unsigned kSmallest[] = {0, 0x80, 0x800, 0x10000};
    return value >= kSmallest[more] && value <= 0x10ffff && (value < 0xd800 || value >= 0xe000);
  }

  std::string_view json_;
  std::size_t at_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const std::size_t first = text.find_first_not_of(" \n\r\t");
  const bool object = first != std::string::npos && text[first] == '{';  // nothing else is ever given to it
  const chopper::Repair repair = object ? chopper::repair_object(text) : chopper::Repair();
  if (repair.status == chopper::RepairStatus::repaired) {
    expect(Validator(repair.json).valid(), "not JSON", repair.json);
    expect(repair.consumed <= size && repair.consumed > 0, "consumed", repair.json);
    const chopper::Repair again = chopper::repair_object(repair.json);
    expect(again.status == chopper::RepairStatus::repaired && again.json == repair.json,
           "a repaired event is repaired to another one", repair.json);
  }
  // A judgement that did not ask for more text stays what it is whatever follows: batches rely on it.
  for (const std::size_t part : {size / 4, size / 2, size - size / 4, size - std::min<std::size_t>(size, 1),
                                 std::min(size, repair.consumed), std::min(size, repair.consumed + 1)}) {
    if (!object || part <= first) continue;
    const chopper::Repair early = chopper::repair_object(std::string_view(text).substr(0, part));
    if (early.status == chopper::RepairStatus::cut) continue;
    expect(early.status == repair.status && early.json == repair.json && early.consumed == repair.consumed,
           "more text changes the judgement", text);
  }
  for (std::size_t at = chopper::find_event_start(text, 0); at != std::string::npos;
       at = chopper::find_event_start(text, at + 1))
    expect(text[at] == '{', "start", text);
  bool invalid = false;
  const std::string plain = chopper::unescape(text, invalid);
  expect(plain.size() <= text.size(), "unescaped text is longer", text);
  expect(text.find('\\') != std::string::npos || plain == text, "text without escapes changed", text);
  return 0;
}
