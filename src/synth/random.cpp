// SPDX-License-Identifier: Apache-2.0
#include "synth/random.h"

namespace chopper::synth {
namespace {

std::uint64_t mix(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15u;  // the golden ratio: keeps small keys apart
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

}  // namespace

std::uint64_t random_bits(std::uint64_t seed, Purpose purpose, std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  std::uint64_t state = mix(seed ^ (static_cast<std::uint64_t>(purpose) << 56));
  state = mix(state ^ a);
  state = mix(state ^ b);
  return mix(state ^ c);
}

double unit(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }

double triangular(std::uint64_t bits) {
  const double first = static_cast<double>(bits >> 32) * 0x1p-32;
  const double second = static_cast<double>(bits & 0xffffffffu) * 0x1p-32;
  return first + second - 1.0;
}

double bell(std::uint64_t bits) {
  std::uint64_t sum = 0;
  for (int i = 0; i < 8; i++) sum += (bits >> (8 * i)) & 0xff;
  // Eight uniform integers of 0..255: mean 1020, variance 8 x 65535 / 12 = 43690, whose root is 209.02.
  return (static_cast<double>(sum) - 1020.0) / 209.02153;
}

}  // namespace chopper::synth
