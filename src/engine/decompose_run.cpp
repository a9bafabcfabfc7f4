// SPDX-License-Identifier: Apache-2.0
#include "engine/decompose_run.h"

#include <algorithm>
#include <functional>
#include <set>
#include <unordered_set>

#include "base/parallel.h"
#include "catalog/gpus.h"

namespace chopper {
namespace {

// FNV-1a: the same row has the same resamples on every machine.
std::uint64_t key_of(std::size_t job, const OperationName& name) {
  std::uint64_t hash = 14695981039346656037ull;
  for (const char c : std::to_string(job) + "/" + std::string(to_string(name.first)) + "/" + name.second)
    hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ull;
  return hash;
}

// Small numbers for iterations and kinds of collectives that mean the same on all gpus of a job.
template <class Key>
class DenseNumbers {
 public:
  std::int32_t of(const Key& key) {
    return numbers_.try_emplace(key, static_cast<std::int32_t>(numbers_.size())).first->second;
  }

 private:
  std::map<Key, std::int32_t> numbers_;
};

// The samples of a job, gpu by gpu.
class JobSamples {
 public:
  JobSamples(const std::vector<InputSummary>& inputs, const Job& job, const RunOptions& options, DecomposedJob& out)
      : inputs_(inputs), job_(job), options_(options), out_(out) {
    std::set<std::int64_t> iterations;
    for (const GpuPlace& place : job.gpus) {
      const GpuSummary& gpu = inputs[place.input].gpus[place.gpu];
      for (const WindowSummary& window : gpu.windows) {
        if (!window.row.ordinal.present()) continue;  // head, tail
        const auto ordinal = static_cast<std::int32_t>(window.row.ordinal.value());
        if (const auto key = iteration_key(job, place, gpu, ordinal)) iterations.insert(*key);
      }
    }
    std::int32_t number = 0;
    for (const std::int64_t key : iterations) iterations_[key] = number++;
  }

  void add(const GpuClocks& clocks, const GpuCounters* counters, std::int32_t number) {
    const GpuPlace& place = clocks.place;
    const GpuSummary& gpu = inputs_[place.input].gpus[place.gpu];
    const ComputeKernels& kernels = *gpu.compute_kernels;
    const ComputeKernelTable& table = kernels.table;
    std::map<std::pair<Phase, StringId>, DecomposedOperation*> operations;
    std::unordered_set<std::uint32_t> instances;  // one operation each
    for (std::size_t i = 0; i < num_rows(table); i++) {
      if (table.selected[i] == 0 || table.complete[i] == 0 || table.operation[i] == kNoString) continue;
      const auto iteration = iteration_of(place, gpu, table.iteration[i]);
      if (!iteration) continue;
      DecomposedOperation*& operation = operations[{table.phase[i], table.operation[i]}];
      if (operation == nullptr)
        operation = &out_.operations[{table.phase[i], std::string(kernels.strings.view(table.operation[i]))}];
      KernelSample& sample = operation->samples.emplace_back(sample_of(kernels, counters, i, clocks, options_.facts));
      sample.gpu = number;
      sample.iteration = *iteration;
      if (instances.insert(table.instance[i]).second) operation->num_instances++;
      if (table.theory[i] == TheorySource::shapes) operation->by_shapes = true;
      if (table.theory[i] == TheorySource::model) operation->by_model = true;
      if (table.overlapped_with[i] != kNoString)
        sample.collective = collectives_.of(std::string(kernels.strings.view(table.overlapped_with[i])));
    }
  }

 private:
  std::optional<std::int32_t> iteration_of(const GpuPlace& place, const GpuSummary& gpu, std::int32_t ordinal) const {
    const auto key = iteration_key(job_, place, gpu, ordinal);
    if (!key) return std::nullopt;
    const auto at = iterations_.find(*key);
    return at == iterations_.end() ? std::nullopt : std::optional(at->second);
  }

  const std::vector<InputSummary>& inputs_;
  const Job& job_;
  const RunOptions& options_;
  DecomposedJob& out_;
  std::map<std::int64_t, std::int32_t> iterations_;
  DenseNumbers<std::string> collectives_;
};

// The clock that the cycles of the samples were counted at.
double pass_clock_mhz(const std::vector<KernelSample>& samples) {
  double cycles = 0, duration_ns = 0;
  for (const KernelSample& sample : samples) {
    if (!is_measured(sample.gpu_cycles) || !is_measured(sample.pass_duration_ns)) continue;
    cycles += sample.gpu_cycles;
    duration_ns += sample.pass_duration_ns;
  }
  return duration_ns > 0 ? 1e3 * cycles / duration_ns : kNotMeasured;
}

// Of each pass and iteration of the gpu a point of the fit of m.
void add_points(const GpuCounters& counters, const ComputeKernels& kernels, std::int32_t number, double scale,
                std::map<OperationName, std::vector<PassPoint>>& points) {
  for (const auto& [key, sums] : counters.pass_sums) {
    if (key.second == kNoString) continue;
    std::vector<PassPoint>& out = points[{key.first, std::string(kernels.strings.view(key.second))}];
    for (const auto& [place, sum] : sums) {
      static_cast<void>(place);
      out.push_back({number, scale * sum.cycles, sum.duration_ns, sum.theory_ns});
    }
  }
}

// The selected gpus of a job whose kernels were kept. One of an unknown product has no theory, and no part in anything.
void add_gpus(const std::vector<InputSummary>& inputs, const Job& job, const std::vector<GpuSpec>& known,
              const RunOptions& options, DecomposedJob& out) {
  for (const GpuPlace& place : job.gpus) {
    const InputSummary& input = inputs[place.input];
    const GpuSummary& gpu = input.gpus[place.gpu];
    if (!is_selected(options, input, gpu) || gpu.compute_kernels == nullptr) continue;
    GpuClocks& clocks = out.gpus.emplace_back();
    clocks.place = place;
    clocks.rank = input.facts.rank;
    clocks.device = gpu.device;
    const GpuSpec* spec = find_gpu(known, options.facts.gpu_spec, gpu.name);
    if (spec == nullptr || !(spec->clock_mhz > 0)) continue;
    if (!is_measured(out.peak_mhz)) out.peak_mhz = spec->clock_mhz;
    if (spec->clock_mhz != out.peak_mhz) clocks.scale = out.peak_mhz / spec->clock_mhz;
  }
}

}  // namespace

bool is_selected(const RunOptions& options, const InputSummary& input, const GpuSummary& gpu) {
  return (!options.only_rank || input.facts.rank == options.only_rank) &&
         (!options.only_gpu || gpu.device == *options.only_gpu);
}

const GpuCounters* find_counters(const std::vector<GpuCounters>& values, const GpuPlace& place) {
  const auto at = std::find_if(values.begin(), values.end(), [&](const GpuCounters& counters) {
    return counters.input == place.input && counters.gpu == place.gpu;
  });
  return at == values.end() ? nullptr : &*at;
}

KernelSample sample_of(const ComputeKernels& kernels, const GpuCounters* counters, std::size_t i, const GpuClocks& gpu,
                       const RunFacts& facts) {
  const ComputeKernelTable& table = kernels.table;
  KernelSample sample;
  if (table.layer[i] >= 0) sample.layer = table.layer[i];
  sample.micro_step = table.micro_step[i];
  sample.start_ns = table.start_ns[i];
  sample.duration_ns = table.duration_ns[i];
  sample.overlap_ns = table.overlap_ns[i];
  sample.flops = table.flops[i];
  sample.compute_theory_ns = table.flops_ns[i];
  sample.bytes = table.bytes[i];
  sample.memory_theory_ns = table.bytes_ns[i];
  if (!facts.clocks.empty()) {
    const std::string_view operation =
        table.operation[i] == kNoString ? std::string_view() : kernels.strings.view(table.operation[i]);
    const auto clock = stated_clock(facts.clocks, {gpu.rank, gpu.device, to_string(table.phase[i]), operation});
    if (clock) sample.f_eff_mhz = gpu.scale * *clock;
  }
  if (counters == nullptr) return sample;
  sample.executed_flops = counters->executed_flops[i];
  sample.executed_bytes = counters->executed_bytes[i];
  sample.matrix_busy_cycles = counters->matrix_busy_cycles[i];
  sample.matrix_cycles = counters->matrix_cycles[i];
  sample.gpu_cycles = gpu.scale * counters->gpu_cycles[i];
  sample.pass_duration_ns = counters->pass_duration_ns[i];
  return sample;
}

std::vector<DecomposedJob> decompose_run(const std::vector<InputSummary>& inputs, const std::vector<Job>& jobs,
                                         const std::vector<GpuCounters>& values, const std::vector<GpuSpec>& known,
                                         const RunOptions& options) {
  std::vector<DecomposedJob> all;
  for (std::size_t j = 0; j < jobs.size(); j++) {
    const Job& job = jobs[j];
    const bool has_counters = std::any_of(job.gpus.begin(), job.gpus.end(), [&](const GpuPlace& place) {
      return find_counters(values, place) != nullptr;
    });
    if (!has_counters) continue;
    DecomposedJob out;
    out.job = j;
    JobSamples samples(inputs, job, options, out);
    std::map<OperationName, std::vector<PassPoint>> points;
    std::int32_t number = 0, paper_gpu = -1;
    add_gpus(inputs, job, known, options, out);
    for (const GpuClocks& clocks : out.gpus) {
      const GpuPlace& place = clocks.place;
      const GpuSummary& gpu = inputs[place.input].gpus[place.gpu];
      const GpuCounters* counters = find_counters(values, place);
      samples.add(clocks, counters, number);
      out.num_gpus++;
      if (counters != nullptr) {
        add_points(*counters, *gpu.compute_kernels, number, clocks.scale, points);
        const std::size_t measured = counters->measured_iterations.size();
        out.num_measured_iterations =
            out.num_gpus_with_counters == 0 ? measured : std::min(out.num_measured_iterations, measured);
        out.num_gpus_with_counters++;
      }
      if (counters != nullptr && paper_gpu < 0) paper_gpu = number;
      number++;
    }
    const double peak_mhz = out.peak_mhz;
    std::vector<std::function<void()>> tasks;
    for (auto& [name, operation] : out.operations) {
      tasks.emplace_back([&, &name = name, &operation = operation] {
        DecompositionSettings settings;
        settings.f_peak_mhz = peak_mhz;
        settings.clock_source = options.facts.clocks.empty() ? ClockSource::none : ClockSource::fact;
        const auto at = points.find(name);
        if (at != points.end()) settings.m = fit_clock_share(at->second, pass_clock_mhz(operation.samples));
        settings.key = key_of(j, name);
        settings.sequential_shares = options.sequential_shares;
        operation.measured = decompose(operation.samples, settings);
        operation.paper = decompose_as_paper(operation.samples, std::max(paper_gpu, 0), peak_mhz);
        operation.roofline = roofline_of(operation.samples);
        operation.samples = std::vector<KernelSample>();
      });
    }
    run_tasks(std::max(1u, options.threads), tasks);
    std::erase_if(out.operations, [](const auto& item) { return item.second.measured.d_thr_ns <= 0; });
    all.push_back(std::move(out));
  }
  return all;
}

}  // namespace chopper
