// SPDX-License-Identifier: Apache-2.0
#include "ingest/kineto/document.h"

#include <algorithm>
#include <utility>

#include "ingest/kineto/json_repair.h"
#include "ingest/kineto/json_scan.h"

namespace chopper {
namespace {

constexpr bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

// A value of a top-level key longer than this is not kept (nor is any real one).
constexpr std::size_t kMaxMetadataBytes = std::size_t{16} << 20;
constexpr std::size_t kStep = 4096;  // how much more text is asked for at a time outside the event array

}  // namespace

// Moves to the next byte that is no white space; false at the end of the text.
bool TraceDocument::skip_space() {
  for (;;) {
    const std::string_view text = stream_.text();
    std::size_t i = 0;
    while (i < text.size() && is_space(text[i])) i++;
    stream_.drop(i);
    if (i < text.size()) return true;
    if (!stream_.fill(kStep) || stream_.text().empty()) return false;
  }
}

TraceDocument::Next TraceDocument::next_batch(EventBatch& batch, bool alone) {
  while (place_ != Place::ended) {
    if (stream_.error() != nullptr) return Next::error;
    if (place_ == Place::in_events) {
      if (one_event_) return alone ? cut_one_event(batch) : Next::barrier;
      const Next next = cut_batch(batch, alone);
      if (next != Next::end) return next;
      continue;  // the array ended or one event is due
    }
    const bool more = place_ == Place::before_document ? read_start() : read_key();
    if (stream_.error() != nullptr) return Next::error;
    if (!more) place_ = Place::ended;
  }
  return stream_.error() != nullptr ? Next::error : Next::end;
}

// Whether the text begins with an object that is an event, judged by its first key.
bool TraceDocument::starts_event() {
  return stream_.fill(kStep) && find_event_start(stream_.text().substr(0, kStep), 0) == 0;
}

// Whether a further document, or an event that belongs to the one before, begins here.
bool TraceDocument::starts_document() {
  if (!stream_.fill(kStep)) return false;
  const std::string_view text = stream_.text().substr(0, kStep);
  if (text.empty()) return false;
  if (text.front() == '[') {
    const std::size_t next = text.find_first_not_of(" \n\r\t", 1);
    return next != std::string_view::npos && find_event_start(text, next) == next;
  }
  if (text.front() != '{') return false;
  if (starts_event()) return true;
  for (const std::string_view key :
       {"\"traceEvents\"", "\"schemaVersion\"", "\"deviceProperties\"", "\"displayTimeUnit\""}) {
    if (text.find(key) != std::string_view::npos) return true;
  }
  return false;
}

// Drops text up to the next bracket, or all of it.
void TraceDocument::drop_until_bracket() {
  for (;;) {
    const std::string_view text = stream_.text();
    const std::size_t at = text.find_first_of("{[");
    stream_.drop(std::min(at, text.size()));
    if (at != std::string_view::npos || !stream_.fill(window_bytes_) || stream_.text().empty()) return;
  }
}

// The start of a document: an object, or an array of events.
bool TraceDocument::read_start() {
  if (num_documents_ == 0 && stream_.offset() == 0) {
    if (!stream_.fill(3)) return false;
    if (stream_.text().starts_with("\xef\xbb\xbf")) stream_.drop(3);
  }
  if (!skip_space()) return false;
  char c = stream_.text().front();
  if (num_documents_ > 0 && !starts_document()) {
    // Something follows the document. Whatever it is, what can be read behind it is.
    note(HealthKind::trailing_bytes, stream_.offset(), "text after the end of the document");
    constexpr int kMaxTries = 1024;  // each looks at a page of text
    int tries = 0;
    do {
      stream_.drop(1);
      drop_until_bracket();
    } while (!stream_.text().empty() && !starts_document() && ++tries < kMaxTries);
    if (stream_.text().empty() || tries == kMaxTries) return false;
    c = stream_.text().front();
  }
  if (c != '{' && c != '[') return false;
  if (num_documents_ > 0 && starts_event()) {  // a stray bracket has ended the array too early
    note(HealthKind::text_repaired, stream_.offset(), "events behind the end of the array");
    bare_array_ = true;
    after_element_ = false;
    place_ = Place::in_events;
    return true;
  }
  if (num_documents_++ > 0) note(HealthKind::second_document, stream_.offset(), "another document");
  stream_.drop(1);
  if (c == '{') {
    place_ = Place::in_object;
    return true;
  }
  bare_array_ = true;
  num_arrays_++;
  after_element_ = false;
  place_ = Place::in_events;
  return true;
}

// One key and its value, or the end of the object.
bool TraceDocument::read_key() {
  if (!skip_space()) {
    note(HealthKind::truncated, stream_.offset(), "the document is not closed");
    return false;
  }
  const char c = stream_.text().front();
  if (c == '}') {
    stream_.drop(1);
    place_ = Place::before_document;
    return true;
  }
  if (c != '"') {
    if (c == '{' && num_arrays_ > 0 && starts_event()) {  // a stray bracket has ended the array too early
      note(HealthKind::text_repaired, stream_.offset(), "events behind the end of traceEvents");
      after_element_ = false;
      place_ = Place::in_events;
      return true;
    }
    if (c != ',') skip_junk();
    if (c == ',') stream_.drop(1);
    return true;
  }
  const std::uint64_t start = stream_.offset();
  std::string key;
  if (!string_token(key) || !skip_space()) {
    note(HealthKind::truncated, start, "the document ends inside a key");
    return false;
  }
  if (stream_.text().front() != ':') return true;
  stream_.drop(1);
  if (!skip_space()) {
    note(HealthKind::truncated, start, "the document ends behind a key");
    return false;
  }
  if (key == "traceEvents" && stream_.text().front() == '[') {
    stream_.drop(1);
    if (num_arrays_++ > 0 && num_documents_ == 1) note(HealthKind::duplicate_key, start, "traceEvents");
    recognised_ = true;
    after_element_ = false;
    place_ = Place::in_events;
    return true;
  }
  return read_value(key);
}

// Something between two keys that does not belong there: passed over up to the next comma, quote or brace.
void TraceDocument::skip_junk() {
  if (!stream_.fill(kStep)) return;
  note(HealthKind::text_repaired, stream_.offset(), "text between keys: " + std::string(stream_.text().substr(0, 40)));
  stream_.drop(1);
  for (;;) {
    const std::string_view text = stream_.text();
    const std::size_t end = text.find_first_of(",\"}{");
    stream_.drop(std::min(end, text.size()));
    if (end != std::string_view::npos || !stream_.fill(kStep) || stream_.text().empty()) return;
  }
}

bool TraceDocument::read_value(std::string& key) {
  const std::uint64_t start = stream_.offset();
  std::string value;
  if (!value_text(value)) {
    if (stream_.error() == nullptr)
      note(HealthKind::truncated, start, "the document ends inside the value of \"" + key + "\"");
    return false;
  }
  if (key == "schemaVersion" || key == "deviceProperties" || key == "distributedInfo" || key == "baseTimeNanoseconds")
    recognised_ = true;
  metadata_[std::move(key)] = std::move(value);
  return true;
}

// Reads a string token; `out` gets its text with escapes decoded.
bool TraceDocument::string_token(std::string& out) {
  for (std::size_t size = kStep;; size *= 2) {
    if (!stream_.fill(size)) return false;
    const std::string_view text = stream_.text();
    std::size_t i = 1;
    while (i < text.size() && text[i] != '"') i += text[i] == '\\' ? 2u : 1u;
    if (i < text.size()) {
      bool invalid = false;
      out = unescape(text.substr(1, i - 1), invalid);
      stream_.drop(i + 1);
      return true;
    }
    if (stream_.ended() || size > kMaxMetadataBytes) return false;
  }
}

// Reads any JSON value as raw text.
bool TraceDocument::value_text(std::string& out) {
  const char first = stream_.text().front();
  for (std::size_t size = kStep;; size *= 2) {
    if (!stream_.fill(size)) return false;
    const std::string_view text = stream_.text();
    std::size_t end = 0;
    if (first == '{' || first == '[') {
      end = scan_elements(text, true).first_end;
    } else if (first == '"') {
      std::size_t i = 1;
      while (i < text.size() && text[i] != '"') i += text[i] == '\\' ? 2u : 1u;
      end = i < text.size() ? i + 1 : 0;
    } else {
      end = std::min(text.find_first_of(",}] \n\r\t"), text.size());
      if (end == text.size() && !stream_.ended()) end = 0;
      if (end == 0 && (stream_.ended() || !text.empty()) && !text.empty() &&
          std::string_view(",}]").find(first) != std::string_view::npos) {
        out.clear();  // no value at all; the caller goes on with what stands there
        return true;
      }
    }
    if (end > 0) {
      out.assign(text.substr(0, end));
      stream_.drop(end);
      return true;
    }
    if (stream_.ended()) return false;
    if (size > kMaxMetadataBytes) {
      note(HealthKind::oversized_value, stream_.offset(), "longer than 16 MiB");
      out.clear();
      return skip_value();
    }
  }
}

// Passes over a string, an object or an array of any length, keeping nothing of it.
bool TraceDocument::skip_value() {
  std::size_t depth = 0;
  bool in_string = false;
  bool escaped = false;
  for (;;) {
    const std::string_view text = stream_.text();
    for (std::size_t i = 0; i < text.size(); i++) {
      const char c = text[i];
      if (in_string) {
        in_string = escaped || c != '"';
        escaped = !escaped && c == '\\';
      } else if (c == '"') {
        in_string = true;
      } else if (c == '{' || c == '[') {
        depth++;
      } else if (c == '}' || c == ']') {
        depth--;
      }
      if (depth == 0 && !in_string) {
        stream_.drop(i + 1);
        return true;
      }
    }
    stream_.drop(text.size());
    if (!stream_.fill(window_bytes_) || stream_.text().empty()) return false;
  }
}

void TraceDocument::end_of_array() {
  place_ = bare_array_ ? Place::before_document : Place::in_object;
  lead_.clear();
  bare_array_ = false;
  one_event_ = resync_ = false;
}

// A window of whole elements. Returns `end` when the place has changed instead.
TraceDocument::Next TraceDocument::cut_batch(EventBatch& batch, bool alone) {
  // Separators between the last element and the next one. Nothing is dropped before it is clear that an element
  // follows.
  std::size_t lead = 0;
  std::size_t commas = 0;
  for (;; lead++) {
    if (lead == stream_.text().size() && !stream_.fill(std::max(lead + kStep, lead * 2))) return Next::error;
    if (lead == stream_.text().size()) break;
    const char c = stream_.text()[lead];
    if (!is_space(c) && c != ',') break;
    commas += c == ',' ? 1u : 0u;
  }
  const bool ended = lead == stream_.text().size();
  const bool closes = !ended && stream_.text()[lead] == ']';
  if ((ended || closes) && !alone) return Next::barrier;
  if (ended) {
    stream_.drop(lead);
    if (bare_array_) {
      note(HealthKind::unclosed_array, stream_.offset(), "the array is not closed");
    } else {
      note(HealthKind::truncated, stream_.offset(), "traceEvents is not closed");
    }
    place_ = Place::ended;
    return Next::end;
  }
  const std::uint64_t before = stream_.offset();
  lead_.append(stream_.text().substr(0, lead));
  stream_.drop(lead);
  if (const std::string_view problem = separator_problem(commas, after_element_, closes); !problem.empty()) {
    note(HealthKind::separator_repaired, before, std::string(problem));
  }
  after_element_ = false;
  if (closes) {
    stream_.drop(1);
    end_of_array();
    return Next::end;
  }
  for (std::size_t size = window_bytes_;; size *= 2) {
    if (!stream_.fill(size)) return Next::error;
    const std::string_view window = stream_.text().substr(0, size);
    const ElementScan scan = scan_elements(window, false);
    const bool whole = stream_.ended() && window.size() == stream_.text().size();
    const bool hopeless = window.size() > kMaxEventBytes || whole || scan.closed_at != ElementScan::npos;
    if (scan.longest > kMaxEventBytes || (scan.last_end == 0 && hopeless)) {
      one_event_ = true;
      return Next::end;
    }
    if (scan.last_end == 0) continue;
    batch.offset = stream_.offset();
    batch.lead = std::exchange(lead_, {});
    batch.num_notes = notes_.size();
    batch.one_event = batch.at_end = batch.resync = false;
    stream_.take(scan.last_end, batch.buffer);
    after_element_ = true;
    return Next::batch;
  }
}

// The element at the current place with enough text behind it to judge it whatever the windows were.
TraceDocument::Next TraceDocument::cut_one_event(EventBatch& batch) {
  if (!stream_.fill(kRepairBytes)) return Next::error;
  std::size_t size = std::min(stream_.text().size(), kRepairBytes);
  if (!resync_ && !stream_.text().empty() && stream_.text().front() == '{') {
    for (std::size_t want = kRepairBytes;; want *= 2) {
      if (!stream_.fill(std::min(want, kMaxEventBytes))) return Next::error;
      const std::size_t end = scan_elements(stream_.text().substr(0, kMaxEventBytes), true).first_end;
      if (end > 0) size = std::max(size, end);
      if (end > 0 || stream_.ended() || want >= kMaxEventBytes) break;
    }
  }
  batch.offset = stream_.offset();
  batch.lead = std::exchange(lead_, {});
  batch.num_notes = notes_.size();
  batch.one_event = true;
  batch.resync = resync_;
  batch.at_end = stream_.ended() && size == stream_.text().size();
  batch.buffer.assign(stream_.text().substr(0, size));
  stream_.drop(size);
  if (batch.buffer.size() == 0) {
    note(bare_array_ && !resync_ ? HealthKind::unclosed_array : HealthKind::truncated, stream_.offset(),
         "the event array is not closed");
    place_ = Place::ended;
    return Next::end;
  }
  return Next::batch;
}

void TraceDocument::resume(const EventBatch& batch, const BatchResult& result, std::string_view later) {
  using Status = BatchResult::Status;
  std::string text(batch.buffer.text().substr(result.consumed));
  text.append(later);
  text.append(std::exchange(lead_, {}));
  const std::uint64_t offset = batch.offset + result.consumed;
  stream_.restore(text, offset);
  notes_.resize(batch.num_notes);
  after_element_ = result.after_element;
  one_event_ = result.status == Status::undecided || result.resync;
  resync_ = result.resync;
  place_ = Place::in_events;
  if (result.status == Status::array_closed) {
    end_of_array();
  } else if (result.status == Status::cut) {
    note(HealthKind::truncated, offset, "the file ends inside an event");
    place_ = Place::ended;
  }
}

}  // namespace chopper
