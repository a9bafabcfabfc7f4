// SPDX-License-Identifier: Apache-2.0
#include "report/page.h"

#include <algorithm>

#include "report/utf8.h"

namespace chopper {
namespace {

std::string_view code_of(Style style) {
  switch (style) {
    case Style::plain:
      return "";
    case Style::title:
      return "\x1b[1m";
    case Style::dim:
      return "\x1b[2m";
    case Style::good:
      return "\x1b[32m";
    case Style::bad:
      return "\x1b[31m";
    case Style::idle:
      return "\x1b[33m";
  }
  return "";
}

}  // namespace

void Page::styled(std::string_view text, Style style) {
  const bool coloured = colour_ && style != Style::plain && !text.empty();
  if (coloured) text_ += code_of(style);
  text_ += text;
  if (coloured) text_ += "\x1b[0m";
  column_ += num_columns(text);
}

void Page::add(std::string_view text, Style style) {
  if (column_ >= width_) return;
  styled(cut_end(text, width_ - column_), style);
}

void Page::tab(std::size_t column) {
  if (column_ == 0 && column == 0) return;
  const std::size_t spaces = column > column_ ? column - column_ : std::size_t{column_ == 0 ? 0u : 1u};
  styled(std::string(std::min(spaces, width_ - std::min(width_, column_)), ' '), Style::plain);
}

void Page::add_right(std::string_view text, Style style) {
  const std::size_t length = num_columns(text);
  if (column_ + 1 + length > width_) return;
  tab(width_ - length);
  styled(text, style);
}

void Page::end_line() {
  while (!text_.empty() && text_.back() == ' ') text_.pop_back();
  text_ += '\n';
  column_ = 0;
}

void Page::add_wrapped(std::string_view text, std::size_t indent, Style style) {
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    if (column_ > indent && column_ + num_columns(word) > width_) {
      end_line();
      tab(indent);
    }
    // A word longer than a line (a path) is kept whole, to be copied from here.
    styled(word, style);
    if (!text.empty() && column_ < width_) styled(" ", style);
  }
}

}  // namespace chopper
