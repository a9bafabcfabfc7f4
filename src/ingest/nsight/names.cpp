// SPDX-License-Identifier: Apache-2.0
#include "ingest/nsight/names.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace chopper::nsight {
namespace {

constexpr std::string_view kSequence = ", seq = ";
constexpr std::string_view kOperatorId = ", op_id = ";
constexpr std::string_view kSizes = ", sizes = ";

// CUpti_ActivityMemcpyKind: letters of source and target.
constexpr std::array<std::string_view, 14> kCopies = {"Unknown", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA", "AtoD",
                                                      "DtoA",    "DtoD", "HtoH", "PtoP", "HtoD", "DtoH", "DtoD"};
// CUpti_ActivityMemoryKind as the exporter numbers it.
constexpr std::array<std::string_view, 7> kMemories = {"Pageable", "Pinned",        "Device",        "Array",
                                                       "Managed",  "Device Static", "Managed Static"};

std::string_view word_of(std::int64_t kind) {
  return kind >= 0 && kind < static_cast<std::int64_t>(kMemories.size()) ? kMemories[static_cast<std::size_t>(kind)]
                                                                         : std::string_view("Unknown");
}

// Where the facts behind an operator's name begin: a key with digits behind it.
std::size_t facts_begin(std::string_view message) {
  for (const std::string_view key : {kSequence, kOperatorId}) {
    const std::size_t at = message.find(key);
    if (at == std::string_view::npos || at == 0) continue;
    const std::size_t digit = at + key.size();
    if (digit < message.size() && message[digit] >= '0' && message[digit] <= '9') return at;
  }
  return std::string_view::npos;
}

}  // namespace

RangeName parse_range(std::string_view message) {
  RangeName range;
  range.name = message;
  const std::size_t begin = facts_begin(message);
  if (begin == std::string_view::npos) return range;
  range.name = message.substr(0, begin);
  const std::string_view facts = message.substr(begin);
  const bool has_sequence = facts.starts_with(kSequence);
  if (has_sequence) {
    const std::string_view digits = facts.substr(kSequence.size());
    std::int64_t number = 0;
    if (std::from_chars(digits.data(), digits.data() + digits.size(), number).ec == std::errc())
      range.sequence_number = number;
  }
  // Ranges of record_function pass the same writer. They have no sequence number, and no namespace of operators, which
  // are in lower case: "aten::mm", but "FSDP::pre_forward (blocks.3)".
  const bool has_namespace =
      range.name.find("::") != std::string_view::npos && range.name[0] >= 'a' && range.name[0] <= 'z';
  if (has_sequence || has_namespace) range.kind = RangeKind::operation;
  if (const std::size_t sizes = facts.find(kSizes); sizes != std::string_view::npos) {
    range.shapes = facts.substr(sizes + kSizes.size());
    const std::size_t end = range.shapes.find("]]");
    range.shapes = end == std::string_view::npos || range.shapes.front() != '[' ? std::string_view()
                                                                                : range.shapes.substr(0, end + 2);
  }
  return range;
}

std::string_view call_name(std::string_view name) {
  const std::size_t at = name.rfind("_v");
  if (at == std::string_view::npos) return name;
  const std::string_view version = name.substr(at + 2);
  // Versions of the toolkit have four digits or more; one digit is part of a name.
  const bool digits = version.find_first_not_of("0123456789") == std::string_view::npos;
  return digits && version.size() >= 4 ? name.substr(0, at) : name;
}

CallKind call_kind(std::string_view name) {
  return name.starts_with("cu") && !name.starts_with("cuda") ? CallKind::driver : CallKind::runtime;
}

std::string copy_name(std::int64_t copy_kind, std::int64_t source_kind, std::int64_t target_kind) {
  std::string name = "Memcpy ";
  name += copy_kind >= 0 && copy_kind < static_cast<std::int64_t>(kCopies.size())
              ? kCopies[static_cast<std::size_t>(copy_kind)]
              : kCopies[0];
  if (source_kind == kNoNumber || target_kind == kNoNumber) return name;
  return name.append(" (").append(word_of(source_kind)).append(" -> ").append(word_of(target_kind)).append(")");
}

std::string fill_name(std::int64_t memory_kind) {
  return memory_kind == kNoNumber ? std::string("Memset") : "Memset (" + std::string(word_of(memory_kind)) + ")";
}

}  // namespace chopper::nsight
