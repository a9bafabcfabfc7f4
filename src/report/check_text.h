// SPDX-License-Identifier: Apache-2.0
// The texts of `chopper check` (what was found, linked, lost and repaired, and what that costs) and `chopper formats`.
#pragma once

#include <span>
#include <string>

#include "engine/engine.h"
#include "engine/formats.h"
#include "report/text.h"

namespace chopper {

/// Returns the health of every input and every finding; as long as it takes.
std::string check_text(const Answer& answer, const TextOptions& options);

/// Returns one line a format.
std::string formats_text(std::span<const FormatInfo> formats);

}  // namespace chopper
