// SPDX-License-Identifier: Apache-2.0
#include "ingest/kineto/text_stream.h"

#include <algorithm>
#include <cstring>

namespace chopper {

void TextWindow::reserve(std::size_t size) {
  if (memory_ != nullptr && begin_ + size <= capacity_) return;
  const std::size_t capacity = kHeadroom + std::max(size, std::size_t{4096});
  if (memory_ != nullptr && capacity <= capacity_) {  // the room is there, in front of the text
    std::memmove(memory_.get() + kHeadroom, memory_.get() + begin_, end_ - begin_);
  } else {
    auto memory = std::make_unique_for_overwrite<char[]>(capacity + kPadding);
    std::memset(memory.get(), ' ', kHeadroom);
    std::memset(memory.get() + capacity, ' ', kPadding);
    if (memory_ != nullptr) std::memcpy(memory.get() + kHeadroom, memory_.get() + begin_, end_ - begin_);
    memory_ = std::move(memory);
    capacity_ = capacity;
  }
  end_ = kHeadroom + (end_ - begin_);
  begin_ = kHeadroom;
}

void TextWindow::assign(std::string_view text) {
  begin_ = end_ = kHeadroom;
  reserve(text.size());
  if (!text.empty()) std::memcpy(memory_.get() + begin_, text.data(), text.size());
  end_ = begin_ + text.size();
}

bool TextStream::fill(std::size_t size) {
  if (failed_) return false;
  while (!ended_ && buffer_.size() < size) {
    // Grows by doubling: a small file never costs a whole window, and a window that has reached its size keeps it.
    if (buffer_.free_space().empty()) buffer_.reserve(std::min(size, std::max(std::size_t{4096}, buffer_.size() * 2)));
    // No more than asked: what is read beyond the last element of a window has to be copied once more.
    const std::size_t want = std::min(buffer_.free_space().size(), size - buffer_.size());
    auto got = source_.read(buffer_.free_space().first(want));
    if (!got.ok()) {
      failed_ = true;
      error_ = std::move(got.error());
      return false;
    }
    buffer_.extend(got.value());
    ended_ = got.value() < want;
  }
  return true;
}

void TextStream::drop(std::size_t size) {
  buffer_.drop(size);
  offset_ += size;
}

void TextStream::take(std::size_t size, TextWindow& out) {
  const std::string_view rest = buffer_.text().substr(size);
  out.assign(rest);
  std::swap(out, buffer_);
  out.truncate(size);
  offset_ += size;
}

void TextStream::restore(std::string_view text, std::uint64_t offset) {
  TextWindow joined;
  joined.reserve(text.size() + buffer_.size());
  if (!text.empty()) std::memcpy(joined.free_space().data(), text.data(), text.size());
  joined.extend(text.size());
  const std::string_view rest = buffer_.text();
  if (!rest.empty()) std::memcpy(joined.free_space().data(), rest.data(), rest.size());
  joined.extend(rest.size());
  std::swap(joined, buffer_);
  offset_ = offset;
}

}  // namespace chopper
