// SPDX-License-Identifier: Apache-2.0
// The metrics of one gpu, ready to compute: expressions become short programs for a stack, names of counters become
// indices once for a pass, so that millions of dispatches cost nanoseconds each.
//   MetricSet set = MetricSet::make(catalog, "gfx942", facts);        once for a gpu
//   PassMetrics pass(set, names of the counters of the pass);         once for a pass
//   pass.evaluate(set.index_of("gpu_cycles"), values of a dispatch);  for each dispatch
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "catalog/gpus.h"
#include "catalog/metrics.h"

namespace chopper {

inline constexpr double kNoValue = std::numeric_limits<double>::quiet_NaN();

/// Facts that expressions may use. NaN: not known; then what needs it is unavailable.
struct GpuFacts {
  double num_units = kNoValue;
  double num_xccs = kNoValue;
  double matrix_units_per_unit = kNoValue;
  double warp_size = kNoValue;
  double clock_mhz = kNoValue;
  double max_clock_mhz = kNoValue;
  double memory_clock_mhz = kNoValue;
  double memory_gb_per_s = kNoValue;
};
GpuFacts facts_of(const GpuSpec& gpu);

/// Returns whether expressions read `name` as a fact of the gpu or of the kernel.
bool is_fact_name(std::string_view name);

/// Names and units of the facts, for pages.
struct FactInfo {
  std::string_view name, unit, summary;
};
std::span<const FactInfo> list_facts();

/// What one dispatch of a pass has. `sums` and `maxima` are indexed as the counters the pass was bound with; NaN:
/// absent.
struct DispatchValues {
  std::span<const double> sums, maxima;
  double duration_ns = kNoValue;  ///< in the pass
  double grid_size = kNoValue, workgroup_size = kNoValue;
};

/// Why a metric has no value.
struct Unavailable {
  enum class Kind : std::uint8_t { needs_counter, needs_fact, zero_denominator, not_defined };
  Kind kind = Kind::not_defined;
  std::string text;  ///< "needs counter SQ_WAVES"
};
std::string_view to_string(Unavailable::Kind kind);

/// The value of a metric for one dispatch. Roll-ups sum `numerator` and `denominator`, the latter 1 where the metric is
/// no ratio; both are in the dimensions of the unit, `value` in the unit itself.
struct MetricValue {
  double value = kNoValue;
  double numerator = kNoValue, denominator = kNoValue;
  std::uint32_t choices = 0;  ///< which alternatives were used: PassMetrics::describe

  bool ok() const { return !std::isnan(value); }
};

/// A step of a program; values are taken from and left on a stack.
struct MetricStep {
  enum class Code : std::uint8_t {
    number,
    sum,      ///< of the counter `index`, x number
    maximum,  ///< of the counter `index`, x number
    fact,     ///< fact `index`, x number
    add,
    subtract,
    multiply,
    divide,
    smaller,
    larger,
    choose,  ///< the first that is there of `count` values; choice `index`
  };
  Code code = Code::number;
  std::uint8_t count = 0;
  std::uint32_t index = 0;
  double number = 0;
};

/// A metric with several ways to compute it.
struct MetricChoice {
  std::string metric;
  std::vector<std::string> tells;
};

/// Metrics for one architecture with the facts of one gpu.
class MetricSet {
 public:
  struct Metric {
    std::string id, title, unit;
    RollUp roll_up = RollUp::sum;
    double scale = 1;  ///< of the unit
    std::vector<MetricStep> numerator, denominator;
    std::vector<std::uint32_t> counters;     ///< of the preferred alternatives, indices into counters()
    std::vector<std::string> uses;           ///< metrics its own expression names
    std::vector<MetricChoice> choices;       ///< of the `choose` steps
    std::optional<Unavailable> not_defined;  ///< set: no programs
  };

  /// Compiles all metrics of the catalog. Fails when an expression names what is not there, or mixes units.
  static Result<MetricSet> make(const MetricCatalog& catalog, std::string_view architecture, const GpuFacts& facts);

  /// Returns the index of a metric, kNone when there is none of this id.
  std::size_t index_of(std::string_view id) const;
  static constexpr std::size_t kNone = SIZE_MAX;

  const std::vector<Metric>& metrics() const { return metrics_; }
  /// Names of all counters that programs use.
  const std::vector<std::string>& counters() const { return counters_; }
  const std::string& architecture() const { return architecture_; }

 private:
  friend class MetricCompiler;
  friend class PassMetrics;
  std::string architecture_;
  GpuFacts facts_;
  std::vector<Metric> metrics_;
  std::vector<std::string> counters_;
  std::vector<std::vector<std::string>> labels_;  // other names, of each counter
};

/// The metrics of a set with the counters of one pass.
class PassMetrics {
 public:
  /// `counters`: the names the pass has, in its order; "NAME_sum" is read as the sum of NAME.
  PassMetrics(const MetricSet& set, std::span<const std::string_view> counters);

  /// Computes metric `metric` (index of the set); without a value where something is missing.
  MetricValue evaluate(std::size_t metric, const DispatchValues& values) const;

  /// Returns why `metric` has no value for any dispatch of this pass; empty when some may have one.
  std::optional<Unavailable> missing(std::size_t metric) const;

  /// The counters, as the pass numbers them, that a dispatch with all counters of the pass is computed from: of the
  /// first alternatives that are there. Ascending; in `of_numerator` those of the numerator alone.
  struct Needs {
    std::vector<std::uint32_t> counters, of_numerator;
  };
  Needs needs(std::size_t metric) const;

  /// Returns why evaluate has no value for these; empty when it has.
  std::optional<Unavailable> explain(std::size_t metric, const DispatchValues& values) const;

  /// Returns which alternatives a value was computed by: "gpu_cycles: maximum over XCCs"; empty when there was no
  /// choice.
  std::string describe(std::size_t metric, std::uint32_t choices) const;

 private:
  struct Programs {
    std::vector<MetricStep> numerator, denominator;
  };
  std::vector<MetricStep> bind(const std::vector<MetricStep>& steps) const;

  const MetricSet* set_;
  std::vector<std::uint32_t> place_;  // of each counter of the set in the pass; kAbsent
  std::vector<Programs> programs_;
};

}  // namespace chopper
