// SPDX-License-Identifier: Apache-2.0
// Reads a trace document with several threads: one at a time cuts the next batch, all parse, and finished batches are
// committed in order.
#pragma once

#include <string_view>

#include "ingest/format.h"

namespace chopper {

/// Reads a Chrome trace to its end. Fails on I/O errors and when the text is no trace.
Result<TraceTables> read_trace_document(const SourceOpener& open, std::string_view shown, const ReadOptions& options);

}  // namespace chopper
