// SPDX-License-Identifier: Apache-2.0
// The span of a gpu cut into six parts that do not overlap and leave nothing out:
//
//   |<------------------------------ span ------------------------------->|
//   |  computation  | exposed comm | copies | host late | dispatch | other |
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "model/rows.h"

namespace chopper {

enum class TimePart : std::uint8_t { computation, exposed_comm, copies, host_late, dispatch, other_idle };
inline constexpr std::size_t kNumTimeParts = 6;
constexpr std::size_t index_of(TimePart part) { return static_cast<std::size_t>(part); }

/// A double, since sums over many gpus exceed 64 bits before they lose a digit that is shown.
struct TimeSplit {
  double span_ns = 0;
  std::array<double, kNumTimeParts> part_ns = {};

  double part(TimePart p) const { return part_ns[index_of(p)]; }
  /// Returns a part's share of the span; 0 of an empty span.
  double share(TimePart p) const { return span_ns > 0 ? part(p) / span_ns : 0; }
};

/// Returns the label of the text answer, "exposed comm".
std::string_view label_of(TimePart part);

TimeSplit split_of(const TimelineRow& row);
/// Of the window of an iteration.
TimeSplit window_split_of(const TimelineRow& row);

/// Returns the mean of span and parts, so that a share is a ratio of sums and the shares add up to 1.
TimeSplit mean_split(const std::vector<TimeSplit>& splits);

}  // namespace chopper
