// SPDX-License-Identifier: Apache-2.0
// Which inputs of a run are of one job, which of its gpus work together, and which of their iterations are the same
// one.
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

/// Inputs that belong together; nothing is compared or averaged across jobs. Gpus whose trace marks iterations in
/// another, less preferred way than the best of the job are not in `gpus`.
struct Job {
  std::vector<std::size_t> inputs;  ///< indices into the summaries, ascending
  std::vector<GpuPlace> gpus;       ///< in order of (rank, device, start)
  bool has_numbers = false;         ///< all marks have numbers of their own: they say which iterations are the same
  bool has_ranks = false;           ///< else it is one input that nothing gives a rank
  std::optional<std::int64_t> world_size;  ///< as stated
};

/// The jobs of a run, in order of their first input; every trace is of one, files of counter passes are of none. Inputs
/// with a rank are of one job when they state the same world size, and not more than an hour lies between their times
/// (docs/reference/analyses.md). Each input without a rank is a job of its own.
std::vector<Job> find_jobs(const std::vector<InputSummary>& inputs);

/// The world size each input states, or of those that have a rank and state none the only one that others with a rank
/// state.
std::vector<std::optional<std::int64_t>> world_sizes_of(const std::vector<InputSummary>& inputs);

/// Index of the job of each input.
std::vector<std::size_t> job_of_inputs(const std::vector<Job>& jobs, std::size_t num_inputs);

/// What tells an iteration apart across the gpus of the job: the number of its mark, else its place in the order of the
/// gpu's iterations; nullopt outside iterations. `gpu` is the one at `place`.
std::optional<std::int64_t> iteration_key(const Job& job, const GpuPlace& place, const GpuSummary& gpu,
                                          std::int32_t ordinal);

/// Number of an iteration by our order.
const Field<std::int64_t>& iteration_number(const GpuSummary& gpu, std::int32_t ordinal);

}  // namespace chopper
