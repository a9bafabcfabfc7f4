// SPDX-License-Identifier: Apache-2.0
// The operations this build knows, as the doors show them.
#pragma once

#include <string>

#include "base/result.h"

namespace chopper {

/// The maps, the names of operations, and what tells each: `chopper operations`.
Result<std::string> describe_operations();

}  // namespace chopper
