// SPDX-License-Identifier: Apache-2.0
// Writes a file, plain or gzip (ISA-L, or zlib where it is missing). The compressor's state lives between writes and
// the file is opened for each, so thousands can be written side by side.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string_view>

#include "base/result.h"

namespace chopper {

class ByteSink {
 public:
  virtual ~ByteSink() = default;
  /// Appends `text`. Fails with unreadable when the file cannot be written.
  virtual Result<Done> write(std::string_view text) = 0;
  /// Completes the file; nothing may be written afterwards.
  virtual Result<Done> finish() = 0;
};

/// Creates or empties `path`.
Result<std::unique_ptr<ByteSink>> create_plain_file(const std::filesystem::path& path);
Result<std::unique_ptr<ByteSink>> create_gzip_file(const std::filesystem::path& path);

}  // namespace chopper
