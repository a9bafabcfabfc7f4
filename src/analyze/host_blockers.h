// SPDX-License-Identifier: Apache-2.0
// What keeps the host from launching, and the idle time of a gpu it coincides with: each idle nanosecond between the
// end of computation and the launch call of the next kernel goes to the innermost blocker that ran then on the thread
// of that call.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/device_work.h"
#include "catalog/host_blockers.h"
#include "model/summary.h"

namespace chopper {

/// The blockers of a trace, by thread.
struct HostBlockers {
  enum class Kind : std::uint8_t { synchronise, copy_to_host, item, data_loading, allocator, garbage_collection };
  /// A kind and a name.
  struct Group {
    Kind kind;
    StringId name;
  };
  struct Occurrence {
    Interval time;
    std::uint32_t group = 0;
  };
  std::vector<Group> groups;
  std::vector<std::vector<Occurrence>> by_thread;  ///< in order of (start, longest first)
};
std::string_view to_string(HostBlockers::Kind kind);

HostBlockers find_host_blockers(const TraceTables& trace, const GpuWorkLabels& labels, const HostBlockerRules& rules);

/// Fills `blockers` of `summary` with those of the threads that launch work of this device.
void charge_host_blockers(const TraceTables& trace, const GpuWorkLabels& labels, const DeviceWork& work,
                          const HostBlockers& blockers, const SelectedRows& selected, GpuSummary& summary);

}  // namespace chopper
