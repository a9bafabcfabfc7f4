// SPDX-License-Identifier: Apache-2.0
// What the times of the text answer are means of: the steps of each gpu where there are any, else its whole trace.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "engine/engine.h"
#include "report/time_split.h"

namespace chopper {

/// One gpu of one input.
struct GpuTime {
  const TimelineRow* row = nullptr;                   ///< of its whole trace
  TimeSplit split;                                    ///< mean over its steps, or of the trace
  double comm_ns = 0, overlap_ns = 0, copies_ns = 0;  ///< likewise
  std::size_t num_steps = 0;
  std::vector<std::int64_t> ordinals;  ///< of its steps, sorted
};

struct TimeBasis {
  bool steps = false;         ///< steps, not whole traces
  bool with_last = false;     ///< there are no others than those that end with the work
  std::vector<GpuTime> gpus;  ///< in order of Answer::timeline
  TimeSplit mean;             ///< over gpus
  double num_parts = 1;       ///< steps, or whole traces, of all gpus: sums over them divided by it are means
};

/// Steps are the complete iterations but the last of each gpu; where a run has none, all but the last; else all that
/// have work.
TimeBasis time_basis(const Answer& answer);

/// The gpus and iterations whose times are the basis: rows of others must not be divided among them. `basis` must
/// outlive it.
class BasisParts {
 public:
  explicit BasisParts(const TimeBasis& basis) : steps_(basis.steps) {
    for (const GpuTime& gpu : basis.gpus) ordinals_.emplace(key_of(*gpu.row), &gpu.ordinals);
  }
  template <class Row>
  bool has_gpu(const Row& row) const {
    return ordinals_.contains(key_of(row));
  }
  /// Of rows of windows, collectives: whether theirs is one of the basis.
  template <class Row>
  bool has(const Row& row) const {
    const auto gpu = ordinals_.find(key_of(row));
    if (gpu == ordinals_.end() || !steps_) return gpu != ordinals_.end();
    return row.ordinal.present() && std::binary_search(gpu->second->begin(), gpu->second->end(), row.ordinal.value());
  }

 private:
  using Key = std::pair<std::int64_t, std::int64_t>;
  template <class Row>
  static Key key_of(const Row& row) {
    return {row.input, row.gpu.present() ? row.gpu.value() : -1};
  }
  bool steps_;
  std::map<Key, const std::vector<std::int64_t>*> ordinals_;
};

}  // namespace chopper
