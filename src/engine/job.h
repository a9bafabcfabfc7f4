// SPDX-License-Identifier: Apache-2.0
// Which gpus of a run work together, and which of their iterations are the same one.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/summary.h"

namespace chopper {

/// A gpu of an input.
struct GpuPlace {
  std::size_t input = 0, gpu = 0;  ///< indices into the summaries, and into their gpus
  bool is_first_file = true;       ///< of its gpu: a rank may have written several, one after the other
  std::int64_t first_ordinal = 0;  ///< iterations in earlier files of this gpu
};

/// The gpus of the job a run is of: those of all inputs that have a rank, else those of the only input. Several inputs
/// without a rank are jobs of their own; nothing is compared between them. Gpus whose trace marks iterations in
/// another, less preferred way than the best are left out.
struct Job {
  std::vector<GpuPlace> gpus;      ///< in order of (rank, device, start)
  bool has_numbers = false;        ///< all marks have numbers of their own: they say which iterations are the same
  bool has_separate_jobs = false;  ///< there are several inputs, and none has a rank
};
Job find_job(const std::vector<InputSummary>& inputs);

/// What tells an iteration apart across the gpus of the job: the number of its mark, else its place in the order of the
/// gpu's iterations; nullopt outside iterations. `gpu` is the one at `place`.
std::optional<std::int64_t> iteration_key(const Job& job, const GpuPlace& place, const GpuSummary& gpu,
                                          std::int32_t ordinal);

/// Number of an iteration by our order.
const Field<std::int64_t>& iteration_number(const GpuSummary& gpu, std::int32_t ordinal);

}  // namespace chopper
