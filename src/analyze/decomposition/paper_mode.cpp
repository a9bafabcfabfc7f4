// SPDX-License-Identifier: Apache-2.0
#include "analyze/decomposition/paper_mode.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace chopper {
namespace {

constexpr double kNsByCycleMhz = 1000;

// One (iteration, micro step, layer): sums of its kernels. A counter that one kernel lacks is lacking.
struct Instance {
  std::int32_t iteration = 0;
  std::int64_t start_ns = 0, end_ns = 0;
  double duration_ns = 0, overlap_ns = 0, theory_ns = 0;
  double flops = 0, executed = 0, busy = 0, capacity = 0, cycles = 0;

  double elapsed_ns() const { return static_cast<double>(end_ns - start_ns); }
  double overlap_ratio() const { return elapsed_ns() > 0 ? std::min(overlap_ns / elapsed_ns(), 1.0) : 0; }
  bool has_counters() const { return is_measured(executed) || is_measured(busy) || is_measured(cycles); }
};

void add(const KernelSample& s, Instance& instance) {
  instance.start_ns = std::min(instance.start_ns, s.start_ns);
  instance.end_ns = std::max(instance.end_ns, s.start_ns + s.duration_ns);
  instance.duration_ns += static_cast<double>(s.duration_ns);
  instance.overlap_ns += static_cast<double>(s.overlap_ns);
  instance.theory_ns += theory_of(s, Bound::compute);
  instance.flops += is_measured(s.flops) ? s.flops : 0;
  instance.executed += s.executed_flops;
  instance.busy += s.matrix_busy_cycles;
  instance.capacity += s.matrix_cycles;
  instance.cycles += s.gpu_cycles;
}

std::vector<Instance> instances_of(std::span<const KernelSample> samples, std::int32_t gpu) {
  std::vector<Instance> instances;
  const KernelSample* last = nullptr;
  const std::vector<KernelSample> usable = usable_samples(samples);
  for (const KernelSample& s : usable) {
    if (s.gpu != gpu) continue;
    if (last == nullptr || !same_instance(*last, s)) {
      instances.emplace_back();
      instances.back().iteration = s.iteration;
      instances.back().start_ns = s.start_ns;
      instances.back().end_ns = s.start_ns;
    }
    last = &s;
    add(s, instances.back());
  }
  return instances;
}

// Of an even number the mean of the two in the middle, as the prototype's; kNotMeasured when a value is.
template <class Value>
double median(std::span<const Instance> instances, Value value) {
  std::vector<double> values;
  for (const Instance& instance : instances) {
    values.push_back(value(instance));
    if (!is_measured(values.back())) return kNotMeasured;
  }
  if (values.empty()) return kNotMeasured;
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

// Position whose 100 (rank + 1) / n is nearest to 50, the first of two.
std::size_t middle_rank(std::size_t count) { return count < 2 ? 0 : count / 2 - 1; }

void set_overlap(std::vector<Instance> instances, PaperDecomposition& result) {
  if (instances.empty()) return;
  std::stable_sort(instances.begin(), instances.end(),
                   [](const Instance& a, const Instance& b) { return a.overlap_ratio() < b.overlap_ratio(); });
  const Instance& first = instances.front();
  const Instance& middle = instances[middle_rank(instances.size())];
  result.first_overlap_ratio = first.overlap_ratio();
  result.middle_overlap_ratio = middle.overlap_ratio();
  double ratio = 1;
  if (middle.overlap_ratio() > 0 && first.elapsed_ns() > 0)
    ratio = std::max(middle.elapsed_ns() / first.elapsed_ns(), 1.0);
  result.factors[Factor::contention] = ratio;
}

void set_factor(Factor factor, double value, Missing none, PaperDecomposition& result) {
  if (std::isfinite(value) && value > 0)
    result.factors[factor] = value;
  else
    result.missing[static_cast<std::size_t>(factor)] = is_measured(value) ? Missing::zero_value : none;
}

}  // namespace

PaperDecomposition decompose_as_paper(std::span<const KernelSample> samples, std::int32_t gpu, double f_peak_mhz) {
  PaperDecomposition result;
  result.missing[static_cast<std::size_t>(Factor::rate)] = Missing::not_in_mode;
  result.missing[static_cast<std::size_t>(Factor::mem_clock)] = Missing::not_in_mode;
  std::vector<Instance> instances = instances_of(samples, gpu);
  const auto has_counters = [](const Instance& instance) { return instance.has_counters(); };
  if (std::any_of(instances.begin(), instances.end(), has_counters)) {
    result.has_counters = true;
    std::erase_if(instances, [](const Instance& instance) { return !instance.has_counters(); });
  }
  result.num_instances = instances.size();
  for (std::size_t i = 0; i < instances.size(); i++)
    if (i == 0 || instances[i].iteration != instances[i - 1].iteration) result.num_iterations++;
  const double theory = median(instances, [](const Instance& i) { return i.theory_ns; });
  const double actual = median(instances, [](const Instance& i) { return i.duration_ns; });
  if (!(theory > 0) || !(actual > 0)) {
    result.missing.fill(Missing::no_theory);
    return result;
  }
  result.d_thr_ns = theory;
  result.d_act_ns = actual;
  const double executed = median(instances, [](const Instance& i) { return i.executed; });
  const double utilisation = median(instances, [](const Instance& i) { return i.busy / i.capacity; });
  const double cycles = median(instances, [](const Instance& i) { return i.cycles; });
  set_factor(Factor::inst, executed / median(instances, [](const Instance& i) { return i.flops; }),
             Missing::no_executed_work, result);
  set_factor(Factor::util, 1 / utilisation, Missing::no_matrix_cycles, result);
  set_overlap(std::move(instances), result);
  const double at_peak = kNsByCycleMhz * cycles / f_peak_mhz;
  set_factor(Factor::freq, actual / at_peak / result.factors[Factor::contention],
             f_peak_mhz > 0 ? Missing::no_gpu_cycles : Missing::no_peak_clock, result);
  result.factors[Factor::remainder] = actual / theory / result.factors.product();
  return result;
}

}  // namespace chopper
