// SPDX-License-Identifier: Apache-2.0
// Metrics derived from counters, as data (data/metrics/*.toml): for each an expression an architecture, a unit, the
// rule by which it is rolled up, and where it comes from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "catalog/counters.h"
#include "catalog/metric_expression.h"
#include "catalog/units.h"

namespace chopper {

/// How values of kernels become one of an operation, a layer, a gpu.
enum class RollUp : std::uint8_t {
  sum,            ///< of the values
  ratio_of_sums,  ///< sum of numerators / sum of denominators
  maximum,        ///< of the values
};
std::string_view to_string(RollUp roll_up);

/// How a metric is computed on some architectures.
struct MetricVariant {
  std::string vendor;                      ///< empty: any
  std::vector<std::string> architectures;  ///< empty: all of the vendor
  std::vector<Expression> alternatives;    ///< in order of preference; of a ratio: its numerator alone
  std::vector<std::string> tells;          ///< what each alternative is, in words; as many as alternatives or none
  Expression denominator;                  ///< of a ratio of sums; else without nodes
  std::string source;
  std::string place;  ///< file and line

  bool fits(std::string_view architecture) const;
};

struct MetricSpec {
  std::string id, title;
  std::string unit_text;
  Unit unit;
  RollUp roll_up = RollUp::sum;
  std::string summary;
  std::vector<MetricVariant> variants;  ///< the first that fits counts

  const MetricVariant* find_variant(std::string_view architecture) const;
};

/// All metrics of this build and of the user, and the counters they are made of.
struct MetricCatalog {
  CounterCatalog counters;
  std::vector<MetricSpec> metrics;  ///< in order of the files

  const MetricSpec* find(std::string_view id) const;
};

/// A file of the user: its text, and its name for errors.
struct MetricFile {
  std::string name, text;
};

/// Reads the files of the user, which come first and so override, and what this build ships. Every expression is
/// compiled for every architecture it fits: what cannot be, such as cycles + bytes, fails with file and line.
Result<MetricCatalog> load_metrics(std::span<const MetricFile> user_files);

}  // namespace chopper
