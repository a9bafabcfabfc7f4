// SPDX-License-Identifier: Apache-2.0
#include "ingest/kineto/event_rows.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include "base/decimal.h"

namespace chopper {
namespace {

// The text of a string token; other tokens as they are.
std::string_view unquoted(std::string_view token) {
  if (token.size() >= 2 && token.front() == '"' && token.back() == '"') return token.substr(1, token.size() - 2);
  return token;
}

bool is_string(std::string_view token) { return !token.empty() && token.front() == '"'; }
bool is_number(std::string_view token) {
  return !token.empty() && (token.front() == '-' || (token.front() >= '0' && token.front() <= '9'));
}

std::int64_t integer_or(std::string_view token, std::int64_t otherwise) {
  if (token.empty()) return otherwise;
  return parse_int64(unquoted(token)).value_or(otherwise);
}

std::int32_t device_or(std::string_view token, std::int32_t otherwise) {
  const std::int64_t value = integer_or(token, -1);
  return value >= 0 && value <= INT32_MAX ? static_cast<std::int32_t>(value) : otherwise;
}

// "[16, 8, 2]" to an extent; anything else is unknown.
Extent extent_of(std::string_view json) {
  std::array<std::uint64_t, 3> values = {};
  std::size_t count = 0;
  bool digit = false;
  if (json.empty() || json.front() != '[') return {};
  for (const char c : json.substr(1)) {
    if (c >= '0' && c <= '9') {
      if (!digit && count == 3) return {};
      if (!digit) count++;
      digit = true;
      values[count - 1] =
          std::min<std::uint64_t>(values[count - 1] * 10 + static_cast<std::uint64_t>(c - '0'), UINT32_MAX);
    } else if (c == ',' || c == ' ' || c == '\n' || c == '\t' || c == '\r') {
      digit = false;
    } else if (c == ']') {
      break;
    } else {
      return {};
    }
  }
  if (count != 3) return {};
  return {static_cast<std::uint32_t>(values[0]), static_cast<std::uint32_t>(values[1]),
          static_cast<std::uint32_t>(values[2])};
}

// "stream 7" to 7.
std::int64_t stream_of_name(std::string_view token) {
  const std::string_view text = unquoted(token);
  if (!text.starts_with("stream ")) return kNoNumber;
  return integer_or(text.substr(7), kNoNumber);
}

constexpr std::int64_t kAbsoluteTs = 1'000'000'000'000'000'000;  // 1e15 us in ns: September 2001

constexpr std::array<std::string_view, 8> kNotHostWork = {
    "gpu_user_annotation",  "trace",           "overhead",         "cuda_sync", "cuda_event",
    "external_correlation", "collective_comm", "hardware_counters"};

struct CategoryWord {
  std::string_view word;
  EventKind kind;
};

constexpr std::array<CategoryWord, 13> kCategoryWords = {{
    {"kernel", EventKind::kernel},
    {"gpu_memcpy", EventKind::memcpy},
    {"memcpy", EventKind::memcpy},
    {"gpu_memset", EventKind::memset},
    {"memset", EventKind::memset},
    {"cuda_runtime", EventKind::runtime},
    {"runtime", EventKind::runtime},
    {"cuda_driver", EventKind::driver},
    {"cpu_op", EventKind::operation},
    {"operator", EventKind::operation},
    {"user_annotation", EventKind::annotation},
    {"python_function", EventKind::python},
    {"cuda_profiler_range", EventKind::counter_range},
}};

std::optional<EventKind> kind_of_word(std::string_view word) {
  for (const CategoryWord& known : kCategoryWords) {
    if (known.word == word) return known.kind;
  }
  if (std::find(kNotHostWork.begin(), kNotHostWork.end(), word) != kNotHostWork.end()) return EventKind::device_other;
  // Work of an accelerator we cannot read, under whatever name, is not passed over in silence.
  for (const std::string_view prefix : {"xpu_", "mtia_", "privateuse1_", "hpu_", "gpu_", "hip_"}) {
    if (word.starts_with(prefix)) return EventKind::unknown_gpu;
  }
  if (word.ends_with("_kernel") || word.ends_with("_memcpy") || word.ends_with("_memset"))
    return EventKind::unknown_gpu;
  return std::nullopt;
}

}  // namespace

// A span, begin or end with its times as written.
struct EventRows::Span {
  std::uint64_t offset = 0;
  std::int64_t start_ns = 0;
  std::int64_t duration_ns = 0;
  EventKind kind = EventKind::host;

  bool is_gpu_work() const {
    return kind == EventKind::kernel || kind == EventKind::memcpy || kind == EventKind::memset;
  }
};

StringId EventRows::name_of(std::string_view token) {
  if (is_string(token)) return dictionary_.name(unquoted(token));
  if (token.empty() || token == "null" || token.front() == '[' || token.front() == '{') return dictionary_.name("");
  return dictionary_.name(token);
}

// Inputs of operators that make views or leave the work to others inside them, and of nodes of the autograd engine, say
// nothing about work: they are not kept.
EventRows::InputLists& EventRows::inputs_of(StringId operation) {
  if (index_of(operation) >= last_inputs_.size()) last_inputs_.resize(index_of(operation) + 1);
  InputLists& inputs = last_inputs_[index_of(operation)];
  if (inputs.known) return inputs;
  inputs.known = true;
  const std::string_view name = dictionary_.names().view(operation);
  constexpr std::array<std::string_view, 29> kViews = {"aten::view",         "aten::transpose",  "aten::t",
                                                       "aten::as_strided",   "aten::detach",     "detach",
                                                       "aten::expand",       "aten::slice",      "aten::select",
                                                       "aten::unsqueeze",    "aten::squeeze",    "aten::permute",
                                                       "aten::empty",        "aten::empty_like", "aten::empty_strided",
                                                       "aten::_unsafe_view", "aten::narrow",     "aten::split",
                                                       "aten::unbind",       "aten::alias",      "aten::result_type",
                                                       "aten::lift_fresh",   "aten::to",         "aten::_to_copy",
                                                       "aten::contiguous",   "aten::clone",      "aten::reshape",
                                                       "aten::linear",       "aten::matmul"};
  inputs.wanted = !name.starts_with("autograd::") && name.find("Backward") == std::string_view::npos &&
                  std::find(kViews.begin(), kViews.end(), name) == kViews.end();
  // Values are many, and of these alone they matter: whether attention is causal, the steps of a convolution.
  inputs.values_wanted = name.find("attention") != std::string_view::npos ||
                         name.find("attn") != std::string_view::npos || name.find("mha") != std::string_view::npos ||
                         name.find("conv") != std::string_view::npos;
  return inputs;
}

// A list as written. Operators of one name mostly have the same ones time after time.
StringId EventRows::list_of(std::string_view json, InputLists::List& last) {
  const std::size_t end = json.rfind(']');  // a value may be followed by spaces, and a damaged one may have no end
  if (json.size() < 3 || json.front() != '[' || end == std::string_view::npos) return kNoString;
  json = json.substr(0, end + 1);
  if (last.text != json) {
    last.id = dictionary_.name(json);
    last.text = dictionary_.names().view(last.id);
  }
  return last.id;
}

EventKind EventRows::kind_of(std::string_view category) {
  if (category == last_category_) return last_kind_;
  EventKind kind = EventKind::host;
  if (is_string(category)) {
    std::string lower(unquoted(category));
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    kind = lower.empty() ? EventKind::host
                         : EventKind::device_other;  // an unknown category does not define the host window
    // Chrome traces may list several categories: the first one known decides.
    for (std::size_t from = 0; from < lower.size();) {
      const std::size_t comma = std::min(lower.find(',', from), lower.size());
      std::string_view word = std::string_view(lower).substr(from, comma - from);
      while (!word.empty() && word.front() == ' ') word.remove_prefix(1);
      while (!word.empty() && word.back() == ' ') word.remove_suffix(1);
      if (const std::optional<EventKind> known = kind_of_word(word)) {
        kind = *known;
        break;
      }
      from = comma + 1;
    }
  }
  last_category_.assign(category);
  last_kind_ = kind;
  return kind;
}

std::int64_t EventRows::time_of(std::string_view token, EventPart& part, bool& valid, bool& overflow) {
  const Nanoseconds time = micros_to_ns(unquoted(token), unpadded_);
  part.fraction_shape |= time.shape;
  valid = time.status == NumberStatus::ok;
  overflow = time.status == NumberStatus::overflow;
  return time.value;
}

void EventRows::add(const EventFields& fields, std::uint64_t offset, EventPart& part) {
  part.num_records++;
  const std::string_view phase = unquoted(fields[Member::phase]);
  last_had_phase_ = is_string(fields[Member::phase]) && phase.size() == 1;
  if (fields[Member::phase].empty() && fields[Member::time].empty() && fields[Member::name].empty()) {
    if (fields.empty) {  // some writers begin the array with one, so that every event can be preceded by a comma
      part.note(HealthKind::missing_field, offset, "an empty object");
    } else {
      part.note(HealthKind::not_an_event, offset, "an object without ph, ts and name");
    }
    return;
  }
  char letter = last_had_phase_ ? phase[0] : '\0';
  constexpr std::string_view kPhases = "XBEiICMsftPbneSTpFNODVvRc(,)";
  if (is_string(fields[Member::phase]) && (!last_had_phase_ || kPhases.find(phase[0]) == std::string_view::npos)) {
    part.note(HealthKind::missing_field, offset, "unknown ph");
    return;
  }
  if (letter == '\0') {
    const bool span = !fields[Member::time].empty() && !fields[Member::duration].empty();
    part.note(HealthKind::missing_field, offset, "no ph");
    if (!span) return;
    letter = 'X';
  } else if (letter == 'X' || letter == 'B') {
    std::string_view lacks;
    if (fields.arguments_mistyped) lacks = "args is not an object";
    if (!is_number(fields[Member::tid]) && !is_string(fields[Member::tid])) lacks = "no tid";
    if (!is_number(fields[Member::pid]) && !is_string(fields[Member::pid])) lacks = "no pid";
    if (!fields[Member::category].empty() && !is_string(fields[Member::category])) lacks = "cat is not a string";
    if (!is_string(fields[Member::name])) lacks = "name is missing or not a string";
    if (!lacks.empty()) part.note(HealthKind::missing_field, offset, lacks);
  }
  if (letter == 'X' || letter == 'B' || letter == 'E') {
    add_span(fields, offset, letter, part);
    return;
  }
  const bool memory_event = (letter == 'i' || letter == 'I') && fields[Member::name] == "\"[memory]\"";
  if (fields[Member::time].empty() && !memory_event) return;
  bool valid = false;
  bool overflow = false;
  const std::int64_t time = time_of(fields[Member::time], part, valid, overflow);
  if (!valid) {
    if (memory_event) part.note(overflow ? HealthKind::time_overflow : HealthKind::missing_time, offset, "[memory]");
    return;
  }
  if (letter != 'M') part.last_time_ns = std::max(part.last_time_ns, time);
  if (memory_event) add_memory_event(fields, offset, time, part);
}

void EventRows::add_span(const EventFields& fields, std::uint64_t offset, char phase, EventPart& part) {
  Span span;
  span.offset = offset;
  span.kind = kind_of(fields[Member::category]);
  if (!read_times(fields, phase, span, part)) return;
  if (fields[Member::name].find('\\') != std::string_view::npos &&
      dictionary_.has_invalid_escape(name_of(fields[Member::name]))) {
    part.note(HealthKind::text_repaired, offset,
              "invalid escape in " + std::string(fields[Member::name].substr(0, 100)));
  }
  OpenSpan open;
  if (phase != 'E') open = add_row(fields, span, part);
  if (phase == 'X') {
    if (open.host_window) add_host_time(fields, span, part);
    if (span.kind == EventKind::counter_range) add_counter_range(fields, span, part);
    return;
  }
  open.begin = phase == 'B';
  open.named = is_string(fields[Member::name]);
  open.thread = dictionary_.thread(fields[Member::pid], fields[Member::tid]);
  open.name = name_of(fields[Member::name]);
  open.time_ns = span.start_ns;
  open.offset = offset;
  part.open_spans.push_back(open);
}

// Reads start and duration. Returns whether the span can be kept; if not, it has been counted.
bool EventRows::read_times(const EventFields& fields, char phase, Span& span, EventPart& part) {
  const auto refuse = [&](HealthKind kind) {
    part.note(kind, span.offset,
              std::string(unquoted(fields[Member::name])).substr(0, 60) + ", ts " + std::string(fields[Member::time]) +
                  ", dur " + std::string(fields[Member::duration]));
    return false;
  };
  bool valid = false;
  bool overflow = false;
  span.start_ns = time_of(fields[Member::time], part, valid, overflow);
  if (overflow) return refuse(HealthKind::time_overflow);
  if (!valid) return refuse(HealthKind::missing_time);
  part.num_times++;
  if (span.start_ns > kAbsoluteTs) part.num_absolute_times++;
  part.last_time_ns = std::max(part.last_time_ns, span.start_ns);
  if (phase != 'X') return true;
  span.duration_ns = time_of(fields[Member::duration], part, valid, overflow);
  if (overflow) return refuse(HealthKind::time_overflow);
  if (!valid) {
    if (span.is_gpu_work()) return refuse(HealthKind::missing_duration_gpu);
    refuse(HealthKind::missing_duration);
    span.duration_ns = 0;
  }
  // The bound keeps start + duration inside int64; the exact rules follow once the base is known.
  constexpr std::int64_t kBound = std::int64_t{1} << 62;
  if (span.duration_ns >= 0 && span.duration_ns < kBound && span.start_ns < kBound) {
    part.last_time_ns = std::max(part.last_time_ns, span.start_ns + span.duration_ns);
  }
  return true;
}

// Appends the span to the table of its kind. The result says where it went, for begins whose end is not known yet.
OpenSpan EventRows::add_row(const EventFields& fields, const Span& span, EventPart& part) {
  OpenSpan open;
  const auto goes_to = [&](SpanTable table, std::size_t rows) {
    open.table = table;
    open.row = static_cast<std::uint32_t>(rows);
  };
  switch (span.kind) {
    case EventKind::kernel:
    case EventKind::memcpy:
    case EventKind::memset:
      goes_to(SpanTable::gpu_work, num_rows(part.gpu_work));
      add_gpu_work(fields, span, part);
      break;
    case EventKind::runtime:
    case EventKind::driver:
      goes_to(SpanTable::launches, num_rows(part.launches));
      add_launch(fields, span, part);
      break;
    case EventKind::python:
      part.num_python_frames++;
      if (!unquoted(fields[Member::name]).starts_with("nn.Module: ")) {
        open.host_window = true;
        break;
      }
      [[fallthrough]];
    case EventKind::operation:
    case EventKind::annotation:
      goes_to(SpanTable::ranges, num_rows(part.ranges));
      add_range(fields, span, part);
      break;
    case EventKind::unknown_gpu:
      if (part.unknown_gpu++ == 0) part.unknown_gpu_offset = span.offset;
      break;
    case EventKind::host:
      open.host_window = true;
      break;
    case EventKind::device_other:
    case EventKind::counter_range:
      break;
  }
  return open;
}

void EventRows::add_launch(const EventFields& fields, const Span& span, EventPart& part) {
  const std::string_view name = unquoted(fields[Member::name]);
  if (name.starts_with("hip")) part.num_hip_calls++;
  if (name.starts_with("cu")) part.num_cuda_calls++;
  LaunchTable& t = part.launches;
  t.name.push_back(name_of(fields[Member::name]));
  t.kind.push_back(span.kind == EventKind::runtime ? CallKind::runtime : CallKind::driver);
  t.start_ns.push_back(span.start_ns);
  t.duration_ns.push_back(span.duration_ns);
  t.thread.push_back(dictionary_.thread(fields[Member::pid], fields[Member::tid]));
  t.correlation.push_back(integer_or(fields[Member::correlation], kNoId));
  t.offset.push_back(span.offset);
}

void EventRows::add_range(const EventFields& fields, const Span& span, EventPart& part) {
  HostRangeTable& t = part.ranges;
  t.name.push_back(name_of(fields[Member::name]));
  t.kind.push_back(span.kind == EventKind::operation    ? RangeKind::operation
                   : span.kind == EventKind::annotation ? RangeKind::annotation
                                                        : RangeKind::module);
  t.start_ns.push_back(span.start_ns);
  t.duration_ns.push_back(span.duration_ns);
  t.thread.push_back(dictionary_.thread(fields[Member::pid], fields[Member::tid]));
  t.sequence_number.push_back(integer_or(fields[Member::sequence_number], kNoNumber));
  t.forward_thread.push_back(integer_or(fields[Member::forward_thread], kNoNumber));
  const bool is_operation = span.kind == EventKind::operation;
  StringId shapes = kNoString;
  StringId types = kNoString;
  StringId values = kNoString;
  if (is_operation && !fields[Member::shapes].empty()) {
    if (InputLists& inputs = inputs_of(t.name.back()); inputs.wanted) {
      shapes = list_of(fields[Member::shapes], inputs.shapes);
      types = list_of(fields[Member::types], inputs.types);
      if (inputs.values_wanted) values = list_of(fields[Member::values], inputs.values);
    }
  }
  t.shapes.push_back(shapes);
  t.types.push_back(types);
  t.values.push_back(values);
  t.collective.push_back(is_operation ? add_collective(fields, part) : kNoRow);
  t.offset.push_back(span.offset);
  if (!fields[Member::rank].empty() && part.process_group_rank == kNoNumber &&
      fields[Member::name] == "\"record_param_comms\"") {
    part.process_group_rank = integer_or(fields[Member::rank], kNoNumber);
  }
}

// Host work without a row still tells when the host was recorded.
void EventRows::add_host_time(const EventFields& fields, const Span& span, EventPart& part) {
  const bool ordinary = span.start_ns != 0 && span.start_ns < kOrdinaryTime && span.start_ns > -kOrdinaryTime &&
                        span.duration_ns >= 0 && span.duration_ns < kOrdinaryTime;
  if (ordinary) {
    part.host.include(span.start_ns, span.start_ns + span.duration_ns);
  } else {
    part.odd_host.push_back({span.start_ns, span.duration_ns, span.offset, name_of(fields[Member::name])});
  }
}

void EventRows::add_gpu_work(const EventFields& fields, const Span& span, EventPart& part) {
  GpuWorkTable& t = part.gpu_work;
  t.name.push_back(name_of(fields[Member::name]));
  t.category.push_back(span.kind == EventKind::kernel   ? GpuCategory::kernel
                       : span.kind == EventKind::memcpy ? GpuCategory::memcpy
                                                        : GpuCategory::memset);
  t.start_ns.push_back(span.start_ns);
  t.duration_ns.push_back(span.duration_ns);
  t.device.push_back(device_or(fields[Member::device], device_or(fields[Member::pid], kUnknownDevice)));
  std::int64_t stream = integer_or(fields[Member::stream], kNoNumber);
  if (stream == kNoNumber) stream = integer_or(fields[Member::tid], kNoNumber);
  if (stream == kNoNumber) stream = stream_of_name(fields[Member::tid]);
  t.stream.push_back(stream);
  t.correlation.push_back(integer_or(fields[Member::correlation], kNoId));
  t.bytes.push_back(integer_or(fields[Member::bytes], kNoNumber));
  t.grid.push_back(extent_of(fields[Member::grid]));
  t.block.push_back(extent_of(fields[Member::block]));
  t.collective.push_back(add_collective(fields, part));
  t.offset.push_back(span.offset);
  if (!fields[Member::rank].empty() && part.process_group_rank == kNoNumber)
    part.process_group_rank = integer_or(fields[Member::rank], kNoNumber);
}

RowId EventRows::add_collective(const EventFields& fields, EventPart& part) {
  if (fields[Member::collective_name].empty() || fields[Member::collective_name] == "null") return kNoRow;
  CollectiveTable& t = part.collectives;
  const RowId row{static_cast<std::uint32_t>(num_rows(t))};
  t.kind.push_back(name_of(fields[Member::collective_name]));
  t.group.push_back(name_of(fields[Member::group_name]));
  t.description.push_back(name_of(fields[Member::group_description]));
  t.ranks.push_back(name_of(fields[Member::group_ranks]));
  t.dtype.push_back(name_of(fields[Member::dtype]));
  t.group_size.push_back(integer_or(fields[Member::group_size], kNoNumber));
  t.in_elements.push_back(integer_or(fields[Member::in_elements], kNoNumber));
  t.out_elements.push_back(integer_or(fields[Member::out_elements], kNoNumber));
  t.sequence.push_back(integer_or(fields[Member::collective_sequence], kNoNumber));
  t.source.push_back(integer_or(fields[Member::source_rank], kNoNumber));
  t.destination.push_back(integer_or(fields[Member::destination_rank], kNoNumber));
  return row;
}

// Its counters are the arguments, whatever their names are.
void EventRows::add_counter_range(const EventFields& fields, const Span& span, EventPart& part) {
  CounterRange range;
  range.name = name_of(fields[Member::name]);
  range.device = device_or(fields[Member::device], device_or(fields[Member::pid], kUnknownDevice));
  range.offset = span.offset;
  if (fields.arguments != nullptr) {
    FlatMembers members({fields.arguments, static_cast<std::size_t>(fields.text_end - fields.arguments)});
    while (const std::optional<FlatMembers::Member> member = members.next()) {
      if (!is_metric_name(member->name)) continue;
      RangeCounter counter{dictionary_.name(member->name), std::nan("")};
      const char* const end = member->value.data() + member->value.size();
      double value = 0;
      const auto [stop, error] = std::from_chars(member->value.data(), end, value);
      if (error == std::errc() && stop == end) counter.value = value;
      part.counted.counters.push_back(counter);
      range.num_counters++;
    }
  }
  part.counted.ranges.push_back(range);
}

void EventRows::add_memory_event(const EventFields& fields, std::uint64_t offset, std::int64_t time_ns,
                                 EventPart& part) {
  MemoryEventTable& t = part.memory;
  t.offset.push_back(offset);
  t.time_ns.push_back(time_ns);
  t.address.push_back(integer_or(fields[Member::address], kNoNumber));
  t.bytes.push_back(integer_or(fields[Member::memory_bytes], kNoNumber));
  t.allocated_bytes.push_back(integer_or(fields[Member::total_allocated], kNoNumber));
  t.reserved_bytes.push_back(integer_or(fields[Member::total_reserved], kNoNumber));
  t.device.push_back(device_or(fields[Member::memory_device], kUnknownDevice));
  t.thread.push_back(dictionary_.thread(fields[Member::pid], fields[Member::tid]));
}

}  // namespace chopper
