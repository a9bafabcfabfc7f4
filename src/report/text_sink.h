// SPDX-License-Identifier: Apache-2.0
// Where written text goes. Reports of millions of rows are streamed: no writer holds more than one piece.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace chopper {

/// Takes text in pieces, in order. Returns false when no more is wanted (closed pipe, full disk).
using TextSink = std::function<bool(std::string_view)>;

/// Gathers small pieces into large ones for a sink.
class TextBuffer {
 public:
  explicit TextBuffer(const TextSink& sink) : sink_(sink) {}

  /// The text not yet handed over; append to it.
  std::string& text() { return text_; }
  /// Hands the text over when it is large enough.
  void flush_when_full();
  /// Hands over the rest. Returns whether the sink took everything.
  bool finish();
  /// Whether the sink wants no more.
  bool stopped() const { return stopped_; }

 private:
  void flush();

  const TextSink& sink_;
  std::string text_;
  bool stopped_ = false;
};

}  // namespace chopper
