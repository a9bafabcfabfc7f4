// SPDX-License-Identifier: Apache-2.0
// The same collective as each of its ranks saw it (docs/reference/attribution.md 8).
#pragma once

#include <cstdint>
#include <vector>

#include "engine/job.h"
#include "model/rows.h"
#include "model/summary.h"

namespace chopper {

struct MatchedCollective {
  std::int64_t transfer_ns = kNoNumber;  ///< shortest duration over the ranks; kNoNumber: not matched
  Reason reason = Reason::unmatched_ranks;
  bool on_one_host = false;  ///< all ranks of the group are here, and on one host
};

/// Collectives of each gpu, in the order of GpuSummary::collectives: [input][gpu][collective].
using MatchedCollectives = std::vector<std::vector<std::vector<MatchedCollective>>>;

/// Matches the collectives of each group, kind and iteration across the gpus of each job, never across jobs: by the
/// number that the group gave each, where that tells them apart, else the n-th ones. Linear in their number, but for
/// sorting those of one key by number.
MatchedCollectives match_collectives(const std::vector<InputSummary>& inputs, const std::vector<Job>& jobs);

}  // namespace chopper
