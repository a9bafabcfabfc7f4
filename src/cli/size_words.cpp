// SPDX-License-Identifier: Apache-2.0
#include "cli/size_words.h"

#include <charconv>
#include <system_error>

namespace chopper {

std::optional<std::int64_t> size_of_words(std::string_view text) {
  std::int64_t base = 1000, unit = 1;
  if (text.ends_with("iB")) {
    base = 1024;
    text.remove_suffix(2);
  } else if (text.ends_with("B")) {
    text.remove_suffix(1);
    if (!text.empty() && text.back() >= '0' && text.back() <= '9') return std::nullopt;  // "5B"
  }
  constexpr std::string_view kUnits = "KMGT";
  const std::size_t power = text.empty() ? std::string_view::npos : kUnits.find(text.back());
  if (power != std::string_view::npos) {
    for (std::size_t i = 0; i <= power; i++) unit *= base;
    text.remove_suffix(1);
  } else if (base == 1024) {
    return std::nullopt;  // "5iB"
  }
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  constexpr std::int64_t kMostBytes = 1'000'000'000'000'000;
  if (error != std::errc{} || end != text.data() + text.size() || value <= 0 || value > kMostBytes / unit)
    return std::nullopt;
  return value * unit;
}

}  // namespace chopper
