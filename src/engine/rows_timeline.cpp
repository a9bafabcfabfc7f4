// SPDX-License-Identifier: Apache-2.0
// Rows of the time line: of each gpu, and of its windows.
#include "engine/make_rows.h"

namespace chopper {

void add_timeline_rows(const GpuSource& source, const Selection& selection, Answer& answer) {
  answer.timeline.push_back(source.gpu.timeline);
  set_source(source, answer.timeline.back());
  for (const WindowSummary& window : source.gpu.windows) {
    const TimelineRow& row = window.row;
    const std::int64_t ordinal = row.ordinal.present() ? row.ordinal.value() : kNoIteration;
    if (!selection.holds_iteration(ordinal, row.iteration.present() ? row.iteration.value() : kNoNumber)) continue;
    answer.windows.push_back(window.row);
    set_source(source, answer.windows.back());
  }
}

}  // namespace chopper
