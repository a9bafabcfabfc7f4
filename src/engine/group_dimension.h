// SPDX-License-Identifier: Apache-2.0
// The dimension of parallelism a collective belongs to, where it can be told.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/group_dimensions.h"
#include "catalog/run_facts.h"
#include "model/summary.h"

namespace chopper {

/// What is said of a process group.
struct GroupTexts {
  std::string_view group, description, ranks, kind;
  std::int64_t size = kNoNumber;
};

/// By the words of description and name, by the kind (transfers between two ranks: pipeline), else by size and stride
/// of the ranks where the facts state the dimensions: tensor parallel ranks lie next to each other, then context, data,
/// pipeline. Empty when none of these tells.
std::string_view group_dimension(const GroupDimensionRules& rules, const RunFacts& facts,
                                 std::optional<std::int64_t> world_size, const GroupTexts& group);

/// Reads "[0, 4, 8]"; a list that was shortened ("[0, 1, ..., 63]") gives its beginning.
std::vector<std::int64_t> ranks_of_text(std::string_view text);

}  // namespace chopper
