// SPDX-License-Identifier: Apache-2.0
// Output to standard output and to files. A file is written beside its target and renamed at the end: it is whole or
// not there.
#pragma once

#include <filesystem>
#include <functional>

#include "base/result.h"
#include "report/text_sink.h"

namespace chopper {

/// Something that writes itself to a sink and returns whether the sink took everything.
using Writer = std::function<bool(const TextSink&)>;

/// Writes to standard output. That its reader has gone (`| head`) is no error.
Result<Done> write_to_stdout(const Writer& writer);

/// Writes the file `target`, replacing an old one. Devices and pipes are written in place.
Result<Done> write_file(const std::filesystem::path& target, const Writer& writer);

/// Tells before the work whether `target` can be written.
Result<Done> check_can_write(const std::filesystem::path& target);

}  // namespace chopper
