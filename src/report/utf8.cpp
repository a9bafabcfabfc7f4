// SPDX-License-Identifier: Apache-2.0
#include "report/utf8.h"

#include <algorithm>
#include <cstdint>

namespace chopper {
namespace {

constexpr std::string_view kEllipsis = "...";

unsigned byte_at(std::string_view text, std::size_t i) { return static_cast<unsigned char>(text[i]); }

bool is_continuation(std::string_view text, std::size_t i) {
  return i < text.size() && (byte_at(text, i) & 0xC0u) == 0x80u;
}

// Byte offset of code point `count` of valid UTF-8, or the size.
std::size_t offset_of(std::string_view text, std::size_t count) {
  std::size_t i = 0;
  for (; i < text.size() && count > 0; count--) i += std::max<std::size_t>(1, utf8_sequence(text.substr(i)));
  return i;
}

}  // namespace

std::string valid_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = utf8_sequence(text);
    out += length == 0 ? kReplacement : text.substr(0, length);
    text.remove_prefix(std::max<std::size_t>(1, length));
  }
  return out;
}

std::string printable(std::string_view text) {
  std::string out = valid_utf8(text);
  for (std::size_t i = 0; i < out.size(); i++) {
    const unsigned byte = byte_at(out, i);
    // U+0080 to U+009F are control characters too: C2 80 to C2 9F.
    const bool control_c1 = byte == 0xC2 && i + 1 < out.size() && byte_at(out, i + 1) < 0xA0;
    if (control_c1) out.erase(i + 1, 1);
    if (control_c1 || byte < 0x20 || byte == 0x7F) out[i] = '?';
  }
  return out;
}

std::size_t num_columns(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < text.size(); i++) count += is_continuation(text, i) ? 0u : 1u;
  return count;
}

std::string cut_end(std::string_view text, std::size_t columns) {
  if (num_columns(text) <= columns) return std::string(text);
  if (columns <= kEllipsis.size()) return std::string(kEllipsis.substr(0, columns));
  return std::string(text.substr(0, offset_of(text, columns - kEllipsis.size()))).append(kEllipsis);
}

std::string cut_middle(std::string_view text, std::size_t columns) {
  const std::size_t length = num_columns(text);
  if (length <= columns) return std::string(text);
  if (columns <= kEllipsis.size()) return std::string(kEllipsis.substr(0, columns));
  const std::size_t kept = columns - kEllipsis.size();
  const std::size_t front = kept / 3;
  std::string out(text.substr(0, offset_of(text, front)));
  out += kEllipsis;
  out += text.substr(offset_of(text, length - (kept - front)));
  return out;
}

}  // namespace chopper
