// SPDX-License-Identifier: Apache-2.0
#include "catalog/metric_set.h"

#include <algorithm>

#include "catalog/metric_compiler.h"
#include "catalog/metric_facts.h"

namespace chopper {

GpuFacts facts_of(const GpuSpec& gpu) {
  GpuFacts facts;
  facts.num_units = static_cast<double>(gpu.num_units);
  facts.num_xccs = static_cast<double>(gpu.num_xccs);
  facts.matrix_units_per_unit = static_cast<double>(gpu.matrix_units_per_unit);
  facts.warp_size = static_cast<double>(gpu.warp_size);
  facts.clock_mhz = gpu.clock_mhz;
  facts.max_clock_mhz = gpu.max_clock_mhz;
  if (gpu.memory_clock_mhz > 0) facts.memory_clock_mhz = gpu.memory_clock_mhz;
  facts.memory_gb_per_s = gpu.memory_gb_per_s;
  return facts;
}

std::span<const FactInfo> list_facts() { return kFacts; }

std::optional<std::uint32_t> fact_index(std::string_view name) {
  const auto at = std::find_if(kFacts.begin(), kFacts.end(), [&](const FactInfo& fact) { return fact.name == name; });
  if (at == kFacts.end()) return std::nullopt;
  return static_cast<std::uint32_t>(at - kFacts.begin());
}

Unit fact_unit(std::uint32_t index) {
  const Result<Unit> unit = parse_unit(kFacts[index].unit);
  return unit.ok() ? unit.value() : Unit{};
}

bool is_fact_name(std::string_view name) { return fact_index(name).has_value(); }

std::string_view to_string(Unavailable::Kind kind) {
  switch (kind) {
    case Unavailable::Kind::needs_counter:
      return "needs_counter";
    case Unavailable::Kind::needs_fact:
      return "needs_fact";
    case Unavailable::Kind::zero_denominator:
      return "zero_denominator";
    case Unavailable::Kind::not_defined:
      return "not_defined";
  }
  return "not_defined";
}

Result<MetricSet> MetricSet::make(const MetricCatalog& catalog, std::string_view architecture, const GpuFacts& facts) {
  MetricSet set;
  set.architecture_ = architecture;
  set.facts_ = facts;
  CHOPPER_TRY([[maybe_unused]] const Done done, MetricCompiler(catalog, set).compile_all());
  return set;
}

std::size_t MetricSet::index_of(std::string_view id) const {
  const auto at = std::find_if(metrics_.begin(), metrics_.end(), [&](const Metric& metric) { return metric.id == id; });
  return at == metrics_.end() ? kNone : static_cast<std::size_t>(at - metrics_.begin());
}

}  // namespace chopper
