// SPDX-License-Identifier: Apache-2.0
// The gpu work of one device, prepared once for all analyses: its order, its covers, its iterations, its launch gaps.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "base/intervals.h"
#include "model/selection.h"
#include "model/trace.h"

namespace chopper {

/// Rows of GpuWorkTable.
using GpuRows = std::vector<std::uint32_t>;

/// Covers of the classes of a set of gpu records (spec 3).
struct ClassCovers {
  Cover compute, compute_without_copy, comm, copies, comm_copy;
  Cover compute_or_comm, busy;

  /// Adds a record; records come in order of start.
  void add(Interval record, GpuClass gpu_class, bool is_comm_copy);
  void clear();
};

/// Lengths that follow from the covers.
struct CoverLengths {
  std::int64_t busy_ns = 0, compute_ns = 0, comm_ns = 0, memcpy_ns = 0, overlap_ns = 0, exposed_comm_ns = 0,
               exposed_comm_strict_ns = 0, exposed_memcpy_ns = 0, comm_copy_ns = 0;
};
CoverLengths lengths_of(const ClassCovers& covers);

/// Where the iterations of one device lie in time (docs/reference/attribution.md 3).
struct WindowBounds {
  std::vector<std::int64_t> starts_ns;  ///< S_k, one a mark; never decreasing
  std::int64_t end_ns = 0;              ///< of the last window
  std::size_t last = 0;                 ///< the last iteration with work here; it and those behind it are `last`
  bool has_work = false;                ///< some iteration has work here
  std::vector<std::uint8_t> complete;   ///< 1: fit for statistics
  std::vector<std::uint8_t> in_steps;   ///< 1: of steps_of, without a selection
};

/// Flags the iterations that step times are means of: of the selected ones with time of their own the complete ones but
/// the last; where there are none, all but the last; else all.
std::vector<std::uint8_t> steps_of(const WindowBounds& windows, const IterationMarks& marks,
                                   const Selection& selection);

/// Tells whether times, which do not decrease, lie in the windows of the iterations of `in_steps`. A launch gap belongs
/// to the window it lies in: the one in front of the first kernel of an iteration lies in the window before.
class StepWindows {
 public:
  explicit StepWindows(const WindowBounds& windows) : windows_(windows) {}
  bool hold(std::int64_t time) {
    const std::vector<std::int64_t>& starts = windows_.starts_ns;
    while (at_ < starts.size() && starts[at_] <= time) at_++;
    if (at_ == 0 || (at_ == starts.size() && time >= windows_.end_ns)) return false;
    return windows_.in_steps[at_ - 1] != 0;
  }

 private:
  const WindowBounds& windows_;
  std::size_t at_ = 0;  // windows that have started
};

/// The time in front of one COMP kernel in which no earlier one ran (equations 1 to 3):
///
///   ... earlier compute ]E        t_l = start of the launch call
///                        |-- prep --|----- call -----|[ kernel
///                        E         t_l              t_ks
///
/// E is the running maximum of the ends before.
struct LaunchGap {
  std::uint32_t row = 0;  ///< of the kernel
  std::int64_t from_ns = 0, called_ns = 0, to_ns = 0;
  std::int64_t prep_idle_ns = 0, call_idle_ns = 0;  ///< parts with the device idle: only they are lost to launching

  std::int64_t prep_ns() const { return called_ns - from_ns; }
  std::int64_t call_ns() const { return to_ns - called_ns; }
};

struct DeviceWork {
  GpuRows rows;  ///< in order of (start, duration, offset)
  std::int64_t start_ns = 0, end_ns = 0;
  ClassCovers covers;
  CoverIndex busy, comm, compute;
  WindowBounds windows;
  std::vector<LaunchGap> gaps;                ///< in order of start; those that have a length and a launch record
  std::uint32_t first_of_chain = UINT32_MAX;  ///< row of the first COMP kernel

  /// Rows of each (iteration + kIterationBuckets), in the order of `rows`: unlabelled, tail, head, 0, 1, ...
  std::vector<std::uint32_t> by_iteration;
  std::vector<std::uint32_t> iteration_begin;  ///< index into by_iteration; one more than buckets
};
inline constexpr std::int32_t kIterationBuckets = -kNoIteration;
static_assert(kNoIteration < kTailIteration && kTailIteration < kHeadIteration && kHeadIteration == -1);

inline Interval interval_of(const GpuWorkTable& gpu, std::uint32_t row) {
  return {gpu.start_ns[row], gpu.start_ns[row] + gpu.duration_ns[row]};
}

/// A kernel of the launch chain: a kernel record of class COMP.
inline bool is_chain_kernel(const GpuWorkTable& gpu, const GpuWorkLabels& labels, std::uint32_t row) {
  return is_compute(labels.gpu_class[row]) && gpu.category[row] == GpuCategory::kernel;
}

/// Rows of each device in order of (start, duration, offset).
std::map<std::int32_t, GpuRows> rows_by_device(const GpuWorkTable& gpu);

/// Prepares the work of a device; `rows` as rows_by_device gives them, not empty.
DeviceWork prepare_device(const TraceTables& trace, const GpuWorkLabels& labels, GpuRows rows);

}  // namespace chopper
