// SPDX-License-Identifier: Apache-2.0
#include "analyze/decomposition/bootstrap.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/wide_integer.h"

namespace chopper {
namespace {

// splitmix64: the same numbers on every platform.
class Generator {
 public:
  explicit Generator(std::uint64_t key) : state_(key) {}
  std::size_t below(std::size_t bound) {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    z ^= z >> 31;
    return static_cast<std::size_t>((static_cast<uint128>(z) * bound) >> 64);
  }

 private:
  std::uint64_t state_;
};

// Mean and variance of the values seen, by Welford.
class Spread {
 public:
  void add(double value) {
    if (!std::isfinite(value)) return;
    num_++;
    const double delta = value - mean_;
    mean_ += delta / static_cast<double>(num_);
    squares_ += delta * (value - mean_);
  }
  // kNotMeasured unless nearly all of `num_tried` had a value: the ones without are no random choice.
  double error(std::size_t num_tried) const {
    constexpr std::size_t kLeastPercent = 90;
    if (num_ < 2 || num_ * 100 < num_tried * kLeastPercent) return kNotMeasured;
    return std::sqrt(squares_ / static_cast<double>(num_ - 1));
  }

 private:
  std::size_t num_ = 0;
  double mean_ = 0, squares_ = 0;
};

// Blocks wrap around, so that each iteration is drawn equally often; the last block is cut to the number of iterations.
Sums resample(std::span<const Sums> iterations, std::size_t block_length, Generator& generator) {
  Sums sums;
  for (std::size_t drawn = 0; drawn < iterations.size(); drawn += block_length) {
    const std::size_t first = generator.below(iterations.size());
    const std::size_t length = std::min(block_length, iterations.size() - drawn);
    for (std::size_t i = 0; i < length; i++) sums += iterations[(first + i) % iterations.size()];
  }
  return sums;
}

}  // namespace

std::size_t block_length_of(std::size_t num_iterations) {
  std::size_t length = 1;
  while ((length + 1) * (length + 1) * (length + 1) <= num_iterations) length++;
  return length;
}

double student_quantile(double degrees) {
  // Below ten degrees the published values, interpolated in 1 / degrees; from there Cornish and Fisher's expansion.
  constexpr std::array<double, 10> kValues = {12.7062, 4.3027, 3.1824, 2.7764, 2.5706,
                                              2.4469,  2.3646, 2.3060, 2.2622, 2.2281};
  if (degrees < 1) degrees = 1;
  if (degrees < 10) {
    const std::size_t below = static_cast<std::size_t>(degrees);
    const double at = static_cast<double>(below);
    const double part = (1 / at - 1 / degrees) / (1 / at - 1 / (at + 1));
    return std::exp((1 - part) * std::log(kValues[below - 1]) + part * std::log(kValues[below]));
  }
  const double z = 1.959964, v = degrees;
  const double z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z;
  return z + (z3 + z) / (4 * v) + (5 * z5 + 16 * z3 + 3 * z) / (96 * v * v) +
         (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * v * v * v);
}

double interval_stretch(std::size_t num_iterations, std::size_t block_length) {
  if (num_iterations < 2 || num_iterations <= block_length) return 0;
  const double n = static_cast<double>(num_iterations), length = static_cast<double>(block_length);
  // Blocks that overlap have one and a half times the degrees of freedom of blocks that do not.
  const double degrees = block_length == 1 ? n - 1 : 1.5 * (n / length - 1);
  return student_quantile(degrees) * std::sqrt(n / (n - length));
}

BootstrapSpread bootstrap(std::span<const Sums> iterations, const FactorRules& rules, std::size_t num_resamples,
                          std::uint64_t key) {
  std::array<Spread, kNumFactors> spreads;
  Spread slope;
  Generator generator(key);
  const std::size_t block_length = block_length_of(iterations.size());
  for (std::size_t i = 0; i < num_resamples && !iterations.empty(); i++) {
    const Sums sums = resample(iterations, block_length, generator);
    const FactorValues factors = factors_of(sums, rules);
    for (std::size_t f = 0; f < kNumFactors; f++) spreads[f].add(std::log(factors.values[f]));
    slope.add(regressed_slope(sums));
  }
  BootstrapSpread result;
  for (std::size_t f = 0; f < kNumFactors; f++) result.log_error[f] = spreads[f].error(num_resamples);
  result.slope_error = slope.error(num_resamples);
  return result;
}

}  // namespace chopper
