// SPDX-License-Identifier: Apache-2.0
// The first bytes of a file, for readers that tell by them what they refuse.
#pragma once

#include <cstddef>
#include <string>

#include "ingest/format.h"

namespace chopper {

/// Returns the first `size` bytes, fewer where the file has no more. Fails when it cannot be opened or read.
Result<std::string> file_head(const SourceOpener& open, std::size_t size);

}  // namespace chopper
