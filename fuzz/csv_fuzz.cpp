// SPDX-License-Identifier: Apache-2.0
// Rows of CSV: any way of cutting the text into pieces gives the same rows, and where no rule is broken they are those
// of a slow reader that knows one character at a time.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "base/byte_source.h"
#include "ingest/csv/csv_reader.h"

namespace {

using Rows = std::vector<std::vector<std::string>>;

// Hands out the text as it is: open_memory_source would inflate or convert what looks like it.
class TextSource final : public chopper::ByteSource {
 public:
  explicit TextSource(const std::string& text) : text_(text) {}
  chopper::Result<std::size_t> read(std::span<char> out) override {
    const std::size_t size = text_.copy(out.data(), out.size(), at_);
    at_ += size;
    return size;
  }
  std::uint64_t file_bytes_read() const override { return at_; }
  chopper::ByteSourceNotes notes() const override { return {}; }

 private:
  const std::string& text_;
  std::size_t at_ = 0;
};

struct Reading {
  std::string events;  // kinds, offsets and cells
  Rows rows;
  bool is_clean = true;
};

Reading read(const std::string& text, std::size_t window) {
  TextSource source(text);
  chopper::CsvReader reader(source, window);
  Reading reading;
  std::string scratch;
  while (true) {
    const chopper::CsvReader::Next next = reader.next();
    reading.events += std::to_string(static_cast<int>(next)) + "@" + std::to_string(reader.offset()) + ":";
    reading.events += reader.line();
    if (next == chopper::CsvReader::Next::end || next == chopper::CsvReader::Next::error) return reading;
    reading.is_clean = reading.is_clean && next == chopper::CsvReader::Next::row;
    std::vector<std::string>& row = reading.rows.emplace_back();
    for (const chopper::CsvCell& cell : reader.cells()) {
      row.emplace_back(chopper::unquoted(cell, scratch));
      reading.events += "|" + row.back();
    }
    reading.events += "\n";
  }
}

// The rows of a text that ends every row and breaks no rule; nullopt for others.
std::optional<Rows> slow_rows(std::string text) {
  if (text.starts_with("\xef\xbb\xbf")) text.erase(0, 3);
  Rows rows;
  std::vector<std::string> row;
  std::string cell;
  enum { start, plain, quoted, behind } state = start;
  for (std::size_t i = 0; i < text.size(); i++) {
    const char c = text[i];
    const bool ends_line = c == '\n' || (c == '\r' && i + 1 < text.size() && text[i + 1] == '\n');
    if (state == quoted) {
      if (c != '"') {
        cell += c;
      } else if (i + 1 < text.size() && text[i + 1] == '"') {
        cell += c;
        i++;
      } else {
        state = behind;
      }
    } else if (ends_line && state == start && row.empty()) {
      if (c == '\r') i++;
    } else if (ends_line || c == ',') {
      row.push_back(cell);
      cell.clear();
      state = start;
      if (c == ',') continue;
      if (c == '\r') i++;
      rows.push_back(row);
      row.clear();
    } else if (state == behind) {
      return std::nullopt;
    } else if (c == '"' && state == start) {
      state = quoted;
    } else {
      cell += c;
      state = plain;
    }
  }
  if (state != start || !row.empty()) return std::nullopt;
  return rows;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const Reading whole = read(text, 0);
  for (const std::size_t window : {1u, 3u, 16u, 100u}) {
    if (read(text, window).events != whole.events) {
      std::fprintf(stderr, "window %zu\n", window);
      std::abort();
    }
  }
  const std::optional<Rows> slow = slow_rows(text);
  if (slow.has_value() && size < chopper::CsvReader::kMaxRowBytes && (!whole.is_clean || *slow != whole.rows)) {
    std::fprintf(stderr, "not the rows of the slow reader\n");
    std::abort();
  }
  return 0;
}
