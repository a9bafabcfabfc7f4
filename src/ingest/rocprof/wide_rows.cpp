// SPDX-License-Identifier: Apache-2.0
#include "ingest/rocprof/wide_rows.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>

#include "base/decimal.h"
#include "ingest/rocprof/long_executions.h"

namespace chopper::rocprof {
namespace {

constexpr std::int64_t kTimeLimit = std::int64_t{1} << 62;
// Times in exponent notation are exact where a double was printed in full, with 15 digits or more unless zeros were
// dropped, and rounded to 5 or 6 where a spreadsheet has saved the table.
constexpr int kMinDigits = 10;
// Any whole number of so many digits is a double.
constexpr std::size_t kExactDigits = 15;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

enum class Time : std::uint8_t { exact, rounded, none };

// Reads "1410078545959517", "1410078545959517.5" (a mean of passes) or "1.3386742234691895e+16".
Time parse_time(std::string_view text, std::int64_t& time) {
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc() && stop == end) {
    time = static_cast<std::int64_t>(value);
    return Time::exact;
  }
  std::string digits;
  std::size_t at = 0, whole = 0;
  while (at < text.size() && is_digit(text[at])) digits += text[at++];
  whole = digits.size();
  if (whole == 0) return Time::none;
  if (at < text.size() && text[at] == '.') {
    at++;
    while (at < text.size() && is_digit(text[at])) digits += text[at++];
  }
  if (at < text.size()) {
    if (text[at] != 'e' && text[at] != 'E') return Time::none;
    std::string_view power = text.substr(at + 1);
    if (power.starts_with('+')) power.remove_prefix(1);
    std::size_t exponent = 0;
    const auto [power_end, power_error] = std::from_chars(power.data(), power.data() + power.size(), exponent);
    if (power_error != std::errc() || power_end != power.data() + power.size() || exponent > 18) return Time::none;
    if (digits.size() < kMinDigits) return Time::rounded;
    whole += exponent;
  }
  digits.resize(whole, '0');
  const auto [last, wrong] = std::from_chars(digits.data(), digits.data() + digits.size(), time);
  return wrong == std::errc() && last == digits.data() + digits.size() ? Time::exact : Time::none;
}

// Ids can have all 64 bits, and tables that were joined have "64.0" where a row lacks the number.
bool parse_number(std::string_view text, std::int64_t& number) {
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc() && stop == end) {
    number = static_cast<std::int64_t>(value);
    return true;
  }
  const auto other = parse_int64(text);
  number = other.value_or(kNoNumber);
  return other.has_value();
}

// Most values are whole numbers, with ".0" behind them where the table was joined.
bool parse_value(std::string_view text, double& value) {
  std::size_t at = 0;
  std::uint64_t whole = 0;
  const std::size_t limit = std::min(text.size(), kExactDigits);
  while (at < limit && is_digit(text[at])) whole = whole * 10 + static_cast<std::uint64_t>(text[at++] - '0');
  if (at > 0 && (at == text.size() || (text.size() == at + 2 && text[at] == '.' && text[at + 1] == '0'))) {
    value = static_cast<double>(whole);
    return true;
  }
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && stop == text.data() + text.size() && std::isfinite(value);
}

std::string shown_cell(const std::string& name, std::string_view text) {
  constexpr std::size_t kShown = 40;
  return name + " is \"" + std::string(text.substr(0, kShown)) + "\"";
}

}  // namespace

template <class What>
bool WideRows::refuse(HealthKind kind, std::uint64_t offset, const What& what) {
  if (tables_.health.wants_example(kind)) {
    tables_.health.add(kind, where_(offset), what());
  } else {
    tables_.health.add(kind, {}, {});
  }
  return false;
}

bool WideRows::refuse_cell(std::size_t column, std::span<const CsvCell> cells, std::uint64_t offset) {
  return refuse(HealthKind::unreadable_value, offset, [&] { return shown_cell(header_[column], cells[column].text); });
}

void WideRows::set_header(std::vector<std::string> header) {
  header_ = std::move(header);
  columns_ = wide_columns(header_);
  counters_.clear();
  for (const std::string& name : columns_.counters) counters_.push_back(builder_.counter(name));
  sums_.resize(counters_.size());
}

// Reads the cells of properties. `rounded` says that times are not what the profiler wrote.
bool WideRows::read_numbers(std::span<const CsvCell> cells, std::uint64_t offset, Numbers& numbers, bool& rounded) {
  numbers.fill(kNoNumber);
  for (const WideColumns::Place& place : columns_.numbers) {
    const std::string_view text = cells[place.column].text;
    if (text.empty() && place.number != Number::dispatch) continue;
    std::int64_t& number = numbers[static_cast<std::size_t>(place.number)];
    if (place.number == Number::start || place.number == Number::end) {
      const Time time = parse_time(text, number);
      if (time == Time::none) return refuse_cell(place.column, cells, offset);
      rounded = rounded || time == Time::rounded;
    } else if (!parse_number(text, number)) {
      return refuse_cell(place.column, cells, offset);
    }
  }
  return true;
}

// Times that are not there are kNoNumber afterwards; false when there are some that cannot be.
bool WideRows::check_times(DispatchRow& row, bool rounded, std::uint64_t offset) {
  const bool has_times = columns_.has_times && !rounded && row.start_ns != kNoNumber && row.end_ns != kNoNumber &&
                         row.start_ns != 0 && row.end_ns != 0;
  if (!has_times) {
    row.start_ns = kNoNumber;
    row.end_ns = kNoNumber;
    return true;
  }
  if (row.start_ns < 0 || row.end_ns < 0 || row.start_ns >= kTimeLimit || row.end_ns >= kTimeLimit)
    return refuse(HealthKind::time_overflow, offset, [] { return std::string("start or end of a dispatch"); });
  if (row.end_ns >= row.start_ns) return true;
  return refuse(HealthKind::negative_duration, offset, [&] {
    return "a dispatch from " + std::to_string(row.start_ns) + " to " + std::to_string(row.end_ns);
  });
}

std::uint32_t WideRows::kernel_of(std::span<const CsvCell> cells, const Numbers& numbers) {
  const auto of = [&](Number number) { return numbers[static_cast<std::size_t>(number)]; };
  PassKernel kernel;
  kernel.name = builder_.name(unquoted(cells[columns_.kernel_name], scratch_));
  kernel.kernel_id = of(Number::kernel_id);
  kernel.grid_size = of(Number::grid_size);
  kernel.workgroup_size = of(Number::workgroup_size);
  kernel.lds_bytes = of(Number::lds);
  kernel.scratch_bytes = of(Number::scratch);
  kernel.num_vgpr = of(Number::vgpr);
  kernel.num_accum_vgpr = of(Number::accum_vgpr);
  kernel.num_sgpr = of(Number::sgpr);
  return builder_.kernel(kernel);
}

bool WideRows::add(std::span<const CsvCell> cells, std::uint64_t offset) {
  Numbers numbers;
  bool rounded = false;
  if (!read_numbers(cells, offset, numbers, rounded)) return false;
  const auto of = [&](Number number) { return numbers[static_cast<std::size_t>(number)]; };
  DispatchRow row;
  row.start_ns = of(Number::start);
  row.end_ns = of(Number::end);
  if (!check_times(row, rounded, offset)) return false;
  std::int64_t die = kNoNumber;
  if (columns_.die != kNoColumn && !parse_number(cells[columns_.die].text, die))
    return refuse_cell(columns_.die, cells, offset);
  const bool is_long = columns_.counter_name != kNoColumn && columns_.counter_value != kNoColumn;
  if (is_long && cells[columns_.counter_name].text.empty()) return refuse_cell(columns_.counter_name, cells, offset);

  // Joined tables may lack the gpu: then all dispatches are of one that has no name.
  row.device = builder_.device(columns_.device == kNoColumn ? "" : unquoted(cells[columns_.device], scratch_));
  row.kernel = kernel_of(cells, numbers);
  row.dispatch_id = of(Number::dispatch);
  row.correlation = of(Number::correlation);
  row.process = of(Number::process);
  row.thread = of(Number::thread);
  row.queue = of(Number::queue);
  bool is_new = false;
  const std::uint32_t dispatch = builder_.dispatch(row, offset, is_new);
  if (is_new && columns_.has_times && row.start_ns == kNoNumber) {
    refuse(HealthKind::missing_dispatch_time, offset, [&] {
      return "dispatch " + (row.dispatch_id == kNoNumber ? "?" : std::to_string(row.dispatch_id)) +
             (rounded ? ": times were rounded by a spreadsheet" : "");
    });
  }
  const bool is_repeated =
      die != kNoNumber ? !dies_.emplace(dispatch, die).second : !is_new && !is_long && counters_.empty();
  if (is_repeated) return refuse(HealthKind::repeated_row, offset, [] { return std::string("a dispatch"); });
  return is_long ? add_long_value(dispatch, cells, offset) : add_values(dispatch, cells, offset);
}

bool WideRows::add_long_value(std::uint32_t dispatch, std::span<const CsvCell> cells, std::uint64_t offset) {
  const std::string_view name = cells[columns_.counter_name].text;
  const std::string_view text = cells[columns_.counter_value].text;
  const std::uint32_t counter = builder_.counter(name);
  double value = 0;
  if (!parse_value(text, value)) {
    missing_.emplace(dispatch, counter);
    return refuse(HealthKind::missing_value, offset, [&] { return shown_cell(std::string(name), text); });
  }
  builder_.value(dispatch, counter, value, offset);
  return true;
}

// A cell that is no number costs its counter and nothing else: sums without an instance would be wrong.
bool WideRows::add_values(std::uint32_t dispatch, std::span<const CsvCell> cells, std::uint64_t offset) {
  std::fill(sums_.begin(), sums_.end(), Sum{0, -std::numeric_limits<double>::infinity(), kNoColumn});
  for (const WideColumns::Cell& cell : columns_.cells) {
    Sum& sum = sums_[cell.slot];
    double value = 0;
    if (!parse_value(cells[cell.column].text, value)) {
      sum.wrong_column = cell.column;
      continue;
    }
    sum.sum += value;
    sum.maximum = std::max(sum.maximum, value);
  }
  CounterValueTable& values = tables_.pass->values;
  for (std::size_t slot = 0; slot < sums_.size(); slot++) {
    const Sum& sum = sums_[slot];
    if (sum.wrong_column != kNoColumn) {
      refuse(HealthKind::missing_value, offset,
             [&] { return shown_cell(header_[sum.wrong_column], cells[sum.wrong_column].text); });
      continue;
    }
    builder_.value(dispatch, counters_[slot], sum.sum, offset);
    if (columns_.has_instances[slot] != 0) values.maximum.back() = sum.maximum;
  }
  return true;
}

// rocprof 2 can write a row for each die of a dispatch; a counter of the dispatch is the sum over them.
void WideRows::join_dies() {
  CounterValueTable& values = tables_.pass->values;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> first;
  std::vector<std::uint8_t> keep(num_rows(values), 1);
  const auto largest = [&](std::size_t i) {
    return std::isnan(values.maximum[i]) ? values.value[i] : values.maximum[i];
  };
  std::vector<std::uint8_t> is_joined(num_rows(values), 0);
  for (std::size_t i = 0; i < num_rows(values); i++) {
    const auto [found, is_first] = first.try_emplace({values.dispatch[i], values.counter[i]}, i);
    // Two columns of one name are of one row: that is a conflict, and not for here.
    if (is_first || values.offset[found->second] == values.offset[i]) continue;
    const std::size_t to = found->second;
    keep[i] = 0;
    values.maximum[to] = std::max(largest(to), largest(i));
    values.value[to] += values.value[i];
  }
  keep_rows(values, keep);
}

// Rows of a long table name an instance of the hardware each. Values are in order of dispatch here, and none is there
// twice.
void WideRows::join_instances() {
  CounterPass& pass = *tables_.pass;
  CounterValueTable& values = pass.values;
  std::vector<std::uint32_t> counter_of;
  std::vector<std::uint8_t> is_instance;
  std::vector<StringId> joined;
  std::map<std::string, std::uint32_t> numbers;
  std::string name;
  for (const StringId id : pass.counters) {
    is_instance.push_back(split_instance(pass.strings.view(id), name) ? 1 : 0);
    // A counter that is also there as a whole stays apart from its instances.
    if (is_instance.back() == 0) name += '\n';
    const auto [found, is_new] = numbers.try_emplace(name, static_cast<std::uint32_t>(joined.size()));
    if (is_new) joined.push_back(is_instance.back() != 0 ? pass.strings.intern(name) : id);
    counter_of.push_back(found->second);
  }
  // A sum without an instance would be wrong.
  std::set<std::pair<std::uint32_t, std::uint32_t>> incomplete;
  for (const auto& [dispatch, counter] : missing_) {
    if (is_instance[counter] != 0) incomplete.emplace(dispatch, counter_of[counter]);
  }
  std::vector<std::size_t> first(joined.size(), SIZE_MAX);
  std::vector<std::uint8_t> keep(num_rows(values), 1);
  for (std::size_t i = 0; i < num_rows(values); i++) {
    const bool instance = is_instance[values.counter[i]] != 0;
    values.counter[i] = counter_of[values.counter[i]];
    if (!instance) continue;
    if (!incomplete.empty() && incomplete.contains({values.dispatch[i], values.counter[i]})) {
      keep[i] = 0;
      continue;
    }
    std::size_t& to = first[values.counter[i]];
    if (to == SIZE_MAX || values.dispatch[to] != values.dispatch[i]) {
      to = i;
      values.maximum[i] = values.value[i];
      continue;
    }
    keep[i] = 0;
    values.maximum[to] = std::max(values.maximum[to], values.value[i]);
    values.value[to] += values.value[i];
  }
  keep_rows(values, keep);
  pass.counters = std::move(joined);
}

void WideRows::finish() {
  if (!dies_.empty()) join_dies();
  for (PassDevice& device : tables_.pass->devices) {
    if (device.form == AgentForm::node) device.form = columns_.counts_gpus ? AgentForm::gpu : AgentForm::unknown;
  }
  builder_.finish(tables_.health, where_);
  if (columns_.counter_name == kNoColumn) return;
  join_instances();
  join_executions(*tables_.pass);
}

void note_incomplete_counters(const CounterPass& pass, const std::function<std::string(std::uint64_t)>& where,
                              HealthLog& health) {
  std::vector<std::size_t> num_values(num_rows(pass.dispatches), 0);
  for (const std::uint32_t dispatch : pass.values.dispatch) num_values[dispatch]++;
  for (std::size_t i = 0; i < num_values.size(); i++) {
    if (num_values[i] == 0 || num_values[i] >= pass.counters.size()) continue;
    if (!health.wants_example(HealthKind::incomplete_counters)) {
      health.add(HealthKind::incomplete_counters, {}, {});
      continue;
    }
    const std::int64_t id = pass.dispatches.dispatch_id[i];
    health.add(HealthKind::incomplete_counters, where(pass.dispatches.offset[i]),
               "dispatch " + (id == kNoNumber ? std::string("?") : std::to_string(id)) + " has " +
                   std::to_string(num_values[i]) + " of " + std::to_string(pass.counters.size()));
  }
}

}  // namespace chopper::rocprof
