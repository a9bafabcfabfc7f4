// SPDX-License-Identifier: Apache-2.0
#include "model/trace.h"

namespace chopper {

std::string_view to_string(Vendor vendor) {
  switch (vendor) {
    case Vendor::unknown:
      return "unknown";
    case Vendor::amd:
      return "amd";
    case Vendor::nvidia:
      return "nvidia";
  }
  return "unknown";
}

std::string_view to_string(ClockDomain clock) { return clock == ClockDomain::unix_time ? "unix" : "relative"; }

std::string_view to_string(RankSource source) {
  switch (source) {
    case RankSource::none:
      return "none";
    case RankSource::metadata:
      return "metadata";
    case RankSource::process_group:
      return "process_group";
    case RankSource::file_name:
      return "file_name";
    case RankSource::user:
      return "user";
  }
  return "none";
}

std::string_view to_string(GpuClass gpu_class) {
  switch (gpu_class) {
    case GpuClass::gemm:
      return "gemm";
    case GpuClass::attention:
      return "attention";
    case GpuClass::vector:
      return "vector";
    case GpuClass::other:
      return "other";
    case GpuClass::comm:
      return "comm";
    case GpuClass::memcpy:
      return "memcpy";
    case GpuClass::memset:
      return "memset";
  }
  return "other";
}

}  // namespace chopper
