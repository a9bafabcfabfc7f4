// SPDX-License-Identifier: Apache-2.0
// UTF-8, byte by byte: what is well formed, and how a code point is written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace chopper {

/// U+FFFD, written for bytes that are not UTF-8.
inline constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

/// Returns the length of the well-formed UTF-8 sequence `text` starts with, 0 when there is none.
std::size_t utf8_sequence(std::string_view text);

/// Returns whether `text` is the beginning of a well-formed sequence that more bytes may complete.
bool utf8_is_cut(std::string_view text);

/// Appends the code point `c`; surrogates become U+FFFD.
void append_utf8(std::string& out, std::uint32_t c);

}  // namespace chopper
