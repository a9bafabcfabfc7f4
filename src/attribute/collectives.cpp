// SPDX-License-Identifier: Apache-2.0
#include "attribute/collectives.h"

#include <algorithm>
#include <array>
#include <string>

#include "attribute/range_facts.h"

namespace chopper {
namespace {

// Bytes of an element; 0 for a type that is not known.
std::int64_t element_bytes(std::string_view dtype) {
  std::string lower(dtype);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  }
  struct Type {
    std::string_view part;
    std::int64_t bytes;
  };
  // Names that contain another one come first.
  constexpr std::array<Type, 22> kTypes = {
      {{"complexhalf", 4}, {"complexfloat", 8}, {"complexdouble", 16}, {"bfloat16", 2}, {"float4", 1}, {"float8", 1},
       {"half", 2},        {"float16", 2},      {"float64", 8},        {"double", 8},   {"float", 4},  {"int64", 8},
       {"long", 8},        {"int32", 4},        {"int16", 2},          {"short", 2},    {"uint8", 1},  {"int8", 1},
       {"byte", 1},        {"char", 1},         {"bool", 1},           {"int", 4}}};
  for (const Type& type : kTypes) {
    if (lower.find(type.part) != std::string::npos) return type.bytes;
  }
  return 0;
}

}  // namespace

RowId metadata_of(const TraceTables& trace, std::uint32_t gpu_row, const CallStack* stack) {
  if (trace.gpu_work.collective[gpu_row] != kNoRow) return trace.gpu_work.collective[gpu_row];
  if (stack == nullptr || stack->comms == kNoRow) return kNoRow;
  return trace.ranges.collective[index_of(stack->comms)];
}

std::string_view kind_of_collective(const TraceTables& trace, const StringTable& operations, std::uint32_t gpu_row,
                                    RowId metadata, const CallStack* stack) {
  if (metadata != kNoRow) {
    const StringId name = trace.collectives.kind[index_of(metadata)];
    const std::string_view kind = collective_kind(trace.strings.view(name));
    if (!kind.empty()) return kind;
  }
  if (stack != nullptr && stack->kind != kNoString) return operations.view(stack->kind);
  const std::string_view kind = collective_kind(trace.strings.view(trace.gpu_work.name[gpu_row]));
  return kind.empty() ? std::string_view("comm") : kind;
}

std::int64_t bytes_of_collective(const TraceTables& trace, RowId metadata) {
  if (metadata == kNoRow) return kNoNumber;
  const CollectiveTable& t = trace.collectives;
  const std::uint32_t row = index_of(metadata);
  const std::int64_t elements = std::max(t.in_elements[row], t.out_elements[row]);
  const std::int64_t size = t.dtype[row] == kNoString ? 0 : element_bytes(trace.strings.view(t.dtype[row]));
  if (elements < 0 || size == 0 || elements > INT64_MAX / 8) return kNoNumber;
  return elements * size;
}

bool is_pipeline_group(const TraceTables& trace, const GroupDimensionRules& rules, RowId metadata) {
  const CollectiveTable& t = trace.collectives;
  for (const StringId text : {t.description[index_of(metadata)], t.group[index_of(metadata)]}) {
    if (text == kNoString) continue;
    const std::string_view dimension = dimension_of_name(rules, trace.strings.view(text));
    if (!dimension.empty()) return dimension == "pipeline";
  }
  return true;
}

std::optional<std::int32_t> place_in_group(const TraceTables& trace, RowId metadata, std::int64_t rank) {
  const StringId ranks = trace.collectives.ranks[index_of(metadata)];
  if (ranks == kNoString) return std::nullopt;
  const std::string_view text = trace.strings.view(ranks);
  if (text.find("...") != std::string_view::npos) return std::nullopt;  // more than thirty are cut off
  std::int32_t place = 0;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] < '0' || text[at] > '9') {
      at++;
      continue;
    }
    std::int64_t value = 0;
    for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; at++) {
      if (value < INT32_MAX) value = value * 10 + (text[at] - '0');
    }
    if (value == rank) return place;
    place++;
  }
  return std::nullopt;
}

}  // namespace chopper
