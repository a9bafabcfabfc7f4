// SPDX-License-Identifier: Apache-2.0
// How numbers are written for people: four or five digits that matter, with a unit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace chopper {

/// Returns a duration as "512 ns", "12.4 us", "612.4 ms", "12.345 s"; from 1000 s on in min, h or d.
std::string duration_text(double ns);

/// Returns "512 B", "12.3 kB", "2.1 GB": decimal units.
std::string bytes_text(double bytes);

/// Returns an integer with thousands apart: "13,377".
std::string count_text(std::uint64_t count);

/// Returns "1 record", "2 records": `many` may be left empty for `one` + "s".
std::string counted(std::uint64_t count, std::string_view one, std::string_view many = {});

/// Returns a share in [0, 1] as "79.6 %"; close to 0 or 1 with the digits that tell it from them.
std::string share_text(double share);

/// One unit and number of decimals, so that the times of a table can be compared and visibly added.
struct TimeScale {
  double step_ns = 1;  ///< what the last decimal stands for
  int decimals = 0;
  std::string_view unit = "ns";

  std::string text(std::int64_t steps) const;
};

/// Returns the scale that shows `ns` with four to six digits, so that a thousandth of it is not shown as 0.
TimeScale scale_for(double ns);

/// Rounds `parts`, which add up to `total`, to integers that add up to `steps`: whole steps first, the rest to the
/// largest remainders. All 0 when `total` is.
std::vector<std::int64_t> round_parts(const std::vector<double>& parts, double total, std::int64_t steps);

}  // namespace chopper
