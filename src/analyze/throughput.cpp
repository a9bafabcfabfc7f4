// SPDX-License-Identifier: Apache-2.0
#include "analyze/throughput.h"

#include <algorithm>

#include "analyze/model_work.h"
#include "base/wrapping.h"

namespace chopper {
namespace {

double real(std::int64_t value) { return static_cast<double>(value); }

// Products beyond this are no numbers of tokens or ranks, and a double no longer holds them exactly.
constexpr double kLargestCount = 9e15;

// The median over the steps that count: of an even number the lower of the two in the middle.
void set_step_time(std::span<const StepRow> steps, ThroughputRow& row) {
  std::vector<std::int64_t> lengths;
  for (const StepRow& step : steps) {
    if (counts_as_step(step.complete, step.last, step.step_ns)) lengths.push_back(step.step_ns);
  }
  std::sort(lengths.begin(), lengths.end());
  row.num_steps = static_cast<std::int64_t>(lengths.size());
  row.step_time_ns = lengths.empty() ? Field<std::int64_t>(Reason::no_complete_iteration)
                                     : Field<std::int64_t>(lengths[(lengths.size() - 1) / 2]);
}

// How the gpus of the job share the work.
struct Job {
  std::optional<double> num_gpus, data_parallel;
};

Job job_of(const ThroughputInputs& inputs) {
  const RunFacts& facts = inputs.facts;
  const double others = real(facts.tensor_parallel.value_or(1)) * real(facts.pipeline_parallel.value_or(1)) *
                        real(facts.context_parallel.value_or(1));
  if (facts.data_parallel) return {others * real(*facts.data_parallel), real(*facts.data_parallel)};
  const double gpus = real(inputs.world_size.value_or(inputs.num_gpus));
  const double groups = gpus / others;
  if (groups < 1 || groups != real(static_cast<std::int64_t>(groups))) return {gpus, std::nullopt};
  return {gpus, groups};
}

// Sequences all ranks together read in one step.
std::optional<double> sequences_of(const ThroughputInputs& inputs, const Job& job) {
  const auto micro_steps = inputs.facts.micro_steps ? inputs.facts.micro_steps : inputs.micro_steps;
  if (!inputs.facts.batch || !micro_steps || !job.data_parallel) return std::nullopt;
  return real(*inputs.facts.batch) * real(*micro_steps) * *job.data_parallel;
}

Field<std::int64_t> tokens_of(const RunFacts& facts, std::optional<double> sequences) {
  if (!sequences || !facts.sequence) return Reason::no_batch;
  const double tokens = *sequences * real(*facts.sequence);
  return tokens < kLargestCount ? Field<std::int64_t>(static_cast<std::int64_t>(tokens))
                                : Field<std::int64_t>(Reason::no_batch);
}

// The mean over the steps that step_time_ns is the median of; 0 when there are none.
double mean_step_ns(std::span<const StepRow> steps) {
  double sum = 0, num = 0;
  for (const StepRow& step : steps) {
    if (!counts_as_step(step.complete, step.last, step.step_ns)) continue;
    sum += real(step.step_ns);
    num++;
  }
  return num > 0 ? sum / num : 0;
}

// FLOPs of a step on `num_gpus`, or why they are not known, and the time they take.
struct StepFlops {
  Field<double> model, hardware;
  double num_gpus = 0, step_ns = 0;
};

Field<double> utilisation(const Field<double>& flops, const StepFlops& step, const ThroughputRow& row) {
  if (!row.step_time_ns.present()) return row.step_time_ns.reason();
  if (!flops.present()) return flops.reason();
  if (!row.peak_tflops.present()) return row.peak_tflops.reason();
  // FLOP / (ns x TFLOP/s) = 1e-3.
  return flops.value() * 1e-3 / (step.step_ns * row.peak_tflops.value() * step.num_gpus);
}

void set_utilisation(const StepFlops& step, ThroughputRow& row) {
  row.flops_per_step = step.model;
  row.mfu = utilisation(step.model, step, row);
  row.hfu = utilisation(step.hardware, step, row);
}

// Less known work than this is no base for the FLOPs of a step.
constexpr double kLeastKnown = 0.95;

// Sums over the gpus whose shapes were recorded, one mean step each.
struct ShapeSums {
  double total = 0, forward = 0, recompute = 0, num_gpus = 0;
  double product_ns = 0, known_ns = 0, repeated_ns = 0;
  bool tell_a_step() const { return num_gpus > 0 && known_ns >= kLeastKnown * product_ns; }
};

ShapeSums shape_sums(std::span<const GpuFlops> gpus) {
  ShapeSums sums;
  for (const GpuFlops& gpu : gpus) {
    if (!gpu.has_shapes || gpu.num_iterations <= 0) continue;
    const double num = real(gpu.num_iterations);
    sums.total += gpu.sum.total / num;
    sums.forward += gpu.sum.forward / num;
    sums.recompute += gpu.sum.recompute / num;
    sums.product_ns += real(gpu.sum.product_ns) / num;
    sums.known_ns += real(gpu.sum.known_ns) / num;
    sums.repeated_ns += real(gpu.sum.repeated_ns) / num;
    sums.num_gpus++;
  }
  return sums;
}

// Steps may do other work: mean FLOPs over the mean time of the same steps are the ratio of their sums, which is never
// above the rate of the kernels. Mean FLOPs over the median time can be.
StepFlops by_shapes(const ShapeSums& sums, std::span<const StepRow> steps) {
  if (!sums.tell_a_step()) return {Reason::no_shapes, Reason::no_shapes};
  return {sums.total - sums.recompute, sums.total, sums.num_gpus, mean_step_ns(steps)};
}

// Share of the forward pass that is computed again; known from shapes alone, unless there is none.
std::optional<double> recomputed_share(const ShapeSums& sums) {
  if (!(sums.num_gpus > 0) || !(sums.forward > 0)) return std::nullopt;
  if (!sums.tell_a_step()) return sums.repeated_ns > 0 ? std::nullopt : std::optional(0.0);
  return sums.recompute / sums.forward;
}

// `forward`: what of `model` a full recomputation would repeat; `more`: what is always computed twice.
struct OfSequence {
  double model = 0, forward = 0, more = 0;
};

StepFlops by_model(const std::optional<OfSequence>& one, std::optional<double> sequences, const Job& job,
                   std::optional<double> recomputed, const Field<std::int64_t>& step_time_ns) {
  if (!one) return {Reason::no_model, Reason::no_model};
  if (!sequences) return {Reason::no_batch, Reason::no_batch};
  StepFlops flops{*sequences * one->model, Reason::no_shapes, job.num_gpus.value_or(1), real(step_time_ns.value())};
  if (recomputed) flops.hardware = *sequences * (one->model + one->more + *recomputed * one->forward);
  return flops;
}

std::optional<double> head_dim_of(const RunFacts& facts) {
  const auto width = head_width(facts);
  return width ? std::optional(real(*width)) : std::nullopt;
}

}  // namespace

std::set<std::int64_t> flops_steps(std::span<const StepRow> steps) {
  std::set<std::int64_t> counted, complete, all;
  for (const StepRow& step : steps) {
    if (counts_as_step(step.complete, step.last, step.step_ns)) counted.insert(step.key);
    if (step.complete) complete.insert(step.key);
    all.insert(step.key);
  }
  return !counted.empty() ? counted : !complete.empty() ? complete : all;
}

std::optional<std::int64_t> micro_steps_of(std::span<const InputSummary* const> inputs) {
  std::optional<std::int64_t> count;
  for (const InputSummary* input : inputs) {
    for (const GpuSummary& gpu : input->gpus) {
      for (const WindowSummary& window : gpu.windows) {
        const TimelineRow& row = window.row;
        if (row.scope != "iteration" || !(row.complete == true) || !row.micro_steps.present()) continue;
        if (row.window_ns.value() == 0) continue;  // no gpu work, no pass
        if (row.micro_steps.value() < 1 || (count && *count != row.micro_steps.value())) return std::nullopt;
        count = row.micro_steps.value();
      }
    }
  }
  return count;
}

std::optional<SequenceFlops> causal_flops(const RunFacts& facts) {
  const auto head_dim = head_dim_of(facts);
  if (!facts.layers || !facts.hidden || !facts.feed_forward || !facts.heads || !facts.vocabulary || !facts.sequence ||
      !head_dim)
    return std::nullopt;
  const double h = real(*facts.hidden), s = real(*facts.sequence);
  const double queries = real(*facts.heads) * *head_dim;
  const double keys = real(facts.kv_heads.value_or(*facts.heads)) * *head_dim;
  const double layer = h * (2 * queries + 2 * keys + 3 * real(*facts.feed_forward));
  const double products = 2 * s * (real(*facts.layers) * layer + h * real(*facts.vocabulary));
  const double attention = 2 * queries * s * s * real(*facts.layers);  // half of 4 H s^2 d
  const double forward = products + attention;
  return SequenceFlops{forward, 2 * forward, attention / 2};
}

std::optional<double> palm_flops(const RunFacts& facts) {
  const auto head_dim = head_dim_of(facts);
  if (!facts.parameters || !facts.layers || !facts.heads || !facts.sequence || !head_dim) return std::nullopt;
  const double s = real(*facts.sequence);
  return s * (6 * real(*facts.parameters) + 12 * real(*facts.layers) * real(*facts.heads) * *head_dim * s);
}

std::vector<ThroughputRow> throughput(const ThroughputInputs& inputs) {
  if (inputs.steps.empty()) return {};
  ThroughputRow row;
  set_step_time(inputs.steps, row);
  const Job job = job_of(inputs);
  const auto sequences = sequences_of(inputs, job);
  row.tokens_per_step = tokens_of(inputs.facts, sequences);
  if (!row.tokens_per_step.present()) {
    row.tokens_per_s = row.tokens_per_s_per_gpu = row.tokens_per_step.reason();
  } else if (!row.step_time_ns.present()) {
    row.tokens_per_s = row.tokens_per_s_per_gpu = row.step_time_ns.reason();
  } else {
    const double rate = real(row.tokens_per_step.value()) * 1e9 / real(row.step_time_ns.value());
    row.tokens_per_s = rate;
    row.tokens_per_s_per_gpu = rate / *job.num_gpus;
  }
  const double peak = inputs.gpu == nullptr ? 0 : inputs.gpu->bf16_tflops();
  row.peak_tflops = peak > 0 ? Field<double>(peak) : Field<double>(Reason::no_peak);

  const ShapeSums shapes = shape_sums(inputs.flops);
  const auto recomputed = recomputed_share(shapes);
  std::optional<OfSequence> causal, palm;
  if (const auto flops = causal_flops(inputs.facts))
    causal = OfSequence{flops->forward + flops->backward, flops->forward, flops->scores};
  if (const auto flops = palm_flops(inputs.facts)) palm = OfSequence{*flops, *flops / 3, 0};

  std::vector<ThroughputRow> rows(3, row);
  rows[0].convention = "causal";
  set_utilisation(by_model(causal, sequences, job, recomputed, row.step_time_ns), rows[0]);
  rows[1].convention = "palm";
  set_utilisation(by_model(palm, sequences, job, recomputed, row.step_time_ns), rows[1]);
  rows[2].convention = "shapes";
  set_utilisation(by_shapes(shapes, inputs.steps), rows[2]);
  return rows;
}

}  // namespace chopper
