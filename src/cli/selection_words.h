// SPDX-License-Identifier: Apache-2.0
// The options that select a part of the work, and the grain of its rows.
#pragma once

#include <optional>
#include <string>

#include "engine/engine.h"

namespace chopper {

/// As typed; empty where not given.
struct SelectionWords {
  std::string grain, iterations, phases, layers, operations;
  std::string metrics = {};
};

/// What is wrong with the words, and the remedy.
struct SelectionError {
  std::string message, hint;
};

/// Sets selection and grain of `options`.
std::optional<SelectionError> read_selection(const SelectionWords& words, RunOptions& options);

}  // namespace chopper
