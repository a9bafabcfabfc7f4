// SPDX-License-Identifier: Apache-2.0
// Exact conversion of decimal text: microseconds to integer nanoseconds, and 64-bit ids. A double cannot hold nineteen
// digits, so nothing here goes through one.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace chopper {

enum class NumberStatus : std::uint8_t { ok, not_a_number, overflow };

/// Properties of the fractions seen in a file, or-ed together: they tell a whole-microsecond file from a nanosecond
/// one, and the unpadded fractions some writers of March 2024 produced ("12.5" for 12 us 5 ns).
struct FractionShape {
  static constexpr std::uint8_t any = 1;            ///< a fraction is present
  static constexpr std::uint8_t shorter = 2;        ///< fewer than 3 digits
  static constexpr std::uint8_t trailing_zero = 4;  ///< 2 or 3 digits, the last is 0
  static constexpr std::uint8_t leading_zero = 8;   ///< more than one digit, the first is 0
  static constexpr std::uint8_t longer = 16;        ///< more than 3 digits, or an exponent

  /// Returns whether fractions of the combined `shape` were written without zero padding.
  static bool is_unpadded(std::uint8_t shape) {
    return (shape & shorter) != 0 && (shape & trailing_zero) != 0 && (shape & (leading_zero | longer)) == 0;
  }
};

struct Nanoseconds {
  std::int64_t value = 0;
  NumberStatus status = NumberStatus::not_a_number;
  std::uint8_t shape = 0;  ///< FractionShape bits
};

/// Converts microseconds as decimal text (sign, fraction and exponent allowed) to nanoseconds; digits beyond the
/// nanosecond are cut. With `unpadded` the fraction is read as an integer number of nanoseconds.
Nanoseconds micros_to_ns(std::string_view text, bool unpadded);

/// Parses a 64-bit integer, signed or unsigned (the bits of an unsigned value are kept); nothing else may follow it.
/// A fraction of zeros ("42.0") is accepted. Empty when it is no integer or does not fit.
std::optional<std::int64_t> parse_int64(std::string_view text);

}  // namespace chopper
