// SPDX-License-Identifier: Apache-2.0
#include "engine/align_passes.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "align/kernel_names.h"
#include "attribute/classes.h"
#include "attribute/range_facts.h"
#include "base/check.h"
#include "base/parallel.h"
#include "engine/folders.h"
#include "engine/pass_gpus.h"

namespace chopper {
namespace {

constexpr std::int64_t kWrap = std::int64_t{1} << 32;  // rocprofv3 writes grids in 32 bits

// Numbers of values that both sides share.
class SharedKeys {
 public:
  std::uint32_t of(std::int64_t value) {
    if (value == kNoNumber) return kUnknownKey;
    return keys_.try_emplace(value, static_cast<std::uint32_t>(keys_.size())).first->second;
  }

 private:
  std::unordered_map<std::int64_t, std::uint32_t> keys_;
};

std::int64_t product_of(const Extent& e) {
  return static_cast<std::int64_t>(std::uint64_t{e.x} * e.y * e.z & 0x7fffffffffffffffu);
}

// Work-items of a grid, modulo 2^32 and in whole groups: where the trace counts blocks the last one is full.
std::int64_t work_items_of(const PassKernel& kernel) {
  std::int64_t items = kernel.grid.known() ? product_of(kernel.grid) : kernel.grid_size;
  if (items == kNoNumber) return kNoNumber;
  const std::int64_t group = kernel.workgroup.known() ? product_of(kernel.workgroup) : kernel.workgroup_size;
  if (group > 0 && items % group != 0 && items < kWrap) items += group - items % group;
  return items & (kWrap - 1);
}

std::int64_t group_items_of(const PassKernel& kernel) {
  return kernel.workgroup.known() ? product_of(kernel.workgroup) : kernel.workgroup_size;
}

// COMP dispatches of a device in order of dispatch: by their number, else by time, else as in the file.
std::vector<std::uint32_t> in_dispatch_order(const CounterPass& pass, std::uint32_t device,
                                             const std::vector<std::uint8_t>& is_compute_kernel) {
  const PassDispatchTable& table = pass.dispatches;
  std::vector<std::uint32_t> rows;
  bool have_ids = true, have_times = true;
  for (std::uint32_t i = 0; i < num_rows(table); i++) {
    if (table.device[i] != device || is_compute_kernel[table.kernel[i]] == 0) continue;
    rows.push_back(i);
    have_ids = have_ids && table.dispatch_id[i] != kNoNumber;
    have_times = have_times && table.start_ns[i] != kNoNumber;
  }
  const std::vector<std::int64_t>* order = have_ids ? &table.dispatch_id : have_times ? &table.start_ns : nullptr;
  if (order != nullptr) {
    std::stable_sort(rows.begin(), rows.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return (*order)[a] < (*order)[b]; });
  }
  return rows;
}

// Starts of the iterations on one side, as `align` wants them: numbers grow.
std::vector<IterationMark> growing(const std::vector<IterationMark>& marks) {
  std::vector<IterationMark> kept;
  for (const IterationMark& mark : marks) {
    if (!kept.empty() && (mark.number <= kept.back().number || mark.begin < kept.back().begin)) continue;
    kept.push_back(mark);
  }
  return kept;
}

// The marks of one kind, at the first kernel that was launched behind each.
std::vector<IterationMark> marks_of_trace(const InputSummary& trace, const ComputeKernelTable& table, MarkKind kind) {
  std::vector<IterationMark> marks;
  std::size_t at = 0;
  for (const InputSummary::NumberedMark& mark : trace.numbered_marks) {
    if (mark.kind != kind) continue;
    while (at < num_rows(table) && table.launch_ns[at] < mark.start_ns) at++;
    marks.push_back({mark.number, at});
  }
  return growing(marks);
}

// The marks the profiler wrote with the pass: in the file, else in the one beside it of the same execution.
const PassMarkTable* marks_beside(const std::vector<InputSummary>& inputs, const Folders& folders, std::size_t pass,
                                  std::int64_t process, const StringTable** strings) {
  const auto holds = [&](std::size_t other) {
    if (!inputs[other].pass_tables || num_rows(inputs[other].pass_tables->marks) == 0) return false;
    const std::vector<std::int64_t>& processes = inputs[other].pass_tables->marks.process;
    return process == kNoNumber || processes.front() == kNoNumber ||
           std::find(processes.begin(), processes.end(), process) != processes.end();
  };
  const std::size_t found = holds(pass) ? pass : folders.find_beside(pass, holds);
  if (found == SIZE_MAX) return nullptr;
  *strings = &inputs[found].pass_tables->strings;
  return &inputs[found].pass_tables->marks;
}

// Those of one kind. A mark begins where the first dispatch starts behind it.
std::vector<IterationMark> marks_of_pass(const PassMarkTable& table, const StringTable& strings,
                                         const PassDispatchTable& times, const std::vector<std::uint32_t>& dispatches,
                                         MarkKind kind, std::string_view user_mark) {
  std::vector<std::pair<std::int64_t, std::int64_t>> starts;  // time, number
  for (std::size_t i = 0; i < num_rows(table); i++) {
    const std::int64_t process = times.process[dispatches.front()];
    if (table.process[i] != kNoNumber && process != kNoNumber && table.process[i] != process) continue;
    const MarkName name = mark_of(strings.view(table.name[i]), user_mark);
    if (name.kind == kind && name.number != kNoNumber) starts.emplace_back(table.start_ns[i], name.number);
  }
  std::sort(starts.begin(), starts.end());
  std::vector<IterationMark> marks;
  std::size_t at = 0;
  for (const auto& [time, number] : starts) {
    while (at < dispatches.size() && times.start_ns[dispatches[at]] < time) at++;
    marks.push_back({number, at});
  }
  return growing(marks);
}

// Both sides of one alignment.
struct Sides {
  std::vector<Dispatch> trace, pass;
  std::vector<IterationMark> trace_marks, pass_marks;
};

Sides sides_of(const ComputeKernels& kernels, const CounterPass& pass, const std::vector<std::uint32_t>& dispatches) {
  std::vector<std::string_view> trace_names, pass_names;
  for (std::size_t i = 0; i < kernels.strings.size(); i++)
    trace_names.push_back(kernels.strings.view(StringId{static_cast<std::uint32_t>(i)}));
  // Names of operations are among the strings of the trace, and of counters among those of the pass: only kernels
  // count.
  std::vector<std::uint8_t> is_name(trace_names.size(), 0);
  for (const StringId name : kernels.table.name) is_name[index_of(name)] = 1;
  std::vector<std::uint32_t> place(trace_names.size(), 0);
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < trace_names.size(); i++) {
    place[i] = static_cast<std::uint32_t>(names.size());
    if (is_name[i] != 0) names.push_back(trace_names[i]);
  }
  for (const PassKernel& kernel : pass.kernels)
    pass_names.push_back(kernel.name == kNoString ? std::string_view() : pass.strings.view(kernel.name));
  const NameKeys keys = match_kernel_names(names, pass_names);
  SharedKeys grids, groups;
  Sides sides;
  for (std::size_t i = 0; i < num_rows(kernels.table); i++) {
    sides.trace.push_back({keys.first[place[index_of(kernels.table.name[i])]], grids.of(kernels.table.work_items[i]),
                           groups.of(kernels.table.group_items[i])});
  }
  std::vector<Dispatch> of_kernel;
  for (std::size_t k = 0; k < pass.kernels.size(); k++) {
    of_kernel.push_back({pass_names[k].empty() ? kUnknownKey : keys.second[k], grids.of(work_items_of(pass.kernels[k])),
                         groups.of(group_items_of(pass.kernels[k]))});
  }
  for (const std::uint32_t row : dispatches) sides.pass.push_back(of_kernel[pass.dispatches.kernel[row]]);
  return sides;
}

// Dispatches of the trace that belong to one iteration: [begin, end) holds all of them, and at most strangers at its
// borders.
struct IterationRange {
  std::size_t begin = SIZE_MAX, end = 0;
  std::size_t num_kernels = 0, num_matched = 0;
  std::uint32_t first_pass = kUnmatched, last_pass = 0;
};

std::vector<IterationRange> iterations_of(const std::vector<std::int32_t>& iteration, const Alignment& alignment) {
  std::vector<IterationRange> ranges;
  for (std::size_t i = 0; i < iteration.size(); i++) {
    if (iteration[i] < 0) continue;
    const auto k = static_cast<std::size_t>(iteration[i]);
    if (k >= ranges.size()) ranges.resize(k + 1);
    IterationRange& range = ranges[k];
    range.begin = std::min(range.begin, i);
    range.end = i + 1;
    range.num_kernels++;
    const std::uint32_t pass = alignment.matches[i].pass;
    if (pass == kUnmatched) continue;
    range.num_matched++;
    range.first_pass = std::min(range.first_pass, pass);
    range.last_pass = std::max(range.last_pass, pass);
  }
  return ranges;
}

// A pass mostly covers fewer iterations than the trace. Those it does not cover take the values of the iteration that
// is covered best, by their place in it: iterations of one program are alike, and where one is not, the alignment of
// the two says so.
void transfer_to_uncovered(const std::vector<std::int32_t>& iteration, const Sides& sides, Alignment& alignment,
                           std::vector<std::uint8_t>& is_copy) {
  is_copy.assign(iteration.size(), 0);
  const std::vector<IterationRange> ranges = iterations_of(iteration, alignment);
  const auto best =
      std::max_element(ranges.begin(), ranges.end(),
                       [](const IterationRange& a, const IterationRange& b) { return a.num_matched < b.num_matched; });
  if (best == ranges.end() || 10 * best->num_matched < 9 * best->num_kernels || best->num_matched == 0) return;
  const std::span<const Dispatch> pass =
      std::span(sides.pass).subspan(best->first_pass, best->last_pass - best->first_pass + 1);
  for (const IterationRange& range : ranges) {
    // One of another length is not alike, and many of them beside a long one would cost its length each.
    const bool is_alike = range.num_kernels <= 2 * best->num_kernels && best->num_kernels <= 2 * range.num_kernels &&
                          pass.size() <= 2 * best->num_kernels;
    if (!is_alike || 2 * range.num_matched >= range.num_kernels) continue;
    const Alignment part =
        align({std::span(sides.trace).subspan(range.begin, range.end - range.begin), {}}, {pass, {}});
    for (std::size_t i = 0; i < part.matches.size(); i++) {
      Match& match = alignment.matches[range.begin + i];
      if (part.matches[i].pass == kUnmatched || match.pass != kUnmatched) continue;
      match = part.matches[i];
      match.pass += best->first_pass;
      is_copy[range.begin + i] = 1;
      if (match.basis != MatchBasis::ambiguous) match.basis = MatchBasis::transferred;
    }
  }
}

// Counts again after matches were added.
void count_matches(Alignment& alignment, std::size_t num_pass) {
  std::vector<std::uint8_t> used(num_pass, 0);
  alignment.num_matched = alignment.num_substituted = alignment.num_only_trace = 0;
  alignment.num_marks = alignment.num_unique = alignment.num_transferred = alignment.num_ambiguous = 0;
  for (const Match& match : alignment.matches) {
    if (match.pass == kUnmatched) {
      alignment.num_only_trace++;
      continue;
    }
    used[match.pass] = 1;
    (match.substituted ? alignment.num_substituted : alignment.num_matched)++;
    alignment.num_marks += match.basis == MatchBasis::marks ? 1 : 0;
    alignment.num_unique += match.basis == MatchBasis::unique ? 1 : 0;
    alignment.num_transferred += match.basis == MatchBasis::transferred ? 1 : 0;
    alignment.num_ambiguous += match.basis == MatchBasis::ambiguous ? 1 : 0;
  }
  alignment.num_only_pass = static_cast<std::size_t>(std::count(used.begin(), used.end(), 0));
  if (alignment.num_transferred > 0 && alignment.verdict < AlignmentVerdict::iteration_ambiguous)
    alignment.verdict = AlignmentVerdict::iteration_ambiguous;
}

// Marks of the kind that both sides have: only then equal numbers mean the same iteration.
void set_marks(const std::vector<InputSummary>& inputs, const Folders& folders, const PassAlignment& out,
               std::string_view user_mark, Sides& sides) {
  const InputSummary& trace = inputs[out.input];
  const PassDispatchTable& times = inputs[out.pass].pass_tables->dispatches;
  // Where a mark lies among dispatches without times nobody knows.
  if (out.dispatches.empty() || std::any_of(out.dispatches.begin(), out.dispatches.end(),
                                            [&](std::uint32_t row) { return times.start_ns[row] == kNoNumber; }))
    return;
  const StringTable* strings = nullptr;
  const PassMarkTable* marks = marks_beside(inputs, folders, out.pass, times.process[out.dispatches.front()], &strings);
  if (marks == nullptr) return;
  const ComputeKernelTable& table = trace.gpus[out.gpu].compute_kernels->table;
  for (const MarkKind kind : {MarkKind::user, MarkKind::iteration, MarkKind::profiler_step}) {
    sides.trace_marks = marks_of_trace(trace, table, kind);
    if (sides.trace_marks.empty()) continue;
    sides.pass_marks = marks_of_pass(*marks, *strings, times, out.dispatches, kind, user_mark);
    if (!sides.pass_marks.empty()) return;
  }
  sides.trace_marks.clear();
}

// Which kernels of the trace the pass was recorded of. A profiler that was told to count some kernels only (rocprofv3
// --kernel-include-regex, ncu --kernel-name) chooses by name and does not say so; the names that the pass has are the
// choice. That it was one is believed where the program is the same - nearly all dispatches of the pass have a name
// that the trace has - and what is missing is more than kernels that were renamed or lost.
std::vector<std::uint8_t> covered_kernels(const ComputeKernelTable& table, const Sides& sides) {
  constexpr double kOfOneProgram = 0.95;
  std::vector<std::uint8_t> covered(num_rows(table), 1);
  std::unordered_set<std::uint32_t> pass_names, trace_names;
  for (const Dispatch& dispatch : sides.pass) pass_names.insert(dispatch.name);
  for (const Dispatch& dispatch : sides.trace) trace_names.insert(dispatch.name);
  const auto num_known = std::count_if(sides.pass.begin(), sides.pass.end(), [&](const Dispatch& dispatch) {
    return dispatch.name != kUnknownKey && trace_names.contains(dispatch.name);
  });
  if (static_cast<double>(num_known) < kOfOneProgram * static_cast<double>(sides.pass.size()) || num_known == 0)
    return covered;
  std::int64_t all_ns = 0, covered_ns = 0;
  for (std::size_t i = 0; i < covered.size(); i++) {
    all_ns += table.duration_ns[i];
    if (pass_names.contains(sides.trace[i].name)) {
      covered_ns += table.duration_ns[i];
    } else {
      covered[i] = 0;
    }
  }
  if (static_cast<double>(covered_ns) >= kWarnBelowShare * static_cast<double>(all_ns))
    covered.assign(covered.size(), 1);
  return covered;
}

// Leaves the kernels of the trace out that the pass was not recorded of; returns the rows that stay.
std::vector<std::size_t> keep_covered(const std::vector<std::uint8_t>& covered, Sides& sides) {
  std::vector<std::size_t> rows;
  std::vector<std::size_t> num_before = {0};  // of each row
  for (std::size_t i = 0; i < covered.size(); i++) {
    if (covered[i] != 0) {
      sides.trace[rows.size()] = sides.trace[i];
      rows.push_back(i);
    }
    num_before.push_back(rows.size());
  }
  sides.trace.resize(rows.size());
  for (IterationMark& mark : sides.trace_marks) mark.begin = num_before[mark.begin];
  return rows;
}

// Takes kernels that have got copies of the values of another iteration out of the gaps: what is left of the trace in a
// gap are the stretches between them, the first of which keeps the dispatches of the pass.
void leave_matched_out_of_gaps(Alignment& alignment) {
  std::vector<AlignmentGap> gaps;
  for (const AlignmentGap& gap : alignment.gaps) {
    const std::uint32_t end = gap.trace_begin + gap.num_trace;
    const std::size_t num_before = gaps.size();
    for (std::uint32_t i = gap.trace_begin; i < end; i++) {
      if (alignment.matches[i].pass != kUnmatched) continue;
      const bool goes_on = gaps.size() > num_before && gaps.back().trace_begin + gaps.back().num_trace == i;
      if (!goes_on) gaps.push_back({i, 0, gap.pass_begin + (gaps.size() > num_before ? gap.num_pass : 0), 0});
      gaps.back().num_trace++;
    }
    if (gaps.size() > num_before) {
      gaps[num_before].num_pass = gap.num_pass;
    } else if (gap.num_pass > 0) {
      gaps.push_back({gap.trace_begin == 0 ? 0 : end, 0, gap.pass_begin, gap.num_pass});
    }
  }
  alignment.gaps = std::move(gaps);
}

// Gives the matches of the rows that were aligned back to all rows of the trace.
void spread_to_all_rows(std::size_t num_rows_of_trace, PassAlignment& out) {
  std::vector<Match> matches(num_rows_of_trace);
  std::vector<std::uint8_t> is_copy(num_rows_of_trace, 0);
  for (std::size_t k = 0; k < out.trace_rows.size(); k++) {
    matches[out.trace_rows[k]] = out.alignment.matches[k];
    is_copy[out.trace_rows[k]] = out.is_copy[k];
  }
  out.alignment.matches = std::move(matches);
  out.is_copy = std::move(is_copy);
}

void align_one(const std::vector<InputSummary>& inputs, const Folders& folders, const ClassRules& rules,
               std::string_view user_mark, PassAlignment& out) {
  const InputSummary& input = inputs[out.pass];
  const InputSummary& trace = inputs[out.input];
  const CounterPass& pass = *input.pass_tables;
  const ComputeKernels& kernels = *trace.gpus[out.gpu].compute_kernels;
  std::vector<std::uint8_t> is_compute_kernel;
  for (const PassKernel& kernel : pass.kernels) {
    const std::string_view name = kernel.name == kNoString ? std::string_view() : pass.strings.view(kernel.name);
    is_compute_kernel.push_back(is_compute(class_of_kernel_name(rules, name)) ? 1 : 0);
  }
  out.dispatches = in_dispatch_order(pass, out.device, is_compute_kernel);
  Sides sides = sides_of(kernels, pass, out.dispatches);
  set_marks(inputs, folders, out, user_mark, sides);
  const std::vector<std::uint8_t> covered = covered_kernels(kernels.table, sides);
  out.trace_rows = keep_covered(covered, sides);
  out.of_some_kernels = out.trace_rows.size() < covered.size();
  std::vector<std::int32_t> iteration;
  for (const std::size_t row : out.trace_rows) iteration.push_back(kernels.table.iteration[row]);
  out.alignment = align({sides.trace, sides.trace_marks}, {sides.pass, sides.pass_marks});
  transfer_to_uncovered(iteration, sides, out.alignment, out.is_copy);
  flag_beside_renamed({sides.trace, {}}, {sides.pass, {}}, out.alignment);
  flag_equal_runs({sides.trace, {}}, {sides.pass, {}}, out.alignment);
  leave_matched_out_of_gaps(out.alignment);
  count_matches(out.alignment, sides.pass.size());
  spread_to_all_rows(covered.size(), out);
  for (std::size_t i = 0; i < num_rows(kernels.table); i++) {
    if (kernels.table.selected[i] == 0) continue;
    out.selected_ns += kernels.table.duration_ns[i];
    if (covered[i] == 0) continue;
    out.covered_ns += kernels.table.duration_ns[i];
    // Another kernel at the same place has other counts: its values are not used.
    const Match& match = out.alignment.matches[i];
    if (match.pass != kUnmatched && !match.substituted) out.matched_ns += kernels.table.duration_ns[i];
  }
}

// "gfx942:sramecc+:xnack-" is gfx942.
std::string_view architecture_name(std::string_view text) { return text.substr(0, text.find(':')); }

std::string_view name_of(Vendor vendor) { return vendor == Vendor::amd ? "AMD" : "NVIDIA"; }

// Counters of another product say nothing of this one; empty where both are the same, or one is not known.
std::string other_product(const InputSummary& pass, const AgentFacts& agent, const InputSummary& trace,
                          const GpuSummary& gpu, const std::vector<GpuSpec>& known,
                          const std::optional<std::string>& gpu_spec) {
  const GpuSpec* spec = find_gpu(known, gpu_spec, gpu.name);
  const bool is_stated = spec != nullptr && spec != find_gpu(known, std::nullopt, gpu.name);
  const std::string_view why = is_stated ? ", as gpu.spec of the facts states" : "";
  const GpuSpec* counted = agent.product.empty() ? nullptr : find_gpu(known, std::nullopt, agent.product);
  if (spec != nullptr && counted != nullptr && counted->key != spec->key)
    return fmt::format("counters of {}, the trace is of {}{}", counted->name, spec->name, why);
  const std::string_view ours = architecture_name(spec != nullptr ? spec->architecture : gpu.architecture);
  const std::string_view theirs = architecture_name(agent.architecture);
  if (!ours.empty() && !theirs.empty() && ours != theirs)
    return fmt::format("counters of {}, the trace is of {} ({}){}", theirs,
                       spec != nullptr ? spec->name : gpu.name.value_or("another gpu"), ours, why);
  const auto is_known = [](Vendor vendor) { return vendor == Vendor::amd || vendor == Vendor::nvidia; };
  const Vendor here = trace.facts.vendor, there = pass.facts.vendor;
  if (is_known(here) && is_known(there) && here != there)
    return fmt::format("counters of a gpu of {}, the trace is of {}", name_of(there), name_of(here));
  return "";
}

// The same of all gpus of the traces: then no number of a gpu or rank is what is wrong.
std::string other_product_than_all(const std::vector<InputSummary>& inputs, const InputSummary& pass,
                                   const AgentFacts& agent, const std::vector<GpuSpec>& known,
                                   const std::optional<std::string>& gpu_spec) {
  std::string first;
  for (const InputSummary& trace : inputs) {
    for (const GpuSummary& gpu : trace.gpus) {
      const std::string why = other_product(pass, agent, trace, gpu, known, gpu_spec);
      if (why.empty()) return "";
      if (first.empty()) first = why;
    }
  }
  return first;
}

bool has_several_processes(const CounterPass& pass, std::uint32_t device) {
  std::int64_t first = kNoNumber;
  for (std::size_t i = 0; i < num_rows(pass.dispatches); i++) {
    const std::int64_t process = pass.dispatches.process[i];
    if (pass.dispatches.device[i] != device || process == kNoNumber) continue;
    if (first != kNoNumber && process != first) return true;
    first = process;
  }
  return false;
}

// Processes that each see one gpu all call it by the same number: files with the same counters, of several processes
// and without a rank, that would be of one gpu while the job has others.
void refuse_look_alikes(std::vector<InputSummary>& inputs, std::vector<PassAlignment>& alignments) {
  std::map<std::tuple<std::size_t, std::size_t, std::string>, std::set<std::int64_t>> processes;
  const auto key_of = [&](const PassAlignment& a) {
    std::string counters;
    for (const CounterCount& counter : inputs[a.pass].pass->counters) counters += counter.name + ",";
    return std::make_tuple(a.input, a.gpu, counters);
  };
  std::set<std::pair<std::size_t, std::size_t>> gpus;
  std::size_t num_gpus = 0;
  for (const InputSummary& input : inputs) num_gpus += input.gpus.size();
  for (const PassAlignment& a : alignments) {
    gpus.insert({a.input, a.gpu});
    const PassDispatchTable& table = inputs[a.pass].pass_tables->dispatches;
    if (!inputs[a.pass].facts.rank && num_rows(table) > 0) processes[key_of(a)].insert(table.process.front());
  }
  if (gpus.size() == num_gpus) return;
  std::erase_if(alignments, [&](const PassAlignment& a) {
    if (inputs[a.pass].facts.rank) return false;
    const auto at = processes.find(key_of(a));
    if (at == processes.end() || at->second.size() < 2) return false;
    InputSummary& input = inputs[a.pass];
    input.health.add(HealthKind::pass_without_gpu, input.path,
                     input.pass->devices[a.device].device.text + " is what " + std::to_string(at->second.size()) +
                         " processes call their gpu: name the rank of the file, --set-rank " + input.path + "=N");
    return true;
  });
}

void note_quality(std::vector<InputSummary>& inputs, const PassAlignment& done) {
  const double share = done.matched_share();
  // Kernels that were selected without any the pass was recorded of say nothing of the pass.
  if (done.covered_ns == 0 || (share >= kWarnBelowShare && !done.of_some_kernels)) return;
  InputSummary& input = inputs[done.pass];
  const std::string with = input.pass->devices[done.device].device.text + " with " + inputs[done.input].path;
  const std::string what =
      done.of_some_kernels
          ? fmt::format(
                "{}: recorded of some kernels, by name, {:.1f} % of the time of computation; {:.1f} % of that "
                "has a partner of the same name",
                with, 100 * static_cast<double>(done.covered_ns) / static_cast<double>(done.selected_ns), 100 * share)
          : fmt::format("{}: {:.1f} % of the time of computation has a partner of the same name", with, 100 * share);
  input.health.add(share < kRefuseBelowShare ? HealthKind::pass_not_aligned : HealthKind::pass_poorly_aligned,
                   input.path, what);
}

}  // namespace

std::vector<PassAlignment> align_passes(std::vector<InputSummary>& inputs, const std::vector<Job>& jobs,
                                        const ClassRules& rules, const std::vector<GpuSpec>& known,
                                        const std::optional<std::string>& gpu_spec, std::string_view user_mark,
                                        unsigned threads) {
  std::vector<PassAlignment> alignments;
  if (jobs.empty()) return alignments;
  const Folders folders(inputs);
  for (std::size_t p = 0; p < inputs.size(); p++) {
    if (!inputs[p].pass_tables || inputs[p].pass->num_values == 0) continue;
    for (std::uint32_t d = 0; d < inputs[p].pass->devices.size(); d++) {
      if (inputs[p].pass->devices[d].num_values == 0) continue;
      const PassGpu found = has_several_processes(*inputs[p].pass_tables, d)
                                ? PassGpu{std::nullopt,
                                          inputs[p].pass->devices[d].device.text +
                                              " has dispatches of several processes in one file: their "
                                              "order is not that of one trace. Write a file for each",
                                          {}}
                                : find_pass_gpu(inputs, jobs, p, d);
      const AgentFacts& agent = inputs[p].pass->devices[d].facts;
      std::string refused;
      if (found.place) {
        const InputSummary& trace = inputs[found.place->input];
        refused = other_product(inputs[p], agent, trace, trace.gpus[found.place->gpu], known, gpu_spec);
      } else {
        refused = other_product_than_all(inputs, inputs[p], agent, known, gpu_spec);
        if (refused.empty()) refused = found.reason;
      }
      if (!refused.empty()) {
        inputs[p].health.add(HealthKind::pass_without_gpu, inputs[p].path, refused);
        continue;
      }
      std::vector<GpuPlace> places = {*found.place};
      places.insert(places.end(), found.other_windows.begin(), found.other_windows.end());
      for (const GpuPlace& place : places) {
        if (inputs[place.input].gpus[place.gpu].compute_kernels == nullptr) continue;
        PassAlignment& next = alignments.emplace_back();
        next.pass = p;
        next.device = d;
        next.input = place.input;
        next.gpu = place.gpu;
      }
    }
  }
  refuse_look_alikes(inputs, alignments);
  std::vector<std::function<void()>> tasks;
  for (PassAlignment& next : alignments)
    tasks.emplace_back(
        [&inputs, &folders, &rules, user_mark, &next] { align_one(inputs, folders, rules, user_mark, next); });
  run_tasks(threads, tasks);
  for (const PassAlignment& done : alignments) note_quality(inputs, done);
  return alignments;
}

}  // namespace chopper
