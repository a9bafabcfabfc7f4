// SPDX-License-Identifier: Apache-2.0
// Which gpu of a job a device of a counter pass is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/job.h"
#include "model/summary.h"

namespace chopper {

/// Index of a device of a pass over the gpus of its host, as far as its number or the facts of its agent tell.
std::optional<std::int64_t> gpu_index_of(const PassDeviceSummary& device);

/// The gpu of a trace a device of a pass is, or why it is none. A rank that wrote several traces, one after the other,
/// has its gpu in each of them: the pass is of all these windows.
struct PassGpu {
  std::optional<GpuPlace> place;
  std::string reason;
  std::vector<GpuPlace> other_windows;  ///< of the same gpu
};

/// Finds the gpu: by the rank of the file, where it has one, then by the number of the device; the only gpu of the
/// traces is that of the only device of a pass. Gpus whose ordinals are no indices (older AMD traces count processors
/// too) are taken in order where both sides have equally many. Windows of one rank count as one gpu.
PassGpu find_pass_gpu(const std::vector<InputSummary>& inputs, const std::vector<Job>& jobs, std::size_t pass,
                      std::uint32_t device);

}  // namespace chopper
