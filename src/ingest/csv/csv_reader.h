// SPDX-License-Identifier: Apache-2.0
// Streams the rows of a CSV text (RFC 4180): cells may be quoted, and then hold commas, line ends and doubled quotes.
//   "Kind","Agent_Id","Kernel_Name"
//   "KERNEL_DISPATCH","Agent 4","void
//     multi ""line"" kernel<float>(float*)"
// Accepts a byte order mark, CRLF and blank lines. A row that breaks the rules costs its own line and no more: reading
// goes on behind the next line end. Results do not depend on the size of the pieces the text is read in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_source.h"
#include "base/result.h"

namespace chopper {

/// A cell of a row, without the quotes around it.
struct CsvCell {
  std::string_view text;  ///< as it stands in the text
  bool doubled = false;   ///< quotes in it are doubled
  bool quoted = false;    ///< it stands in quotes, closed ones
};

/// Returns the text a cell means; `scratch` holds it when it is not in the text as such.
std::string_view unquoted(const CsvCell& cell, std::string& scratch);

class CsvReader {
 public:
  /// `window_bytes`: size of the pieces read at once, 0: default.
  CsvReader(ByteSource& source, std::size_t window_bytes);

  enum class Next : std::uint8_t {
    row,         ///< a row: cells()
    unreadable,  ///< a line that is no row: line()
    cut,         ///< the last row has no line end: cells() as far as they go. Its last cell may be short
    end,
    error,  ///< the source failed: error()
  };
  Next next();

  /// Cells of the row, or of what there is of a cut one; none when that ends inside quotes. Valid until the next call
  /// of next().
  std::span<const CsvCell> cells() const { return cells_; }
  /// Text of an unreadable line without its line end; empty when it is longer than kMaxRowBytes. Valid as cells are.
  std::string_view line() const { return line_; }
  /// Where the row starts in the text.
  std::uint64_t offset() const { return offset_; }
  /// Bytes of text passed so far.
  std::uint64_t text_bytes() const { return base_ + begin_; }
  const Error* error() const { return error_ ? &*error_ : nullptr; }

  /// Longest row. Real names reach some 100 kB; a quote that is never closed must not take the rest of the file along.
  static constexpr std::size_t kMaxRowBytes = std::size_t{1} << 20;

 private:
  enum class Scan : std::uint8_t { row, row_without_end, open_quote, malformed };
  Scan scan(std::size_t& length);
  bool fill();
  bool skip_blank_lines();
  Next take_line();

  ByteSource& source_;
  std::size_t window_bytes_;
  std::string buffer_;
  std::size_t begin_ = 0, end_ = 0;  // unread text in the buffer
  std::uint64_t base_ = 0;           // offset of the buffer in the text
  std::uint64_t offset_ = 0;
  bool at_end_ = false;
  bool started_ = false;
  std::vector<CsvCell> cells_;
  std::string_view line_;
  std::optional<Error> error_;
};

}  // namespace chopper
