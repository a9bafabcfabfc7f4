// SPDX-License-Identifier: Apache-2.0
// Streams the uncompressed bytes of a file: plain, gzip (ISA-L, or zlib where ISA-L is missing) or zstd, told by
// content. UTF-16 text is converted to UTF-8. Damage does not stop the stream: what can be inflated is delivered, and
// the notes say what was wrong.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"

namespace chopper {

/// What was odd about the container; every flag is a health record of the reader.
struct ByteSourceNotes {
  bool checksum_mismatch = false;       ///< gzip CRC wrong, all data inflated
  bool trailing_bytes = false;          ///< bytes after the last compressed member
  bool truncated = false;               ///< the compressed stream ends early
  bool corrupt = false;                 ///< the compressed stream is damaged in the middle; read up to there
  bool utf16 = false;                   ///< converted from UTF-16
  std::uint64_t compressed_offset = 0;  ///< where in the file the first problem lies
};

/// A sequential stream of bytes. Not thread-safe.
class ByteSource {
 public:
  virtual ~ByteSource() = default;

  /// Fills as much of `out` as there is; fewer bytes than asked only at the end of the stream. Fails on I/O errors
  /// only.
  virtual Result<std::size_t> read(std::span<char> out) = 0;
  /// Returns the bytes of the file consumed so far (of the compressed file).
  virtual std::uint64_t file_bytes_read() const = 0;
  virtual ByteSourceNotes notes() const = 0;
};

/// Opens `path` and chooses the decoder from its first bytes. Fails with not_found or unreadable.
Result<std::unique_ptr<ByteSource>> open_byte_source(const std::filesystem::path& path);

/// A source over bytes in memory, decoded like a file's; for tests, fuzzing and recognition.
std::unique_ptr<ByteSource> open_memory_source(std::string bytes);

}  // namespace chopper
