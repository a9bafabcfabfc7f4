// SPDX-License-Identifier: Apache-2.0
// What decompression and decoding found odd about a text, for every reader.
#pragma once

#include <string_view>

#include "base/byte_source.h"
#include "model/health.h"

namespace chopper {

/// Adds what the source noted to the health of its file. Call it when all was read: a text that was found cut is not
/// cut a second time by its stream.
void add_source_notes(const ByteSource& source, std::string_view shown, HealthLog& health);

}  // namespace chopper
