// SPDX-License-Identifier: Apache-2.0
// `chopper metrics`: the list, one metric in all detail, and plans of counter passes.
#pragma once

#include "base/result.h"
#include "cli/metrics_words.h"

namespace chopper {

/// Prints what was asked for, or writes it to files. Notes about a plan go to standard error.
Result<Done> run_metrics(const MetricsArguments& asked);

}  // namespace chopper
