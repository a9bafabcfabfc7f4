// SPDX-License-Identifier: Apache-2.0
#include "analyze/decomposition/decompose.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <tuple>
#include <utility>
#include <vector>

#include "analyze/decomposition/bootstrap.h"
#include "analyze/decomposition/factor_order.h"

namespace chopper {
namespace {

// Spec 8: what covers less than half of the time is not shown.
constexpr double kLeastShare = 0.5;
// Steps over the range of m: all values are monotone in m where all clocks are known, and nearly so else.
constexpr int kStepsOfM = 16;
// A change by m below this is none: rounding of clocks to whole megahertz is more.
constexpr double kNoChange = 1e-3;

constexpr std::array<Factor, kNumFactors> kFactors = {
    Factor::inst, Factor::util, Factor::rate, Factor::contention, Factor::freq, Factor::mem_clock, Factor::remainder};

std::size_t index_of(Factor factor) { return static_cast<std::size_t>(factor); }

double share_of(const Sums& sums, Sum part) { return sums[Sum::duration] > 0 ? sums[part] / sums[Sum::duration] : 0; }

double clocked_share(std::span<const KernelSample> samples) {
  double known = 0, total = 0;
  for (const KernelSample& s : samples) {
    const double duration = s.weight * static_cast<double>(s.duration_ns);
    total += duration;
    if (s.f_eff_mhz > 0) known += duration;
  }
  return total > 0 ? known / total : 0;
}

// Of the counters that were collected, the one that covers least; 0 without any.
double least_counters_share(const Sums& sums, Bound bound) {
  double least = 0;
  for (const Sum part : {Sum::executed_duration, Sum::matrix_duration, Sum::cycles_duration}) {
    const double share = share_of(sums, part);
    if (share > 0 && !(part == Sum::matrix_duration && bound == Bound::memory))
      least = least > 0 ? std::min(least, share) : share;
  }
  return least;
}

// Sums of each iteration, in order, with those of the regression.
std::vector<Sums> iteration_sums(std::span<const KernelSample> samples, Bound bound,
                                 const ContentionRegression& regression) {
  std::vector<Sums> iterations;
  for (std::size_t i = 0; i < samples.size(); i++) {
    if (i == 0 || samples[i].iteration != samples[i - 1].iteration) iterations.emplace_back();
    add_sample(samples[i], bound, iterations.back());
  }
  for (std::size_t i = 0; i < iterations.size(); i++) {
    iterations[i][Sum::slope_xy] = regression.by_iteration[i].xy;
    iterations[i][Sum::slope_xx] = regression.by_iteration[i].xx;
    iterations[i][Sum::slope_rxy] = regression.by_iteration[i].xxy;
  }
  return iterations;
}

FactorRules rules_of(const Sums& sums, Bound bound, const DecompositionSettings& settings, bool identifiable) {
  FactorRules rules;
  rules.bound = bound;
  rules.f_peak_mhz = settings.f_peak_mhz;
  rules.m = settings.m.value;
  rules.use_executed = share_of(sums, Sum::executed_duration) >= kLeastShare;
  rules.use_matrix = share_of(sums, Sum::matrix_duration) >= kLeastShare;
  rules.use_cycles = share_of(sums, Sum::cycles_duration) >= kLeastShare;
  rules.use_clock = settings.clock_source != ClockSource::none && share_of(sums, Sum::clock_duration) >= kLeastShare;
  rules.use_memory_clock = share_of(sums, Sum::memory_duration) >= kLeastShare;
  rules.use_regression = identifiable;
  return rules;
}

// Of a counter that is there for part of the time, the reason is the part; else that it is not there.
Missing why(const Sums& sums, Sum duration, Missing none, Missing few) {
  const double share = share_of(sums, duration);
  return share > 0 ? (share < kLeastShare ? few : Missing::zero_value) : none;
}

Missing why_no_executed(const Sums& sums) {
  return why(sums, Sum::executed_duration, Missing::no_executed_work, Missing::few_matched);
}

Missing why_no_alone(const Sums& sums, const FactorRules& rules) {
  if (!rules.use_cycles) return why(sums, Sum::cycles_duration, Missing::no_gpu_cycles, Missing::few_matched);
  if (!(rules.f_peak_mhz > 0)) return Missing::no_peak_clock;
  if (rules.m > 0 && !(sums[Sum::pass_theory] > 0)) return Missing::no_pass_times;
  return Missing::zero_value;
}

bool has_alone(const Sums& sums, const FactorRules& rules) {
  return rules.use_cycles && alone_times(sums, rules.f_peak_mhz, rules.m).at_peak_ns > 0;
}

Missing why_no_freq(const Sums& sums, const FactorRules& rules, ClockSource source) {
  if (!has_alone(sums, rules)) return why_no_alone(sums, rules);
  if (source == ClockSource::none) return Missing::no_clock;
  return why(sums, Sum::clock_duration, Missing::no_clock, Missing::few_clocks);
}

Missing why_absent(Factor factor, const Decomposition& result, const FactorValues& values, ClockSource source) {
  const Sums& sums = result.sums;
  const FactorRules& rules = result.rules;
  if (!(sums[Sum::theory] > 0)) return Missing::no_theory;
  switch (factor) {
    case Factor::inst:
      return why_no_executed(sums);
    case Factor::util:
      if (rules.bound == Bound::compute)
        return why(sums, Sum::matrix_duration, Missing::no_matrix_cycles, Missing::few_matched);
      return values.has(Factor::inst) ? why_no_alone(sums, rules) : why_no_executed(sums);
    case Factor::rate:
      if (!values.has(Factor::inst)) return why_no_executed(sums);
      if (!values.has(Factor::util)) return why_absent(Factor::util, result, values, source);
      return why_no_alone(sums, rules);
    case Factor::contention: {
      const Missing freq = why_no_freq(sums, rules, source);
      return freq == Missing::no_clock || freq == Missing::few_clocks ? Missing::unidentifiable : freq;
    }
    case Factor::freq:
      return why_no_freq(sums, rules, source);
    case Factor::mem_clock: {
      if (!values.has(Factor::freq)) return why_no_freq(sums, rules, source);
      return why(sums, Sum::memory_duration, Missing::no_memory_clock, Missing::few_clocks);
    }
    case Factor::remainder:
      return Missing::not_needed;
  }
  return Missing::none;
}

Evidence clock_evidence(ClockSource source) {
  switch (source) {
    case ClockSource::none:
      return Evidence::absent;
    case ClockSource::clock_counter:
      return Evidence::clock_counter;
    case ClockSource::telemetry:
      return Evidence::telemetry;
    case ClockSource::window_mean:
      return Evidence::window_mean;
    case ClockSource::fact:
      return Evidence::fact;
  }
  return Evidence::absent;
}

bool depends_on_m(const FactorResult& factor) {
  return !is_measured(factor.m_low) || factor.m_high - factor.m_low > kNoChange * factor.value;
}

Evidence evidence_of(Factor factor, const Decomposition& result, const FactorValues& values, ClockSource source) {
  switch (factor) {
    case Factor::inst:
      return Evidence::counters;
    case Factor::rate:
      if (result.bound == Bound::memory) return Evidence::definition;
      [[fallthrough]];
    case Factor::util: {
      const bool needs_m = factor == Factor::rate || result.bound == Bound::memory;
      return needs_m && result.m.source == ClockShareSource::unknown && depends_on_m(result[factor])
                 ? Evidence::bound_by_m
                 : Evidence::counters;
    }
    case Factor::contention:
      if (!values.has(Factor::freq)) return Evidence::regression;
      [[fallthrough]];
    case Factor::freq:
    case Factor::mem_clock:
      return result.m.source == ClockShareSource::unknown && depends_on_m(result[factor]) ? Evidence::bound_by_m
                                                                                          : clock_evidence(source);
    case Factor::remainder:
      return Evidence::remainder;
  }
  return Evidence::absent;
}

// Values at the ends of the range of m, and whether contention and freq keep their order between.
void add_ranges(Decomposition& result, const FactorValues& values) {
  for (const Factor f : kFactors) result.factors[index_of(f)].m_low = result.factors[index_of(f)].m_high = values[f];
  bool is_known = true;
  for (int step = 0; step <= kStepsOfM; step++) {
    FactorRules rules = result.rules;
    rules.m = result.m.low + (result.m.high - result.m.low) * step / kStepsOfM;
    const FactorValues at = factors_of(result.sums, rules);
    for (const Factor f : kFactors) {
      if (!values.has(f)) continue;
      if (!at.has(f)) is_known = false;
      FactorResult& factor = result.factors[index_of(f)];
      factor.m_low = std::min(factor.m_low, at[f]);
      factor.m_high = std::max(factor.m_high, at[f]);
    }
  }
  result.ranks_freq_and_contention =
      values.has(Factor::freq) && values.has(Factor::contention) &&
      keeps_order_of_freq_and_contention(result.sums, result.rules, result.m.low, result.m.high);
  if (is_known) return;
  // Passes without times leave everything that rests on D_alone open on one side.
  for (const Factor f : kFactors) {
    const bool free_of_m = f == Factor::inst || (f == Factor::util && result.bound == Bound::compute);
    if (!free_of_m) result.factors[index_of(f)].m_low = result.factors[index_of(f)].m_high = kNotMeasured;
  }
}

// How many iterations have what the factor rests on.
class IterationCounts {
 public:
  explicit IterationCounts(std::span<const Sums> iterations) : iterations_(iterations) {}

  std::size_t of(Factor factor, const Decomposition& result, const FactorValues& values) const {
    const bool memory = result.bound == Bound::memory;
    switch (factor) {
      case Factor::inst:
        return least({Sum::executed_duration});
      case Factor::util:
        return memory ? least({Sum::executed_duration, Sum::cycles_duration}) : least({Sum::matrix_duration});
      case Factor::rate:
        return least({Sum::executed_duration, Sum::matrix_duration, Sum::cycles_duration});
      case Factor::contention:
        if (!values.has(Factor::freq)) return iterations_.size();
        [[fallthrough]];
      case Factor::freq:
      case Factor::mem_clock:
        return least({Sum::cycles_duration, Sum::clock_duration});
      case Factor::remainder:
        break;
    }
    std::size_t count = iterations_.size();
    for (const Factor f : kFactors)
      if (f != Factor::remainder && values.has(f) && !(f == Factor::rate && memory))
        count = std::min(count, of(f, result, values));
    return count;
  }

 private:
  std::size_t least(std::initializer_list<Sum> sums) const {
    std::size_t count = iterations_.size();
    for (const Sum sum : sums) {
      count = std::min(count, static_cast<std::size_t>(std::count_if(iterations_.begin(), iterations_.end(),
                                                                     [&](const Sums& s) { return s[sum] > 0; })));
    }
    return count;
  }

  std::span<const Sums> iterations_;
};

// The uncertainty of a fitted m is independent of that of the sums: they add up in squares.
void set_interval(FactorResult& factor, double margin, bool fitted_m) {
  double below = margin, above = margin;
  if (fitted_m && is_measured(factor.m_low)) {
    below = std::hypot(margin, std::log(factor.value / factor.m_low));
    above = std::hypot(margin, std::log(factor.m_high / factor.value));
  }
  factor.low = factor.value * std::exp(-below);
  factor.high = factor.value * std::exp(above);
}

void set_check_intervals(const BootstrapSpread& spread, std::size_t num_iterations, const Sums& sums,
                         ContentionCheck& check) {
  const double stretch = interval_stretch(num_iterations, block_length_of(num_iterations));
  if (!check.identifiable || !(stretch > 0) || !is_measured(spread.slope_error)) return;
  const double margin = stretch * check.group_stretch * spread.slope_error;
  check.slope_low = check.slope - margin;
  check.slope_high = check.slope + margin;
  const double ratio = sums[Sum::overlap] / sums[Sum::duration];
  check.contention_low = 1 / (1 - check.slope_low * ratio);
  if (check.slope_high * ratio < 1) check.contention_high = 1 / (1 - check.slope_high * ratio);
}

void add_intervals(std::span<const Sums> iterations, const DecompositionSettings& settings, const FactorValues& values,
                   Decomposition& result) {
  if (settings.num_resamples == 0) return;
  const BootstrapSpread spread = bootstrap(iterations, result.rules, settings.num_resamples, settings.key);
  const std::size_t block_length = block_length_of(iterations.size());
  const IterationCounts counts(iterations);
  for (const Factor f : kFactors) {
    FactorResult& factor = result.factors[index_of(f)];
    if (!values.has(f)) continue;
    if (factor.evidence == Evidence::definition) {
      factor.low = factor.high = factor.value;
      continue;
    }
    const double stretch = interval_stretch(counts.of(f, result, values), block_length);
    const bool regressed = !values.has(Factor::freq) && (f == Factor::contention || f == Factor::remainder);
    const double error = spread.log_error[index_of(f)] * (regressed ? result.check.group_stretch : 1);
    if (!(stretch > 0)) {
      factor.no_interval = Missing::few_iterations;
    } else if (!is_measured(error)) {
      factor.no_interval = Missing::few_resamples;
    } else {
      set_interval(factor, stretch * error, result.m.source == ClockShareSource::passes);
    }
  }
  set_check_intervals(spread, iterations.size(), result.sums, result.check);
}

void count_samples(std::span<const KernelSample> all, std::span<const KernelSample> usable, Decomposition& result) {
  result.num_samples = usable.size();
  result.num_without_theory = all.size() - usable.size();
  std::int64_t without_ns = 0;
  for (const KernelSample& s : all)
    if (!has_theory(s)) without_ns += s.duration_ns;
  result.duration_without_theory_ns = static_cast<double>(without_ns);
  for (std::size_t i = 0; i < usable.size(); i++) {
    const KernelSample& s = usable[i];
    if (has_counters(s)) result.num_with_counters++;
    const bool first = i == 0 || usable[i - 1].iteration != s.iteration;
    if (first) result.num_iterations++;
    if (i == 0 || !same_instance(usable[i - 1], s)) result.num_instances++;
  }
}

}  // namespace

Decomposition decompose(std::span<const KernelSample> all, const DecompositionSettings& settings) {
  const std::vector<KernelSample> samples = usable_samples(all);
  Decomposition result;
  result.bound = bound_of(samples);
  result.m = settings.m;
  count_samples(all, samples, result);

  const bool clocks_known = settings.clock_source != ClockSource::none && clocked_share(samples) >= kLeastShare;
  ContentionRegression regression = regress_contention(samples, settings.f_peak_mhz, settings.m.value, clocks_known);
  result.check = regression.check;
  const std::vector<Sums> iterations = iteration_sums(samples, result.bound, regression);
  for (const Sums& sums : iterations) result.sums += sums;
  result.d_thr_ns = result.sums[Sum::theory];
  result.d_act_ns = result.sums[Sum::duration];
  result.counters_share = least_counters_share(result.sums, result.bound);
  result.clock_share = share_of(result.sums, Sum::clock_duration);
  if (result.check.identifiable) result.check.contention = regressed_contention(result.sums);

  result.rules = rules_of(result.sums, result.bound, settings, result.check.identifiable);
  const FactorValues values = factors_of(result.sums, result.rules);
  add_ranges(result, values);
  const auto shares = settings.sequential_shares ? sequential_shares(result.d_thr_ns, values)
                                                 : additive_shares(result.d_thr_ns, result.d_act_ns, values);
  for (const Factor f : kFactors) {
    FactorResult& factor = result.factors[index_of(f)];
    factor.value = values[f];
    factor.share_ns = shares[index_of(f)];
    if (values.has(f))
      factor.evidence = evidence_of(f, result, values, settings.clock_source);
    else
      factor.missing = why_absent(f, result, values, settings.clock_source);
  }
  result.split_refused = result.d_thr_ns > 0 && !values.has(Factor::freq) && !values.has(Factor::contention);
  add_intervals(iterations, settings, values, result);
  return result;
}

}  // namespace chopper
