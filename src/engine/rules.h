// SPDX-License-Identifier: Apache-2.0
// The rules of attribution of a run: those this build ships and those of the user.
#pragma once

#include <memory>
#include <string>

#include "attribute/attribute.h"
#include "base/result.h"
#include "engine/engine.h"

namespace chopper {

/// Reads the maps of `options.operation_files`, which come before those of this build, and the shipped rules.
Result<std::shared_ptr<const AttributionRules>> load_rules(const RunOptions& options);

}  // namespace chopper
