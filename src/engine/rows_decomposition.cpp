// SPDX-License-Identifier: Apache-2.0
// Rows of metrics and of the decomposition.
#include <algorithm>
#include <array>
#include <cmath>

#include "engine/decompose_run.h"
#include "engine/make_rows.h"

namespace chopper {
namespace {

Reason reason_of(Missing missing) {
  switch (missing) {
    case Missing::none:
    case Missing::not_needed:
      return Reason::not_needed;
    case Missing::no_theory:
      return Reason::no_theory;
    case Missing::no_executed_work:
      return Reason::no_executed_work;
    case Missing::no_matrix_cycles:
      return Reason::no_matrix_cycles;
    case Missing::no_gpu_cycles:
      return Reason::no_gpu_cycles;
    case Missing::no_pass_times:
      return Reason::no_pass_times;
    case Missing::no_peak_clock:
      return Reason::no_peak_clock;
    case Missing::few_matched:
      return Reason::few_matched;
    case Missing::no_clock:
      return Reason::no_clock;
    case Missing::few_clocks:
      return Reason::few_clocks;
    case Missing::no_memory_clock:
      return Reason::no_memory_clock;
    case Missing::unidentifiable:
      return Reason::unidentifiable;
    case Missing::zero_value:
      return Reason::zero_value;
    case Missing::few_iterations:
      return Reason::few_iterations;
    case Missing::few_resamples:
      return Reason::few_resamples;
    case Missing::not_in_mode:
      return Reason::not_in_mode;
  }
  return Reason::not_needed;
}

Field<double> number(double value, Reason reason) {
  return std::isfinite(value) ? Field<double>(value) : Field<double>(reason);
}

// The five columns of one factor.
struct FactorColumns {
  Field<double> DecompositionRow::*value;
  Field<double> DecompositionRow::*low;
  Field<double> DecompositionRow::*high;
  Field<std::string> DecompositionRow::*evidence;
  Field<double> DecompositionRow::*share_ns;
};

// By Factor.
constexpr std::array<FactorColumns, kNumFactors> kFactorColumns = {{
    {&DecompositionRow::inst, &DecompositionRow::inst_low, &DecompositionRow::inst_high,
     &DecompositionRow::inst_evidence, &DecompositionRow::inst_share_ns},
    {&DecompositionRow::util, &DecompositionRow::util_low, &DecompositionRow::util_high,
     &DecompositionRow::util_evidence, &DecompositionRow::util_share_ns},
    {&DecompositionRow::rate, &DecompositionRow::rate_low, &DecompositionRow::rate_high,
     &DecompositionRow::rate_evidence, &DecompositionRow::rate_share_ns},
    {&DecompositionRow::contention, &DecompositionRow::contention_low, &DecompositionRow::contention_high,
     &DecompositionRow::contention_evidence, &DecompositionRow::contention_share_ns},
    {&DecompositionRow::freq, &DecompositionRow::freq_low, &DecompositionRow::freq_high,
     &DecompositionRow::freq_evidence, &DecompositionRow::freq_share_ns},
    {&DecompositionRow::mem_clock, &DecompositionRow::mem_clock_low, &DecompositionRow::mem_clock_high,
     &DecompositionRow::mem_clock_evidence, &DecompositionRow::mem_clock_share_ns},
    {&DecompositionRow::remainder, &DecompositionRow::remainder_low, &DecompositionRow::remainder_high,
     &DecompositionRow::remainder_evidence, &DecompositionRow::remainder_share_ns},
}};

void set_factor(const FactorResult& result, const FactorColumns& columns, DecompositionRow& row) {
  if (!std::isfinite(result.value)) {
    row.*columns.value = reason_of(result.missing);  // the other columns have nothing to be about
    return;
  }
  row.*columns.value = result.value;
  if (result.no_interval != Missing::not_in_mode) {
    row.*columns.low = number(result.low, reason_of(result.no_interval));
    row.*columns.high = number(result.high, reason_of(result.no_interval));
  }
  row.*columns.evidence = std::string(name_of(result.evidence));
  row.*columns.share_ns = number(result.share_ns, Reason::zero_length);
}

void set_roofline(const Roofline& roofline, DecompositionRow& row) {
  row.intensity = number(roofline.algorithmic.intensity, Reason::no_shapes);
  row.attainable_tflops = number(roofline.algorithmic.attainable_tflops, Reason::no_shapes);
  row.achieved_tflops = number(roofline.algorithmic.achieved_tflops, Reason::no_shapes);
  row.achieved_gbps = number(roofline.algorithmic.achieved_gbps, Reason::no_shapes);
}

void set_clock_share(const Decomposition& d, DecompositionRow& row) {
  const FactorResult& freq = d[Factor::freq];
  const FactorResult& contention = d[Factor::contention];
  if (d.m.source == ClockShareSource::unknown) {
    row.m = Reason::few_clocks;
  } else {
    row.m = number(d.m.value, Reason::few_clocks);
  }
  row.m_low = number(d.m.low, Reason::few_clocks);
  row.m_high = number(d.m.high, Reason::few_clocks);
  const auto set_range = [](const FactorResult& factor, Field<double>& low, Field<double>& high) {
    if (!std::isfinite(factor.m_low) || !std::isfinite(factor.m_high)) return;
    low = factor.m_low;
    high = factor.m_high;
  };
  set_range(freq, row.freq_m_low, row.freq_m_high);
  set_range(contention, row.contention_m_low, row.contention_m_high);
  if (is_measured(freq.value) && is_measured(contention.value))
    row.freq_contention_ranked = d.ranks_freq_and_contention;
}

// One measured iteration that stands for all has no spread: what rests on counters has no interval.
void drop_intervals(DecompositionRow& row) {
  for (const FactorColumns& columns : kFactorColumns) {
    const Field<std::string>& evidence = row.*columns.evidence;
    if (!evidence.present() || evidence.value() == name_of(Evidence::regression)) continue;
    row.*columns.low = row.*columns.high = Reason::few_iterations;
  }
}

std::string theory_source_of(const DecomposedOperation& operation) {
  return operation.by_shapes && operation.by_model ? "mixed" : operation.by_model ? "model" : "shapes";
}

DecompositionRow measured_row(const OperationName& name, const DecomposedOperation& operation) {
  const Decomposition& d = operation.measured;
  DecompositionRow row;
  row.phase = to_string(name.first);
  row.operation = name.second;
  row.mode = "measured";
  row.bound = std::string(to_string(d.bound));
  row.num_instances = operation.num_instances;
  row.theory_source = theory_source_of(operation);
  row.num_iterations = static_cast<std::int64_t>(d.num_iterations);
  row.d_thr_ns = number(d.d_thr_ns, Reason::no_theory);
  row.d_act_ns = static_cast<std::int64_t>(std::llround(d.d_act_ns));
  row.measured_time_share = number(d.counters_share, Reason::zero_length);
  row.overlap_ratio = number(d.sums[Sum::overlap] / d.sums[Sum::duration], Reason::zero_length);
  row.without_theory_ns = static_cast<std::int64_t>(std::llround(d.duration_without_theory_ns));
  for (std::size_t f = 0; f < kNumFactors; f++) set_factor(d.factors[f], kFactorColumns[f], row);
  set_clock_share(d, row);
  row.regression_contention = number(d.check.contention, Reason::unidentifiable);
  if (row.regression_contention.present()) {
    row.regression_low = number(d.check.contention_low, Reason::few_iterations);
    row.regression_high = number(d.check.contention_high, Reason::few_iterations);
  }
  set_roofline(operation.roofline, row);
  return row;
}

DecompositionRow paper_row(const OperationName& name, const DecomposedOperation& operation) {
  const PaperDecomposition& d = operation.paper;
  DecompositionRow row;
  row.phase = to_string(name.first);
  row.operation = name.second;
  row.mode = "paper";
  row.bound = std::string(to_string(Bound::compute));
  row.num_instances = static_cast<std::int64_t>(d.num_instances);
  row.num_iterations = static_cast<std::int64_t>(d.num_iterations);
  row.theory_source = theory_source_of(operation);
  row.d_thr_ns = number(d.d_thr_ns, Reason::no_theory);
  row.d_act_ns = static_cast<std::int64_t>(std::llround(d.d_act_ns));
  for (std::size_t f = 0; f < kNumFactors; f++) {
    FactorResult result;
    result.value = d.factors.values[f];
    result.evidence = Evidence::medians;
    result.missing = d.missing[f];
    result.no_interval = Missing::not_in_mode;
    set_factor(result, kFactorColumns[f], row);
    row.*kFactorColumns[f].share_ns = Field<double>();
  }
  return row;
}

// Which files the values are from.
void set_passes(const MetricSum& sum, MetricRow& row) {
  row.pass = static_cast<std::int64_t>(sum.pass);
  row.evidence = std::string(sum.passes.size() > 1 ? "several_passes" : "one_pass");
  std::string others;
  for (const std::size_t pass : sum.passes) {
    if (pass != sum.pass) others += (others.empty() ? "" : " ") + std::to_string(pass);
  }
  if (!others.empty()) row.other_passes = others;
}

// Why no kernel of an operation has a value; `sum`: nullptr where no dispatch is one of its kernels.
void set_reason(const GpuCounters& counters, std::size_t metric, const MetricSum* sum, MetricRow& row) {
  row.value = Reason::needs_counter;
  if (const auto missing = counters.missing.find(metric); missing != counters.missing.end()) {
    row.needs = missing->second;
  } else if (sum != nullptr && sum->why) {
    if (sum->why->kind == Unavailable::Kind::zero_denominator) row.value = Reason::zero_value;
    row.needs = sum->why->text;
  } else {
    row.value = Reason::few_matched;
    row.needs = std::string("needs a dispatch that is matched with a kernel of the operation");
  }
}

}  // namespace

void add_decomposition_rows(const DecomposedJob& job, const Field<std::int64_t>& number, Answer& answer) {
  for (const auto& [name, operation] : job.operations) {
    DecompositionRow measured = measured_row(name, operation);
    measured.job = number;
    measured.num_gpus = static_cast<std::int64_t>(job.num_gpus);
    measured.num_gpus_with_counters = static_cast<std::int64_t>(job.num_gpus_with_counters);
    if (job.num_measured_iterations < 2) drop_intervals(measured);
    answer.decomposition.push_back(std::move(measured));
    if (!operation.paper.has_counters || operation.paper.d_thr_ns <= 0) continue;
    DecompositionRow paper = paper_row(name, operation);
    paper.job = number;
    answer.decomposition.push_back(std::move(paper));
  }
}

void add_metric_rows(const std::vector<InputSummary>& inputs, const GpuCounters& counters, const RunOptions& options,
                     Answer& answer) {
  const InputSummary& input = inputs[counters.input];
  const GpuSummary& gpu = input.gpus[counters.gpu];
  const ComputeKernels& kernels = *gpu.compute_kernels;
  const MetricSet& set = *counters.set;
  std::map<std::pair<Phase, StringId>, std::int64_t> duration_ns;
  for (std::size_t i = 0; i < num_rows(kernels.table); i++) {
    if (kernels.table.selected[i] == 0 || kernels.table.complete[i] == 0) continue;
    duration_ns[{kernels.table.phase[i], kernels.table.operation[i]}] += kernels.table.duration_ns[i];
  }
  const auto is_wanted = [&](const std::string& id) {
    return options.metrics.empty() ||
           std::find(options.metrics.begin(), options.metrics.end(), id) != options.metrics.end();
  };
  const auto row_of = [&](const std::pair<Phase, StringId>& operation, std::size_t metric) {
    MetricRow row;
    row.input = static_cast<std::int64_t>(counters.input);
    row.rank = rank_field(input);
    row.gpu = gpu_field(gpu.device);
    row.phase = to_string(operation.first);
    row.operation =
        operation.second == kNoString ? std::string("unlabelled") : std::string(kernels.strings.view(operation.second));
    row.metric = set.metrics()[metric].id;
    row.unit = set.metrics()[metric].unit;
    return row;
  };
  for (const auto& [operation, sums] : counters.metrics) {
    for (std::size_t metric = 0; metric < sums.size(); metric++) {
      const MetricSum& sum = sums[metric];
      const MetricSet::Metric& about = set.metrics()[metric];
      if (sum.num_kernels == 0 || !is_wanted(about.id)) continue;
      MetricRow row = row_of(operation, metric);
      double value = sum.maximum;
      if (about.roll_up == RollUp::sum) value = sum.numerator / about.scale;
      if (about.roll_up == RollUp::ratio_of_sums) value = sum.numerator / sum.denominator / about.scale;
      row.value = number(value, Reason::zero_value);
      row.num_kernels = sum.num_kernels;
      row.measured_time_share = share_field(sum.duration_ns, duration_ns[operation], Reason::zero_length);
      set_passes(sum, row);
      if (!sum.computed_by.empty()) row.computed_by = sum.computed_by;
      answer.metrics.push_back(std::move(row));
    }
  }
  if (options.metrics.empty()) return;
  // What was asked for and has no value says why.
  for (std::size_t metric = 0; metric < set.metrics().size(); metric++) {
    if (!is_wanted(set.metrics()[metric].id)) continue;
    for (const auto& [operation, ns] : duration_ns) {
      const auto sums = counters.metrics.find(operation);
      const MetricSum* sum = sums == counters.metrics.end() ? nullptr : &sums->second[metric];
      if (sum != nullptr && sum->num_kernels > 0) continue;
      MetricRow row = row_of(operation, metric);
      set_reason(counters, metric, sum, row);
      answer.metrics.push_back(std::move(row));
    }
  }
}

}  // namespace chopper
