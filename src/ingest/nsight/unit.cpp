// SPDX-License-Identifier: Apache-2.0
#include "ingest/nsight/unit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

namespace chopper::nsight {
namespace {

// What a large count of is written in thousands, millions, ...
constexpr std::array<std::string_view, 15> kCounted = {"inst",  "cycle",   "sector",    "thread", "warp",
                                                       "block", "request", "wavefront", "access", "op",
                                                       "flop",  "event",   "sample",    "query",  "register"};

std::optional<int> power_of_large(char prefix) {
  constexpr std::string_view kPrefixes = "KMGTPE";
  const std::size_t place = kPrefixes.find(prefix == 'k' ? 'K' : prefix);
  if (place == std::string_view::npos) return std::nullopt;
  return 3 * (static_cast<int>(place) + 1);
}

// The power of ten of a time in seconds: "usecond" and "us" to -6.
std::optional<int> power_of_second(std::string_view word) {
  int power = 0;
  if (word.size() > 1 && word != "second" && word != "seconds" && word != "sec") {
    if (word[0] == 'n') power = -9;
    if (word[0] == 'u') power = -6;
    if (word[0] == 'm') power = -3;
    if (power != 0) word.remove_prefix(1);
  }
  const bool is_second = word == "second" || word == "seconds" || word == "sec" || word == "s";
  return is_second ? std::optional(power) : std::nullopt;
}

bool is_byte(std::string_view word) { return word == "byte" || word == "bytes" || word == "B"; }
bool is_hertz(std::string_view word) { return word == "hz" || word == "Hz"; }

bool is_counted(std::string_view word) { return std::find(kCounted.begin(), kCounted.end(), word) != kCounted.end(); }

// The first word of a unit.
Unit base_of_first(std::string_view word) {
  if (const std::optional<int> power = power_of_second(word)) return {"ns", *power + 9, 1, true};
  if (is_byte(word)) return {"byte", 0, 1, true};
  if (is_hertz(word)) return {"Hz", 0, 1, true};
  const Unit as_written{std::string(word), 0, 1, word == "%" || is_counted(word)};
  if (word.size() < 2) return as_written;
  const std::optional<int> power = power_of_large(word[0]);
  if (!power) return as_written;
  const std::string_view rest = word.substr(1);
  if (is_byte(rest)) return {"byte", *power, 1, true};
  if (is_hertz(rest)) return {"Hz", *power, 1, true};
  if (rest[0] == 'i' && is_byte(rest.substr(1))) return {"byte", 0, std::pow(1024.0, *power / 3), true};
  if (word[0] != 'k' && is_counted(rest)) return {std::string(rest), *power, 1, true};
  return as_written;
}

}  // namespace

Unit base_unit(std::string_view text) {
  const std::size_t slash = text.find('/');
  Unit unit = base_of_first(text.substr(0, slash));
  while (text.find('/') != std::string_view::npos) {
    text.remove_prefix(text.find('/') + 1);
    const std::string_view word = text.substr(0, text.find('/'));
    unit.name += '/';
    if (const std::optional<int> power = power_of_second(word)) {
      unit.name += "second";
      unit.exponent -= *power;
    } else {
      unit.name += word;
    }
  }
  return unit;
}

}  // namespace chopper::nsight
