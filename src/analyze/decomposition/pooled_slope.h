// SPDX-License-Identifier: Apache-2.0
// Fits y = Y (1 - slope x) with a level Y for each group and one slope for all: what is compared differs in x only, and
// levels of groups do not matter. Pooled over groups, with x and y around the means of their group,
//
//   sum of (x - X) (y / Y_mean - 1) = -slope / (1 - slope X) x sum of (x - X)^2
//
// is linear in the slope, since Y = Y_mean / (1 - slope X).
#pragma once

#include <span>

namespace chopper {

struct SlopePoint {
  double x = 0, y = 0;
};

/// The sums the slope is a ratio of. They add up over groups, and over the points of a group.
struct SlopeSums {
  double xy = 0, xx = 0, xxy = 0;

  double slope() const { return -xy / (xx - xxy); }
  SlopeSums& operator+=(const SlopeSums& other) {
    xy += other.xy;
    xx += other.xx;
    xxy += other.xxy;
    return *this;
  }
};

/// Means of a group; y is positive.
struct SlopeGroup {
  double mean_x = 0, mean_y = 0;

  explicit SlopeGroup(std::span<const SlopePoint> points) {
    for (const SlopePoint& point : points) {
      mean_x += point.x;
      mean_y += point.y;
    }
    mean_x /= static_cast<double>(points.size());
    mean_y /= static_cast<double>(points.size());
  }
  SlopeSums of(const SlopePoint& point) const {
    const double dx = point.x - mean_x;
    const double xy = dx * (point.y / mean_y - 1);
    return {xy, dx * dx, mean_x * xy};
  }
  /// Deviation of a point from the fit, in parts of the level.
  double residual(const SlopePoint& point, double slope) const {
    return point.y / mean_y * (1 - slope * mean_x) - (1 - slope * point.x);
  }
};

}  // namespace chopper
