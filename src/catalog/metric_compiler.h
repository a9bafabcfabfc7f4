// SPDX-License-Identifier: Apache-2.0
// Turns the expressions of a catalog into the programs of a MetricSet, and checks their units on the way.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/metric_set.h"

namespace chopper {

class MetricCompiler {
 public:
  MetricCompiler(const MetricCatalog& catalog, MetricSet& set) : catalog_(catalog), set_(set) {}

  /// Compiles all metrics of the catalog into the set.
  Result<Done> compile_all();

 private:
  // What is on the stack after some steps.
  struct Compiled {
    Unit unit;
    std::size_t deepest = 1;  // places of the stack
  };
  using Steps = std::vector<MetricStep>;

  MetricSet::Metric compile(const MetricSpec& spec);
  Compiled compile_metric(const MetricSpec& spec, const MetricVariant& variant, Steps& steps);
  Compiled compile_alternatives(const MetricSpec& spec, const MetricVariant& variant, Steps& steps);
  Compiled compile_node(const Expression& expression, std::size_t node, Steps& steps);
  Compiled compile_binary(const Expression& expression, const ExpressionNode& node, Steps& steps);
  Compiled compile_counter(const ExpressionNode& node, Steps& steps);
  Compiled compile_name(const ExpressionNode& node, Steps& steps);
  const MetricVariant& variant_of(const MetricSpec& spec) const;
  std::uint32_t choice_of(const MetricSpec& spec, const MetricVariant& variant);

  const MetricCatalog& catalog_;
  MetricSet& set_;
  std::vector<const MetricSpec*> open_;   // metrics being compiled, outermost first
  std::vector<std::uint32_t> preferred_;  // counters of the preferred alternatives
  std::vector<MetricChoice> choices_;     // of the metric that is compiled
  bool in_preferred_ = true;
};

}  // namespace chopper
