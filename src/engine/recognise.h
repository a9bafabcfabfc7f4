// SPDX-License-Identifier: Apache-2.0
// Chooses the format of a file from its content.
#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"

namespace chopper {

struct TraceFormat;

/// Returns the format that claims the file, or the one called `forced` when that is not empty. Fails with unrecognised
/// when none does or two are equally sure, and with the reason when the file cannot be opened.
Result<const TraceFormat*> recognise(const std::filesystem::path& path, const std::string& forced);

/// Whether a user's `name` means the file shown as `shown`: as shown, its file name, or any path that leads to it.
bool names_file(const std::string& name, const std::string& shown, const std::filesystem::path& path);

}  // namespace chopper
