// SPDX-License-Identifier: Apache-2.0
// Names in exports of Nsight Systems, brought to the form in which the PyTorch profiler writes them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model/tables.h"

namespace chopper::nsight {

/// A range of the host as its message describes it.
struct RangeName {
  std::string_view name;
  RangeKind kind = RangeKind::annotation;
  std::int64_t sequence_number = kNoNumber;
  std::string_view shapes;  ///< sizes of the inputs, "[[2, 3], []]"; empty: not stated
};

/// Takes a message apart. torch.autograd.profiler.emit_nvtx writes operators as
///   aten::addmm, seq = 12, op_id = 34, sizes = [[], [2, 3]]
RangeName parse_range(std::string_view message);

/// Cuts the version of the interface off: "cudaLaunchKernel_v7000" to "cudaLaunchKernel", but not "cuMemAlloc_v2".
std::string_view call_name(std::string_view name);

/// Calls of the driver's interface begin with cu, those of the runtime's with cuda.
CallKind call_kind(std::string_view name);

/// Returns the name of a copy: "Memcpy HtoD (Pinned -> Device)".
std::string copy_name(std::int64_t copy_kind, std::int64_t source_kind, std::int64_t target_kind);
/// Returns the name of a fill: "Memset (Device)".
std::string fill_name(std::int64_t memory_kind);

}  // namespace chopper::nsight
