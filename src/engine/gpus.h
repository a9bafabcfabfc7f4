// SPDX-License-Identifier: Apache-2.0
// The table of gpus as the doors show it.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "catalog/gpus.h"

namespace chopper {

/// Returns the gpus this build knows, sorted by key.
Result<std::vector<GpuSpec>> list_gpus();

}  // namespace chopper
