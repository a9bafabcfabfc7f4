// SPDX-License-Identifier: Apache-2.0
#include "analyze/decomposition/samples.h"

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <tuple>

namespace chopper {
namespace {

auto integers_of(const KernelSample& s) {
  return std::tie(s.iteration, s.gpu, s.micro_step, s.layer, s.start_ns, s.duration_ns, s.overlap_ns, s.collective);
}

// Bits order any two doubles, unmeasured ones too.
std::array<std::uint64_t, 13> bits_of(const KernelSample& s) {
  const auto bits = [](double value) { return std::bit_cast<std::uint64_t>(value); };
  return {bits(s.weight),           bits(s.flops),          bits(s.compute_theory_ns), bits(s.bytes),
          bits(s.memory_theory_ns), bits(s.executed_flops), bits(s.executed_bytes),    bits(s.matrix_busy_cycles),
          bits(s.matrix_cycles),    bits(s.gpu_cycles),     bits(s.pass_duration_ns),  bits(s.f_eff_mhz),
          bits(s.g_ratio)};
}

}  // namespace

std::vector<KernelSample> usable_samples(std::span<const KernelSample> samples) {
  std::vector<KernelSample> usable;
  usable.reserve(samples.size());
  std::copy_if(samples.begin(), samples.end(), std::back_inserter(usable), has_theory);
  const auto before = [](const KernelSample& a, const KernelSample& b) {
    const auto x = integers_of(a), y = integers_of(b);
    if (x != y) return x < y;
    return bits_of(a) < bits_of(b);
  };
  if (!std::is_sorted(usable.begin(), usable.end(), before)) std::sort(usable.begin(), usable.end(), before);
  return usable;
}

}  // namespace chopper
