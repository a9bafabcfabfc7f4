// SPDX-License-Identifier: Apache-2.0
// Facts from the top-level keys of a trace: base time, devices, rank, host.
//   "distributedInfo": {"backend": "nccl", "rank": 3, "world_size": 8}, "deviceProperties": [{"id": 0, "name": "NVIDIA
//   A100", ...}]
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/tables.h"

namespace chopper {

struct TraceMetadata {
  std::optional<std::int64_t> base_ns;
  bool base_unreadable = false;  ///< the key is there, its value is no usable integer
  std::optional<std::int64_t> rank;
  std::optional<std::int64_t> world_size;
  std::optional<std::string> host;
  std::vector<DeviceFacts> devices;
};

/// Reads what is there; what is missing or of another type stays empty.
TraceMetadata parse_metadata(const std::map<std::string, std::string, std::less<>>& metadata);

}  // namespace chopper
