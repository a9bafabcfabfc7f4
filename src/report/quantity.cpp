// SPDX-License-Identifier: Apache-2.0
#include "report/quantity.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace chopper {
namespace {

struct Unit {
  double size;
  double from;  // in the smaller unit that reads well up to here
  std::string_view name;
  int decimals;
};

// A number is shown in the largest unit from whose `from` on it is, as rounded.
template <std::size_t N>
std::string in_units(double value, const std::array<Unit, N>& units) {
  std::size_t i = 0;
  while (i + 1 < N && std::abs(value) >= units[i + 1].from * 0.99995) i++;
  return fmt::format("{:.{}f} {}", value / units[i].size, units[i].decimals, units[i].name);
}

constexpr double kMinute = 60e9;  // ns
constexpr double kHour = 60 * kMinute;
constexpr double kDay = 24 * kHour;
// Runs are compared in seconds; beyond a thousand, in the unit that leaves two or three digits before the point.
constexpr double kFirstMinutes = 1e12;
constexpr double kFirstHours = 2 * kHour;
constexpr double kFirstDays = 2 * kDay;

constexpr std::array<Unit, 7> kTimeUnits = {{{1, 0, "ns", 0},
                                             {1e3, 1e3, "us", 1},
                                             {1e6, 1e6, "ms", 1},
                                             {1e9, 1e9, "s", 3},
                                             {kMinute, kFirstMinutes, "min", 1},
                                             {kHour, kFirstHours, "h", 1},
                                             {kDay, kFirstDays, "d", 1}}};
constexpr std::array<Unit, 5> kByteUnits = {
    {{1, 0, "B", 0}, {1e3, 1e3, "kB", 1}, {1e6, 1e6, "MB", 1}, {1e9, 1e9, "GB", 1}, {1e12, 1e12, "TB", 1}}};

}  // namespace

std::string duration_text(double ns) { return in_units(ns, kTimeUnits); }
std::string bytes_text(double bytes) { return in_units(bytes, kByteUnits); }

std::string count_text(std::uint64_t count) {
  std::string digits = fmt::to_string(count);
  for (std::size_t i = digits.size(); i > 3;) {
    i -= 3;
    digits.insert(i, 1, ',');
  }
  return digits;
}

std::string counted(std::uint64_t count, std::string_view one, std::string_view many) {
  std::string out = count_text(count) + ' ';
  if (count == 1) return out.append(one);
  return many.empty() ? out.append(one).append("s") : out.append(many);
}

std::string share_text(double share) {
  const double percent = share * 100;
  // 99.96 % must not read as 100.0 %, nor 0.02 % as nothing.
  const bool near_end = (percent > 99.9 && percent < 100) || (percent > 0 && percent < 0.1);
  if (!near_end) return fmt::format("{:.1f} %", percent);
  if (percent > 50) return fmt::format("{:.2f} %", std::min(percent, 99.99));
  return percent < 0.01 ? "<0.01 %" : fmt::format("{:.2f} %", percent);
}

std::string TimeScale::text(std::int64_t steps) const {
  return fmt::format("{:.{}f} {}", static_cast<double>(steps) * std::pow(10.0, -decimals), decimals, unit);
}

TimeScale scale_for(double ns) {
  if (ns < 1e4) return {1, 0, "ns"};
  if (ns < 1e5) return {1e1, 2, "us"};
  if (ns < 1e6) return {1e2, 1, "us"};
  if (ns < 1e7) return {1e3, 3, "ms"};
  if (ns < 1e8) return {1e4, 2, "ms"};
  if (ns < 1e10) return {1e5, 1, "ms"};
  if (ns < kFirstMinutes) return {1e6, 3, "s"};
  if (ns < kFirstHours) return {kMinute / 1e2, 2, "min"};
  if (ns < kFirstDays) return {kHour / 1e3, 3, "h"};
  return {kDay / 1e3, 3, "d"};
}

std::vector<std::int64_t> round_parts(const std::vector<double>& parts, double total, std::int64_t steps) {
  std::vector<std::int64_t> rounded(parts.size(), 0);
  if (!(total > 0)) return rounded;
  std::vector<double> remainder(parts.size());
  for (std::size_t i = 0; i < parts.size(); i++) {
    const double exact = parts[i] / total * static_cast<double>(steps);
    rounded[i] = static_cast<std::int64_t>(std::floor(exact));
    remainder[i] = exact - std::floor(exact);
  }
  std::vector<std::size_t> order(parts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return remainder[a] > remainder[b]; });
  std::int64_t left = steps - std::accumulate(rounded.begin(), rounded.end(), std::int64_t{0});
  for (std::size_t i = 0; i < order.size() && left > 0; i++, left--) rounded[order[i]]++;
  return rounded;
}

}  // namespace chopper
