// SPDX-License-Identifier: Apache-2.0
#include "analyze/decomposition/roofline.h"

#include <algorithm>

namespace chopper {
namespace {

constexpr double kTeraByGiga = 1e-3;  // FLOP/ns is GFLOP/s, byte/ns is GB/s

struct Work {
  double flops = 0, bytes = 0, duration_ns = 0;
  void add(double more_flops, double more_bytes, const KernelSample& s) {
    if (!is_measured(more_flops) || !is_measured(more_bytes)) return;
    flops += s.weight * more_flops;
    bytes += s.weight * more_bytes;
    duration_ns += s.weight * static_cast<double>(s.duration_ns);
  }
};

double ratio(double above, double below) { return below > 0 ? above / below : kNotMeasured; }

RooflinePoint point_of(const Work& work, const Roofline& roofline) {
  RooflinePoint point;
  point.intensity = ratio(work.flops, work.bytes);
  point.achieved_tflops = ratio(work.flops, work.duration_ns) * kTeraByGiga;
  point.achieved_gbps = ratio(work.bytes, work.duration_ns);
  const double by_memory = point.intensity * roofline.peak_gbps * kTeraByGiga;
  if (is_measured(by_memory) && is_measured(roofline.peak_tflops))
    point.attainable_tflops = std::min(roofline.peak_tflops, by_memory);
  return point;
}

}  // namespace

Roofline roofline_of(std::span<const KernelSample> samples) {
  Work algorithmic, executed;
  double flops = 0, compute_ns = 0, bytes = 0, memory_ns = 0;
  for (const KernelSample& s : usable_samples(samples)) {
    algorithmic.add(s.flops, s.bytes, s);
    executed.add(s.executed_flops, s.executed_bytes, s);
    if (is_measured(s.flops) && is_measured(s.compute_theory_ns)) {
      flops += s.weight * s.flops;
      compute_ns += s.weight * s.compute_theory_ns;
    }
    if (is_measured(s.bytes) && is_measured(s.memory_theory_ns)) {
      bytes += s.weight * s.bytes;
      memory_ns += s.weight * s.memory_theory_ns;
    }
  }
  Roofline roofline;
  roofline.peak_tflops = ratio(flops, compute_ns) * kTeraByGiga;
  roofline.peak_gbps = ratio(bytes, memory_ns);
  roofline.algorithmic = point_of(algorithmic, roofline);
  roofline.executed = point_of(executed, roofline);
  return roofline;
}

}  // namespace chopper
