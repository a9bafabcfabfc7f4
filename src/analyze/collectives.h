// SPDX-License-Identifier: Apache-2.0
// The collectives one device took part in, each by itself; the merge matches them across ranks.
#pragma once

#include "analyze/device_work.h"
#include "model/summary.h"

namespace chopper {

/// Fills `collectives` and `texts` of `summary`, which is of `device`.
void list_collectives(const TraceTables& trace, const GpuWorkLabels& labels, const DeviceWork& work,
                      GpuSummary& summary);

}  // namespace chopper
