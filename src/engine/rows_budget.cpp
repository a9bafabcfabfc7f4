// SPDX-License-Identifier: Apache-2.0
// Where the time of each window goes.
#include <algorithm>
#include <cmath>

#include "analyze/decomposition/budget.h"
#include "base/check.h"
#include "engine/decompose_run.h"
#include "engine/make_rows.h"

namespace chopper {
namespace {

// Terms of computation, in the order of the columns.
constexpr std::size_t kTheory = 0, kFactors = 1, kUndecomposed = kFactors + kNumFactors, kCommCopy = kUndecomposed + 1,
                      kNumTerms = kCommCopy + 1;

constexpr std::int64_t BudgetRow::*kComputeColumns[kNumTerms] = {&BudgetRow::theory_ns,
                                                                 &BudgetRow::inst_ns,
                                                                 &BudgetRow::util_ns,
                                                                 &BudgetRow::rate_ns,
                                                                 &BudgetRow::contention_ns,
                                                                 &BudgetRow::freq_ns,
                                                                 &BudgetRow::mem_clock_ns,
                                                                 &BudgetRow::remainder_ns,
                                                                 &BudgetRow::compute_undecomposed_ns,
                                                                 &BudgetRow::comm_copy_kernels_ns};

struct ComputeTerms {
  std::array<double, kNumTerms> ns{};
  double saved_at_peak_ns = 0;  // what the peak clock would save
  bool clock_known = false;
};

// The kernels of one window, by operation.
ComputeTerms compute_terms(const ComputeKernels& kernels, std::span<const KernelInWindow> parts,
                           const DecomposedJob& job, const GpuClocks& gpu, const GpuCounters* counters,
                           const RunFacts& facts) {
  ComputeTerms terms;
  std::map<std::pair<Phase, StringId>, std::vector<KernelSample>> samples;
  const ComputeKernelTable& table = kernels.table;
  for (const KernelInWindow& part : parts) {
    const std::uint32_t i = part.kernel;
    if (table.comm_copy[i] != 0) {
      terms.ns[kCommCopy] += static_cast<double>(part.weight_ns);
      continue;
    }
    KernelSample sample = sample_of(kernels, counters, i, gpu, facts);
    sample.weight = window_weight(part.weight_ns, sample.duration_ns);
    samples[{table.phase[i], table.operation[i]}].push_back(sample);
  }
  for (const auto& [key, of_operation] : samples) {
    double total_ns = 0;
    for (const KernelSample& sample : of_operation) total_ns += sample.weight * static_cast<double>(sample.duration_ns);
    const auto at = key.second == kNoString
                        ? job.operations.end()
                        : job.operations.find({key.first, std::string(kernels.strings.view(key.second))});
    if (at == job.operations.end()) {
      terms.ns[kUndecomposed] += total_ns;
      continue;
    }
    const BudgetTerms of = budget_terms(of_operation, at->second.measured);
    terms.ns[kTheory] += of.theory_ns;
    for (std::size_t f = 0; f < kNumFactors; f++) terms.ns[kFactors + f] += of.factor_ns[f];
    terms.ns[kUndecomposed] += of.undecomposed_ns;
    const OperationTime time{of.total_ns(), &at->second.measured};
    if (is_measured(at->second.measured[Factor::freq].value)) {
      terms.clock_known = true;
      terms.saved_at_peak_ns += time.window_ns - step_at_clock_ns(time.window_ns, std::span(&time, 1), job.peak_mhz);
    }
  }
  return terms;
}

// The part of exposed communication that is waiting for the slowest rank: that of each collective which meets the
// window, by the share of its exposed time. nullopt where some of them have no partner on other ranks.
std::optional<double> wait_share(const GpuSummary& gpu, std::span<const MatchedCollective> matched, std::int64_t from,
                                 std::int64_t to) {
  double exposed = 0, waits = 0;
  for (std::size_t c = 0; c < gpu.collectives.size(); c++) {
    const CollectiveRecord& record = gpu.collectives[c];
    const std::int64_t begin = std::max(from, record.start_ns);
    const std::int64_t end = std::min(to, record.start_ns + record.duration_ns);
    if (end <= begin || record.exposed_ns <= 0 || record.duration_ns <= 0) continue;
    if (matched[c].transfer_ns == kNoNumber) return std::nullopt;
    const double here = static_cast<double>(record.exposed_ns) * static_cast<double>(end - begin) /
                        static_cast<double>(record.duration_ns);
    exposed += here;
    waits += here * static_cast<double>(record.duration_ns - matched[c].transfer_ns) /
             static_cast<double>(record.duration_ns);
  }
  return exposed > 0 ? std::optional(waits / exposed) : std::optional(0.0);
}

void set_compute(const ComputeTerms& terms, std::int64_t compute_ns, BudgetRow& row) {
  const std::vector<std::int64_t> whole = round_to_sum(terms.ns, compute_ns);
  for (std::size_t t = 0; t < kNumTerms; t++) row.*kComputeColumns[t] = whole[t];
}

}  // namespace

void add_budget_rows(const std::vector<InputSummary>& inputs, const DecomposedJob& decomposed,
                     const std::vector<GpuCounters>& values, const MatchedCollectives& matched,
                     const RunOptions& options, Answer& answer) {
  const Selection& selection = options.selection;
  if (selection.layers || !selection.phases.empty() || !selection.operations.empty()) return;
  for (const GpuClocks& clocks : decomposed.gpus) {
    const GpuPlace& place = clocks.place;
    const InputSummary& input = inputs[place.input];
    const GpuSummary& gpu = input.gpus[place.gpu];
    const GpuCounters* counters = find_counters(values, place);
    const std::vector<KernelInWindow>& parts = gpu.compute_kernels->in_windows;
    auto begin = parts.begin();
    for (const WindowSummary& window : gpu.windows) {
      const TimelineRow& time = window.row;
      if (time.scope != "iteration" || !time.window_ns.present()) continue;
      const auto ordinal = static_cast<std::int32_t>(time.ordinal.value());
      while (begin != parts.end() && begin->ordinal < ordinal) ++begin;
      auto end = begin;
      while (end != parts.end() && end->ordinal == ordinal) ++end;
      const std::int64_t number = time.iteration.present() ? time.iteration.value() : kNoNumber;
      if (!selection.holds_iteration(ordinal, number)) continue;
      const ComputeTerms terms =
          compute_terms(*gpu.compute_kernels, std::span(begin, end), decomposed, clocks, counters, options.facts);
      BudgetRow row;
      row.input = static_cast<std::int64_t>(place.input);
      row.rank = rank_field(input);
      row.gpu = gpu_field(gpu.device);
      row.ordinal = time.ordinal;
      row.iteration = time.iteration;
      row.last = time.last;
      row.window_ns = time.window_ns.value();
      set_compute(terms, time.window_compute_ns.value(), row);
      const std::int64_t exposed = time.window_exposed_comm_ns.value();
      const std::int64_t from = time.window_start_ns.value();
      const auto waits = wait_share(gpu, matched[place.input][place.gpu], from, from + row.window_ns);
      row.exposed_comm_wait_ns = Reason::no_waits;
      if (waits) row.exposed_comm_wait_ns = std::llround(*waits * static_cast<double>(exposed));
      row.exposed_comm_transfer_ns = exposed - (waits ? row.exposed_comm_wait_ns.value() : 0);
      row.exposed_memcpy_ns = time.window_exposed_memcpy_ns.value();
      row.prep_idle_ns = time.window_prep_idle_ns.value();
      row.call_idle_ns = time.window_call_idle_ns.value();
      row.other_idle_ns = time.window_idle_ns.value() - row.prep_idle_ns - row.call_idle_ns;
      row.unexplained_ns = row.compute_undecomposed_ns + row.other_idle_ns;
      row.without_exposed_comm_ns = step_without_exposed_comm_ns(row.window_ns, exposed, 0);
      row.without_launch_gaps_ns = step_without_launch_gaps_ns(row.window_ns, row.prep_idle_ns, row.call_idle_ns);
      row.at_peak_clock_ns = Reason::no_clock;
      if (terms.clock_known && std::isfinite(terms.saved_at_peak_ns))
        row.at_peak_clock_ns = row.window_ns - std::llround(terms.saved_at_peak_ns);
      answer.budget.push_back(std::move(row));
    }
  }
}

}  // namespace chopper
