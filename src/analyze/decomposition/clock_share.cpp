// SPDX-License-Identifier: Apache-2.0
#include "analyze/decomposition/clock_share.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "analyze/decomposition/bootstrap.h"
#include "analyze/decomposition/pooled_slope.h"

namespace chopper {
namespace {

constexpr double kMhzByCycleNs = 1000;  // cycles a nanosecond are gigahertz
// A smaller difference of clocks leaves m to the noise: 1 % of time over 5 % of clock is 0.2 of m.
constexpr double kLeastClockSpread = 0.05;
// Repetitions of a kernel differ by about this much; taken where there are too few points to see it.
constexpr double kAssumedNoise = 0.01;
constexpr std::size_t kLeastDegrees = 3;
// A share below this is rounding of sums, not a measurement.
constexpr double kSharePrecision = 1e-12;

double as_share(double value) { return std::round(std::clamp(value, 0.0, 1.0) / kSharePrecision) * kSharePrecision; }

// With x = 1 - f_ref / f time is T (1 - (1 - m) x): the slope is 1 - m.
struct GpuPoints {
  std::vector<SlopePoint> points;
  double lowest_clock = 0, highest_clock = 0;
};

std::map<std::int32_t, GpuPoints> points_by_gpu(std::span<const PassPoint> points, double reference_mhz) {
  std::map<std::int32_t, GpuPoints> gpus;
  for (const PassPoint& point : points) {
    if (!(point.cycles > 0) || !(point.duration_ns > 0) || !(point.theory_ns > 0)) continue;
    const double clock_mhz = kMhzByCycleNs * point.cycles / point.duration_ns;
    GpuPoints& gpu = gpus[point.gpu];
    if (gpu.points.empty()) gpu.lowest_clock = gpu.highest_clock = clock_mhz;
    gpu.lowest_clock = std::min(gpu.lowest_clock, clock_mhz);
    gpu.highest_clock = std::max(gpu.highest_clock, clock_mhz);
    gpu.points.push_back({1 - reference_mhz / clock_mhz, point.duration_ns / point.theory_ns});
  }
  for (auto& [gpu, of_gpu] : gpus) {
    std::sort(of_gpu.points.begin(), of_gpu.points.end(),
              [](const SlopePoint& a, const SlopePoint& b) { return a.x != b.x ? a.x < b.x : a.y < b.y; });
  }
  return gpus;
}

}  // namespace

ClockShare fit_clock_share(std::span<const PassPoint> points, double reference_mhz) {
  ClockShare share;
  if (!(reference_mhz > 0)) return share;
  const auto gpus = points_by_gpu(points, reference_mhz);
  SlopeSums sums;
  std::size_t num_points = 0;
  for (const auto& [gpu, of_gpu] : gpus) {
    share.clock_spread = std::max(share.clock_spread, of_gpu.highest_clock / of_gpu.lowest_clock - 1);
    const SlopeGroup group(of_gpu.points);
    for (const SlopePoint& point : of_gpu.points) sums += group.of(point);
    num_points += of_gpu.points.size();
  }
  const double slope = sums.slope();
  if (share.clock_spread < kLeastClockSpread || !(sums.xx > 0) || !std::isfinite(slope)) return share;

  double squares = 0;
  for (const auto& [gpu, of_gpu] : gpus) {
    const SlopeGroup group(of_gpu.points);
    for (const SlopePoint& point : of_gpu.points) squares += std::pow(group.residual(point, slope), 2);
  }
  const std::size_t fitted = gpus.size() + 1;
  const std::size_t degrees = num_points > fitted ? num_points - fitted : 0;
  double noise = degrees > 0 ? std::sqrt(squares / static_cast<double>(degrees)) : 0;
  double stretch = student_quantile(static_cast<double>(degrees));
  if (degrees < kLeastDegrees) {
    noise = std::max(noise, kAssumedNoise);
    stretch = student_quantile(1e9);
  }
  const double margin = stretch * noise / std::sqrt(sums.xx);
  share.value = as_share(1 - slope);
  share.low = as_share(1 - slope - margin);
  share.high = as_share(1 - slope + margin);
  share.source = ClockShareSource::passes;
  return share;
}

}  // namespace chopper
