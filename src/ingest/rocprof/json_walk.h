// SPDX-License-Identifier: Apache-2.0
// Walks a large JSON text: finds keys and the elements of lists without holding more than one element, and goes on
// behind elements that are damaged. Results do not depend on the size of the pieces the text is read in.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/byte_source.h"
#include "base/result.h"
#include "ingest/kineto/text_stream.h"

namespace chopper::rocprof {

/// Why an element of a list could not be used.
enum class Taken : std::uint8_t { used, no_json, wrong_value };

class JsonWalk {
 public:
  /// Told what was wrong, and where.
  using Lost = std::function<void(Taken why, std::uint64_t offset, const std::string& what)>;
  /// Reads an object of a list. Behind the text lie bytes that may be read, as many as simdjson wants.
  using Take = std::function<Taken(std::string_view object, std::uint64_t offset)>;
  using TakeKey = std::function<void(const std::string& key)>;

  /// `window_bytes`: size of the pieces read at once, 0: default.
  JsonWalk(ByteSource& source, std::size_t window_bytes, Lost lost);

  /// The next character that is no white space, '\0' where the text ends. A byte order mark is passed over.
  char next();
  /// Calls `take` for each key of the object that starts here, with the walk standing before the value, which `take`
  /// must pass.
  void object(const TakeKey& take);
  /// Calls `take` with each object of the list that starts here. `first_key` is what they usually begin with: that is
  /// looked for behind damage, until an object was read that begins with another key.
  void list(std::string_view first_key, const Take& take);
  /// Calls `take` before each element of the list that starts here, which `take` must pass.
  void elements(const std::function<void()>& take);
  /// Hands the value that starts here to `take`, whole.
  void value(const Take& take);
  /// Passes over the value that starts here without holding it.
  void skip();
  /// Passes over all that is left. Returns whether there was more than white space.
  bool drain();

  std::uint64_t offset() const { return stream_.offset(); }
  /// The text ends before its end.
  bool is_cut() const { return cut_; }
  /// The text is damaged so that nothing behind can be read, or cut, or the source failed.
  bool stopped() const { return stopped_; }
  const Error* error() const { return stream_.error(); }

  /// An element longer than this is damage.
  static constexpr std::size_t kMaxElementBytes = std::size_t{16} << 20;

 private:
  bool take_char(char c);
  bool read_key(std::string& key);
  void element(const Take& take);
  bool go_to_next_element(std::string_view text);
  void stop(const std::string& what);
  void stop_cut();

  TextStream stream_;
  std::size_t window_bytes_;
  Lost lost_;
  std::string first_key_;  // with its quotes: what an element of this list begins with
  bool started_ = false;
  bool cut_ = false;
  bool stopped_ = false;
};

}  // namespace chopper::rocprof
