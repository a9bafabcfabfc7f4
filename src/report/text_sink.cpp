// SPDX-License-Identifier: Apache-2.0
#include "report/text_sink.h"

namespace chopper {
namespace {

// Large enough that the cost of a system call vanishes, small enough to stay in the second-level cache.
constexpr std::size_t kPieceBytes = std::size_t{128} << 10;

}  // namespace

void TextBuffer::flush_when_full() {
  if (text_.size() >= kPieceBytes) flush();
}

bool TextBuffer::finish() {
  flush();
  return !stopped_;
}

void TextBuffer::flush() {
  if (!stopped_ && !text_.empty()) stopped_ = !sink_(text_);
  text_.clear();
}

}  // namespace chopper
