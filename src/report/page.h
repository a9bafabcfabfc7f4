// SPDX-License-Identifier: Apache-2.0
// A page of text under construction: lines no wider than the page, colours that do not count as width.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace chopper {

enum class Style : std::uint8_t { plain, title, dim, good, bad, idle };

class Page {
 public:
  Page(std::size_t width, bool colour) : width_(width), colour_(colour) {}

  /// Adds `text` to the line, cut where the page ends.
  void add(std::string_view text, Style style = Style::plain);
  /// Adds spaces up to `column`, one at least when the line is not empty.
  void tab(std::size_t column);
  /// Adds `text` at the right edge when it fits beside what is there.
  void add_right(std::string_view text, Style style);
  void end_line();
  /// Adds `text` broken into lines between words, the further ones indented by `indent`.
  void add_wrapped(std::string_view text, std::size_t indent, Style style = Style::plain);

  std::string take() { return std::move(text_); }

 private:
  void styled(std::string_view text, Style style);

  std::size_t width_;
  bool colour_;
  std::string text_;
  std::size_t column_ = 0;
};

}  // namespace chopper
