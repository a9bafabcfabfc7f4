// SPDX-License-Identifier: Apache-2.0
#include "base/decimal.h"

#include <limits>

#include "base/wide_integer.h"

namespace chopper {
namespace {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The general case: any sign, length and exponent. Collects the significant digits and the power of ten, then shifts.
Nanoseconds general_micros_to_ns(std::string_view text) {
  Nanoseconds out;
  std::size_t i = 0;
  bool negative = false;
  if (i < text.size() && (text[i] == '-' || text[i] == '+')) negative = text[i++] == '-';
  uint128 digits = 0;
  int exponent = 3;  // microseconds to nanoseconds
  bool any = false;
  bool saturated = false;
  constexpr uint128 kLimit = static_cast<uint128>(1) << 100;
  auto take = [&](char c, bool fraction) {
    any = true;
    if (saturated || digits > kLimit) {  // 30 digits are kept; the rest only moves the point
      saturated = true;
      if (!fraction) exponent++;
      return;
    }
    digits = digits * 10 + static_cast<unsigned>(c - '0');
    if (fraction) exponent--;
  };
  for (; i < text.size() && is_digit(text[i]); i++) take(text[i], false);
  if (i < text.size() && text[i] == '.') {
    out.shape |= FractionShape::any | FractionShape::longer;
    for (i++; i < text.size() && is_digit(text[i]); i++) take(text[i], true);
  }
  if (!any) return out;
  if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    out.shape |= FractionShape::longer;
    i++;
    bool minus = false;
    if (i < text.size() && (text[i] == '-' || text[i] == '+')) minus = text[i++] == '-';
    int power = 0;
    bool power_digits = false;
    for (; i < text.size() && is_digit(text[i]); i++) {
      power_digits = true;
      if (power < 100000) power = power * 10 + (text[i] - '0');
    }
    if (!power_digits) return out;
    exponent += minus ? -power : power;
  }
  if (i != text.size()) return out;
  out.status = NumberStatus::overflow;
  for (; exponent > 0 && digits != 0; exponent--) {
    if (digits > kLimit) return out;
    digits *= 10;
  }
  for (; exponent < 0 && digits != 0; exponent++) digits /= 10;
  if (digits > static_cast<uint128>(std::numeric_limits<std::int64_t>::max())) return out;
  out.value = static_cast<std::int64_t>(digits);
  if (out.value % 1000 != 0) out.shape |= FractionShape::any;  // an exponent can hide a fraction
  if (negative) out.value = -out.value;
  out.status = NumberStatus::ok;
  return out;
}

}  // namespace

Nanoseconds micros_to_ns(std::string_view text, bool unpadded) {
  // The usual form: up to 16 digits (UNIX time has 16), then nothing or a point and one to three digits.
  std::uint64_t value = 0;
  std::size_t i = 0;
  const std::size_t size = text.size();
  while (i < size && is_digit(text[i])) {
    value = value * 10 + static_cast<std::uint64_t>(text[i] - '0');
    if (++i > 16) return general_micros_to_ns(text);
  }
  constexpr std::uint64_t kLargest = (std::numeric_limits<std::int64_t>::max() - 999) / 1000;
  if (i == 0 || value > kLargest) return general_micros_to_ns(text);
  Nanoseconds out;
  if (i == size) {
    out.value = static_cast<std::int64_t>(value * 1000);
    out.status = NumberStatus::ok;
    return out;
  }
  const std::size_t fraction = size - i - 1;
  if (text[i] != '.' || fraction == 0 || fraction > 3) return general_micros_to_ns(text);
  std::uint64_t digits = 0;
  for (std::size_t k = i + 1; k < size; k++) {
    if (!is_digit(text[k])) return general_micros_to_ns(text);
    digits = digits * 10 + static_cast<std::uint64_t>(text[k] - '0');
  }
  out.shape = FractionShape::any;
  if (fraction < 3) out.shape |= FractionShape::shorter;
  if (fraction > 1 && text[size - 1] == '0') out.shape |= FractionShape::trailing_zero;
  if (fraction > 1 && text[i + 1] == '0') out.shape |= FractionShape::leading_zero;
  if (!unpadded) {
    for (std::size_t k = fraction; k < 3; k++) digits *= 10;
  }
  out.value = static_cast<std::int64_t>(value * 1000 + digits);
  out.status = NumberStatus::ok;
  return out;
}

std::optional<std::int64_t> parse_int64(std::string_view text) {
  std::size_t i = 0;
  bool negative = false;
  if (i < text.size() && (text[i] == '-' || text[i] == '+')) negative = text[i++] == '-';
  if (i == text.size() || !is_digit(text[i])) return std::nullopt;
  std::uint64_t value = 0;
  for (; i < text.size() && is_digit(text[i]); i++) {
    const auto digit = static_cast<std::uint64_t>(text[i] - '0');
    if (value > (std::numeric_limits<std::uint64_t>::max() - digit) / 10) return std::nullopt;
    value = value * 10 + digit;
  }
  if (i < text.size() && text[i] == '.') {
    for (i++; i < text.size() && text[i] == '0'; i++) {
    }
  }
  if (i != text.size()) return std::nullopt;
  if (!negative) return static_cast<std::int64_t>(value);
  if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return std::nullopt;
  return -static_cast<std::int64_t>(value);
}

}  // namespace chopper
