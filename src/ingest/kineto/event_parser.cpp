// SPDX-License-Identifier: Apache-2.0
#include "ingest/kineto/event_parser.h"

#include <simdjson.h>

#include <cstring>

#include "ingest/kineto/event_rows.h"
#include "ingest/kineto/json_repair.h"
#include "ingest/kineto/json_scan.h"

namespace chopper {
namespace {

using simdjson::ondemand::object;
static_assert(TextWindow::kPadding >= simdjson::SIMDJSON_PADDING + 2);

constexpr bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

// The token up to its end, without the white space that follows it.
std::string_view token_of(simdjson::ondemand::value value) {
  std::string_view token = value.raw_json_token();
  while (!token.empty() && is_space(token.back())) token.remove_suffix(1);
  return token;
}

// What an element that is no object is, from its first byte.
std::string_view element_kind(char first) {
  if (first == '[') return "an array";
  if (first == '"') return "a string";
  return (first >= '0' && first <= '9') || first == '-' ? "a number" : "a word";
}

// Whether `key` is this word. Compares eight bytes at a time, the last eight once more where they are not a whole
// number of them: the compiler makes a few instructions of that, where it would call memcmp for other lengths (2 % of a
// report).
template <std::size_t Size>
bool is(std::string_view key, const char (&word)[Size]) {
  constexpr std::size_t kLength = Size - 1;
  constexpr std::size_t kStep = kLength >= 8 ? 8 : kLength >= 4 ? 4 : 1;
  if (key.size() != kLength) return false;
  for (std::size_t at = 0; at + kStep <= kLength; at += kStep) {
    if (std::memcmp(key.data() + at, word + at, kStep) != 0) return false;
  }
  return std::memcmp(key.data() + kLength - kStep, word + kLength - kStep, kStep) == 0;
}

// Arguments are told apart by first byte and length before their text is compared.
bool take_argument(std::string_view key, simdjson::ondemand::value value, EventFields& fields) {
  const auto set = [&](const auto& name, Member member) {
    if (is(key, name)) fields.set(member, token_of(value));
  };
  const auto set_list = [&](Member member) {
    std::string_view json;
    if (value.raw_json().get(json) != simdjson::SUCCESS) return false;
    fields.set(member, json);
    return true;
  };
  switch (key[0]) {
    case 'c':
      set("correlation", Member::correlation);
      break;
    case 's':
      set("stream", Member::stream);
      break;
    case 'd':
      set("device", Member::device);
      set("dtype", Member::dtype);
      break;
    case 'b':
      set("bytes", Member::bytes);
      return !is(key, "block") || set_list(Member::block);
    case 'g':
      return !is(key, "grid") || set_list(Member::grid);
    case 'S':
      set("Sequence number", Member::sequence_number);
      set("Seq", Member::collective_sequence);
      set("Src Rank", Member::source_rank);
      break;
    case 'F':
      set("Fwd thread id", Member::forward_thread);
      break;
    case 'A':
      set("Addr", Member::address);
      break;
    case 'B':
      set("Bytes", Member::memory_bytes);
      break;
    case 'T':
      set("Total Allocated", Member::total_allocated);
      set("Total Reserved", Member::total_reserved);
      break;
    case 'D':
      set("Device Id", Member::memory_device);
      set("Dst Rank", Member::destination_rank);
      break;
    case 'C':
      set("Collective name", Member::collective_name);
      if (is(key, "Concrete Inputs")) return set_list(Member::values);
      break;
    case 'G':
      set("Group size", Member::group_size);
      break;
    case 'P':
      set("Process Group Name", Member::group_name);
      set("Process Group Description", Member::group_description);
      set("Process Group Ranks", Member::group_ranks);
      break;
    case 'I':
      set("In msg nelems", Member::in_elements);
      if (is(key, "Input Dims") || is(key, "Input dims")) return set_list(Member::shapes);
      if (is(key, "Input type")) return set_list(Member::types);
      break;
    case 'O':
      set("Out msg nelems", Member::out_elements);
      break;
    case 'R':
      set("Rank", Member::rank);
      break;
    default:
      break;
  }
  return true;
}

// Collects the tokens of one event. Fails only when the text is not JSON.
bool take_event(object event, EventFields& fields) {
  for (auto field : event) {
    simdjson::ondemand::raw_json_string raw_key;
    if (field.key().get(raw_key) != simdjson::SUCCESS) return false;
    fields.empty = false;
    simdjson::ondemand::value value;
    if (field.value().get(value) != simdjson::SUCCESS) return false;
    const char* key = raw_key.raw();
    switch (key[0]) {
      case 'p':
        if (raw_key.unsafe_is_equal("ph")) {
          fields.set(Member::phase, token_of(value));
        } else if (raw_key.unsafe_is_equal("pid")) {
          fields.set(Member::pid, token_of(value));
        }
        break;
      case 'n':
        if (raw_key.unsafe_is_equal("name")) fields.set(Member::name, token_of(value));
        break;
      case 'c':
        if (raw_key.unsafe_is_equal("cat")) fields.set(Member::category, token_of(value));
        break;
      case 't':
        if (raw_key.unsafe_is_equal("ts")) {
          fields.set(Member::time, token_of(value));
        } else if (raw_key.unsafe_is_equal("tid")) {
          fields.set(Member::tid, token_of(value));
        }
        break;
      case 'd':
        if (raw_key.unsafe_is_equal("dur")) fields.set(Member::duration, token_of(value));
        break;
      case 'a':
        if (raw_key.unsafe_is_equal("args")) {
          object arguments;
          const auto error = value.get_object().get(arguments);
          if (error == simdjson::INCORRECT_TYPE) {
            fields.arguments_mistyped = true;
            break;
          }
          if (error != simdjson::SUCCESS) return false;
          fields.arguments = nullptr;
          for (auto argument : arguments) {
            simdjson::ondemand::raw_json_string raw_name;
            if (argument.key().get(raw_name) != simdjson::SUCCESS) return false;
            simdjson::ondemand::value argument_value;
            if (argument.value().get(argument_value) != simdjson::SUCCESS) return false;
            const char* name = raw_name.raw();
            if (fields.arguments == nullptr) fields.arguments = name - 1;  // with its quote
            const char* end = name;
            while (*end != '"' && end - name < 32) end++;  // no argument we read is longer; the buffer is padded
            if (*end != '"' || end == name) continue;
            if (!take_argument({name, static_cast<std::size_t>(end - name)}, argument_value, fields)) return false;
          }
        }
        break;
      default:
        break;
    }
  }
  return true;
}

}  // namespace

class EventParser::Impl {
 public:
  explicit Impl(bool unpadded) : rows_(dictionary_, unpadded) {}

  BatchResult parse(EventBatch& batch, EventPart& part) {
    if (!batch.one_event && parse_whole(batch, part)) return {BatchResult::Status::complete, batch.buffer.size()};
    return parse_slowly(batch, part);
  }

  WorkerDictionary& dictionary() { return dictionary_; }

 private:
  // All events at once. Nothing is kept when any of them is not JSON.
  bool parse_whole(EventBatch& batch, EventPart& part) {
    char* text = batch.buffer.data();
    const std::size_t size = batch.buffer.size();
    text[-1] = '[';
    const char saved = text[size];
    text[size] = ']';
    EventPart rows;
    rows.worker = part.worker;
    rows.reserve_like(last_);
    bool good = false;
    {
      simdjson::ondemand::document document;
      simdjson::ondemand::array array;
      if (parser_.iterate(text - 1, size + 2, size + 2 + simdjson::SIMDJSON_PADDING).get(document) ==
              simdjson::SUCCESS &&
          document.get_array().get(array) == simdjson::SUCCESS) {
        good = take_elements(array, batch, rows) && document.at_end();
      }
    }
    text[size] = saved;
    if (good) {
      last_ = rows.sizes();
      part = std::move(rows);
    }
    return good;
  }

  bool take_elements(simdjson::ondemand::array array, const EventBatch& batch, EventPart& rows) {
    const char* base = batch.buffer.text().data();
    const char* end = base + batch.buffer.size();
    for (auto element : array) {
      simdjson::ondemand::value value;
      if (element.get(value) != simdjson::SUCCESS) return false;
      const std::string_view token = value.raw_json_token();
      const std::uint64_t offset = batch.offset + static_cast<std::uint64_t>(token.data() - base);
      object event;
      const auto error = value.get_object().get(event);
      // What is no object is left to parse_slowly: skipping over broken scalars is not as strict as reading them.
      if (error != simdjson::SUCCESS) return false;
      EventFields fields;
      fields.text_end = end;
      if (!take_event(event, fields)) return false;
      rows_.add(fields, offset, rows);
    }
    return true;
  }

  // Parses one object in a copy of its own. Returns false when it is not JSON.
  bool parse_single(std::string_view json, std::uint64_t offset, EventPart& part) {
    scratch_.assign(json);
    simdjson::ondemand::document document;
    object event;
    if (parser_.iterate(scratch_.data(), scratch_.size(), scratch_.size() + simdjson::SIMDJSON_PADDING).get(document) !=
        simdjson::SUCCESS)
      return false;
    if (document.get_object().get(event) != simdjson::SUCCESS) return false;
    EventFields fields;
    fields.text_end = scratch_.data() + scratch_.size();
    if (!take_event(event, fields) || !document.at_end()) return false;
    rows_.add(fields, offset, part);
    return true;
  }

  // The canonical reading of rules 1.2 to 1.4, one element after the other. `parse_whole` gives the same rows wherever
  // it succeeds.
  BatchResult parse_slowly(EventBatch& batch, EventPart& part) {
    using Status = BatchResult::Status;
    const std::string_view text = batch.buffer.text();
    std::size_t at = 0;
    bool after_element = false;
    if (batch.resync) {
      at = find_good_event(text, 0, batch);
      if (at == std::string_view::npos) return lost_until_end(batch, text);
    }
    for (;;) {
      const std::size_t before = at;
      std::size_t commas = 0;
      while (at < text.size() && (is_space(text[at]) || text[at] == ',')) commas += text[at++] == ',' ? 1u : 0u;
      if (at >= text.size()) return {Status::complete, before, after_element};
      const bool closes = text[at] == ']';
      if (const std::string_view problem = separator_problem(commas, after_element, closes); !problem.empty()) {
        part.note(HealthKind::separator_repaired, batch.offset + before, problem);
      }
      if (closes) return {Status::array_closed, at + 1, false};
      const std::size_t start = at;
      if (!batch.one_event && runs_out(text, at)) return {Status::undecided, start, false};
      if (take_element(text, batch.offset, at, part)) {
        after_element = true;
      } else {
        const std::string_view ahead = batch.one_event ? text : look_ahead(text, start);
        if (ahead.empty()) return {Status::undecided, start, false};
        const bool ran_out = ran_out_;
        at = find_good_event(ahead, start + 1, batch);
        if (at == std::string_view::npos && !batch.one_event) return {Status::undecided, start, false};
        if (at == std::string_view::npos && batch.at_end && ran_out) return {Status::cut, start, false};
        part.num_records++;
        part.note(HealthKind::unreadable_event, batch.offset + start, text.substr(start));
        if (at == std::string_view::npos) return lost_until_end(batch, text);
        after_element = false;
      }
      if (batch.one_event && !more_follows(batch, text, at)) return {Status::stopped, at, after_element};
    }
  }

  // Whether what is no object at `at` reaches the end of the text, where a batch may have been cut.
  static bool runs_out(std::string_view text, std::size_t at) {
    if (text[at] == '{') return false;
    const std::size_t end = end_of_other(text, at);
    return end == 0 || (end == text.size() && text[at] != '[');
  }

  // Whether a batch with one_event may go on behind `at`: what is no object needs no look-ahead, so a list of such
  // elements is read in one go as long as they end inside the text.
  static bool more_follows(const EventBatch& batch, std::string_view text, std::size_t at) {
    while (at < text.size() && (is_space(text[at]) || text[at] == ',')) at++;
    if (at >= text.size() || text[at] == '{' || text[at] == ']') return false;
    return batch.at_end ? end_of_other(text, at) != 0 : !runs_out(text, at);
  }

  // The text in which the element at `start` may be judged inside a batch: the same a batch with one_event would hold,
  // or nothing when that reaches beyond this batch.
  static std::string_view look_ahead(std::string_view text, std::size_t start) {
    std::size_t size = kRepairBytes;
    if (text[start] == '{') {
      const std::size_t end = scan_elements(text.substr(start, kMaxEventBytes), true).first_end;
      if (end == 0) return {};
      size = std::max(size, end);
    }
    return text.size() - start > size ? text.substr(0, start + size) : std::string_view();
  }

  // Reads the element at `at` and moves behind it. Fails when it cannot be read; `ran_out_` says that the text ended
  // before it did.
  bool take_element(std::string_view text, std::uint64_t offset, std::size_t& at, EventPart& part) {
    ran_out_ = false;
    if (text[at] != '{') return take_other(text, offset, at, part);
    const std::string_view rest = text.substr(at);
    const ElementScan scan = scan_elements(rest.substr(0, kMaxEventBytes), true);
    if (scan.first_end > 0 && parse_single(rest.substr(0, scan.first_end), offset + at, part)) {
      at += scan.first_end;
      return true;
    }
    const Repair repair = repair_object(rest.substr(0, kRepairBytes));
    ran_out_ = repair.status == RepairStatus::cut;
    if (repair.status != RepairStatus::repaired || !parse_single(repair.json, offset + at, part)) return false;
    part.note(HealthKind::text_repaired, offset + at, rest.substr(0, repair.consumed));
    at += repair.consumed;
    return true;
  }

  // The end of an element that is no object: a scalar, a string or an array; 0 when the text ends inside an array.
  static std::size_t end_of_other(std::string_view text, std::size_t at) {
    if (text[at] == '[') {
      const std::size_t size = scan_elements(text.substr(at, kMaxEventBytes), true).first_end;
      return size == 0 ? 0 : at + size;
    }
    std::size_t end = at + 1;  // at least one byte, whatever it is
    if (text[at] == '"') {
      while (end < text.size() && text[end] != '"' && text[end] != '\n') end += text[end] == '\\' ? 2u : 1u;
      return std::min(end + 1, text.size());
    }
    while (end < text.size() && std::string_view(",]{\"").find(text[end]) == std::string_view::npos &&
           !is_space(text[end]))
      end++;
    return end;
  }

  bool take_other(std::string_view text, std::uint64_t offset, std::size_t& at, EventPart& part) {
    const std::size_t end = end_of_other(text, at);
    ran_out_ = end == 0;
    if (ran_out_) return false;
    part.num_records++;
    part.note(HealthKind::not_an_event, offset + at, element_kind(text[at]));
    at = end;
    return true;
  }

  // Finds a start from which a whole event with a phase can be read. Only what ends soon is believed: damaged text is
  // full of starts, and looking far behind each would cost the square of its length.
  static constexpr std::size_t kCandidateBytes = std::size_t{16} << 10;

  std::size_t find_good_event(std::string_view text, std::size_t from, const EventBatch& batch) {
    for (std::size_t at = find_event_start(text, from); at != std::string_view::npos;
         at = find_event_start(text, at + 1)) {
      EventPart trial;
      std::size_t end = at;
      if (take_element(text.substr(0, at + kCandidateBytes), batch.offset, end, trial) && rows_.last_had_phase())
        return at;
    }
    return std::string_view::npos;
  }

  // Nothing readable in the rest: keep the last bytes, in which a start may begin, and go on looking.
  static BatchResult lost_until_end(const EventBatch& batch, std::string_view text) {
    using Status = BatchResult::Status;
    if (batch.at_end) return {Status::complete, text.size(), false};
    constexpr std::size_t kOverlap = 256;  // longer than the white space and key of any event start we look for
    return {Status::stopped, text.size() - std::min(text.size() / 2, kOverlap), false, true};
  }

  WorkerDictionary dictionary_;
  EventRows rows_;
  simdjson::ondemand::parser parser_;
  EventPart::Sizes last_;  // neighbouring batches are alike: their rows fit without growing
  TextWindow scratch_;
  bool ran_out_ = false;
};

std::string_view separator_problem(std::size_t commas, bool after_element, bool closes) {
  if (closes) return commas > 0 ? "comma before the end of the array" : std::string_view();
  if (after_element) return commas == 1 ? std::string_view() : (commas == 0 ? "no comma" : "several commas");
  return {};
}

EventParser::EventParser(bool unpadded_nanoseconds) : impl_(std::make_unique<Impl>(unpadded_nanoseconds)) {}
EventParser::~EventParser() = default;
EventParser::EventParser(EventParser&&) noexcept = default;
WorkerDictionary& EventParser::dictionary() { return impl_->dictionary(); }
BatchResult EventParser::parse(EventBatch& batch, EventPart& part) { return impl_->parse(batch, part); }

}  // namespace chopper
