// SPDX-License-Identifier: Apache-2.0
// Tells which gpu the dispatches of a counter pass mean: their "Agent 4" or "GPU 0" is looked up in the agent_info the
// profiler wrote beside them.
#pragma once

#include <vector>

#include "model/summary.h"

namespace chopper {

/// Fills the facts of the devices of every pass. A pass is described by itself where its file names agents, else by the
/// agents file of its folder whose name has the longest beginning in common with its own. Agents without numbers stand
/// for every gpu of the folder. Notes gpus that are not found there, in the health of the pass.
void join_agents(std::vector<InputSummary>& inputs);

}  // namespace chopper
