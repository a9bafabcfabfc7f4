// SPDX-License-Identifier: Apache-2.0
// Which counter a metric of Nsight Compute is: its name, made unique where two sections of the page "details" give one
// name to different metrics, and the scale that brings its values back to the base unit.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ingest/nsight/unit.h"

namespace chopper::nsight {

/// A metric as one unit and section write it.
struct Metric {
  std::string name;  ///< of the counter
  Unit unit;
  bool is_duration = false;
  std::uint32_t counter = kNoCounter;  ///< its number in the pass, once it has one

  static constexpr std::uint32_t kNoCounter = UINT32_MAX;
};

class MetricNames {
 public:
  /// The metric written as `name`, with this unit and in this section; valid until the next call.
  Metric& find(std::string_view name, std::string_view unit, std::string_view section);

 private:
  struct Written {
    std::string name, unit, section;
    Metric metric;
  };
  bool is(const Written& written, std::string_view name, std::string_view unit, std::string_view section) const {
    return written.name == name && written.unit == unit && written.section == section;
  }
  Metric make(std::string_view name, std::string_view unit, std::string_view section);

  std::vector<Written> written_;
  std::size_t last_ = 0;
  std::unordered_map<std::string, std::size_t> places_;
  std::unordered_map<std::string, std::string> section_of_;  // of a name: where it was first
  std::unordered_map<std::string, std::string> unit_of_;     // of a counter: its first known one
};

}  // namespace chopper::nsight
