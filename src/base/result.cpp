// SPDX-License-Identifier: Apache-2.0
#include "base/result.h"

namespace chopper {

const char* to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::not_found:
      return "not_found";
    case ErrorCode::unreadable:
      return "unreadable";
    case ErrorCode::unrecognised:
      return "unrecognised";
    case ErrorCode::bad_input:
      return "bad_input";
    case ErrorCode::conflict:
      return "conflict";
    case ErrorCode::usage:
      return "usage";
    case ErrorCode::internal:
      return "internal";
  }
  return "internal";
}

std::string Error::text() const {
  std::string out;
  if (!where.empty()) out += where + ": ";
  out += message;
  if (!hint.empty()) out += " (" + hint + ")";
  return out;
}

}  // namespace chopper
