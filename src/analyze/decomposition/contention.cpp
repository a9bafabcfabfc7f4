// SPDX-License-Identifier: Apache-2.0
#include "analyze/decomposition/contention.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

namespace chopper {
namespace {

// An instance of the operation: the kernels of one (gpu, iteration, micro step, layer).
struct Instance {
  std::int32_t gpu = 0, layer = kNone, kind = kNone;
  std::size_t iteration = 0;  // position among the iterations
  double duration_ns = 0, overlap_ns = 0, adjusted_ns = 0;

  double ratio() const { return overlap_ns / duration_ns; }
  SlopePoint point() const { return {ratio(), 1 / adjusted_ns}; }
};

// D(f_peak) / D(f_eff) of a kernel by the model; without its own counters the pass is taken at the peak clock.
double to_peak_clock(const KernelSample& s, double f_peak_mhz, double m) {
  double pass_mhz = f_peak_mhz;
  if (m > 0 && is_measured(s.gpu_cycles) && is_measured(s.pass_duration_ns) && s.gpu_cycles > 0 &&
      s.pass_duration_ns > 0)
    pass_mhz = 1000 * s.gpu_cycles / s.pass_duration_ns;
  return ((1 - m) / f_peak_mhz + m / pass_mhz) / ((1 - m) / s.f_eff_mhz + m / pass_mhz);
}

// The kind that overlaps most of the instance; of equals the smallest.
std::int32_t kind_of(const std::map<std::int32_t, std::int64_t>& overlaps) {
  std::int32_t kind = kNone;
  std::int64_t most = 0;
  for (const auto& [of, overlap] : overlaps) {
    if (overlap <= most) continue;
    kind = of;
    most = overlap;
  }
  return kind;
}

class InstanceReader {
 public:
  InstanceReader(double f_peak_mhz, double m, bool adjust) : f_peak_mhz_(f_peak_mhz), m_(m), adjust_(adjust) {}

  std::vector<Instance> read(std::span<const KernelSample> samples) {
    std::size_t iteration = 0;
    for (std::size_t i = 0; i < samples.size();) {
      if (i > 0 && samples[i].iteration != samples[i - 1].iteration) iteration++;
      std::size_t end = i + 1;
      while (end < samples.size() && same_instance(samples[end], samples[i])) end++;
      add(samples.subspan(i, end - i), iteration);
      i = end;
    }
    return std::move(instances_);
  }

 private:
  void add(std::span<const KernelSample> kernels, std::size_t iteration) {
    Instance instance;
    instance.gpu = kernels[0].gpu;
    instance.layer = kernels[0].layer;
    instance.iteration = iteration;
    std::map<std::int32_t, std::int64_t> overlaps;
    for (const KernelSample& s : kernels) {
      if (adjust_ && !(s.f_eff_mhz > 0)) return;
      const double duration_ns = static_cast<double>(s.duration_ns);
      instance.duration_ns += duration_ns;
      instance.overlap_ns += static_cast<double>(s.overlap_ns);
      instance.adjusted_ns += duration_ns * (adjust_ ? to_peak_clock(s, f_peak_mhz_, m_) : 1);
      if (s.overlap_ns > 0) overlaps[s.collective] += s.overlap_ns;
    }
    instance.kind = kind_of(overlaps);
    if (instance.duration_ns > 0 && instance.adjusted_ns > 0) instances_.push_back(instance);
  }

  double f_peak_mhz_, m_;
  bool adjust_;
  std::vector<Instance> instances_;
};

// Instances of one gpu, layer and kind of collective. Those without any overlap have no kind and are in all groups of
// their gpu and layer, as what the others are compared with.
using Group = std::vector<std::size_t>;
using GroupKey = std::tuple<std::int32_t, std::int32_t, std::int32_t>;  // layer, kind, gpu

std::map<GroupKey, Group> groups_of(std::span<const Instance> instances) {
  std::map<GroupKey, Group> groups;
  for (std::size_t i = 0; i < instances.size(); i++) {
    const Instance& instance = instances[i];
    if (instance.overlap_ns > 0) groups[{instance.layer, instance.kind, instance.gpu}].push_back(i);
  }
  std::map<std::pair<std::int32_t, std::int32_t>, std::vector<Group*>> of_layer;
  for (auto& [key, group] : groups) of_layer[{std::get<0>(key), std::get<2>(key)}].push_back(&group);
  for (std::size_t i = 0; i < instances.size(); i++) {
    if (instances[i].overlap_ns > 0) continue;
    const auto found = of_layer.find({instances[i].layer, instances[i].gpu});
    if (found == of_layer.end()) continue;
    for (Group* group : found->second) group->push_back(i);
  }
  return groups;
}

// Counts instances once, whatever the number of groups they are in.
void count_contrast(std::span<const Instance> instances, const std::map<GroupKey, Group>& groups,
                    ContentionCheck& check) {
  std::vector<bool> low(instances.size()), high(instances.size());
  for (const auto& [key, group] : groups) {
    const auto is_low = [&](std::size_t i) { return instances[i].ratio() < kLowOverlap; };
    const auto is_high = [&](std::size_t i) { return instances[i].ratio() > kHighOverlap; };
    if (std::none_of(group.begin(), group.end(), is_low) || std::none_of(group.begin(), group.end(), is_high)) continue;
    check.num_groups++;
    for (const std::size_t i : group) {
      if (is_low(i)) low[i] = true;
      if (is_high(i)) high[i] = true;
    }
  }
  check.num_low = static_cast<std::size_t>(std::count(low.begin(), low.end(), true));
  check.num_high = static_cast<std::size_t>(std::count(high.begin(), high.end(), true));
  check.identifiable = check.num_low >= kLeastInstances && check.num_high >= kLeastInstances;
}

// Means of gpus against each other, within a layer and kind.
double between_gpus(std::span<const Instance> instances, const std::map<GroupKey, Group>& groups) {
  std::map<std::pair<std::int32_t, std::int32_t>, std::vector<SlopePoint>> means;
  for (const auto& [key, group] : groups) {
    std::vector<SlopePoint> points;
    for (const std::size_t i : group) points.push_back(instances[i].point());
    const SlopeGroup mean(points);
    means[{std::get<0>(key), std::get<1>(key)}].push_back({mean.mean_x, mean.mean_y});
  }
  SlopeSums sums;
  for (const auto& [key, points] : means) {
    const SlopeGroup mean(points);
    for (const SlopePoint& point : points) sums += mean.of(point);
  }
  const double slope = sums.slope();
  return std::isfinite(slope) ? slope : kNotMeasured;
}

}  // namespace

ContentionRegression regress_contention(std::span<const KernelSample> samples, double f_peak_mhz, double m,
                                        bool clocks_known) {
  ContentionRegression regression;
  ContentionCheck& check = regression.check;
  check.clock_adjusted = clocks_known && f_peak_mhz > 0;
  const std::vector<Instance> instances = InstanceReader(f_peak_mhz, m, check.clock_adjusted).read(samples);
  std::size_t num_iterations = 0;
  for (std::size_t i = 0; i < samples.size(); i++)
    if (i == 0 || samples[i].iteration != samples[i - 1].iteration) num_iterations++;
  regression.by_iteration.resize(num_iterations);
  const auto groups = groups_of(instances);
  count_contrast(instances, groups, check);
  SlopeSums total;
  for (const auto& [key, group] : groups) {
    std::vector<SlopePoint> points;
    for (const std::size_t i : group) points.push_back(instances[i].point());
    const SlopeGroup means(points);
    for (std::size_t i = 0; i < group.size(); i++) {
      const SlopeSums sums = means.of(points[i]);
      regression.by_iteration[instances[group[i]].iteration] += sums;
      total += sums;
    }
  }
  // Of n points around their mean the spread is short by the root of (n - 1) / n; resampling sums of deviations, not
  // the points, keeps that.
  double num_points = 0;
  for (const auto& [key, group] : groups) num_points += static_cast<double>(group.size());
  const double size = groups.empty() ? 0 : num_points / static_cast<double>(groups.size());
  if (size > 1) check.group_stretch = std::sqrt(size / (size - 1));
  check.slope = std::isfinite(total.slope()) ? total.slope() : kNotMeasured;
  check.between_gpu_slope = between_gpus(instances, groups);
  return regression;
}

}  // namespace chopper
