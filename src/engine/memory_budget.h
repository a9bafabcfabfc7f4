// SPDX-License-Identifier: Apache-2.0
// How many files may be read at once without taking more memory than was asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

namespace chopper {

/// About how much memory the reading of a trace takes at its peak: 2/5 of its text (an upper bound of what is measured,
/// docs/design/reading.md), and what every reader needs. Compressed text is taken to be as long as its trailer says,
/// but at least ten times the file.
std::uint64_t reading_bytes(const std::filesystem::path& path);

/// How many of the files may be read at once when each takes what `needs` says: as many as fit into `limit` whichever
/// they are, at least one. 0: no limit.
std::size_t files_at_once(std::vector<std::uint64_t> needs, std::uint64_t limit);

}  // namespace chopper
