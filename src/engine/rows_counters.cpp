// SPDX-License-Identifier: Apache-2.0
// Rows about counter passes.
#include "engine/make_rows.h"

namespace chopper {

AlignmentRow alignment_row(const std::vector<InputSummary>& inputs, const PassAlignment& done) {
  const Alignment& alignment = done.alignment;
  const auto count = [](std::size_t n) { return static_cast<std::int64_t>(n); };
  AlignmentRow row;
  row.pass = count(done.pass);
  row.input = count(done.input);
  row.rank = rank_field(inputs[done.input]);
  row.gpu = gpu_field(inputs[done.input].gpus[done.gpu].device);
  row.pass_gpu = inputs[done.pass].pass->devices[done.device].device.text;
  row.num_matched = count(alignment.num_matched);
  row.num_substituted = count(alignment.num_substituted);
  row.num_only_trace = count(alignment.num_only_trace);
  row.num_only_pass = count(alignment.num_only_pass);
  row.num_by_marks = count(alignment.num_marks);
  row.num_unique = count(alignment.num_unique);
  row.num_transferred = count(alignment.num_transferred);
  row.num_ambiguous = count(alignment.num_ambiguous);
  row.matched_time_share = share_field(done.matched_ns, done.covered_ns, Reason::zero_length);
  row.covered_time_share = share_field(done.covered_ns, done.selected_ns, Reason::zero_length);
  row.verdict = to_string(alignment.verdict);
  return row;
}

}  // namespace chopper
