// SPDX-License-Identifier: Apache-2.0
// "Did you mean": the known word a mistyped one was meant to be.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace chopper {

/// Returns the number of insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// Returns the word nearest to `typed`, or "" when none is near enough to be worth a guess.
std::string closest_word(std::string_view typed, std::span<const std::string> words);

}  // namespace chopper
