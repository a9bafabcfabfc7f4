// SPDX-License-Identifier: Apache-2.0
// Programs of metrics at work: fast where all is there, and told in words where something is missing.
#include <algorithm>
#include <iterator>
#include <map>

#include "catalog/metric_facts.h"
#include "catalog/metric_set.h"

namespace chopper {
namespace {

constexpr std::uint32_t kAbsent = UINT32_MAX;
constexpr std::uint32_t kMostChoices = 8;  // of which four bits each are kept

double fact_of(const GpuFacts& facts, const DispatchValues& values, std::uint32_t index) {
  switch (index) {
    case 0:
      return facts.num_units;
    case 1:
      return facts.num_xccs;
    case 2:
      return facts.matrix_units_per_unit;
    case 3:
      return facts.warp_size;
    case 4:
      return facts.clock_mhz;
    case 5:
      return facts.max_clock_mhz;
    case 6:
      return facts.memory_clock_mhz;
    case 7:
      return facts.memory_gb_per_s;
    case 8:
      return values.duration_ns;
    case 9:
      return values.grid_size;
    default:
      return values.workgroup_size;
  }
}

double at(std::span<const double> values, std::uint32_t index) {
  return index < values.size() ? values[index] : kNoValue;
}

// Joins two values. A value that is missing (NaN) makes a missing one; so does a division by zero.
double join(MetricStep::Code code, double left, double right) {
  switch (code) {
    case MetricStep::Code::add:
      return left + right;
    case MetricStep::Code::subtract:
      return left - right;
    case MetricStep::Code::multiply:
      return left * right;
    case MetricStep::Code::divide:
      return right == 0 ? kNoValue : left / right;
    case MetricStep::Code::smaller:
      return std::isnan(left) || std::isnan(right) ? kNoValue : std::min(left, right);
    default:
      return std::isnan(left) || std::isnan(right) ? kNoValue : std::max(left, right);
  }
}

double leaf(const MetricStep& step, const GpuFacts& facts, const DispatchValues& values) {
  switch (step.code) {
    case MetricStep::Code::sum:
      return at(values.sums, step.index) * step.number;
    case MetricStep::Code::maximum:
      return at(values.maxima, step.index) * step.number;
    case MetricStep::Code::fact:
      return fact_of(facts, values, step.index) * step.number;
    default:
      return step.number;
  }
}

bool is_leaf(MetricStep::Code code) { return code <= MetricStep::Code::fact; }

double run(const std::vector<MetricStep>& steps, const GpuFacts& facts, const DispatchValues& values,
           std::uint32_t& choices) {
  std::array<double, kMetricStackDepth> stack;
  std::size_t top = 0;
  for (const MetricStep& step : steps) {
    if (is_leaf(step.code)) {
      stack[top++] = leaf(step, facts, values);
    } else if (step.code != MetricStep::Code::choose) {
      top--;
      stack[top - 1] = join(step.code, stack[top - 1], stack[top]);
    } else {
      top -= step.count;
      std::uint32_t chosen = 0;
      while (chosen + 1 < step.count && std::isnan(stack[top + chosen])) chosen++;
      stack[top] = stack[top + chosen];
      if (step.index < kMostChoices)
        choices = (choices & ~(15u << (4 * step.index))) | ((chosen + 1) << (4 * step.index));
      top++;
    }
  }
  return top == 1 ? stack[0] : kNoValue;
}

// A value of a program with the reason for its absence.
struct Reasoned {
  double value = 0;
  Unavailable::Kind kind = Unavailable::Kind::needs_counter;
  std::string missing;  // "counter X"
};

std::string fact_text(std::uint32_t index) {
  if (kFacts[index].name == "duration_ns") return "the times of the dispatch";
  const bool of_gpu = index < kNumGpuFacts;
  return std::string(kFacts[index].name) + (of_gpu ? " of the gpu" : " of the dispatch");
}

Reasoned reasoned_leaf(const MetricStep& step, const GpuFacts& facts, const DispatchValues& values,
                       const std::string& counter) {
  Reasoned result;
  result.value = leaf(step, facts, values);
  if (!std::isnan(result.value)) return result;
  if (step.code == MetricStep::Code::fact) {
    result.kind = Unavailable::Kind::needs_fact;
    result.missing = fact_text(step.index);
  } else if (step.code == MetricStep::Code::maximum && !std::isnan(at(values.sums, step.index))) {
    result.missing = "the largest instance of counter " + counter;
  } else {
    result.missing = "counter " + counter;
  }
  return result;
}

Reasoned reasoned_join(MetricStep::Code code, const Reasoned& left, const Reasoned& right) {
  if (std::isnan(left.value)) return left;
  if (std::isnan(right.value)) return right;
  Reasoned result;
  result.value = join(code, left.value, right.value);
  if (std::isnan(result.value)) {
    result.kind = Unavailable::Kind::zero_denominator;
    result.missing = "a denominator that is not zero";
  }
  return result;
}

// The first that is there, else all that would help.
Reasoned reasoned_choice(std::span<const Reasoned> alternatives) {
  std::vector<std::string> missing;
  for (const Reasoned& one : alternatives) {
    if (!std::isnan(one.value)) return one;
    if (std::find(missing.begin(), missing.end(), one.missing) == missing.end()) missing.push_back(one.missing);
  }
  Reasoned result = alternatives.front();
  result.missing.clear();
  for (const std::string& text : missing) result.missing += (result.missing.empty() ? "" : " or ") + text;
  return result;
}

Reasoned reason(const std::vector<MetricStep>& steps, const std::vector<std::string>& names, const GpuFacts& facts,
                const DispatchValues& values) {
  std::vector<Reasoned> stack;
  std::size_t leaves = 0;
  for (const MetricStep& step : steps) {
    if (is_leaf(step.code)) {
      stack.push_back(reasoned_leaf(step, facts, values, names[leaves++]));
      continue;
    }
    const std::size_t taken = step.code == MetricStep::Code::choose ? step.count : 2;
    const std::span<const Reasoned> last(stack.data() + (stack.size() - taken), taken);
    Reasoned result =
        step.code == MetricStep::Code::choose ? reasoned_choice(last) : reasoned_join(step.code, last[0], last[1]);
    stack.resize(stack.size() - taken);
    stack.push_back(std::move(result));
  }
  return stack.empty() ? Reasoned{1, Unavailable::Kind::needs_counter, ""} : stack.back();
}

// The name of the counter of each leaf, empty of numbers and facts.
std::vector<std::string> leaf_names(const std::vector<MetricStep>& steps, const std::vector<std::string>& counters) {
  std::vector<std::string> names;
  for (const MetricStep& step : steps) {
    if (!is_leaf(step.code)) continue;
    const bool counts = step.code == MetricStep::Code::sum || step.code == MetricStep::Code::maximum;
    names.push_back(counts ? counters[step.index] : "");
  }
  return names;
}

// What a part of a program reads, and whether all of it is there.
struct Reads {
  bool is_there = true;
  std::vector<std::uint32_t> counters;
};

// The counters that count where every counter the pass has is there.
std::vector<std::uint32_t> reads_of(const std::vector<MetricStep>& steps, const GpuFacts& facts) {
  const DispatchValues with_facts = {{}, {}, 1, 1, 1};
  std::vector<Reads> stack;
  for (const MetricStep& step : steps) {
    if (step.code == MetricStep::Code::sum || step.code == MetricStep::Code::maximum) {
      stack.push_back({step.index != kAbsent, {step.index}});
    } else if (is_leaf(step.code)) {
      stack.push_back({!std::isnan(leaf(step, facts, with_facts)), {}});
    } else if (step.code == MetricStep::Code::choose) {
      const auto first = stack.end() - step.count;
      const auto chosen = std::find_if(first, stack.end(), [](const Reads& reads) { return reads.is_there; });
      Reads kept = chosen == stack.end() ? Reads{false, {}} : *chosen;
      stack.erase(first, stack.end());
      stack.push_back(std::move(kept));
    } else {
      const Reads right = std::move(stack.back());
      stack.pop_back();
      stack.back().is_there = stack.back().is_there && right.is_there;
      stack.back().counters.insert(stack.back().counters.end(), right.counters.begin(), right.counters.end());
    }
  }
  std::vector<std::uint32_t> counters = stack.empty() ? std::vector<std::uint32_t>() : stack.back().counters;
  std::sort(counters.begin(), counters.end());
  counters.erase(std::unique(counters.begin(), counters.end()), counters.end());
  return counters;
}

std::optional<Unavailable> unavailable(const Reasoned& result) {
  if (!std::isnan(result.value)) return std::nullopt;
  return Unavailable{result.kind, "needs " + result.missing};
}

}  // namespace

PassMetrics::PassMetrics(const MetricSet& set, std::span<const std::string_view> counters) : set_(&set) {
  std::map<std::string_view, std::uint32_t> places;
  for (std::uint32_t i = 0; i < counters.size(); i++) places.emplace(counters[i], i);
  for (std::size_t i = 0; i < set.counters_.size(); i++) {
    const auto find = [&](std::string_view name) {
      const auto found = places.find(name);
      return found == places.end() ? kAbsent : found->second;
    };
    std::uint32_t place = find(set.counters_[i]);
    if (place == kAbsent) place = find(set.counters_[i] + "_sum");
    for (const std::string& label : set.labels_[i])
      if (place == kAbsent) place = find(label);
    place_.push_back(place);
  }
  for (const MetricSet::Metric& metric : set.metrics_)
    programs_.push_back({bind(metric.numerator), bind(metric.denominator)});
}

std::vector<MetricStep> PassMetrics::bind(const std::vector<MetricStep>& steps) const {
  std::vector<MetricStep> bound = steps;
  for (MetricStep& step : bound)
    if (step.code == MetricStep::Code::sum || step.code == MetricStep::Code::maximum) step.index = place_[step.index];
  return bound;
}

MetricValue PassMetrics::evaluate(std::size_t metric, const DispatchValues& values) const {
  MetricValue result;
  const Programs& programs = programs_[metric];
  if (programs.numerator.empty()) return result;
  result.numerator = run(programs.numerator, set_->facts_, values, result.choices);
  result.denominator =
      programs.denominator.empty() ? 1 : run(programs.denominator, set_->facts_, values, result.choices);
  result.value = join(MetricStep::Code::divide, result.numerator, result.denominator) / set_->metrics_[metric].scale;
  return result;
}

std::optional<Unavailable> PassMetrics::explain(std::size_t metric, const DispatchValues& values) const {
  const MetricSet::Metric& unbound = set_->metrics_[metric];
  if (unbound.not_defined) return unbound.not_defined;
  const Programs& programs = programs_[metric];
  const Reasoned above =
      reason(programs.numerator, leaf_names(unbound.numerator, set_->counters_), set_->facts_, values);
  if (const auto missing = unavailable(above)) return missing;
  const Reasoned below =
      reason(programs.denominator, leaf_names(unbound.denominator, set_->counters_), set_->facts_, values);
  if (const auto missing = unavailable(below)) return missing;
  return unavailable(reasoned_join(MetricStep::Code::divide, above, below));
}

std::optional<Unavailable> PassMetrics::missing(std::size_t metric) const {
  // Values that are there and odd enough that no difference of them is zero.
  const std::size_t num_counters = [&] {
    std::size_t most = 0;
    for (const std::uint32_t place : place_)
      if (place != kAbsent) most = std::max<std::size_t>(most, place + 1);
    return most;
  }();
  std::vector<double> present(num_counters);
  for (std::size_t i = 0; i < present.size(); i++) present[i] = 1e9 + 12345.678 * static_cast<double>(i * i + 1);
  const DispatchValues values = {present, present, 1, 1, 1};
  std::optional<Unavailable> reason = explain(metric, values);
  if (reason && reason->kind == Unavailable::Kind::zero_denominator) reason.reset();
  return reason;
}

PassMetrics::Needs PassMetrics::needs(std::size_t metric) const {
  Needs needs;
  needs.of_numerator = reads_of(programs_[metric].numerator, set_->facts_);
  const std::vector<std::uint32_t> below = reads_of(programs_[metric].denominator, set_->facts_);
  std::set_union(needs.of_numerator.begin(), needs.of_numerator.end(), below.begin(), below.end(),
                 std::back_inserter(needs.counters));
  return needs;
}

std::string PassMetrics::describe(std::size_t metric, std::uint32_t choices) const {
  std::string text;
  const std::vector<MetricChoice>& made = set_->metrics_[metric].choices;
  for (std::uint32_t i = 0; i < std::min<std::size_t>(kMostChoices, made.size()); i++) {
    const std::uint32_t chosen = (choices >> (4 * i)) & 15u;
    const MetricChoice& choice = made[i];
    if (chosen == 0 || chosen > choice.tells.size()) continue;
    text += (text.empty() ? "" : "; ");
    if (choice.metric != set_->metrics_[metric].id) text += choice.metric + ": ";
    text += choice.tells[chosen - 1];
  }
  return text;
}

}  // namespace chopper
