// SPDX-License-Identifier: Apache-2.0
// Names come from traces as bytes. What we write is valid UTF-8, and what we show on a terminal has no control
// characters.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/utf8.h"

namespace chopper {

/// Returns `text` with every byte outside a well-formed sequence replaced by U+FFFD.
std::string valid_utf8(std::string_view text);

/// Returns valid UTF-8 on one line: control characters become '?', so that a name cannot steer a terminal.
std::string printable(std::string_view text);

/// Returns the number of code points of valid UTF-8: the columns it takes, but for scripts of double width.
std::size_t num_columns(std::string_view text);

/// Returns `text` cut to at most `columns`, with "..." at its end when it was cut.
std::string cut_end(std::string_view text, std::size_t columns);

/// Returns `text` cut to at most `columns`, with "..." in the middle when it was cut: for paths, whose ends tell most.
std::string cut_middle(std::string_view text, std::size_t columns);

}  // namespace chopper
