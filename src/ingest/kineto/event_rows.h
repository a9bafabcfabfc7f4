// SPDX-License-Identifier: Apache-2.0
// Decides what an event is (rules 2 and 3 of docs/reference/reading-rules.md) and appends it to the tables of a part.
#pragma once

#include <cstdint>
#include <string_view>

#include "ingest/kineto/event_part.h"

namespace chopper {

/// The JSON tokens of one event as written, quotes included; empty when absent.
struct EventFields {
  std::string_view phase, category, name, pid, tid, time, duration;
  std::string_view correlation, external_id, stream, device, bytes, grid, block;
  std::string_view sequence_number, forward_thread;
  std::string_view address, memory_bytes, total_allocated, total_reserved, memory_device;
  std::string_view collective_name, group_name, group_ranks, group_size, dtype, in_elements, out_elements,
      collective_sequence, rank;
  bool arguments_mistyped = false;
};

/// What an event's category makes of it.
enum class EventKind : std::uint8_t {
  kernel,
  memcpy,
  memset,
  runtime,
  driver,
  operation,
  annotation,
  python,
  host,
  device_other,
  unknown_gpu
};

class EventRows {
 public:
  EventRows(WorkerDictionary& dictionary, bool unpadded_nanoseconds)
      : dictionary_(dictionary), unpadded_(unpadded_nanoseconds) {}

  /// Appends the event to `part`, or counts why not.
  void add(const EventFields& fields, std::uint64_t offset, EventPart& part);
  /// Whether the event added last had a phase.
  bool last_had_phase() const { return last_had_phase_; }

 private:
  struct Span;
  void add_span(const EventFields& fields, std::uint64_t offset, char phase, EventPart& part);
  void add_gpu_work(const EventFields& fields, const Span& span, EventPart& part);
  void add_memory_event(const EventFields& fields, std::int64_t time_ns, EventPart& part);
  RowId add_collective(const EventFields& fields, EventPart& part);
  StringId name_of(std::string_view token);
  EventKind kind_of(std::string_view category);
  std::int64_t time_of(std::string_view token, EventPart& part, bool& valid, bool& overflow);

  WorkerDictionary& dictionary_;
  bool unpadded_;
  bool last_had_phase_ = false;
  std::string last_category_;
  EventKind last_kind_ = EventKind::host;
};

}  // namespace chopper
