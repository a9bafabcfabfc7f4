// SPDX-License-Identifier: Apache-2.0
#include "catalog/metrics.h"

#include <toml++/toml.h>

#include <algorithm>

#include "catalog/embedded_data.h"
#include "catalog/metric_set.h"
#include "catalog/toml_fields.h"

namespace chopper {
namespace {

constexpr std::string_view kHint = "data/metrics/cycles.toml explains the form";

Expression read_expression(const std::string& text, std::size_t line) {
  Result<Expression> expression = parse_expression(text);
  if (!expression.ok()) throw BadField{expression.error().message, line};
  return std::move(expression).value();
}

RollUp read_roll_up(const toml::table& table) {
  const std::string word = needed_text(table, "roll_up");
  for (const RollUp rule : {RollUp::sum, RollUp::ratio_of_sums, RollUp::maximum})
    if (word == to_string(rule)) return rule;
  throw BadField{"roll_up is none of sum, ratio_of_sums, maximum: " + word, line_of(*table.get("roll_up"))};
}

MetricVariant read_variant(const toml::table& table, RollUp roll_up, std::string_view file) {
  refuse_unknown_keys(table, {"vendor", "architectures", "expression", "numerator", "denominator", "tells", "source"});
  MetricVariant variant;
  variant.vendor = optional_text(table, "vendor");
  if (!variant.vendor.empty() && variant.vendor != "amd" && variant.vendor != "nvidia")
    throw BadField{"vendor is neither amd nor nvidia: " + variant.vendor, line_of(table)};
  variant.architectures = text_list(table, "architectures");
  variant.source = optional_text(table, "source");
  variant.place = place_of(file, line_of(table));
  const bool is_ratio = roll_up == RollUp::ratio_of_sums;
  const std::string_view key = is_ratio ? "numerator" : "expression";
  if ((table.get("expression") != nullptr) == is_ratio || (table.get("denominator") != nullptr) != is_ratio)
    throw BadField{is_ratio ? "a ratio of sums has a numerator and a denominator, no expression"
                            : "only a ratio of sums has a numerator and a denominator, others an expression",
                   line_of(table)};
  for (const std::string& text : text_list(table, key))
    variant.alternatives.push_back(read_expression(text, line_of(*table.get(key))));
  if (variant.alternatives.empty()) throw BadField{"missing text " + std::string(key), line_of(table)};
  if (is_ratio)
    variant.denominator = read_expression(needed_text(table, "denominator"), line_of(*table.get("denominator")));
  variant.tells = text_list(table, "tells");
  if (!variant.tells.empty() && variant.tells.size() != variant.alternatives.size())
    throw BadField{"tells has another length than " + std::string(key), line_of(table)};
  return variant;
}

MetricSpec read_metric(const toml::table& table, std::string_view file) {
  refuse_unknown_keys(table, {"id", "title", "unit", "roll_up", "summary", "variant"});
  MetricSpec metric;
  metric.id = needed_text(table, "id");
  const bool plain = std::all_of(metric.id.begin(), metric.id.end(),
                                 [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; });
  if (!plain || (metric.id[0] >= '0' && metric.id[0] <= '9'))
    throw BadField{"an id is of a-z, 0-9 and _: " + metric.id, line_of(table)};
  if (is_fact_name(metric.id)) throw BadField{"this id is the name of a fact: " + metric.id, line_of(table)};
  metric.title = optional_text(table, "title", metric.id);
  metric.unit_text = needed_text(table, "unit");
  const Result<Unit> unit = parse_unit(metric.unit_text);
  if (!unit.ok()) throw BadField{unit.error().message + ": " + unit.error().hint, line_of(table)};
  metric.unit = unit.value();
  metric.roll_up = read_roll_up(table);
  metric.summary = optional_text(table, "summary");
  for (const toml::table* variant : tables_of(table, "variant"))
    metric.variants.push_back(read_variant(*variant, metric.roll_up, file));
  if (metric.variants.empty()) throw BadField{"a metric needs a [[metric.variant]]: " + metric.id, line_of(table)};
  return metric;
}

// A metric of the same id that was there before comes from a file that goes first: its variants keep precedence.
void add_metric(MetricSpec metric, std::size_t line, std::size_t first_of_file, MetricCatalog& catalog) {
  const auto same = std::find_if(catalog.metrics.begin(), catalog.metrics.end(),
                                 [&](const MetricSpec& other) { return other.id == metric.id; });
  if (same == catalog.metrics.end()) {
    catalog.metrics.push_back(std::move(metric));
    return;
  }
  if (static_cast<std::size_t>(same - catalog.metrics.begin()) >= first_of_file)
    throw BadField{"metric is defined twice: " + metric.id, line};
  if (!same->unit.has_dimensions_of(metric.unit) || same->unit.scale != metric.unit.scale ||
      same->roll_up != metric.roll_up) {
    BadField problem{"metric " + metric.id + " has another unit or roll-up than the one it overrides"};
    problem.where = same->variants.front().place;
    throw problem;
  }
  if (same->title == same->id) same->title = metric.title;
  if (same->summary.empty()) same->summary = metric.summary;
  same->variants.insert(same->variants.end(), metric.variants.begin(), metric.variants.end());
}

Result<Done> add_file(MetricCatalog& catalog, std::string_view text, std::string_view file) {
  const auto bad = [&](const std::string& message, std::size_t line) {
    return Error{ErrorCode::bad_input, message, place_of(file, line), std::string(kHint)};
  };
  try {
    const toml::table root = toml::parse(text);
    refuse_unknown_keys(root, {"metric", "counter", "block", "vendor", "architectures", "source"});
    const std::size_t first_of_file = catalog.metrics.size();
    for (const toml::table* table : tables_of(root, "metric"))
      add_metric(read_metric(*table, file), line_of(*table), first_of_file, catalog);
    return Done{};
  } catch (const toml::parse_error& error) {
    return bad(std::string(error.description()), error.source().begin.line);
  } catch (const BadField& problem) {
    Error error = bad(problem.message, problem.line);
    if (!problem.where.empty()) error.where = problem.where;
    return error;
  }
}

// Compiles everything once, so that a mistake is found where it is made and not where it is used.
Result<Done> check(const MetricCatalog& catalog) {
  for (const std::string& architecture : catalog.counters.architectures) {
    CHOPPER_TRY([[maybe_unused]] const MetricSet set, MetricSet::make(catalog, architecture, GpuFacts{}));
  }
  return Done{};
}

}  // namespace

std::string_view to_string(RollUp roll_up) {
  switch (roll_up) {
    case RollUp::sum:
      return "sum";
    case RollUp::ratio_of_sums:
      return "ratio_of_sums";
    case RollUp::maximum:
      return "maximum";
  }
  return "sum";
}

bool MetricVariant::fits(std::string_view architecture) const {
  if (!vendor.empty() && vendor != vendor_of_architecture(architecture)) return false;
  return architectures.empty() ||
         std::find(architectures.begin(), architectures.end(), architecture) != architectures.end();
}

const MetricVariant* MetricSpec::find_variant(std::string_view architecture) const {
  for (const MetricVariant& variant : variants)
    if (variant.fits(architecture)) return &variant;
  return nullptr;
}

const MetricSpec* MetricCatalog::find(std::string_view id) const {
  for (const MetricSpec& metric : metrics)
    if (metric.id == id) return &metric;
  return nullptr;
}

Result<MetricCatalog> load_metrics(std::span<const MetricFile> user_files) {
  MetricCatalog catalog;
  for (const MetricFile& file : user_files) {
    CHOPPER_TRY([[maybe_unused]] const Done counters, add_counters(catalog.counters, file.text, file.name));
    CHOPPER_TRY([[maybe_unused]] const Done metrics, add_file(catalog, file.text, file.name));
  }
  CHOPPER_TRY([[maybe_unused]] const Done counters, add_embedded_counters(catalog.counters));
  for (std::size_t i = 0; i < kNumEmbeddedFiles; i++) {
    const std::string_view name = kEmbeddedFiles[i].name;
    if (!name.starts_with("metrics/") || !name.ends_with(".toml")) continue;
    CHOPPER_TRY([[maybe_unused]] const Done metrics, add_file(catalog, kEmbeddedFiles[i].text, name));
  }
  CHOPPER_TRY([[maybe_unused]] const Done checked, check(catalog));
  return catalog;
}

}  // namespace chopper
