// SPDX-License-Identifier: Apache-2.0
#include "ingest/nsight/metric_names.h"

namespace chopper::nsight {
namespace {

// Ids name one metric each ("sm__cycles_elapsed.max"); the words of the page "details" need not.
bool is_id(std::string_view name) { return name.find("__") != std::string_view::npos; }

// The page "details" calls two metrics so: a share in "GPU Speed Of Light Throughput", and bytes per second here.
constexpr std::string_view kHomonym = "Memory Throughput", kHomonymSection = "Memory Workload Analysis";

}  // namespace

Metric& MetricNames::find(std::string_view name, std::string_view unit, std::string_view section) {
  // The metrics of a kernel come in the same order as those of the one before.
  const std::size_t next = last_ + 1 < written_.size() ? last_ + 1 : 0;
  for (const std::size_t place : {next, last_}) {
    if (place >= written_.size() || !is(written_[place], name, unit, section)) continue;
    last_ = place;
    return written_[last_].metric;
  }
  std::string key(name);
  key.append(1, '\0').append(unit).append(1, '\0').append(section);
  const auto [found, is_new] = places_.try_emplace(key, written_.size());
  if (is_new)
    written_.push_back({std::string(name), std::string(unit), std::string(section), make(name, unit, section)});
  last_ = found->second;
  return written_[last_].metric;
}

Metric MetricNames::make(std::string_view name, std::string_view unit, std::string_view section) {
  Metric metric;
  metric.unit = base_unit(unit);
  metric.name = name;
  const bool is_homonym = name == kHomonym && section == kHomonymSection;
  if (!is_id(name)) {
    const bool is_first = !is_homonym && section_of_.try_emplace(metric.name, section).first->second == section;
    if (!is_first) metric.name += " (" + std::string(section) + ")";
  }
  // A unit that is not known may be a damaged one: it must not rename the others.
  if (metric.unit.known) {
    const std::string& first = unit_of_.try_emplace(metric.name, metric.unit.name).first->second;
    if (first != metric.unit.name) metric.name += " in " + metric.unit.name;
  }
  metric.is_duration = (name == "gpu__time_duration.sum" || name == "Duration") && metric.unit.name == "ns";
  return metric;
}

}  // namespace chopper::nsight
