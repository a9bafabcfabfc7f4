// SPDX-License-Identifier: Apache-2.0
// The structure around the events: finds the event array of a trace document, keeps the other keys as raw text, and
// cuts the array into batches. Sequential; everything expensive happens in the batches.
//
//   {"schemaVersion": 1, "deviceProperties": [...], "traceEvents": [ {...}, {...}, ... ], "baseTimeNanoseconds": 0}
//                                                                    ^ batch ^  batch ^
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "ingest/kineto/event_parser.h"
#include "ingest/kineto/text_stream.h"
#include "model/health.h"

namespace chopper {

class TraceDocument {
 public:
  TraceDocument(ByteSource& source, std::size_t window_bytes) : stream_(source), window_bytes_(window_bytes) {}

  enum class Next { batch, barrier, end, error };
  /// Produces the next batch of events. `alone` says that no batch is in flight; where that matters (at the end of an
  /// array, and for a batch with one_event) the answer is `barrier` until it is so. After a batch with one_event,
  /// resume() comes first.
  Next next_batch(EventBatch& batch, bool alone);
  /// Takes up reading where `result` says `batch` was left. `later` is the text of the batches handed out after it,
  /// which are void: their leads and texts in order.
  void resume(const EventBatch& batch, const BatchResult& result, std::string_view later);

  /// Raw JSON of the other top-level keys; the last one counts.
  const std::map<std::string, std::string, std::less<>>& metadata() const { return metadata_; }
  /// Health records of the structure.
  const std::vector<EventNote>& notes() const { return notes_; }
  bool has_events_array() const { return num_arrays_ > 0; }
  bool is_recognised() const { return recognised_; }
  std::uint64_t offset() const { return stream_.offset(); }
  const Error* error() const { return stream_.error(); }

 private:
  enum class Place { before_document, in_object, in_events, ended };

  bool skip_space();
  bool read_start();
  bool starts_event();
  bool starts_document();
  void drop_until_bracket();
  bool read_key();
  bool read_value(std::string& key);
  bool value_text(std::string& out);
  bool skip_value();
  void skip_junk();
  bool string_token(std::string& out);
  Next cut_batch(EventBatch& batch, bool alone);
  Next cut_one_event(EventBatch& batch);
  void end_of_array();
  void note(HealthKind kind, std::uint64_t offset, std::string what) {
    notes_.push_back({kind, offset, std::move(what)});
  }

  TextStream stream_;
  std::size_t window_bytes_;
  Place place_ = Place::before_document;
  bool bare_array_ = false;
  bool after_element_ = false;
  bool one_event_ = false;
  bool resync_ = false;
  bool recognised_ = false;
  std::string lead_;  // separators dropped since the last batch was handed out
  std::uint64_t num_documents_ = 0;
  std::uint64_t num_arrays_ = 0;
  std::map<std::string, std::string, std::less<>> metadata_;
  std::vector<EventNote> notes_;
};

}  // namespace chopper
