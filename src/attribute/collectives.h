// SPDX-License-Identifier: Apache-2.0
// What the host says about a collective: kind, group, bytes (attribution.md 8).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "attribute/stacks.h"
#include "catalog/group_dimensions.h"
#include "model/trace.h"

namespace chopper {

/// Row of CollectiveTable that describes a gpu record: its own, else that of the host operator around its launch; or
/// kNoRow.
RowId metadata_of(const TraceTables& trace, std::uint32_t gpu_row, const CallStack* stack);

/// Kind of the collective of a gpu record; "comm" where nothing tells.
std::string_view kind_of_collective(const TraceTables& trace, const StringTable& operations, std::uint32_t gpu_row,
                                    RowId metadata, const CallStack* stack);

/// Size of the message: the larger of input and output; kNoNumber when elements or type are not known.
std::int64_t bytes_of_collective(const TraceTables& trace, RowId metadata);

/// Whether a group that sends and receives is one of pipeline stages: by the words of its description, then of its name
/// (rings of other dimensions send and receive, too); one that says nothing is.
bool is_pipeline_group(const TraceTables& trace, const GroupDimensionRules& rules, RowId metadata);

/// Place of a rank among the ranks of a group, as written; nullopt when they are not all there or it is not one of
/// them.
std::optional<std::int32_t> place_in_group(const TraceTables& trace, RowId metadata, std::int64_t rank);

}  // namespace chopper
