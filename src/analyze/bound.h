// SPDX-License-Identifier: Apache-2.0
// What the least time of a piece of work is set by.
#pragma once

#include <cstdint>
#include <string_view>

namespace chopper {

enum class Bound : std::uint8_t { compute, memory };
std::string_view to_string(Bound bound);

}  // namespace chopper
