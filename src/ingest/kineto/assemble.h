// SPDX-License-Identifier: Apache-2.0
// Puts the parts of a file together: joins their rows, pairs begin and end events, makes times absolute, quarantines
// impossible records, and reads the facts out of the metadata.
#pragma once

#include <string_view>
#include <vector>

#include "ingest/kineto/document.h"
#include "ingest/kineto/event_parser.h"
#include "model/trace.h"

namespace chopper {

/// Assembles `parts` (in file order, each naming its worker) of a document read with `parsers`, one a thread. Consumes
/// the parts.
TraceTables assemble(std::vector<EventPart> parts, std::vector<EventParser>& parsers, const TraceDocument& document,
                     std::string_view shown);

/// Returns whether the fractions of these parts were written without zero padding (reading rules, 2), so that they must
/// be read again.
bool fractions_are_unpadded(const std::vector<EventPart>& parts, const TraceDocument& document);

}  // namespace chopper
