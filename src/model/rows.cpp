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
  }
  return "no_records";
}

}  // namespace chopper
