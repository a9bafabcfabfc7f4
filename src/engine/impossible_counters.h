// SPDX-License-Identifier: Apache-2.0
// Counters that cannot be: noted in the health of their pass, and kept (docs/reference/decomposition.md, 11).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "catalog/counters.h"
#include "catalog/gpus.h"
#include "engine/pass_values.h"
#include "model/summary.h"

namespace chopper {

/// Notes what the dispatches of one pass on one gpu say that cannot be: utilisation of the matrix units above 1, and a
/// clock above all clocks of the gpu, or far below those at which it works.
class ImpossibleCounters {
 public:
  /// `spec`: nullptr where the product is not known.
  ImpossibleCounters(const InputSummary& trace, std::size_t gpu, const GpuSpec* spec);

  /// NaN: not counted. `trace_ns`: how long the kernel takes in the trace.
  void add(std::int64_t dispatch, double matrix_busy_cycles, double matrix_cycles, double gpu_cycles,
           double duration_ns, double trace_ns);
  void note(InputSummary& pass) const;

 private:
  struct Finding {
    std::int64_t count = 0, dispatch = 0;
    double value = 0;  // of the first
    void add(std::int64_t at, double of) {
      if (count++ > 0) return;
      dispatch = at;
      value = of;
    }
  };
  std::string gpu_;
  double highest_mhz_ = 0;  // 0: not known
  Finding utilisation_, clock_;
};

/// Notes the values below zero of a pass whose tables are there, of the counters that metrics are made of.
void note_negative_counters(const CounterCatalog& counters, std::string_view architecture, InputSummary& input);

/// Notes the operations that a pass counted fewer FLOPs of than their work needs.
void note_too_few_flops(const GpuCounters& counters, std::vector<InputSummary>& inputs);

}  // namespace chopper
