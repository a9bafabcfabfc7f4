// SPDX-License-Identifier: Apache-2.0
#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace chopper {

void check_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "chopper: internal error, please report: %s (%s:%d)\n", condition, file, line);
  std::abort();
}

}  // namespace chopper
