// SPDX-License-Identifier: Apache-2.0
// Decimal text: the sign mirrors the value, and a file of whole microseconds reads the same either way of padding.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/decimal.h"

namespace {

void expect(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using chopper::NumberStatus;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const chopper::Nanoseconds padded = chopper::micros_to_ns(text, false);
  const chopper::Nanoseconds unpadded = chopper::micros_to_ns(text, true);
  expect(padded.status == unpadded.status && padded.shape == unpadded.shape);
  if (padded.shape == 0) expect(padded.value == unpadded.value);
  if (padded.status != NumberStatus::ok) expect(padded.value == 0);
  const bool has_sign = !text.empty() && (text[0] == '-' || text[0] == '+');
  if (!has_sign) {
    const chopper::Nanoseconds negative = chopper::micros_to_ns("-" + text, false);
    expect(negative.status == padded.status && negative.value == -padded.value);
    const chopper::Nanoseconds positive = chopper::micros_to_ns("+" + text, false);
    expect(positive.status == padded.status && positive.value == padded.value);
  }
  const auto integer = chopper::parse_int64(text);
  if (integer) expect(chopper::parse_int64(std::to_string(*integer)) == integer);
  if (integer && *integer > -9000000000000 && *integer < 9000000000000 && text.find('.') == std::string::npos &&
      text.size() < 15)
    expect(padded.value == *integer * 1000);
  return 0;
}
