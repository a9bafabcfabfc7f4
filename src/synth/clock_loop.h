// SPDX-License-Identifier: Apache-2.0
// The power management of one gpu: once a millisecond it compares the filtered power with the cap and moves the core
// clock, quickly down and slowly up; the memory clock follows.
#pragma once

#include <cstdint>

#include "synth/job.h"

namespace chopper::synth {

class ClockLoop {
 public:
  ClockLoop(const Job& job, std::int64_t rank);

  double core_mhz() const { return core_mhz_ * efficiency_; }
  double memory_mhz() const { return memory_mhz_; }
  /// Power while kernels of these summed activities run, in W.
  double power(double core_activity, double memory_activity, double link_activity, double extra_w) const;
  /// One millisecond at a mean of `power_w`; `tick` counts them.
  void tick(double power_w, std::int64_t tick);
  /// Limits the clock to a share of the highest (a fault); never below a twentieth.
  void limit(double share);
  /// A gpu that reaches only this share of the clock for the same power (a fault).
  void set_efficiency(double share) { efficiency_ = share; }

 private:
  const Job& job_;
  std::int64_t rank_;
  double silicon_ = 1;
  double efficiency_ = 1;
  double core_mhz_ = 0;
  double memory_mhz_ = 0;
  double filtered_w_ = 0;
  double limit_mhz_ = 0;
};

/// Power of the cores of a rank's gpu relative to the usual one.
double silicon_share(const Job& job, std::int64_t rank);

/// Core clock of one accelerator die relative to the gpu's mean.
double xcd_share(const Job& job, std::int64_t rank, std::int64_t xcd);

}  // namespace chopper::synth
