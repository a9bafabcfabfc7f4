// SPDX-License-Identifier: Apache-2.0
// For tests: an operation whose true factors are known, on several gpus over several iterations.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

#include "analyze/decomposition/samples.h"
#include "support/random.h"

namespace chopper::test {

class Normal {
 public:
  explicit Normal(std::uint64_t seed) : random_(seed) {}
  double uniform() { return (static_cast<double>(random_.next() >> 11) + 0.5) * 0x1p-53; }
  double normal() { return std::sqrt(-2 * std::log(uniform())) * std::cos(2 * std::numbers::pi * uniform()); }
  bool chance(double probability) { return uniform() < probability; }

 private:
  Random random_;
};

enum class OverlapPattern : std::uint8_t {
  mixed,     ///< any ratio, by chance
  all,       ///< every instance overlapped throughout
  none,      ///< no instance overlapped
  by_gpu,    ///< all on one half of the gpus, none on the other
  by_layer,  ///< the same layers always
  few,       ///< all but a handful
};

struct SimulatedOperation {
  std::int32_t num_gpus = 4, num_iterations = 10, num_layers = 8;
  OverlapPattern pattern = OverlapPattern::mixed;
  double inst = 1.1, utilisation = 0.8, alone_ns = 1'500'000;  ///< alone at the peak clock, for 1,000,000 ns of theory
  double slope = 0.2;  ///< share of its speed a kernel loses beside communication
  double kernel_noise = 0.02, iteration_noise = 0.01, iteration_memory = 0;
  double f_peak_mhz = 2000, f_eff_mhz = 1700, clock_noise = 0.01;
  bool has_clock = true;
};

inline double overlap_ratio_of(const SimulatedOperation& job, std::int32_t gpu, std::int32_t layer,
                               std::int32_t iteration, Normal& random) {
  switch (job.pattern) {
    case OverlapPattern::mixed: {
      const double any = random.uniform();
      return any < 0.3 ? 0 : any > 0.7 ? 1 : random.uniform();
    }
    case OverlapPattern::all:
      return 1;
    case OverlapPattern::none:
      return 0;
    case OverlapPattern::by_gpu:
      return gpu % 2 == 0 ? 1 : 0;
    case OverlapPattern::by_layer:
      return layer % 2 == 0 ? 1 : 0;
    case OverlapPattern::few:
      return gpu == 0 && layer == 0 && iteration < 5 ? 0 : 0.9;
  }
  return 0;
}

/// Durations are as long as the work takes at a speed of 1 alone and 1 - slope beside communication.
inline std::vector<KernelSample> simulate(const SimulatedOperation& job, std::uint64_t seed) {
  Normal random(seed * 7919 + 1);
  std::vector<KernelSample> samples;
  double level = 0;
  for (std::int32_t iteration = 0; iteration < job.num_iterations; iteration++) {
    const double fresh = random.normal() * std::sqrt(1 - job.iteration_memory * job.iteration_memory);
    level = iteration == 0 ? random.normal() : job.iteration_memory * level + fresh;
    for (std::int32_t gpu = 0; gpu < job.num_gpus; gpu++) {
      for (std::int32_t layer = 0; layer < job.num_layers; layer++) {
        KernelSample s;
        s.gpu = gpu;
        s.iteration = iteration;
        s.layer = layer;
        s.start_ns = (iteration * 1000 + layer) * 10'000'000ll;
        s.flops = 1e12, s.compute_theory_ns = 1'000'000;
        s.executed_flops = job.inst * s.flops * (1 + 0.005 * random.normal());
        s.gpu_cycles = job.alone_ns * job.f_peak_mhz / 1000 * (1 + 0.005 * random.normal());
        s.pass_duration_ns = s.gpu_cycles / 1.9;
        s.matrix_cycles = 16 * s.gpu_cycles;
        s.matrix_busy_cycles = job.utilisation * s.matrix_cycles * (1 + 0.005 * random.normal());
        const double clock = job.f_eff_mhz * (1 + job.clock_noise * random.normal());
        if (job.has_clock) s.f_eff_mhz = clock;
        const double ratio = overlap_ratio_of(job, gpu, layer, iteration, random);
        const double noise = 1 + job.kernel_noise * random.normal() + job.iteration_noise * level;
        const double alone = s.gpu_cycles * 1000 / clock;
        s.duration_ns = std::llround(alone * noise / (1 - job.slope * ratio));
        s.overlap_ns = std::llround(static_cast<double>(s.duration_ns) * ratio);
        if (ratio > 0) s.collective = 1;
        samples.push_back(s);
      }
    }
  }
  return samples;
}

}  // namespace chopper::test
