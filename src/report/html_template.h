// SPDX-License-Identifier: Apache-2.0
// The page of viewer/ without its data, compiled into the program: the build writes the definition
// (cmake/embed_page.cmake).
#pragma once

#include <string_view>

namespace chopper {

/// Empty when the program was built without the viewer (node, or the npm packages of viewer/, were missing).
extern const std::string_view kHtmlTemplate;

}  // namespace chopper
