// SPDX-License-Identifier: Apache-2.0
// What this build can read, for those who may not look into the readers.
#pragma once

#include <string_view>
#include <vector>

namespace chopper {

struct FormatInfo {
  std::string_view name, summary, reads;
};

/// The registered input formats, in order of name.
std::vector<FormatInfo> list_formats();

}  // namespace chopper
