// SPDX-License-Identifier: Apache-2.0
#include "ingest/file_head.h"

namespace chopper {

Result<std::string> file_head(const SourceOpener& open, std::size_t size) {
  CHOPPER_TRY(const std::unique_ptr<ByteSource> source, open());
  std::string head(size, '\0');
  CHOPPER_TRY(const std::size_t got, source->read(head));
  head.resize(got);
  return head;
}

}  // namespace chopper
