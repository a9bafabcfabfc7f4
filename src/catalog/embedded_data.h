// SPDX-License-Identifier: Apache-2.0
// The files of data/, compiled into the program: the build writes the definitions (cmake/embed.cmake), sorted by name.
#pragma once

#include <cstddef>
#include <string_view>

namespace chopper {

struct EmbeddedFile {
  std::string_view name;  // path below data/, such as "classes.toml"
  std::string_view text;
};

extern const EmbeddedFile kEmbeddedFiles[];
extern const std::size_t kNumEmbeddedFiles;

}  // namespace chopper
