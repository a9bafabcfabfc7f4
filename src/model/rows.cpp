// SPDX-License-Identifier: Apache-2.0
#include "model/rows.h"

namespace chopper {

std::string_view to_string(Reason reason) {
  switch (reason) {
    case Reason::rank_unknown:
      return "rank_unknown";
    case Reason::device_unknown:
      return "device_unknown";
    case Reason::stream_unknown:
      return "stream_unknown";
    case Reason::host_unknown:
      return "host_unknown";
    case Reason::vendor_unknown:
      return "vendor_unknown";
    case Reason::no_device_facts:
      return "no_device_facts";
    case Reason::unknown_gpu:
      return "unknown_gpu";
    case Reason::no_launch_record:
      return "no_launch_record";
    case Reason::first_of_chain:
      return "first_of_chain";
    case Reason::not_compute:
      return "not_compute";
    case Reason::zero_length:
      return "zero_length";
    case Reason::no_extent:
      return "no_extent";
    case Reason::no_records:
      return "no_records";
    case Reason::no_link:
      return "no_link";
    case Reason::no_mark:
      return "no_mark";
    case Reason::outside_layers:
      return "outside_layers";
    case Reason::no_label:
      return "no_label";
    case Reason::no_shapes:
      return "no_shapes";
    case Reason::no_group:
      return "no_group";
    case Reason::no_links_known:
      return "no_links_known";
    case Reason::single_rank:
      return "single_rank";
    case Reason::unmatched_ranks:
      return "unmatched_ranks";
    case Reason::no_peak:
      return "no_peak";
    case Reason::no_batch:
      return "no_batch";
    case Reason::no_model:
      return "no_model";
    case Reason::no_complete_iteration:
      return "no_complete_iteration";
    case Reason::peak_exceeded:
      return "peak_exceeded";
    case Reason::needs_counter:
      return "needs_counter";
    case Reason::no_theory:
      return "no_theory";
    case Reason::no_executed_work:
      return "no_executed_work";
    case Reason::no_matrix_cycles:
      return "no_matrix_cycles";
    case Reason::no_gpu_cycles:
      return "no_gpu_cycles";
    case Reason::no_pass_times:
      return "no_pass_times";
    case Reason::no_peak_clock:
      return "no_peak_clock";
    case Reason::few_matched:
      return "few_matched";
    case Reason::no_clock:
      return "no_clock";
    case Reason::few_clocks:
      return "few_clocks";
    case Reason::no_memory_clock:
      return "no_memory_clock";
    case Reason::unidentifiable:
      return "unidentifiable";
    case Reason::zero_value:
      return "zero_value";
    case Reason::few_iterations:
      return "few_iterations";
    case Reason::few_resamples:
      return "few_resamples";
    case Reason::not_in_mode:
      return "not_in_mode";
    case Reason::not_needed:
      return "not_needed";
    case Reason::no_waits:
      return "no_waits";
    case Reason::no_memory_totals:
      return "no_memory_totals";
    case Reason::instances_differ:
      return "instances_differ";
  }
  return "no_records";
}

}  // namespace chopper
