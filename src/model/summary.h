// SPDX-License-Identifier: Apache-2.0
// What is kept of a rank once its tables are gone: integers and sketches, merged by adding, so that ten thousand ranks
// are as easy as one.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "base/quantile_sketch.h"
#include "model/rows.h"
#include "model/trace.h"

namespace chopper {

/// Records and summed duration that carry a label.
struct LabelCount {
  std::int64_t records = 0;
  std::int64_t duration_ns = 0;
};

/// Identity of a group of like kernels.
struct KernelKey {
  std::string name;
  GpuClass gpu_class = GpuClass::other;
  Extent grid, block;
  friend bool operator<(const KernelKey& a, const KernelKey& b) {
    return std::tie(a.name, a.gpu_class, a.grid, a.block) < std::tie(b.name, b.gpu_class, b.grid, b.block);
  }
};

/// One gpu as one input saw it. Times as in TimelineRow.
struct GpuSummary {
  std::int32_t device = kUnknownDevice;
  std::optional<std::string> name;
  std::int64_t num_kernels = 0, num_memcpy = 0, num_memset = 0, num_comm_kernels = 0;
  TimelineRow timeline;  ///< input, rank and gpu are filled when rows are made
  LabelCount all, launched, in_range, in_operation, classed;
  std::map<KernelKey, QuantileSketch> kernels;
};

/// Every gpu record with its labels, kept only with --kernels. Strings are interned in `strings`.
struct KernelRecords {
  struct Record {
    std::int32_t device;
    bool is_kernel;
    GpuClass gpu_class;
    bool comm_copy;
    StringId name, launch_call, range, operation;
    std::int64_t start_ns, duration_ns, stream, correlation, bytes, launch_ns, prep_ns, call_ns, overlap_ns;
    bool first_of_chain;
    Extent grid, block;
    std::uint64_t offset;
  };
  StringTable strings;
  std::vector<Record> records;  ///< sorted by (device, start, offset)
};

/// One input file.
struct InputSummary {
  std::string path;       ///< as shown: relative to the run
  std::string full_path;  ///< for comparing bytes of files that claim one rank
  TraceFacts facts;
  std::int64_t first_ns = 0, last_ns = 0;  ///< extent of all valid times
  bool has_times = false;
  HealthLog health;
  std::vector<GpuSummary> gpus;
  bool selected = true;  ///< false when --rank leaves it out
  std::optional<KernelRecords> kernel_records;
};

}  // namespace chopper
