// SPDX-License-Identifier: Apache-2.0
// Random numbers without state: a value is a hash of the seed and of what it is for, so it does not depend on the order
// in which things are simulated, nor on the platform.
#pragma once

#include <cstdint>

namespace chopper::synth {

/// Names a family of random values; part of the hash.
enum class Purpose : std::uint64_t {
  host_cost = 1,
  kernel_duration,
  launch_latency,
  queue_gap,
  transfer,
  collective_exit,
  silicon,
  trace_id,
  xcd,
  host_speed,
  power_noise,
  sensor,
  allocator,
  allocator_stall,
  host_hiccup,
  process_start,
  drop,
  imperfection,
  reserve,
  pass_duration,
  pass_clock,
  pass_gap,
  pass_flaw,
};

/// Returns 64 well-mixed bits (the finaliser of splitmix64, applied to each key in turn).
std::uint64_t random_bits(std::uint64_t seed, Purpose purpose, std::uint64_t a, std::uint64_t b = 0,
                          std::uint64_t c = 0);

/// Returns the value of `bits` in [0, 1), a multiple of 2^-53.
double unit(std::uint64_t bits);

/// Returns a value in [-1, 1) with a triangular density: the sum of two uniform ones.
double triangular(std::uint64_t bits);

/// Returns a value of mean 0 and variance 1, within 4.9: the sum of eight uniform ones of 8 bits, scaled.
double bell(std::uint64_t bits);

}  // namespace chopper::synth
