// SPDX-License-Identifier: Apache-2.0
// Finds the ends of array elements in JSON text, 64 bytes at a time, aware of strings and escapes. This is the only
// part of reading that is sequential, so it does as little as possible: no values, no validation.
//
//   {"name": "a]}", "args": {"x": [1]}}, {"ph" ...
//                                     ^ element_end
#pragma once

#include <cstddef>
#include <string_view>

namespace chopper {

/// Where elements end in a text that starts between two elements of an array.
struct ElementScan {
  std::size_t last_end = 0;      ///< one past the last complete object or array element; 0: none
  std::size_t first_end = 0;     ///< one past the first one; 0: none
  std::size_t longest = 0;       ///< longest distance between neighbouring ends: no element is longer
  std::size_t closed_at = npos;  ///< position of the bracket that closes the array itself
  static constexpr std::size_t npos = static_cast<std::size_t>(-1);
};

/// Scans `text` up to its end or to the bracket that closes the array. With `first_only` it stops after the first
/// element.
ElementScan scan_elements(std::string_view text, bool first_only);

}  // namespace chopper
