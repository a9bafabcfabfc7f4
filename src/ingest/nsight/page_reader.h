// SPDX-License-Identifier: Apache-2.0
// Reads what Nsight Compute prints with --csv into a counter pass: the page "details" or the page "raw", among the
// output of the application.
#pragma once

#include <string_view>

#include "ingest/format.h"

namespace chopper::nsight {

/// First bytes of an .ncu-rep report, which only Nsight Compute itself reads.
inline constexpr std::string_view kReportMagic{"NVR\0", 4};

/// Reads a page to its end. Fails on I/O errors, and with what to do about it when there is no table.
Result<TraceTables> read_page(const SourceOpener& open, std::string_view shown, const ReadOptions& options);

}  // namespace chopper::nsight
