// SPDX-License-Identifier: Apache-2.0
#include "engine/pass_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "catalog/gpus.h"
#include "engine/dispatch_reader.h"
#include "engine/impossible_counters.h"
#include "engine/joined_metrics.h"
#include "engine/repeated_counters.h"

namespace chopper {
namespace {

// The gpu as the traces know it; what the agent of the pass states about its own partition counts more.
GpuFacts facts_of_gpu(const GpuSummary& gpu, const GpuSpec* spec, const AgentFacts& agent) {
  GpuFacts facts = spec != nullptr ? facts_of(*spec) : GpuFacts();
  if (spec == nullptr && gpu.num_units > 0) facts.num_units = static_cast<double>(gpu.num_units);
  if (agent.num_xcc > 0) facts.num_xccs = static_cast<double>(agent.num_xcc);
  if (agent.num_cu > 0) facts.num_units = static_cast<double>(agent.num_cu);
  if (agent.wave_size > 0) facts.warp_size = static_cast<double>(agent.wave_size);
  return facts;
}

// Which metrics of a set the decomposition is made of.
struct BaseMetrics {
  std::size_t executed_flops, executed_bytes, read_bytes, write_bytes, matrix_busy, matrix_cycles, gpu_cycles,
      pass_duration;
  std::vector<std::size_t> flops_by_type;

  explicit BaseMetrics(const MetricSet& set)
      : executed_flops(set.index_of("executed_flops")),
        executed_bytes(set.index_of("executed_bytes")),
        read_bytes(set.index_of("executed_read_bytes")),
        write_bytes(set.index_of("executed_write_bytes")),
        matrix_busy(set.index_of("matrix_busy_cycles")),
        matrix_cycles(set.index_of("matrix_cycles")),
        gpu_cycles(set.index_of("gpu_cycles")),
        pass_duration(set.index_of("pass_duration")) {
    for (std::size_t m = 0; m < set.metrics().size(); m++) {
      if (set.metrics()[m].id.starts_with("executed_flops_")) flops_by_type.push_back(m);
    }
  }
};

double value_of(const PassMetrics& metrics, std::size_t metric, const DispatchValues& values) {
  return metric == MetricSet::kNone ? kNoValue : metrics.evaluate(metric, values).value;
}

// How doubtful a match is: values come from the least doubtful one of all passes.
enum class Doubt : std::uint8_t { none, transferred, by_order, ambiguous };

Doubt doubt_of(const Match& match) {
  if (match.basis == MatchBasis::transferred) return Doubt::transferred;
  if (match.basis != MatchBasis::ambiguous) return Doubt::none;
  return match.by_order ? Doubt::by_order : Doubt::ambiguous;
}

// One alignment into the counters of its gpu.
class PassReader {
 public:
  /// `first_durations`: of the kernels in the pass that was read first, for the comparison of passes.
  PassReader(const InputSummary& trace, const CounterPass& pass, const PassAlignment& alignment, const GpuSpec* spec,
             std::vector<double>& first_durations, GpuCounters& out)
      : kernels_(*trace.gpus[alignment.gpu].compute_kernels),
        alignment_(alignment),
        set_(*out.set),
        base_(set_),
        metrics_(set_, counter_names(pass)),
        reader_(pass),
        impossible_(trace, alignment.gpu, spec),
        first_durations_(first_durations),
        out_(out) {
    for (std::size_t m = 0; m < set_.metrics().size(); m++) {
      const std::optional<Unavailable> missing = metrics_.missing(m);
      if (missing) {
        out.missing.try_emplace(m, missing->text);
      } else {
        present_.push_back(m);
      }
    }
    has_matrix_ = std::find(present_.begin(), present_.end(), base_.matrix_busy) != present_.end();
  }

  bool has_matrix() const { return has_matrix_; }
  const std::vector<std::size_t>& present() const { return present_; }
  const ImpossibleCounters& impossible() const { return impossible_; }

  /// Of the matches of this doubt alone.
  void read(Doubt doubt) {
    const std::size_t n = num_rows(kernels_.table);
    for (std::size_t i = 0; i < n; i++) {
      const std::uint32_t dispatch = alignment_.dispatch_of(i);
      const Match& match = alignment_.alignment.matches[i];
      // Another kernel at the same place has other counts.
      if (dispatch == kUnmatched || match.substituted || doubt_of(match) != doubt) continue;
      const DispatchValues values = reader_.values_of(dispatch);
      compare_duration(i, values.duration_ns);
      read_base(i, dispatch, values);
      if (kernels_.table.selected[i] != 0 && kernels_.table.complete[i] != 0) sum_metrics(i, values);
    }
  }

  /// Sum of gpu cycles of kernels that an earlier pass measured too: here, and there.
  double cycles_here() const { return cycles_here_; }
  double cycles_there() const { return cycles_there_; }
  /// How much longer they ran here; NaN where no kernel was timed here and in another pass before.
  double longer_here() const { return time_here_ / time_there_ - 1; }
  /// Whether both were counted at one clock, within 2 %: kernels bound by memory take fewer cycles at a lower one.
  bool at_one_clock() const {
    const double here = cycles_here_ / duration_here_, there = cycles_there_ / duration_there_;
    return std::abs(here / there - 1) <= 0.02;
  }

 private:
  static void keep_first(std::vector<double>& column, std::size_t row, double value) {
    if (std::isnan(column[row])) column[row] = value;
  }

  void compare_duration(std::size_t i, double duration_ns) {
    if (std::isnan(duration_ns)) return;
    if (std::isnan(first_durations_[i])) {
      first_durations_[i] = duration_ns;
      return;
    }
    time_here_ += duration_ns;
    time_there_ += first_durations_[i];
  }

  // Of all types of the architecture, or type by type: passes hold few counters, and may count types apart.
  void read_flops(std::size_t i, std::uint32_t dispatch, const DispatchValues& values) {
    const bool is_first = std::isnan(out_.executed_flops[i]) && out_.flops_pass[i] == kNoNumber;
    keep_first(out_.executed_flops, i, value_of(metrics_, base_.executed_flops, values));
    bool counts = !std::isnan(out_.executed_flops[i]);
    for (std::size_t t = 0; t < base_.flops_by_type.size(); t++) {
      const double flops = value_of(metrics_, base_.flops_by_type[t], values);
      if (std::isnan(flops)) continue;
      if (out_.flops_by_type.size() <= t) out_.flops_by_type.resize(base_.flops_by_type.size());
      if (out_.flops_by_type[t].empty()) out_.flops_by_type[t].assign(out_.gpu_cycles.size(), kNoValue);
      keep_first(out_.flops_by_type[t], i, flops);
      counts = true;
    }
    if (!is_first || !counts) return;
    out_.flops_dispatch[i] = reader_.pass().dispatches.dispatch_id[dispatch];
    out_.flops_pass[i] = static_cast<std::int64_t>(alignment_.pass);
  }

  void read_base(std::size_t i, std::uint32_t dispatch, const DispatchValues& values) {
    read_flops(i, dispatch, values);
    keep_first(out_.executed_bytes, i, value_of(metrics_, base_.executed_bytes, values));
    keep_first(out_.read_bytes, i, value_of(metrics_, base_.read_bytes, values));
    keep_first(out_.write_bytes, i, value_of(metrics_, base_.write_bytes, values));
    const double cycles = value_of(metrics_, base_.gpu_cycles, values);
    const double duration = value_of(metrics_, base_.pass_duration, values);
    const double busy = value_of(metrics_, base_.matrix_busy, values);
    const double whole = value_of(metrics_, base_.matrix_cycles, values);
    if (alignment_.is_copy[i] == 0) {  // else the same dispatch again
      impossible_.add(reader_.pass().dispatches.dispatch_id[dispatch], busy, whole, cycles, duration,
                      static_cast<double>(kernels_.table.duration_ns[i]));
    }
    // The first pass that has both, else the first that has the busy ones.
    const bool is_first = std::isnan(out_.matrix_busy_cycles[i]);
    if (!std::isnan(busy) && (is_first || (std::isnan(out_.matrix_cycles[i]) && !std::isnan(whole)))) {
      out_.matrix_busy_cycles[i] = busy;
      out_.matrix_cycles[i] = whole;
    }
    if (std::isnan(cycles)) return;
    if (std::isnan(out_.gpu_cycles[i])) {
      out_.gpu_cycles[i] = cycles;
      out_.pass_duration_ns[i] = duration;
      out_.dispatch_id[i] = reader_.pass().dispatches.dispatch_id[dispatch];
      out_.dispatch_pass[i] = static_cast<std::int64_t>(alignment_.pass);
      out_.dispatch_basis[i] = alignment_.alignment.matches[i].basis;
      if (alignment_.is_copy[i] == 0 && kernels_.table.iteration[i] >= 0)
        out_.measured_iterations.insert(kernels_.table.iteration[i]);
    } else {
      cycles_here_ += cycles;
      cycles_there_ += out_.gpu_cycles[i];
      duration_here_ += duration;
      duration_there_ += out_.pass_duration_ns[i];
    }
    const ComputeKernelTable& table = kernels_.table;
    if (std::isnan(duration) || table.selected[i] == 0 || table.complete[i] == 0) return;
    // A dispatch that stands for several iterations is one measurement.
    if (alignment_.is_copy[i] != 0) return;
    PassSum& sum = out_.pass_sums[{table.phase[i], table.operation[i]}][{alignment_.pass, table.iteration[i]}];
    const auto known = [](double x) { return std::isnan(x) ? 0.0 : x; };
    sum.cycles += cycles;
    sum.duration_ns += duration;
    sum.theory_ns += std::max(known(table.flops_ns[i]), known(table.bytes_ns[i]));
  }

  void sum_metrics(std::size_t i, const DispatchValues& values) {
    const ComputeKernelTable& table = kernels_.table;
    std::vector<MetricSum>& sums = out_.metrics[{table.phase[i], table.operation[i]}];
    sums.resize(set_.metrics().size());
    for (const std::size_t m : present_) {
      MetricSum& sum = sums[m];
      if (sum.num_kernels > 0 && sum.pass != alignment_.pass) continue;  // the first pass that has the metric
      const MetricValue value = metrics_.evaluate(m, values);
      if (!value.ok()) {
        if (sum.num_kernels == 0 && !sum.why) sum.why = metrics_.explain(m, values);
        continue;
      }
      if (sum.num_kernels == 0) {
        sum.pass = alignment_.pass;
        sum.passes = {alignment_.pass};
        sum.computed_by = metrics_.describe(m, value.choices);
      }
      sum.add(value, table.duration_ns[i]);
    }
  }

  const ComputeKernels& kernels_;
  const PassAlignment& alignment_;
  const MetricSet& set_;
  BaseMetrics base_;
  PassMetrics metrics_;
  DispatchReader reader_;
  ImpossibleCounters impossible_;
  std::vector<double>& first_durations_;
  GpuCounters& out_;
  std::vector<std::size_t> present_;  // metrics the pass may have values of
  bool has_matrix_ = false;
  double cycles_here_ = 0, cycles_there_ = 0, duration_here_ = 0, duration_there_ = 0;
  double time_here_ = 0, time_there_ = 0;
};

void resize(GpuCounters& out, std::size_t n) {
  for (std::vector<double>* column :
       {&out.executed_flops, &out.executed_bytes, &out.read_bytes, &out.write_bytes, &out.matrix_busy_cycles,
        &out.matrix_cycles, &out.gpu_cycles, &out.pass_duration_ns})
    column->assign(n, kNoValue);
  out.flops_dispatch.assign(n, kNoNumber);
  out.flops_pass.assign(n, kNoNumber);
  out.dispatch_id.assign(n, kNoNumber);
  out.dispatch_pass.assign(n, kNoNumber);
  out.dispatch_basis.assign(n, MatchBasis::none);
}

// What was counted type by type, where no pass counts all.
void add_types(GpuCounters& out) {
  for (std::size_t i = 0; i < out.executed_flops.size(); i++) {
    if (!std::isnan(out.executed_flops[i])) continue;
    for (const std::vector<double>& flops : out.flops_by_type) {
      if (flops.empty() || std::isnan(flops[i])) continue;
      out.executed_flops[i] = std::isnan(out.executed_flops[i]) ? flops[i] : out.executed_flops[i] + flops[i];
    }
  }
  out.flops_by_type.clear();
}

// Reads and writes are mostly counted in different passes: blocks of the hardware hold few counters.
void add_reads_and_writes(GpuCounters& out) {
  for (std::size_t i = 0; i < out.executed_bytes.size(); i++) {
    if (std::isnan(out.executed_bytes[i])) out.executed_bytes[i] = out.read_bytes[i] + out.write_bytes[i];
  }
}

// Iterations of the trace that marks tie to those of the pass.
std::set<std::int32_t> marked_iterations(const InputSummary& trace, const PassAlignment& alignment) {
  const ComputeKernelTable& table = trace.gpus[alignment.gpu].compute_kernels->table;
  std::set<std::int32_t> iterations;
  for (std::size_t i = 0; i < alignment.alignment.matches.size(); i++) {
    if (alignment.alignment.matches[i].basis == MatchBasis::marks) iterations.insert(table.iteration[i]);
  }
  return iterations;
}

// Whether marks tell that no iteration is in both: they are windows of one execution.
bool are_of_other_iterations(const std::vector<InputSummary>& inputs, const PassAlignment& a, const PassAlignment& b) {
  const std::set<std::int32_t> own = marked_iterations(inputs[a.input], a);
  const std::set<std::int32_t> others = marked_iterations(inputs[b.input], b);
  const auto is_in_both = [&](std::int32_t iteration) { return others.contains(iteration); };
  return !own.empty() && !others.empty() && std::none_of(own.begin(), own.end(), is_in_both);
}

// Executions of one program dispatch the same kernels: of passes that were recorded of all kernels the numbers are
// equal.
void note_dispatch_counts(std::vector<InputSummary>& inputs, const std::vector<const PassAlignment*>& passes,
                          std::set<std::pair<std::size_t, std::uint32_t>>& noted) {
  const PassAlignment* first = nullptr;
  for (const PassAlignment* alignment : passes) {
    // A pass that several windows of a rank share is noted once.
    if (alignment->of_some_kernels || !noted.emplace(alignment->pass, alignment->device).second) continue;
    if (first == nullptr) first = alignment;
    const std::size_t here = alignment->dispatches.size(), there = first->dispatches.size();
    if (here == there) continue;
    if (are_of_other_iterations(inputs, *alignment, *first)) continue;
    InputSummary& pass = inputs[alignment->pass];
    pass.health.add(HealthKind::passes_disagree, pass.path,
                    fmt::format("{} dispatches of computation, {} in {}", here, there, inputs[first->pass].path));
  }
}

void note_durations(InputSummary& pass, double longer_here) {
  if (std::isnan(longer_here) || std::abs(longer_here) <= kPassDisagreement) return;
  pass.health.add(
      HealthKind::passes_disagree, pass.path,
      fmt::format("durations of the same kernels are {:+.1f} % of those in passes before", 100 * longer_here));
}

void note_disagreement(InputSummary& pass, double here, double there) {
  if (there <= 0 || std::abs(here / there - 1) <= kPassDisagreement) return;
  pass.health.add(
      HealthKind::passes_disagree, pass.path,
      fmt::format("gpu cycles of the same kernels are {:+.1f} % of those in passes before", 100 * (here / there - 1)));
}

}  // namespace

void MetricSum::add(const MetricValue& value, std::int64_t kernel_ns) {
  maximum = num_kernels == 0 ? value.value : std::max(maximum, value.value);
  numerator += value.numerator;
  denominator += value.denominator;
  num_kernels++;
  duration_ns += kernel_ns;
}

Result<std::vector<GpuCounters>> pass_values(std::vector<InputSummary>& inputs,
                                             const std::vector<PassAlignment>& alignments, const MetricCatalog& catalog,
                                             const std::vector<GpuSpec>& known,
                                             const std::optional<std::string>& gpu_spec) {
  std::map<std::pair<std::size_t, std::size_t>, std::vector<const PassAlignment*>> by_gpu;
  std::set<std::pair<std::size_t, std::uint32_t>>
      noted;                       // passes and devices whose numbers of dispatches were compared
  std::set<std::size_t> searched;  // passes, for values below zero
  for (const PassAlignment& alignment : alignments) {
    if (alignment.matched_share() >= kRefuseBelowShare) by_gpu[{alignment.input, alignment.gpu}].push_back(&alignment);
  }
  std::vector<GpuCounters> all;
  for (auto& [place, passes] : by_gpu) {
    const InputSummary& trace = inputs[place.first];
    const GpuSummary& gpu = trace.gpus[place.second];
    const GpuSpec* spec = find_gpu(known, gpu_spec, gpu.name);
    const AgentFacts& agent = inputs[passes.front()->pass].pass->devices[passes.front()->device].facts;
    const std::string architecture = !agent.architecture.empty() ? agent.architecture
                                     : spec != nullptr           ? spec->architecture
                                                                 : gpu.architecture;
    GpuCounters& out = all.emplace_back();
    out.input = place.first;
    out.gpu = place.second;
    CHOPPER_TRY(MetricSet set, MetricSet::make(catalog, architecture, facts_of_gpu(gpu, spec, agent)));
    out.set = std::move(set);
    resize(out, num_rows(gpu.compute_kernels->table));
    note_dispatch_counts(inputs, passes, noted);
    std::vector<double> first_durations(num_rows(gpu.compute_kernels->table), kNoValue);
    std::vector<PassReader> readers;
    for (const PassAlignment* alignment : passes)
      readers.emplace_back(trace, *inputs[alignment->pass].pass_tables, *alignment, spec, first_durations, out);
    // Cycles come from the pass that counts the matrix units: utilisation is a ratio of counts of one pass.
    std::vector<std::size_t> order(passes.size());
    for (std::size_t i = 0; i < order.size(); i++) order[i] = i;
    std::stable_partition(order.begin(), order.end(), [&](std::size_t i) { return readers[i].has_matrix(); });
    // What is sure in any pass comes before what another dispatch beside it explains as well.
    for (const Doubt doubt : {Doubt::none, Doubt::transferred, Doubt::by_order}) {
      for (const std::size_t i : order) readers[i].read(doubt);
    }
    for (const std::size_t i : order) {
      readers[i].read(Doubt::ambiguous);
      if (readers[i].at_one_clock())
        note_disagreement(inputs[passes[i]->pass], readers[i].cycles_here(), readers[i].cycles_there());
      note_durations(inputs[passes[i]->pass], readers[i].longer_here());
    }
    note_repeated_counters(inputs, passes, catalog.counters, architecture,
                           [&](std::size_t i) { return readers[i].at_one_clock(); });
    for (std::size_t i = 0; i < passes.size(); i++) {
      InputSummary& pass = inputs[passes[i]->pass];
      readers[i].impossible().note(pass);
      // Several gpus and windows may share a pass.
      if (searched.insert(passes[i]->pass).second) note_negative_counters(catalog.counters, architecture, pass);
    }
    for (const PassReader& reader : readers) {
      for (const std::size_t metric : reader.present()) out.missing.erase(metric);
    }
    join_metrics(inputs, passes, out);
    add_types(out);
    add_reads_and_writes(out);
    note_too_few_flops(out, inputs);
    if (out.missing.size() == out.set->metrics().size()) {
      InputSummary& first = inputs[passes.front()->pass];
      first.health.add(
          HealthKind::counters_without_metric, first.path,
          architecture.empty() ? "the architecture of the gpu is not known" : "architecture " + architecture);
    }
  }
  return all;
}

void set_kernel_counters(const std::vector<GpuCounters>& values, std::vector<InputSummary>& inputs) {
  for (const GpuCounters& counters : values) {
    InputSummary& input = inputs[counters.input];
    if (!input.kernel_records) continue;
    const GpuSummary& gpu = input.gpus[counters.gpu];
    std::unordered_map<std::uint64_t, std::size_t> row_at;  // of the byte of the record
    for (std::size_t i = 0; i < counters.gpu_cycles.size(); i++) row_at[gpu.compute_kernels->table.offset[i]] = i;
    for (KernelRecords::Record& record : input.kernel_records->records) {
      if (record.device != gpu.device) continue;
      const auto at = row_at.find(record.offset);
      if (at == row_at.end()) continue;
      const std::size_t i = at->second;
      record.gpu_cycles = counters.gpu_cycles[i];
      record.executed_flops = counters.executed_flops[i];
      record.executed_bytes = counters.executed_bytes[i];
      record.matrix_utilisation = counters.matrix_busy_cycles[i] / counters.matrix_cycles[i];
      record.dispatch = counters.dispatch_id[i];
      record.dispatch_pass = counters.dispatch_pass[i];
      record.dispatch_basis = to_string(counters.dispatch_basis[i]);
    }
  }
}

}  // namespace chopper
