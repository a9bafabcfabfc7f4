// SPDX-License-Identifier: Apache-2.0
// Reads the JSON of rocprofv3 into a counter pass.
#pragma once

#include <string_view>

#include "ingest/format.h"

namespace chopper::rocprof {

/// Reads the file to its end. Fails on I/O errors and when the text is not of rocprofv3. Memory is bounded by what is
/// kept: dispatches, values, marks, and the names of kernels and counters.
Result<TraceTables> read_sdk_json(const SourceOpener& open, std::string_view shown, const ReadOptions& options);

}  // namespace chopper::rocprof
