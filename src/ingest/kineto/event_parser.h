// SPDX-License-Identifier: Apache-2.0
// Turns batches of events into rows: simdjson on the whole batch, and where that fails, event by event with repair.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "ingest/kineto/event_part.h"
#include "ingest/kineto/text_stream.h"

namespace chopper {

/// A damaged event is judged with this much text to look ahead (or to the end of the file): the judgement must not
/// depend on how the file was cut into batches. Longer than any real event, and short against a batch, so that most
/// damaged events are judged where they are found.
inline constexpr std::size_t kRepairBytes = std::size_t{128} << 10;
/// An element longer than this is no event.
inline constexpr std::size_t kMaxEventBytes = std::size_t{16} << 20;

/// A run of events cut from the array. It starts at an element, and ends where one ends unless `one_event` is set.
struct EventBatch {
  TextWindow buffer;
  std::uint64_t offset = 0;  ///< of its first byte in the uncompressed text
  std::string lead;          ///< the separators before it, so that the text of neighbouring batches can be joined again
  std::size_t num_notes = 0;  ///< notes of the document before this batch
  bool one_event = false;     ///< decide its first element only; the text is kRepairBytes or more, or all there is
  bool at_end = false;        ///< with one_event: nothing follows in the file
  bool resync = false;        ///< with one_event: starts inside a lost event, look for the next start first
};

/// How far a batch could be read.
struct BatchResult {
  enum class Status {
    complete,      ///< to the end of the batch
    array_closed,  ///< `consumed` stands behind the bracket that closes the array
    undecided,     ///< the element at `consumed` has to be read with one_event
    stopped,       ///< after one element, as asked; `consumed` stands behind it
    cut,           ///< the text ends inside the element at `consumed`, and nothing after it could be read
  };
  Status status = Status::complete;
  std::size_t consumed = 0;
  bool after_element = true;  ///< a separator is due before the next element
  bool resync = false;        ///< continue looking for an event start at `consumed`
};

/// Says what is wrong with `commas` commas found before an element (or before the end of the array); empty when nothing
/// is.
std::string_view separator_problem(std::size_t commas, bool after_element, bool closes);

/// One worker's parser. Keeps its simdjson buffers between batches.
class EventParser {
 public:
  explicit EventParser(bool unpadded_nanoseconds);
  ~EventParser();
  EventParser(EventParser&&) noexcept;

  WorkerDictionary& dictionary();
  /// Reads `batch` into `part`. The text of the batch may be written to.
  BatchResult parse(EventBatch& batch, EventPart& part);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace chopper
