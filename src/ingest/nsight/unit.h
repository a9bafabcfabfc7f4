// SPDX-License-Identifier: Apache-2.0
// Units as Nsight Compute writes them. It scales values to fit unless it is told --print-units base; here they are
// brought back: bytes, nanoseconds, hertz, and per second.
//   "Mbyte/second" is byte/second times 10^6     "usecond" is ns times 10^3     "cycle/nsecond" is cycle/second times
//   10^9
#pragma once

#include <string>
#include <string_view>

namespace chopper::nsight {

struct Unit {
  std::string name;    ///< "byte", "ns", "Hz", "byte/second", "%", "register/thread", ""
  int exponent = 0;    ///< a value is multiplied by 10 to the power of it
  double factor = 1;   ///< and by this: powers of 1024, of "KiB"
  bool known = false;  ///< whether what it counts is a word known here
};

/// Takes the scale out of a unit. Words that are not known stay as they are.
Unit base_unit(std::string_view text);

}  // namespace chopper::nsight
