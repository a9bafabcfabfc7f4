// SPDX-License-Identifier: Apache-2.0
// Rows of single kernels, made one at a time when they are written.
#include <cmath>

#include "engine/make_rows.h"

namespace chopper {

void Answer::for_each_kernel(bool copies, const std::function<void(const KernelRow&)>& row) const {
  for (std::size_t i = 0; i < summaries.size(); i++) {
    if (!summaries[i].kernel_records) continue;
    const KernelRecords& kept = *summaries[i].kernel_records;
    const auto text = [&](StringId id, Reason reason) {
      return id == kNoString ? Field<std::string>(reason) : Field<std::string>(std::string(kept.strings.view(id)));
    };
    for (const KernelRecords::Record& r : kept.records) {
      if (r.is_kernel == copies) continue;
      KernelRow out;
      out.input = static_cast<std::int64_t>(i);
      out.rank = rank_field(summaries[i]);
      out.gpu = gpu_field(r.device);
      out.start_ns = r.start_ns;
      out.offset = static_cast<std::int64_t>(r.offset);
      out.name = kept.strings.view(r.name);
      out.gpu_class = to_string(r.gpu_class);
      out.phase = to_string(r.phase);
      out.operation =
          r.operation == kNoString ? std::string("unlabelled") : std::string(kept.strings.view(r.operation));
      out.ordinal = ordinal_field(r.ordinal);
      out.iteration = r.ordinal < 0 ? Field<std::int64_t>(out.ordinal) : number_field(r.iteration);
      out.layer = layer_field(r.layer);
      out.layer_known = r.layer != kUnknownLayer;
      out.recompute = r.recompute;
      out.graph = r.graph;
      out.phase_rule = to_string(r.phase_rule);
      out.layer_rule = to_string(r.layer_rule);
      out.operation_rule = to_string(r.operation_rule);
      out.comm_copy = r.comm_copy;
      out.duration_ns = r.duration_ns;
      out.stream = r.stream == kNoNumber ? Field<std::int64_t>(Reason::stream_unknown) : Field<std::int64_t>(r.stream);
      out.correlation =
          r.correlation == kNoId ? Field<std::int64_t>(Reason::no_link) : Field<std::int64_t>(r.correlation);
      if (r.bytes != kNoNumber) out.bytes = r.bytes;
      if (!copies) {
        out.grid = extent_field(r.grid);
        out.block = extent_field(r.block);
      }
      out.launch_call = text(r.launch_call, Reason::no_launch_record);
      out.range = text(r.range, Reason::no_link);
      out.operator_name = text(r.operator_name, Reason::no_link);
      if (r.launch_ns == kNoNumber) {
        out.launch_ns = out.launch_delay_ns = Reason::no_launch_record;
      } else {
        out.launch_ns = r.launch_ns;
        out.launch_delay_ns = r.start_ns - r.launch_ns;
      }
      if (!copies) {
        const Reason reason = !is_compute(r.gpu_class) ? Reason::not_compute
                              : r.first_of_chain       ? Reason::first_of_chain
                                                       : Reason::no_launch_record;
        out.prep_ns = r.prep_ns == kNoNumber ? Field<std::int64_t>(reason) : Field<std::int64_t>(r.prep_ns);
        out.call_ns = r.call_ns == kNoNumber ? Field<std::int64_t>(reason) : Field<std::int64_t>(r.call_ns);
      }
      out.overlap_ns = r.overlap_ns;
      out.overlap_ratio = share_field(r.overlap_ns, r.duration_ns, Reason::zero_length);
      const auto count = [](double value, Field<double>& field) {
        if (std::isfinite(value)) field = value;
      };
      count(r.gpu_cycles, out.gpu_cycles);
      count(r.executed_flops, out.executed_flops);
      count(r.executed_bytes, out.executed_bytes);
      count(r.matrix_utilisation, out.matrix_utilisation);
      if (r.dispatch != kNoNumber) out.dispatch = r.dispatch;
      if (r.dispatch_pass != kNoNumber) {
        out.dispatch_pass = r.dispatch_pass;
        out.dispatch_basis = std::string(r.dispatch_basis);
      }
      row(out);
    }
  }
}

}  // namespace chopper
