// SPDX-License-Identifier: Apache-2.0
// The answer of `chopper report` as text: one screen, from the question (where does the time go) to the proof (which
// kernels).
#pragma once

#include <string>

#include "engine/engine.h"

namespace chopper {

struct TextOptions {
  std::string run_name;     ///< shown in the title
  std::size_t width = 100;  ///< columns, at least 80
  bool bars = false;        ///< draw bars: for terminals
  bool colour = false;      ///< ANSI colours: for terminals
  bool paper = false;       ///< show the decomposition as the paper computes it
};

/// Returns the whole answer; every line ends with a line feed.
std::string answer_text(const Answer& answer, const TextOptions& options);

}  // namespace chopper
