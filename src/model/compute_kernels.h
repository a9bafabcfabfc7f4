// SPDX-License-Identifier: Apache-2.0
// The COMP kernels of one gpu, kept beside its summary where the run holds counter passes: what they are aligned by,
// and what theory says of them.
#pragma once

#include <cstdint>
#include <tuple>
#include <vector>

#include "base/string_table.h"
#include "model/health.h"
#include "model/tables.h"
#include "model/trace.h"

namespace chopper {

/// What tells the work of a kernel.
enum class TheorySource : std::uint8_t {
  none,
  shapes,  ///< recorded shapes of its host operator
  model,   ///< the model that the facts describe
};

/// One row a kernel of class COMP, in order of its launch call; one without a launch record stands where it started.
/// Strings are interned in `strings`.
struct ComputeKernelTable {
  std::vector<StringId> name;
  std::vector<std::int64_t> work_items;   ///< threads of the grid, modulo 2^32 as rocprofv3 writes them; or kNoNumber
  std::vector<std::int64_t> group_items;  ///< threads of a block; or kNoNumber
  std::vector<std::int64_t> launch_ns;    ///< of its launch call, or of its start where there is no launch record
  std::vector<std::int64_t> start_ns, duration_ns;
  std::vector<std::int64_t> overlap_ns;   ///< with communication
  std::vector<StringId> overlapped_with;  ///< operation of the communication it overlaps most, or none
  std::vector<Phase> phase;
  std::vector<StringId> operation;       ///< kNoString: unlabelled
  std::vector<std::int32_t> layer;       ///< or k*Layer(s)
  std::vector<std::int32_t> iteration;   ///< ordinal, or k*Iteration
  std::vector<std::uint32_t> instance;   ///< equal for the kernels of one execution of an operation
  std::vector<std::int32_t> micro_step;  ///< forward-backward pass of the iteration, from 0; -1: not known
  std::vector<std::uint8_t> selected;    ///< 1: the selection of the run holds it
  std::vector<std::uint8_t> complete;    ///< 1: of a complete iteration; of any where none is complete
  std::vector<std::uint8_t> comm_copy;   ///< 1: packs or unpacks buffers of communication
  std::vector<TheorySource> theory;      ///< of flops
  /// Of the host operator that launched it, or of the pass by the model, parted among its kernels on this gpu by
  /// duration; NaN: not known.
  std::vector<double> flops, bytes;
  std::vector<double> flops_ns, bytes_ns;  ///< at the peaks of the gpu; NaN: not known
  std::vector<std::uint64_t> offset;       ///< of its record

  static constexpr auto columns() {
    using T = ComputeKernelTable;
    return std::make_tuple(&T::name, &T::work_items, &T::group_items, &T::launch_ns, &T::start_ns, &T::duration_ns,
                           &T::overlap_ns, &T::overlapped_with, &T::phase, &T::operation, &T::layer, &T::iteration,
                           &T::instance, &T::micro_step, &T::selected, &T::complete, &T::comm_copy, &T::theory,
                           &T::flops, &T::bytes, &T::flops_ns, &T::bytes_ns, &T::offset);
  }
};

/// What a kernel takes of the time of an iteration's window: of several that run at once each takes its part.
struct KernelInWindow {
  std::int32_t ordinal = 0;  ///< of the iteration
  std::uint32_t kernel = 0;  ///< row of ComputeKernelTable
  std::int64_t weight_ns = 0;
};

struct ComputeKernels {
  StringTable strings;
  ComputeKernelTable table;
  std::vector<KernelInWindow> in_windows;  ///< in order of (ordinal, kernel)
  HealthLog notes;                         ///< what the model of the facts does not tell, or tells otherwise
};

}  // namespace chopper
