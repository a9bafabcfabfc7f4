// SPDX-License-Identifier: Apache-2.0
#include "ingest/nsight/page_values.h"

#include <cmath>
#include <utility>

namespace chopper::nsight {
namespace {

constexpr std::size_t kShownCells = 16;  // that wait to be understood, and may become examples of a health record

}  // namespace

std::uint32_t PageValues::counter_of(Metric& metric) {
  if (metric.counter != Metric::kNoCounter) return metric.counter;
  const std::uint32_t counter = builder_.counter(metric.name);
  if (counter >= units_.size()) {
    units_.resize(counter + 1, pass_.strings.intern(""));
    is_duration_.resize(counter + 1, 0);
  }
  if (!metric.unit.name.empty() && pass_.strings.view(units_[counter]).empty())
    units_[counter] = pass_.strings.intern(metric.unit.name);
  if (metric.is_duration) is_duration_[counter] = 1;
  metric.counter = counter;
  return counter;
}

NumberForm PageValues::add(Metric& metric, std::string_view cell, std::uint32_t dispatch, std::uint64_t offset) {
  const NumberCell number = parse_number(cell, metric.unit.exponent);
  switch (number.form) {
    case NumberForm::text:
    case NumberForm::malformed:
      return number.form;
    case NumberForm::none:
      return number.form;
    case NumberForm::ambiguous:
      (number.separator == '.' ? with_dot_ : with_comma_).push_back(num_rows(pass_.values));
      if (texts_.size() < kShownCells) texts_.emplace(num_rows(pass_.values), cell.substr(0, kShownBytes));
      break;
    case NumberForm::number:
      evidence_.add(number.evidence);
      break;
  }
  builder_.value(dispatch, counter_of(metric), number.value * metric.unit.factor, offset);
  return number.form;
}

void PageValues::settle(const std::function<void(std::uint64_t offset, const std::string& what)>& left_out) {
  CounterValueTable& values = pass_.values;
  std::vector<std::uint8_t> keep;
  for (const auto& [separator, rows] : {std::pair{'.', &with_dot_}, std::pair{',', &with_comma_}}) {
    const SeparatorEvidence::Meaning meaning = evidence_.meaning_of(separator);
    if (meaning == SeparatorEvidence::Meaning::thousands) continue;
    for (const std::size_t row : *rows) {
      if (meaning == SeparatorEvidence::Meaning::decimals) {
        values.value[row] /= 1000;  // of six digits at most, so this rounds as reading the decimals would
        continue;
      }
      if (keep.empty()) keep.assign(num_rows(values), 1);
      keep[row] = 0;
      const auto text = texts_.find(row);
      left_out(values.offset[row], std::string(pass_.strings.view(pass_.counters[values.counter[row]])) +
                                       (text == texts_.end() ? "" : " is \"" + text->second + "\""));
    }
  }
  if (!keep.empty()) keep_rows(values, keep);
  pass_.counter_units = units_;
  set_durations();
}

// How long a kernel ran is a metric as others are; when it started is told nowhere.
void PageValues::set_durations() {
  constexpr double kLongest = 9e18;  // within 64 bits
  for (std::size_t i = 0; i < num_rows(pass_.values); i++) {
    const double value = pass_.values.value[i];
    std::int64_t& duration = pass_.dispatches.duration_ns[pass_.values.dispatch[i]];
    if (is_duration_[pass_.values.counter[i]] != 0 && duration == kNoNumber && value > 0 && value < kLongest)
      duration = static_cast<std::int64_t>(std::llround(value));
  }
}

}  // namespace chopper::nsight
