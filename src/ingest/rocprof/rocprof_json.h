// SPDX-License-Identifier: Apache-2.0
// Reads the Chrome trace of rocprof 1, whose kernels carry what its table says of them, into a counter pass.
#pragma once

#include <string_view>

#include "ingest/format.h"

namespace chopper::rocprof {

/// Whether the beginning of a text is of such a trace: it has an event of a kernel as rocprof 1 writes it.
bool is_rocprof_json(std::string_view head);

/// Reads the trace to its end. Fails on I/O errors and when there is no such event.
Result<TraceTables> read_rocprof_json(const SourceOpener& open, std::string_view shown, const ReadOptions& options);

}  // namespace chopper::rocprof
