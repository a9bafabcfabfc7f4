// SPDX-License-Identifier: Apache-2.0
// Reads an SQLite export of Nsight Systems as a trace.
#pragma once

#include <string_view>

#include "ingest/format.h"

namespace chopper::nsight {

/// Begins the file in which nsys profile leaves its results (.nsys-rep).
inline constexpr std::string_view kSystemsReportMagic = "NVIDIA Tegra Profiler Report";

/// Reads an export to its end. Fails with the way to make one where the file is a report, and when the file is no
/// database that can be opened.
Result<TraceTables> read_export(const SourceOpener& open, std::string_view shown, const ReadOptions& options);

}  // namespace chopper::nsight
