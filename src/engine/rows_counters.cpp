// SPDX-License-Identifier: Apache-2.0
// Rows about counter passes.
#include <algorithm>

#include "engine/make_rows.h"

namespace chopper {
namespace {

// Gaps of a pass that have rows: what they have in common shows in the first ones, and there may be thousands.
constexpr std::size_t kShownGaps = 20;

std::int64_t count(std::size_t n) { return static_cast<std::int64_t>(n); }

std::string_view place_of(const AlignmentGap& gap, std::size_t num_trace, std::size_t num_pass) {
  if (gap.trace_begin == 0 && gap.pass_begin == 0) return "begin";
  const bool is_last = gap.trace_begin + gap.num_trace == num_trace && gap.pass_begin + gap.num_pass == num_pass;
  return is_last ? "end" : "inside";
}

void set_trace_side(const ComputeKernels& kernels, const PassAlignment& done, const AlignmentGap& gap,
                    AlignmentGapRow& row) {
  row.num_only_trace = gap.num_trace;
  if (gap.trace_begin == done.trace_rows.size()) return;
  const std::size_t first = done.trace_rows[gap.trace_begin];
  row.start_ns = kernels.table.start_ns[first];
  row.iteration = ordinal_field(kernels.table.iteration[first]);
  if (gap.num_trace > 0) row.trace_name = std::string(kernels.strings.view(kernels.table.name[first]));
}

void set_pass_side(const CounterPass& pass, const PassAlignment& done, const AlignmentGap& gap, AlignmentGapRow& row) {
  row.num_only_pass = gap.num_pass;
  if (gap.pass_begin == done.dispatches.size()) return;
  const std::uint32_t dispatch = done.dispatches[gap.pass_begin];
  const std::int64_t id = pass.dispatches.dispatch_id[dispatch];
  if (id != kNoNumber) row.dispatch = id;
  const StringId name = pass.kernels[pass.dispatches.kernel[dispatch]].name;
  if (gap.num_pass > 0 && name != kNoString) row.pass_name = std::string(pass.strings.view(name));
}

}  // namespace

void add_alignment_rows(const std::vector<InputSummary>& inputs, const PassAlignment& done, Answer& answer) {
  const Alignment& alignment = done.alignment;
  const GpuSummary& gpu = inputs[done.input].gpus[done.gpu];
  AlignmentRow& row = answer.alignment.emplace_back();
  row.pass = count(done.pass);
  row.input = count(done.input);
  row.rank = rank_field(inputs[done.input]);
  row.gpu = gpu_field(gpu.device);
  row.pass_gpu = inputs[done.pass].pass->devices[done.device].device.text;
  row.num_matched = count(alignment.num_matched);
  row.num_substituted = count(alignment.num_substituted);
  row.num_only_trace = count(alignment.num_only_trace);
  row.num_only_pass = count(alignment.num_only_pass);
  row.num_gaps = count(alignment.gaps.size());
  row.num_by_marks = count(alignment.num_marks);
  row.num_unique = count(alignment.num_unique);
  row.num_transferred = count(alignment.num_transferred);
  row.num_ambiguous = count(alignment.num_ambiguous);
  row.matched_time_share = share_field(done.matched_ns, done.covered_ns, Reason::zero_length);
  row.covered_time_share = share_field(done.covered_ns, done.selected_ns, Reason::zero_length);
  row.verdict = to_string(alignment.verdict);
  for (std::size_t i = 0; i < std::min(alignment.gaps.size(), kShownGaps); i++) {
    AlignmentGapRow& gap = answer.alignment_gaps.emplace_back();
    gap.pass = row.pass;
    gap.input = row.input;
    gap.rank = row.rank;
    gap.gpu = row.gpu;
    gap.gap = count(i);
    gap.place = place_of(alignment.gaps[i], done.trace_rows.size(), done.dispatches.size());
    set_trace_side(*gpu.compute_kernels, done, alignment.gaps[i], gap);
    set_pass_side(*inputs[done.pass].pass_tables, done, alignment.gaps[i], gap);
  }
}

}  // namespace chopper
