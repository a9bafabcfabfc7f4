// SPDX-License-Identifier: Apache-2.0
#include "ingest/source_notes.h"

#include <string>

namespace chopper {

void add_source_notes(const ByteSource& source, std::string_view shown, HealthLog& health) {
  const ByteSourceNotes notes = source.notes();
  const std::string where = std::string(shown) + " @ compressed byte " + std::to_string(notes.compressed_offset);
  // The text ends where the stream does: one loss, not two.
  if (notes.truncated && health.count(HealthKind::truncated) == 0)
    health.add(HealthKind::truncated, where, "the compressed stream ends early");
  if (notes.corrupt)
    health.add(HealthKind::corrupt_compression, where, "the compressed stream cannot be decoded any further");
  if (notes.checksum_mismatch) health.add(HealthKind::checksum_mismatch, where, "wrong checksum");
  if (notes.trailing_bytes) health.add(HealthKind::trailing_bytes, where, "bytes behind the compressed data");
  if (notes.utf16) health.add(HealthKind::converted_utf16, std::string(shown), "UTF-16");
}

}  // namespace chopper
