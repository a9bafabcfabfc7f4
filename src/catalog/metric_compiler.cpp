// SPDX-License-Identifier: Apache-2.0
#include "catalog/metric_compiler.h"

#include <algorithm>

#include "catalog/metric_facts.h"

namespace chopper {
namespace {

// An expression that cannot be computed anywhere, and one that this architecture has not; thrown inside this file.
struct Bad {
  std::string message;
};
struct NotDefined {
  std::string text;
};

// How the units of two operands are joined; empty when they do not fit.
bool joined_unit(ExpressionKind kind, const Unit& left, const Unit& right, Unit& unit) {
  if (kind == ExpressionKind::multiply || kind == ExpressionKind::divide) {
    unit = kind == ExpressionKind::multiply ? left * right : left / right;
    return true;
  }
  unit = left;
  return left.has_dimensions_of(right);
}

MetricStep::Code code_of(ExpressionKind kind) {
  switch (kind) {
    case ExpressionKind::add:
      return MetricStep::Code::add;
    case ExpressionKind::subtract:
      return MetricStep::Code::subtract;
    case ExpressionKind::multiply:
      return MetricStep::Code::multiply;
    case ExpressionKind::divide:
      return MetricStep::Code::divide;
    case ExpressionKind::smaller:
      return MetricStep::Code::smaller;
    default:
      return MetricStep::Code::larger;
  }
}

std::string_view verb_of(ExpressionKind kind) {
  switch (kind) {
    case ExpressionKind::add:
      return "adds";
    case ExpressionKind::subtract:
      return "subtracts";
    default:
      return "compares";
  }
}

}  // namespace

const MetricVariant& MetricCompiler::variant_of(const MetricSpec& spec) const {
  const MetricVariant* variant = spec.find_variant(set_.architecture_);
  if (variant == nullptr) throw NotDefined{spec.id + " is not defined for " + set_.architecture_};
  return *variant;
}

std::uint32_t MetricCompiler::choice_of(const MetricSpec& spec, const MetricVariant& variant) {
  for (std::uint32_t i = 0; i < choices_.size(); i++)
    if (choices_[i].metric == spec.id) return i;
  MetricChoice choice{spec.id, variant.tells};
  if (choice.tells.empty())
    for (const Expression& alternative : variant.alternatives) choice.tells.push_back(alternative.text);
  choices_.push_back(std::move(choice));
  return static_cast<std::uint32_t>(choices_.size() - 1);
}

MetricCompiler::Compiled MetricCompiler::compile_counter(const ExpressionNode& node, Steps& steps) {
  const CounterSpec* counter = catalog_.counters.find(node.name, set_.architecture_);
  if (counter == nullptr)
    throw Bad{"unknown counter '" + node.name + "' of " + set_.architecture_ + "; a [[counter]] tells its unit"};
  const bool reduces = node.kind != ExpressionKind::name;
  if (reduces != counter->has_instances)
    throw Bad{reduces
                  ? "counter '" + node.name + "' is told as one value: use it without sum() and max()"
                  : "counter '" + node.name + "' has instances: say sum(" + node.name + ") or max(" + node.name + ")"};
  const auto known = std::find(set_.counters_.begin(), set_.counters_.end(), node.name);
  const auto index = static_cast<std::uint32_t>(known - set_.counters_.begin());
  if (known == set_.counters_.end()) {
    set_.counters_.push_back(node.name);
    set_.labels_.push_back(counter->labels);
  }
  if (in_preferred_ && std::find(preferred_.begin(), preferred_.end(), index) == preferred_.end())
    preferred_.push_back(index);
  const bool is_maximum = node.kind == ExpressionKind::counter_maximum;
  steps.push_back({is_maximum ? MetricStep::Code::maximum : MetricStep::Code::sum, 0, index, counter->unit.scale});
  return {counter->unit, 1};
}

MetricCompiler::Compiled MetricCompiler::compile_name(const ExpressionNode& node, Steps& steps) {
  if (const std::optional<std::uint32_t> fact = fact_index(node.name)) {
    const Unit unit = fact_unit(*fact);
    steps.push_back({MetricStep::Code::fact, 0, *fact, unit.scale});
    return {unit, 1};
  }
  const MetricSpec* metric = catalog_.find(node.name);
  if (metric == nullptr) {
    if (catalog_.counters.find(node.name, set_.architecture_) != nullptr) return compile_counter(node, steps);
    throw Bad{"unknown name '" + node.name + "': no metric, no fact, no counter of " + set_.architecture_};
  }
  if (std::find(open_.begin(), open_.end(), metric) != open_.end())
    throw Bad{"metric " + metric->id + " is computed from itself"};
  // A chain longer than any metric needs, far shorter than the stack.
  constexpr std::size_t kDeepest = 64;
  if (open_.size() >= kDeepest) throw Bad{"more than 64 metrics, each computed from the next"};
  return compile_metric(*metric, variant_of(*metric), steps);
}

MetricCompiler::Compiled MetricCompiler::compile_binary(const Expression& expression, const ExpressionNode& node,
                                                        Steps& steps) {
  const Compiled left = compile_node(expression, node.left, steps);
  const Compiled right = compile_node(expression, node.right, steps);
  Compiled result{{}, std::max(left.deepest, right.deepest + 1)};
  if (!joined_unit(node.kind, left.unit, right.unit, result.unit)) {
    throw Bad{std::string(verb_of(node.kind)) + " " + dimensions_text(left.unit) + " and " +
              dimensions_text(right.unit) + " at column " + std::to_string(node.column) + " of: " + expression.text};
  }
  steps.push_back({code_of(node.kind), 0, 0, 0});
  return result;
}

MetricCompiler::Compiled MetricCompiler::compile_node(const Expression& expression, std::size_t node, Steps& steps) {
  // A program that no metric needs: references to references multiply, so a hostile file could make it huge.
  constexpr std::size_t kMostSteps = 1000;
  if (steps.size() > kMostSteps) throw Bad{"more than 1000 steps with all metrics it is made of: " + expression.text};
  const ExpressionNode& at = expression.nodes[node];
  switch (at.kind) {
    case ExpressionKind::number:
      steps.push_back({MetricStep::Code::number, 0, 0, at.number * at.unit.scale});
      return {at.unit, 1};
    case ExpressionKind::counter_sum:
    case ExpressionKind::counter_maximum:
      return compile_counter(at, steps);
    case ExpressionKind::name:
      return compile_name(at, steps);
    default:
      return compile_binary(expression, at, steps);
  }
}

MetricCompiler::Compiled MetricCompiler::compile_alternatives(const MetricSpec& spec, const MetricVariant& variant,
                                                              Steps& steps) {
  const bool outer = in_preferred_;
  Compiled result{{}, 0};
  for (std::size_t i = 0; i < variant.alternatives.size(); i++) {
    in_preferred_ = outer && i == 0;
    const Expression& alternative = variant.alternatives[i];
    const Compiled one = compile_node(alternative, alternative.nodes.size() - 1, steps);
    if (i > 0 && !one.unit.has_dimensions_of(result.unit))
      throw Bad{"alternatives have different units: " + dimensions_text(result.unit) + ", " +
                dimensions_text(one.unit)};
    result.unit = one.unit;
    result.deepest = std::max(result.deepest, one.deepest + i);
  }
  in_preferred_ = outer;
  if (variant.alternatives.size() > 1) {
    // Four bits tell the choice.
    if (variant.alternatives.size() > 15) throw Bad{"more than 15 alternatives"};
    steps.push_back({MetricStep::Code::choose, static_cast<std::uint8_t>(variant.alternatives.size()),
                     choice_of(spec, variant), 0});
  }
  return result;
}

// Leaves one value: of a ratio its quotient.
MetricCompiler::Compiled MetricCompiler::compile_metric(const MetricSpec& spec, const MetricVariant& variant,
                                                        Steps& steps) {
  open_.push_back(&spec);
  Compiled result = compile_alternatives(spec, variant, steps);
  if (!variant.denominator.nodes.empty()) {
    const Compiled below = compile_node(variant.denominator, variant.denominator.nodes.size() - 1, steps);
    steps.push_back({MetricStep::Code::divide, 0, 0, 0});
    result = {result.unit / below.unit, std::max(result.deepest, below.deepest + 1)};
  }
  open_.pop_back();
  return result;
}

MetricSet::Metric MetricCompiler::compile(const MetricSpec& spec) {
  MetricSet::Metric metric;
  metric.id = spec.id;
  metric.title = spec.title;
  metric.unit = spec.unit_text;
  metric.roll_up = spec.roll_up;
  metric.scale = spec.unit.scale;
  preferred_.clear();
  choices_.clear();
  open_.assign(1, &spec);
  in_preferred_ = true;
  const MetricVariant& variant = variant_of(spec);
  Compiled result = compile_alternatives(spec, variant, metric.numerator);
  const auto note_uses = [&](const Expression& expression) {
    for (const ExpressionNode& node : expression.nodes)
      if (node.kind == ExpressionKind::name && catalog_.find(node.name) != nullptr) metric.uses.push_back(node.name);
  };
  note_uses(variant.alternatives.front());
  if (!variant.denominator.nodes.empty()) {
    const Compiled below = compile_node(variant.denominator, variant.denominator.nodes.size() - 1, metric.denominator);
    result = {result.unit / below.unit, std::max(result.deepest, below.deepest)};
    note_uses(variant.denominator);
  }
  if (!result.unit.has_dimensions_of(spec.unit))
    throw Bad{"its unit is " + spec.unit_text + " (" + dimensions_text(spec.unit) + "), its expression gives " +
              dimensions_text(result.unit)};
  if (result.deepest > kMetricStackDepth) throw Bad{"needs more than 32 values at a time"};
  metric.counters = preferred_;
  metric.choices = choices_;
  return metric;
}

Result<Done> MetricCompiler::compile_all() {
  for (const MetricSpec& spec : catalog_.metrics) {
    try {
      set_.metrics_.push_back(compile(spec));
    } catch (const NotDefined& reason) {
      MetricSet::Metric metric;
      metric.id = spec.id;
      metric.title = spec.title;
      metric.unit = spec.unit_text;
      metric.roll_up = spec.roll_up;
      metric.scale = spec.unit.scale;
      metric.not_defined = Unavailable{Unavailable::Kind::not_defined, reason.text};
      set_.metrics_.push_back(std::move(metric));
    } catch (const Bad& problem) {
      const MetricVariant* variant = spec.find_variant(set_.architecture_);
      return Error{ErrorCode::bad_input, "metric " + spec.id + " for " + set_.architecture_ + ": " + problem.message,
                   variant == nullptr ? "" : variant->place, "see docs/reference/metrics.md"};
    }
  }
  return Done{};
}

}  // namespace chopper
