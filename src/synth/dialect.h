// SPDX-License-Identifier: Apache-2.0
// What differs between the vendors' traces: names of calls, device and stream numbers (formats.md 1.5, 1.7).
#pragma once

#include <cstdint>
#include <string_view>

#include "synth/program.h"

namespace chopper::synth {

struct CallName {
  std::string_view name;
  std::string_view category;  ///< "cuda_runtime" or "cuda_driver"
  std::int64_t id;            ///< cbid or cid
};

CallName call_name(Dialect dialect, Call call);

/// Whether the profiler records the call at all.
bool is_recorded(Dialect dialect, Call call);

/// Whether the launch call states its grid in work-items instead of blocks.
bool counts_work_items(Dialect dialect, Call call);

/// Returns how a trace numbers the gpu with ordinal `local` of its host.
std::int64_t device_number(Dialect dialect, std::int64_t local);

/// Returns how a trace numbers a stream of the job.
std::int64_t stream_number(Dialect dialect, Stream stream, bool is_copy);

/// Whether fills are kernels of the runtime instead of memset records.
bool fills_are_kernels(Dialect dialect);

}  // namespace chopper::synth
