// SPDX-License-Identifier: Apache-2.0
// A window over a byte source: the unread text lies contiguously in memory, grows on demand, and can be handed out
// without copying.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/byte_source.h"

namespace chopper {

/// Owned text with room for a parser to read past both ends: `kHeadroom` bytes before and `kPadding` behind are
/// writable.
class TextWindow {
 public:
  static constexpr std::size_t kHeadroom = 64;
  static constexpr std::size_t kPadding =
      128;  // a parser may be given two bytes more than the text, and SIMDJSON_PADDING

  std::string_view text() const { return {memory_.get() + begin_, end_ - begin_}; }
  char* data() { return memory_.get() + begin_; }
  std::size_t size() const { return end_ - begin_; }
  /// Makes room for `size` bytes of text in all, keeping what there is.
  void reserve(std::size_t size);
  /// Shrinks the text to its first `size` bytes.
  void truncate(std::size_t size) { end_ = begin_ + size; }
  void drop(std::size_t size) { begin_ += size; }
  void assign(std::string_view text);
  /// Free space behind the text.
  std::span<char> free_space() {
    return memory_ == nullptr ? std::span<char>() : std::span<char>(memory_.get() + end_, capacity_ - end_);
  }
  void extend(std::size_t size) { end_ += size; }

 private:
  std::unique_ptr<char[]> memory_;
  std::size_t capacity_ = 0;  // usable bytes, headroom included, padding not
  std::size_t begin_ = kHeadroom;
  std::size_t end_ = kHeadroom;
};

/// The unread text of a source.
class TextStream {
 public:
  explicit TextStream(ByteSource& source) : source_(source) {}

  /// Makes at least `size` bytes available unless the source ends before. Returns false on an I/O error, kept in
  /// `error()`.
  bool fill(std::size_t size);
  std::string_view text() const { return buffer_.text(); }
  bool ended() const { return ended_; }
  std::uint64_t offset() const { return offset_; }  ///< of the first unread byte in the uncompressed text
  void drop(std::size_t size);
  /// Hands out the first `size` bytes: `out` gets this stream's memory, the rest moves into the memory `out` had.
  void take(std::size_t size, TextWindow& out);
  /// Puts text back in front: `text` begins at `offset` and all that follows it up to the current text is in it.
  void restore(std::string_view text, std::uint64_t offset);
  const Error* error() const { return failed_ ? &error_ : nullptr; }

 private:
  ByteSource& source_;
  TextWindow buffer_;
  std::uint64_t offset_ = 0;
  bool ended_ = false;
  bool failed_ = false;
  Error error_;
};

}  // namespace chopper
