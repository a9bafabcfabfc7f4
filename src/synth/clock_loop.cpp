// SPDX-License-Identifier: Apache-2.0
#include "synth/clock_loop.h"

#include <algorithm>

#include "synth/random.h"

namespace chopper::synth {

ClockLoop::ClockLoop(const Job& job, std::int64_t rank)
    : job_(job),
      rank_(rank),
      core_mhz_(job.gpu.max_clock_mhz),
      memory_mhz_(job.gpu.memory_clock_mhz),
      filtered_w_(job.physics.idle_w),
      limit_mhz_(job.gpu.max_clock_mhz) {
  silicon_ = silicon_share(job, rank);
}

void ClockLoop::limit(double share) { limit_mhz_ = job_.gpu.max_clock_mhz * std::max(share, 0.05); }

// Dynamic power goes with f V(f)^2, and the voltage falls by about half as much as the clock.
double ClockLoop::power(double core_activity, double memory_activity, double link_activity, double extra_w) const {
  const Physics& p = job_.physics;
  const double x = core_mhz_ / job_.gpu.clock_mhz;
  const double voltage = 0.5 + 0.5 * x;
  const double y = job_.gpu.memory_clock_mhz > 0 ? memory_mhz_ / job_.gpu.memory_clock_mhz : 1.0;
  return p.idle_w + p.core_w * silicon_ * core_activity * x * voltage * voltage + p.memory_w * memory_activity * y +
         p.link_w * link_activity + extra_w;
}

void ClockLoop::tick(double power_w, std::int64_t tick) {
  const Physics& p = job_.physics;
  const double noise = bell(random_bits(job_.seed, Purpose::power_noise, static_cast<std::uint64_t>(rank_),
                                        static_cast<std::uint64_t>(tick)));
  filtered_w_ += p.power_lag * (power_w + p.power_noise_w * noise - filtered_w_);
  const double spare_w = job_.gpu.power_w * p.power_cap_share - filtered_w_;
  core_mhz_ += spare_w * (spare_w > 0 ? p.clock_up_mhz_per_w : p.clock_down_mhz_per_w);
  const double lowest = job_.gpu.max_clock_mhz * p.min_clock_share;
  core_mhz_ = std::clamp(core_mhz_, std::min(lowest, limit_mhz_), limit_mhz_);
  // The memory clock falls with the core clock, down to its floor, a tenth of the way in a millisecond.
  const double range = job_.gpu.max_clock_mhz - lowest;
  const double height = range > 0 ? std::clamp((core_mhz_ - lowest) / range, 0.0, 1.0) : 1.0;
  const double wanted = job_.gpu.memory_clock_mhz * (p.memory_clock_floor + (1 - p.memory_clock_floor) * height);
  memory_mhz_ += 0.1 * (wanted - memory_mhz_);
}

double silicon_share(const Job& job, std::int64_t rank) {
  const double spread = bell(random_bits(job.seed, Purpose::silicon, static_cast<std::uint64_t>(rank)));
  return std::max(0.05, 1 + job.physics.silicon_spread * spread);
}

double xcd_share(const Job& job, std::int64_t rank, std::int64_t xcd) {
  if (job.gpu.num_xccs < 2) return 1.0;
  const auto share = [&](std::int64_t die) {
    const std::uint64_t bits =
        random_bits(job.seed, Purpose::xcd, static_cast<std::uint64_t>(rank), static_cast<std::uint64_t>(die));
    return std::max(0.05, 1 + job.physics.xcd_spread * triangular(bits));
  };
  double sum = 0;
  for (std::int64_t die = 0; die < job.gpu.num_xccs; die++) sum += share(die);
  return share(xcd) * static_cast<double>(job.gpu.num_xccs) / sum;
}

}  // namespace chopper::synth
