// SPDX-License-Identifier: Apache-2.0
// The same job simulated again without one of its costs: what removing it would save.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "synth/simulation.h"

namespace chopper::synth {

/// Sums over all ranks and recorded iterations of a simulation.
struct Counterfactual {
  std::string name;
  /// By (phase, operation): time of its kernels, in ns.
  std::map<std::pair<Phase, std::string>, std::int64_t> operations;
  std::int64_t end_ns = 0;   ///< from the job's start to the end of its last work, warm-up included
  std::int64_t span_ns = 0;  ///< all windows together, on the slowest rank
  /// Per recorded iteration: length of its window (spec 3) on the slowest rank.
  std::vector<std::int64_t> step_ns;
};

/// The job as it is, and the mean clocks of every piece of work in it.
struct Factual {
  Counterfactual sums;  ///< named "factual"
  HeldClocks clocks;
};
Factual simulate_factual(const Job& job, const Programs& programs);

/// Returns `factual`, and the simulations without one of its costs: `no_communication` and `no_launch` at the clocks of
/// the factual run, `peak_clock` (the highest) with communication, `alone` without any of the three. On up to `threads`
/// threads.
std::vector<Counterfactual> simulate_counterfactuals(const Job& job, const Programs& programs, unsigned threads);

}  // namespace chopper::synth
