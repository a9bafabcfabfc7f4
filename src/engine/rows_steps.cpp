// SPDX-License-Identifier: Apache-2.0
// Rows of steps, and of ranks beside each other.
#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/wrapping.h"
#include "engine/make_rows.h"

namespace chopper {
namespace {

// Sums over all operations of healthy gpus of one kind differ by about one percent; from 2 % a gpu stands out, if the
// waits agree.
constexpr double kSlowRatio = 1.02;
constexpr double kFastRatio = 0.98;
// Who waits less than half as long as the median of the others is waited for.
constexpr double kShortWait = 0.5;

// The lower of the two in the middle of an even number.
std::int64_t median(std::vector<std::int64_t> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}
// Ratios to the lower one alone would all lie above 1.
double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
}

bool is_iteration(const TimelineRow& row) { return row.ordinal.present(); }
bool is_selected(const TimelineRow& row, const Selection& selection) {
  return is_iteration(row) &&
         selection.holds_iteration(row.ordinal.value(), row.iteration.present() ? row.iteration.value() : kNoNumber);
}
bool is_for_statistics(const TimelineRow& row, const Selection& selection) {
  return is_selected(row, selection) && counts_as_step(row.complete == true, row.last == true, row.window_ns.value());
}

// One gpu's window of a step.
struct StepPart {
  const GpuPlace* place;
  const TimelineRow* row;
};

StepRow step_of(const std::vector<InputSummary>& inputs, const std::vector<StepPart>& parts, std::size_t num_gpus) {
  StepRow step;
  step.num_gpus = static_cast<std::int64_t>(parts.size());
  step.complete = parts.size() == num_gpus;
  step.shortest_ns = INT64_MAX;
  step.iteration = parts.front().row->iteration;
  const StepPart* slowest = nullptr;
  for (const StepPart& part : parts) {
    const TimelineRow& row = *part.row;
    step.step_ns = std::max(step.step_ns, row.window_ns.value());
    step.shortest_ns = std::min(step.shortest_ns, row.window_ns.value());
    step.complete = step.complete && row.complete.value();
    step.last = step.last || row.last.value();
    const bool agrees = step.iteration.present() && row.iteration == step.iteration.value();
    if (!agrees) step.iteration = Reason::no_mark;
    if (slowest == nullptr || row.window_compute_ns.value() > slowest->row->window_compute_ns.value()) slowest = &part;
  }
  const InputSummary& input = inputs[slowest->place->input];
  step.slowest_rank = rank_field(input);
  step.slowest_gpu = gpu_field(input.gpus[slowest->place->gpu].device);
  return step;
}

// Mean computation of each operation in one iteration.
std::map<std::pair<Phase, std::string>, double> compute_per_iteration(const GpuSummary& gpu) {
  const auto iterations = static_cast<double>(std::max<std::int64_t>(1, gpu.num_compared));
  std::map<std::pair<Phase, std::string>, double> means;
  for (const auto& [operation, compute_ns] : gpu.compute_by_operation)
    means[operation] = static_cast<double>(compute_ns) / iterations;
  return means;
}

// Sum over the operations of a gpu of its computation over that of the medians of the gpus that have the operation:
// pipeline stages have operations of their own.
std::vector<Field<double>> compute_ratios(const std::vector<InputSummary>& inputs, const Job& job) {
  if (job.gpus.size() < 2) return std::vector<Field<double>>(job.gpus.size(), Reason::single_rank);
  std::vector<std::map<std::pair<Phase, std::string>, double>> means;
  std::map<std::pair<Phase, std::string>, std::vector<double>> by_operation;
  for (const GpuPlace& place : job.gpus) {
    means.push_back(compute_per_iteration(inputs[place.input].gpus[place.gpu]));
    for (const auto& [operation, mean] : means.back()) by_operation[operation].push_back(mean);
  }
  std::map<std::pair<Phase, std::string>, double> medians;
  for (auto& [operation, values] : by_operation) medians[operation] = median(std::move(values));
  std::vector<Field<double>> ratios;
  for (const auto& of_gpu : means) {
    double own = 0, usual = 0;
    for (const auto& [operation, mean] : of_gpu) {
      own += mean;
      usual += medians.at(operation);
    }
    ratios.push_back(usual > 0 ? Field<double>(own / usual) : Field<double>(Reason::no_records));
  }
  return ratios;
}

// Waits of what is not matched are not known, and a sum without them would be too small to be compared.
constexpr double kLeastMatched = 0.95;

// The collectives launched in one iteration.
struct IterationWait {
  std::int64_t wait_ns = 0;
  double all_ns = 0, matched_ns = 0;  // durations
  std::size_t num_matched = 0;
  bool is_known() const { return matched_ns >= kLeastMatched * all_ns; }
};

// Median over the iterations of the summed wait of the collectives launched in it, where it is known.
Field<std::int64_t> comm_wait(const GpuSummary& gpu, const std::vector<MatchedCollective>& matched,
                              const Selection& selection) {
  std::map<std::int32_t, IterationWait> waits;
  for (const WindowSummary& window : gpu.windows) {
    if (is_for_statistics(window.row, selection)) waits[static_cast<std::int32_t>(window.row.ordinal.value())] = {};
  }
  if (waits.empty()) return Reason::no_complete_iteration;
  Reason reason = Reason::no_records;
  for (std::size_t i = 0; i < matched.size(); i++) {
    const CollectiveRecord& c = gpu.collectives[i];
    const auto at = waits.find(c.ordinal);
    if (at == waits.end()) continue;
    IterationWait& wait = at->second;
    wait.all_ns += static_cast<double>(c.duration_ns);
    if (matched[i].transfer_ns == kNoNumber) {
      reason = matched[i].reason;
      continue;
    }
    wait.matched_ns += static_cast<double>(c.duration_ns);
    wait.num_matched++;
    add_wrapping(wait.wait_ns, c.duration_ns - matched[i].transfer_ns);
  }
  bool any = false;
  std::vector<std::int64_t> sums;  // an iteration without collectives waits for none
  for (const auto& [ordinal, wait] : waits) {
    if (!wait.is_known()) continue;
    any = any || wait.num_matched > 0;
    sums.push_back(wait.wait_ns);
  }
  if (!any) return reason;
  return median(std::move(sums));
}

RankRow rank_row(const GpuSource& source, const Selection& selection) {
  RankRow row;
  set_source(source, row);
  const struct {
    Field<std::int64_t> TimelineRow::*from;
    Field<std::int64_t> RankRow::*to;
  } columns[] = {{&TimelineRow::window_ns, &RankRow::window_ns},
                 {&TimelineRow::window_compute_ns, &RankRow::window_compute_ns},
                 {&TimelineRow::window_exposed_comm_ns, &RankRow::window_exposed_comm_ns},
                 {&TimelineRow::window_exposed_memcpy_ns, &RankRow::window_exposed_memcpy_ns},
                 {&TimelineRow::window_idle_ns, &RankRow::window_idle_ns},
                 {&TimelineRow::window_prep_idle_ns, &RankRow::window_prep_idle_ns},
                 {&TimelineRow::window_call_idle_ns, &RankRow::window_call_idle_ns}};
  for (const auto& column : columns) {
    std::vector<std::int64_t> values;
    for (const WindowSummary& window : source.gpu.windows) {
      if (is_for_statistics(window.row, selection)) values.push_back((window.row.*column.from).value());
    }
    row.num_windows = static_cast<std::int64_t>(values.size());
    if (values.empty()) {
      row.*column.to = Reason::no_complete_iteration;
    } else {
      row.*column.to = median(std::move(values));
    }
  }
  return row;
}

// Median of the waits of the others; `sorted` are those of all, `own` is one of them. Of two gpus the smaller wait
// would be the median of both.
std::int64_t median_of_others(const std::vector<std::int64_t>& sorted, std::int64_t own) {
  const auto at = static_cast<std::size_t>(std::lower_bound(sorted.begin(), sorted.end(), own) - sorted.begin());
  const std::size_t middle = (sorted.size() - 2) / 2;  // of one fewer
  return sorted[middle < at ? middle : middle + 1];
}

// Who computes longer than the others while they wait for it, and the reverse. `waits`: of all gpus of the job, sorted.
Field<std::string> hint_of(const RankRow& row, const std::vector<std::int64_t>& waits) {
  if (!row.compute_ratio.present() || !row.comm_wait_ns.present() || waits.size() < 2) return {};
  const std::int64_t own = row.comm_wait_ns.value(), usual = median_of_others(waits, own);
  const double ratio = row.compute_ratio.value();
  if (ratio >= kSlowRatio && static_cast<double>(own) < kShortWait * static_cast<double>(usual))
    return std::string("straggler");
  if (ratio <= kFastRatio && own > usual) return std::string("waits");
  return {};
}

}  // namespace

void add_step_rows(const std::vector<InputSummary>& inputs, const Job& job, const Field<std::int64_t>& number,
                   const Selection& selection, Answer& answer) {
  std::map<std::int64_t, std::vector<StepPart>> steps;
  std::size_t num_gpus = 0;
  for (std::size_t p = 0; p < job.gpus.size(); p++) {
    const GpuPlace& place = job.gpus[p];
    const GpuSummary& gpu = inputs[place.input].gpus[place.gpu];
    if (place.is_first_file) num_gpus++;
    for (const WindowSummary& window : gpu.windows) {
      if (!is_iteration(window.row)) continue;
      const auto ordinal = static_cast<std::int32_t>(window.row.ordinal.value());
      steps[*iteration_key(job, place, gpu, ordinal)].push_back({&place, &window.row});
    }
  }
  std::int64_t ordinal = 0;
  for (const auto& [key, parts] : steps) {
    StepRow step = step_of(inputs, parts, num_gpus);
    step.job = number;
    step.ordinal = ordinal++;
    step.key = key;
    if (is_selected(*parts.front().row, selection)) answer.steps.push_back(std::move(step));
  }
}

void add_rank_rows(const std::vector<GpuSource>& sources, const std::vector<InputSummary>& inputs,
                   const std::vector<Job>& jobs, const MatchedCollectives& matched, const Selection& selection,
                   Answer& answer) {
  struct Compared {
    Field<double> ratio;
    Field<std::int64_t> wait;
  };
  std::map<const GpuSummary*, Compared> compared;
  std::vector<std::vector<std::int64_t>> waits_of(jobs.size());
  for (std::size_t j = 0; j < jobs.size(); j++) {
    const Job& job = jobs[j];
    std::vector<Field<double>> ratios = compute_ratios(inputs, job);
    // Another input may be of the same job, and only the rank is missing.
    if (!job.has_ranks && jobs.size() > 1 && ratios.size() == 1) ratios.front() = Reason::rank_unknown;
    for (std::size_t p = 0; p < job.gpus.size(); p++) {
      const GpuPlace& place = job.gpus[p];
      const GpuSummary& gpu = inputs[place.input].gpus[place.gpu];
      const Field<std::int64_t> wait = comm_wait(gpu, matched[place.input][place.gpu], selection);
      compared[&gpu] = {ratios[p], wait};
      if (wait.present()) waits_of[j].push_back(wait.value());
    }
    std::sort(waits_of[j].begin(), waits_of[j].end());
  }
  for (const GpuSource& source : sources) {
    RankRow row = rank_row(source, selection);
    const auto found = compared.find(&source.gpu);
    const auto g = static_cast<std::size_t>(&source.gpu - source.input.gpus.data());
    row.comm_wait_ns =
        found != compared.end() ? found->second.wait : comm_wait(source.gpu, matched[source.index][g], selection);
    row.compute_ratio = found != compared.end() ? found->second.ratio : Field<double>(Reason::unmatched_ranks);
    row.hint = hint_of(row, waits_of[source.job]);
    answer.ranks.push_back(std::move(row));
  }
}

}  // namespace chopper
