// SPDX-License-Identifier: Apache-2.0
#include "ingest/rocprof/json_walk.h"

#include <algorithm>

#include "ingest/kineto/json_scan.h"

namespace chopper::rocprof {
namespace {

// The text of a piece stays in the second-level cache while its elements are read.
constexpr std::size_t kWindowBytes = std::size_t{256} << 10;
// So far is looked for the next element where the text between two is damaged. Longer than most elements.
constexpr std::size_t kRepairBytes = std::size_t{64} << 10;
constexpr std::size_t kMaxKeyBytes = std::size_t{64} << 10;

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

// Returns the key an object begins with, with its quotes; empty when it begins with something else.
std::string_view first_key_of(std::string_view object) {
  if (object.empty() || object[0] != '{') return {};
  std::size_t at = 1;
  while (at < object.size() && is_space(object[at])) at++;
  if (at == object.size() || object[at] != '"') return {};
  const std::size_t end = object.find('"', at + 1);
  return end == std::string_view::npos ? std::string_view() : object.substr(at, end + 1 - at);
}

// Where the next element starts that begins with the key; npos where none is in the text. Objects inside an element
// stand behind a colon or begin with another key.
std::size_t next_element(std::string_view text, std::string_view key) {
  if (key.empty()) return std::string_view::npos;
  for (std::size_t at = text.find(key, 1); at != std::string_view::npos; at = text.find(key, at + 1)) {
    std::size_t open = at;
    while (open > 0 && is_space(text[open - 1])) open--;
    if (open < 2 || text[open - 1] != '{') continue;
    open--;
    std::size_t before = open;
    while (before > 0 && is_space(text[before - 1])) before--;
    if (before > 0 && text[before - 1] == ',') return open;
  }
  return std::string_view::npos;
}

}  // namespace

JsonWalk::JsonWalk(ByteSource& source, std::size_t window_bytes, Lost lost)
    : stream_(source), window_bytes_(window_bytes > 0 ? window_bytes : kWindowBytes), lost_(std::move(lost)) {}

char JsonWalk::next() {
  if (!started_) {
    started_ = true;
    stream_.fill(3);
    if (stream_.text().starts_with("\xef\xbb\xbf")) stream_.drop(3);
  }
  while (true) {
    const std::string_view text = stream_.text();
    std::size_t at = 0;
    while (at < text.size() && is_space(text[at])) at++;
    stream_.drop(at);
    if (at < text.size()) return text[at];
    if (stream_.ended() || !stream_.fill(window_bytes_) || stream_.text().empty()) return '\0';
  }
}

bool JsonWalk::take_char(char c) {
  if (next() != c) return false;
  stream_.drop(1);
  return true;
}

void JsonWalk::stop(const std::string& what) {
  if (stopped_) return;
  stopped_ = true;
  if (stream_.error() == nullptr) lost_(Taken::no_json, stream_.offset(), what);
}

void JsonWalk::stop_cut() {
  stopped_ = true;
  cut_ = true;
}

// Reads a key and the colon behind it. Escapes stay: no key of interest has any.
bool JsonWalk::read_key(std::string& key) {
  if (!take_char('"')) return false;
  std::size_t at = 0;
  while (true) {
    const std::string_view text = stream_.text();
    while (at < text.size() && text[at] != '"') at += text[at] == '\\' ? std::size_t{2} : std::size_t{1};
    if (at < text.size()) break;
    if (at > kMaxKeyBytes) return false;
    const std::size_t had = text.size();
    if (stream_.ended() || !stream_.fill(had + window_bytes_) || stream_.text().size() == had) {
      stop_cut();
      return false;
    }
  }
  key = stream_.text().substr(0, at);
  stream_.drop(at + 1);
  if (take_char(':')) return true;
  if (next() == '\0') stop_cut();
  return false;
}

void JsonWalk::object(const TakeKey& take) {
  if (!take_char('{')) return skip();
  std::string key;
  while (!stopped_) {
    switch (next()) {
      case '}':
        stream_.drop(1);
        return;
      case ',':
        stream_.drop(1);
        break;
      case '\0':
        return stop_cut();
      case '"':
        if (read_key(key)) {
          if (next() == '\0') return stop_cut();
          take(key);
          break;
        }
        [[fallthrough]];
      default:
        return stop("the structure around the lists is damaged: nothing behind is read");
    }
  }
}

void JsonWalk::elements(const std::function<void()>& take) {
  if (!take_char('[')) return skip();
  while (!stopped_) {
    switch (next()) {
      case ']':
        stream_.drop(1);
        return;
      case ',':
        stream_.drop(1);
        break;
      case '\0':
        return stop_cut();
      default:
        take();
        break;
    }
  }
}

void JsonWalk::list(std::string_view first_key, const Take& take) {
  if (next() != '[') return skip();
  stream_.drop(1);
  first_key_ = '"' + std::string(first_key) + '"';
  while (!stopped_) {
    switch (next()) {
      case ']':
        stream_.drop(1);
        return;
      case ',':
        stream_.drop(1);
        break;
      case '{':
      case '[':
        element(take);
        break;
      case '\0':
        return stop_cut();
      default: {
        lost_(Taken::no_json, stream_.offset(), "text that is no record");
        stream_.fill(kRepairBytes);
        if (!go_to_next_element(stream_.text().substr(0, kRepairBytes)))
          return stop("the next record cannot be found: nothing behind is read");
        break;
      }
    }
  }
}

// An element begins as the last one did, or as the damaged one.
bool JsonWalk::go_to_next_element(std::string_view text) {
  const std::size_t found = std::min(next_element(text, first_key_), next_element(text, first_key_of(text)));
  if (found == std::string_view::npos) return false;
  stream_.drop(found);
  return true;
}

// The end of an element is looked for in more and more text: all decisions are on its content alone.
void JsonWalk::element(const Take& take) {
  ElementScan scan;
  while (true) {
    scan = scan_elements(stream_.text(), true);
    const std::size_t size = stream_.text().size();
    if (scan.first_end != 0 || size > kMaxElementBytes) break;
    if (stream_.ended() || !stream_.fill(std::max(window_bytes_, std::min(size * 2, kMaxElementBytes + 1))) ||
        stream_.text().size() == size)
      break;
  }
  if (stream_.error() != nullptr) return stop("");
  const bool is_whole = scan.first_end != 0 && scan.first_end <= kMaxElementBytes;
  const std::string_view text = stream_.text().substr(0, is_whole ? scan.first_end : kMaxElementBytes);
  if (first_key_.empty()) first_key_ = first_key_of(text);
  const std::uint64_t offset = stream_.offset();
  if (is_whole) {
    const Taken taken = take(text, offset);
    if (taken == Taken::used) {
      if (!text.starts_with("{}")) first_key_ = first_key_of(text);
      stream_.drop(text.size());
      return;
    }
    lost_(taken, offset, "a record");
    if (!go_to_next_element(text)) stream_.drop(text.size());
    return;
  }
  const bool at_end = stream_.ended() && stream_.text().size() <= kMaxElementBytes;
  if (go_to_next_element(text)) return lost_(Taken::no_json, offset, "a record");
  if (at_end) return stop_cut();
  stop("a record without an end: nothing behind is read");
}

bool JsonWalk::drain() {
  const bool has_more = next() != '\0';
  while (!stream_.text().empty()) {
    stream_.drop(stream_.text().size());
    if (!stream_.ended()) stream_.fill(window_bytes_);
  }
  return has_more;
}

void JsonWalk::value(const Take& take) {
  if (next() != '{') return skip();
  first_key_.clear();
  element(take);
}

// Byte by byte: nothing is held, however long the value is.
void JsonWalk::skip() {
  const char first = next();
  if (first == '\0') return stop_cut();
  std::size_t depth = 0;
  bool in_string = false, escaped = false;
  while (true) {
    const std::string_view text = stream_.text();
    for (std::size_t at = 0; at < text.size(); at++) {
      const char c = text[at];
      if (in_string) {
        in_string = escaped || c != '"';
        escaped = !escaped && c == '\\';
        if (in_string || depth > 0) continue;
        return stream_.drop(at + 1);
      }
      switch (c) {
        case '"':
          in_string = true;
          continue;
        case '{':
        case '[':
          depth++;
          continue;
        case '}':
        case ']':
        case ',':
          if (depth == 0) {
            stream_.drop(at);
            // Nothing was passed: what stands here is no value.
            if (c == first) stop("a value is missing: nothing behind is read");
            return;
          }
          if (c == ',') continue;
          if (--depth == 0) return stream_.drop(at + 1);
          continue;
        default:
          continue;
      }
    }
    stream_.drop(text.size());
    if (stream_.ended() || !stream_.fill(window_bytes_) || stream_.text().empty()) return stop_cut();
  }
}

}  // namespace chopper::rocprof
