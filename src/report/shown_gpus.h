// SPDX-License-Identifier: Apache-2.0
// The rows of the time line as people count them. A rank that wrote several files one after the other (consecutive
// windows) has a row for each of them, and still only one gpu.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "model/rows.h"

namespace chopper {

/// One row with its name: "rank 3 gpu 0", "rank 3 gpu 0 window 2/3"; the input stands for an unknown rank. Where there
/// are several jobs: "job 1 rank 3 gpu 0".
struct ShownGpu {
  const TimelineRow* row = nullptr;
  std::string label;
};

struct ShownGpus {
  std::vector<ShownGpu> rows;  ///< by rank, gpu and time
  std::size_t num_gpus = 0;

  bool has_windows() const { return rows.size() > num_gpus; }
  /// Returns "4 gpus", or "2 windows" when a gpu has several rows.
  std::string counted_rows() const;
};

/// Returns the rows of `timeline`, which must outlive the result.
ShownGpus shown_gpus(const std::vector<TimelineRow>& timeline);

/// Job, rank, input where the rank is unknown, gpu: equal for the rows of one gpu, which may have several files, one
/// behind the other. In the order gpus are shown in.
using GpuIdentity = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>;
GpuIdentity identity_of(const TimelineRow& row);

/// Returns whether two rows (of the time line, or of gpus) are about one gpu of one rank.
template <class A, class B>
bool is_same_gpu(const A& a, const B& b) {
  const auto equal = [](const Field<std::int64_t>& x, const Field<std::int64_t>& y) {
    return x.present() == y.present() && (!x.present() || x.value() == y.value());
  };
  return a.job == b.job && equal(a.rank, b.rank) && equal(a.gpu, b.gpu) && (a.rank.present() || a.input == b.input);
}

/// Returns "rank 3", or "input 7" when the rank is unknown.
std::string rank_label(const Field<std::int64_t>& rank, std::int64_t input);

}  // namespace chopper
