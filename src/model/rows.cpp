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
    case Reason::no_memory_totals:
      return "no_memory_totals";
    case Reason::instances_differ:
      return "instances_differ";
  }
  return "no_records";
}

}  // namespace chopper
