// SPDX-License-Identifier: Apache-2.0
// Sizes as users type them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace chopper {

/// "500MB", "4G", "16GiB", "2000000": bytes, at most 10^15. K, M, G, T are thousands, KiB to TiB powers of 1024;
/// nullopt for anything else, also for 0.
std::optional<std::int64_t> size_of_words(std::string_view text);

}  // namespace chopper
