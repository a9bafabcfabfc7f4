// SPDX-License-Identifier: Apache-2.0
// Result<T>: a value or an Error. The only channel for "the request cannot be done" (bad data is counted in a HealthLog
// instead).
#pragma once

#include <string>
#include <utility>
#include <variant>

namespace chopper {

/// What kind of failure an Error is; closed, so that callers can switch over it.
enum class ErrorCode { not_found, unreadable, unrecognised, bad_input, conflict, usage, internal };

/// Returns the name of `code` as shown to people ("not_found").
const char* to_string(ErrorCode code);

/// One failure: a sentence with the values at its end, the place it concerns, and what to do about it.
struct Error {
  ErrorCode code = ErrorCode::internal;
  std::string message;  ///< one sentence, values last
  std::string where;    ///< file, byte offset; empty when it concerns no file
  std::string hint;     ///< what to do

  /// Returns "where: message (hint)" on one line.
  std::string text() const;
};

/// A value of T or an Error.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT: implicit by design
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT: implicit by design

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }
  T& value() & { return *std::get_if<0>(&state_); }
  const T& value() const& { return *std::get_if<0>(&state_); }
  T&& value() && { return std::move(*std::get_if<0>(&state_)); }
  Error& error() { return *std::get_if<1>(&state_); }
  const Error& error() const { return *std::get_if<1>(&state_); }

 private:
  std::variant<T, Error> state_;
};

/// The value of a Result that carries nothing but success.
struct Done {};

}  // namespace chopper

#define CHOPPER_CONCAT_INNER(a, b) a##b
#define CHOPPER_CONCAT(a, b) CHOPPER_CONCAT_INNER(a, b)
/// Declares `declaration` from the value of `expression`, or returns its Error from the enclosing function.
#define CHOPPER_TRY(declaration, expression)                     \
  auto CHOPPER_CONCAT(result_, __LINE__) = (expression);         \
  if (!CHOPPER_CONCAT(result_, __LINE__).ok()) {                 \
    return std::move(CHOPPER_CONCAT(result_, __LINE__).error()); \
  }                                                              \
  declaration = std::move(CHOPPER_CONCAT(result_, __LINE__)).value()
