// SPDX-License-Identifier: Apache-2.0
// A small seeded generator: the same numbers on every platform, unlike the distributions of <random>.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace chopper::test {

/// splitmix64.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  /// Returns a number in [0, bound); 0 for a bound of 0.
  std::size_t below(std::size_t bound) { return bound == 0 ? 0 : next() % bound; }
  /// Returns a number in [low, high].
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(below(static_cast<std::size_t>(high - low) + 1));
  }
  /// Returns true in one of `one_in` cases.
  bool chance(std::size_t one_in) { return below(one_in) == 0; }
  template <class T>
  const T& pick(const std::vector<T>& from) {
    return from[below(from.size())];
  }
  template <class T>
  void shuffle(std::vector<T>& items) {
    for (std::size_t i = items.size(); i > 1; i--) std::swap(items[i - 1], items[below(i)]);
  }

 private:
  std::uint64_t state_;
};

}  // namespace chopper::test
