// SPDX-License-Identifier: Apache-2.0
#include "ingest/kineto/metadata.h"

#include <simdjson.h>

#include "base/decimal.h"
#include "ingest/kineto/json_repair.h"

namespace chopper {
namespace {

namespace dom = simdjson::dom;

// Integers, also quoted ones.
std::optional<std::int64_t> integer(dom::element element) {
  std::int64_t value = 0;
  if (element.get_int64().get(value) == simdjson::SUCCESS) return value;
  std::string_view text;
  if (element.get_string().get(text) == simdjson::SUCCESS) return parse_int64(text);
  return std::nullopt;
}

std::optional<std::int64_t> integer(dom::object object, std::string_view key) {
  dom::element element;
  if (object.at_key(key).get(element) != simdjson::SUCCESS) return std::nullopt;
  return integer(element);
}

// Parses the raw value of a key, repairing it when needed.
bool parse(dom::parser& parser, const std::map<std::string, std::string, std::less<>>& metadata, std::string_view key,
           dom::element& out) {
  const auto at = metadata.find(key);
  if (at == metadata.end() || at->second.empty()) return false;
  if (parser.parse(at->second).get(out) == simdjson::SUCCESS) return true;
  const Repair repair = repair_object("{\"value\":" + at->second + "} ");  // the value need not be an object
  return repair.status == RepairStatus::repaired && parser.parse(repair.json)["value"].get(out) == simdjson::SUCCESS;
}

void read_devices(dom::element value, std::vector<DeviceFacts>& devices) {
  dom::array array;
  if (value.get_array().get(array) != simdjson::SUCCESS) return;
  for (const dom::element element : array) {
    dom::object object;
    if (element.get_object().get(object) != simdjson::SUCCESS) continue;
    DeviceFacts facts;
    facts.id = integer(object, "id").value_or(kNoNumber);
    std::string_view name;
    if (object.at_key("name").get_string().get(name) == simdjson::SUCCESS) facts.name = name;
    facts.warp_size = integer(object, "warpSize").value_or(kNoNumber);
    facts.num_units = integer(object, "numSms").value_or(kNoNumber);
    facts.compute_major = integer(object, "computeMajor").value_or(kNoNumber);
    facts.compute_minor = integer(object, "computeMinor").value_or(kNoNumber);
    facts.memory_bytes = integer(object, "totalGlobalMem").value_or(kNoNumber);
    devices.push_back(std::move(facts));
  }
}

}  // namespace

TraceMetadata parse_metadata(const std::map<std::string, std::string, std::less<>>& metadata) {
  TraceMetadata result;
  dom::parser parser;
  dom::element value;
  if (parse(parser, metadata, "baseTimeNanoseconds", value)) result.base_ns = integer(value);
  result.base_unreadable = !result.base_ns && metadata.contains("baseTimeNanoseconds");
  for (const std::string_view key : {"deviceProperties", "computeProperties"}) {
    if (result.devices.empty() && parse(parser, metadata, key, value)) read_devices(value, result.devices);
  }
  if (parse(parser, metadata, "distributedInfo", value)) {
    dom::object object;
    if (value.get_object().get(object) == simdjson::SUCCESS) {
      result.rank = integer(object, "rank");
      result.world_size = integer(object, "world_size");
    }
  }
  if (parse(parser, metadata, "host_name", value)) {
    std::string_view text;
    if (value.get_string().get(text) == simdjson::SUCCESS && !text.empty()) result.host = text;
  }
  return result;
}

}  // namespace chopper
