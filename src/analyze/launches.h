// SPDX-License-Identifier: Apache-2.0
// Launching, per phase: how long work waits between its launch call and its start, and how much is queued in front of
// the gpu when the host adds to it.
#pragma once

#include "analyze/device_work.h"
#include "model/selection.h"
#include "model/summary.h"

namespace chopper {

/// Fills `launches` of `summary` with the selected records; the queue holds all.
void summarise_launches(const TraceTables& trace, const GpuWorkLabels& labels, const DeviceWork& work,
                        const SelectedRows& selected, GpuSummary& summary);

}  // namespace chopper
