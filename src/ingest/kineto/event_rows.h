// SPDX-License-Identifier: Apache-2.0
// Decides what an event is (rules 2 and 3 of docs/reference/reading-rules.md) and appends it to the tables of a part.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/kineto/event_part.h"

namespace chopper {

/// The members of an event that are read.
enum class Member : std::uint8_t {
  phase,
  category,
  name,
  pid,
  tid,
  time,
  duration,
  correlation,
  stream,
  device,
  bytes,
  grid,
  block,
  sequence_number,
  forward_thread,
  shapes,
  types,
  values,
  address,
  memory_bytes,
  total_allocated,
  total_reserved,
  memory_device,
  collective_name,
  group_name,
  group_description,
  group_ranks,
  group_size,
  dtype,
  in_elements,
  out_elements,
  collective_sequence,
  source_rank,
  destination_rank,
  rank,
  count_
};

/// The JSON tokens of one event as written, quotes included; empty when absent. Tokens are valid only where their bit
/// is set: there is one such object an event, and clearing it would cost as much as filling it.
class EventFields {
 public:
  EventFields() : present_(0) {}  // NOLINT: tokens_ stays uninitialised on purpose

  std::string_view operator[](Member member) const {
    return (present_ >> static_cast<unsigned>(member) & 1) != 0
               ? std::string_view(tokens_[static_cast<std::size_t>(member)].data,
                                  tokens_[static_cast<std::size_t>(member)].size)
               : std::string_view();
  }
  void set(Member member, std::string_view token) {
    tokens_[static_cast<std::size_t>(member)] = {token.data(), token.size()};
    present_ |= std::uint64_t{1} << static_cast<unsigned>(member);
  }
  const char* arguments = nullptr;  ///< the first member of args, up to `text_end` at most; for those of no fixed name
  const char* text_end = nullptr;
  bool arguments_mistyped = false;
  bool empty = true;  ///< no member at all

 private:
  struct Token {
    const char* data;
    std::size_t size;
  };
  std::uint64_t present_;
  Token tokens_[static_cast<std::size_t>(Member::count_)];
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
  counter_range,
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
  // By name of the operator: whether its inputs are kept, and the lists it had last, which most repeat.
  struct InputLists {
    struct List {
      std::string_view text;  // of the dictionary: stays valid
      StringId id = kNoString;
    };
    List shapes, types, values;
    bool wanted = true, values_wanted = false, known = false;
  };
  void add_span(const EventFields& fields, std::uint64_t offset, char phase, EventPart& part);
  bool read_times(const EventFields& fields, char phase, Span& span, EventPart& part);
  OpenSpan add_row(const EventFields& fields, const Span& span, EventPart& part);
  void add_gpu_work(const EventFields& fields, const Span& span, EventPart& part);
  void add_launch(const EventFields& fields, const Span& span, EventPart& part);
  void add_range(const EventFields& fields, const Span& span, EventPart& part);
  void add_host_time(const EventFields& fields, const Span& span, EventPart& part);
  void add_counter_range(const EventFields& fields, const Span& span, EventPart& part);
  void add_memory_event(const EventFields& fields, std::uint64_t offset, std::int64_t time_ns, EventPart& part);
  RowId add_collective(const EventFields& fields, EventPart& part);
  StringId name_of(std::string_view token);
  InputLists& inputs_of(StringId operation);
  StringId list_of(std::string_view json, InputLists::List& last);
  EventKind kind_of(std::string_view category);
  std::int64_t time_of(std::string_view token, EventPart& part, bool& valid, bool& overflow);

  WorkerDictionary& dictionary_;
  bool unpadded_;
  bool last_had_phase_ = false;
  std::string last_category_;
  std::vector<InputLists> last_inputs_;
  EventKind last_kind_ = EventKind::host;
};

}  // namespace chopper
