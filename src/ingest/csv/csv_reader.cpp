// SPDX-License-Identifier: Apache-2.0
#include "ingest/csv/csv_reader.h"

#include <algorithm>
#include <cstring>

namespace chopper {
namespace {

// The text of a piece stays in the second-level cache while its rows are taken apart.
constexpr std::size_t kWindowBytes = std::size_t{256} << 10;

}  // namespace

std::string_view unquoted(const CsvCell& cell, std::string& scratch) {
  if (!cell.doubled) return cell.text;
  scratch.clear();
  for (std::size_t i = 0; i < cell.text.size(); i++) {
    scratch += cell.text[i];
    if (cell.text[i] == '"') i++;  // inside a quoted cell, every quote is followed by its double
  }
  return scratch;
}

CsvReader::CsvReader(ByteSource& source, std::size_t window_bytes)
    : source_(source), window_bytes_(window_bytes > 0 ? window_bytes : kWindowBytes) {}

// Reads more text behind what is there. False at the end of the text and when the source fails.
bool CsvReader::fill() {
  if (at_end_) return false;
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    base_ += begin_;
    end_ -= begin_;
    begin_ = 0;
  }
  // A row is scanned again from its start when it was short of text: growing in proportion keeps that linear.
  const std::size_t wanted = std::max(window_bytes_, end_ / 8);
  if (buffer_.size() < end_ + wanted) buffer_.resize(end_ + wanted);
  Result<std::size_t> got = source_.read(std::span<char>(buffer_.data() + end_, wanted));
  if (!got.ok()) {
    error_ = std::move(got).error();
    at_end_ = true;
    return false;
  }
  end_ += got.value();
  at_end_ = got.value() < wanted;
  return got.value() > 0;
}

// False when nothing but blank lines was left.
bool CsvReader::skip_blank_lines() {
  while (true) {
    if (begin_ == end_) {
      if (!fill()) return false;
      continue;
    }
    if (buffer_[begin_] == '\n') {
      begin_++;
      continue;
    }
    if (buffer_[begin_] != '\r') return true;
    if (begin_ + 1 == end_ && fill()) continue;
    if (begin_ + 1 < end_ && buffer_[begin_ + 1] != '\n') return true;
    begin_ += std::min<std::size_t>(2, end_ - begin_);
  }
}

// Takes the text from begin_ apart up to a line end outside quotes; `length` is that of the row with its line end. What
// ends before its line end may go on in text that was not read yet.
CsvReader::Scan CsvReader::scan(std::size_t& length) {
  cells_.clear();
  const char* const start = buffer_.data() + begin_;
  const char* const end = buffer_.data() + end_;
  const char* p = start;
  while (true) {
    if (p == end || *p != '"') {
      const char* const text = p;
      while (p != end && *p != ',' && *p != '\n') p++;
      const bool is_last = p == end || *p == '\n';
      const char* const text_end = is_last && p != text && p[-1] == '\r' ? p - 1 : p;
      cells_.push_back({std::string_view(text, static_cast<std::size_t>(text_end - text)), false, false});
      if (p == end) return Scan::row_without_end;
      p++;
      if (!is_last) continue;
      length = static_cast<std::size_t>(p - start);
      return Scan::row;
    }
    const char* const text = ++p;
    bool doubled = false;
    while (true) {
      p = static_cast<const char*>(std::memchr(p, '"', static_cast<std::size_t>(end - p)));
      if (p == nullptr) return Scan::open_quote;
      if (p + 1 == end || p[1] != '"') break;
      doubled = true;
      p += 2;
    }
    cells_.push_back({std::string_view(text, static_cast<std::size_t>(p - text)), doubled, true});
    p++;
    if (p != end && *p == '\r') p++;
    if (p == end) return Scan::row_without_end;
    if (*p == '\n') {
      length = static_cast<std::size_t>(p + 1 - start);
      return Scan::row;
    }
    if (*p != ',' || p[-1] == '\r') return Scan::malformed;
    p++;
  }
}

// The text up to the next line end is no row.
CsvReader::Next CsvReader::take_line() {
  std::size_t looked_at = 0;
  while (true) {
    const char* const start = buffer_.data() + begin_;
    const auto* found = static_cast<const char*>(std::memchr(start + looked_at, '\n', end_ - begin_ - looked_at));
    const std::size_t size = found != nullptr ? static_cast<std::size_t>(found - start) : end_ - begin_;
    if (size > kMaxRowBytes) break;
    looked_at = size;
    if (found == nullptr && fill()) continue;
    if (found == nullptr && error_) return Next::error;
    line_ = std::string_view(buffer_.data() + begin_, size);
    if (line_.ends_with('\r')) line_.remove_suffix(1);
    begin_ += size + (found != nullptr ? 1 : 0);
    return found != nullptr ? Next::unreadable : Next::cut;
  }
  // Longer than any row: passed over.
  const char* found = nullptr;
  do {
    const char* const start = buffer_.data() + begin_;
    found = static_cast<const char*>(std::memchr(start, '\n', end_ - begin_));
    begin_ = found != nullptr ? static_cast<std::size_t>(found + 1 - buffer_.data()) : end_;
  } while (found == nullptr && fill());
  if (error_) return Next::error;
  return found != nullptr ? Next::unreadable : Next::cut;
}

CsvReader::Next CsvReader::next() {
  line_ = {};
  if (!started_) {
    started_ = true;
    while (end_ - begin_ < 3 && fill()) {
    }
    if (std::string_view(buffer_.data() + begin_, end_ - begin_).starts_with("\xef\xbb\xbf")) begin_ += 3;
  }
  if (!skip_blank_lines()) return error_ ? Next::error : Next::end;
  offset_ = base_ + begin_;
  while (true) {
    std::size_t length = 0;
    const Scan found = scan(length);
    if (found == Scan::row && length <= kMaxRowBytes) {
      begin_ += length;
      return Next::row;
    }
    const bool is_short = found == Scan::row_without_end || found == Scan::open_quote;
    if (is_short && end_ - begin_ <= kMaxRowBytes) {
      if (fill()) continue;
      if (error_) return Next::error;
      if (found == Scan::row_without_end) {
        scan(length);  // looking for more text has moved what is there
        begin_ = end_;
        return Next::cut;
      }
    }
    cells_.clear();
    return take_line();
  }
}

}  // namespace chopper
