// SPDX-License-Identifier: Apache-2.0
// Rewrites one damaged event as valid JSON, and finds where the next event seems to start. Only events that failed to
// parse come here.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace chopper {

enum class RepairStatus {
  repaired,    ///< `json` is a valid object, `consumed` bytes of the text were used
  unreadable,  ///< nothing sensible
  cut,         ///< the text ends before the object does: more text may help
};

struct Repair {
  RepairStatus status = RepairStatus::unreadable;
  std::size_t consumed = 0;
  std::string json;
};

/// Reads the object at the start of `text` leniently: raw control characters, broken UTF-8, invalid escapes, unescaped
/// quotes, bare NaN / Infinity / N/A, and trailing commas are mended. The judgements `repaired` and `unreadable` stay
/// when more text follows: where that could change them, the answer is `cut`.
Repair repair_object(std::string_view text);

/// Returns the position of the next text that looks like the start of an event (`{`, then one of the usual keys), or
/// npos.
std::size_t find_event_start(std::string_view text, std::size_t from);

/// Decodes the escapes of a raw string token (without its quotes). Invalid escapes stay as they are and set `invalid`.
std::string unescape(std::string_view raw, bool& invalid);

}  // namespace chopper
