// SPDX-License-Identifier: Apache-2.0
#include "synth/job.h"

namespace chopper::synth {

std::int64_t ModelShape::layer_parameters() const {
  const std::int64_t attention = hidden * head_dim * (2 * num_heads + 2 * num_kv_heads);
  return attention + 3 * hidden * feed_forward + 2 * hidden;
}

std::int64_t ModelShape::root_parameters() const { return 2 * vocabulary * hidden + hidden; }

}  // namespace chopper::synth
