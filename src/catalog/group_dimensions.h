// SPDX-License-Identifier: Apache-2.0
// Which dimension of parallelism a process group belongs to, by the words of its description
// (data/group_dimensions.toml).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace chopper {

/// Lists as in data/group_dimensions.toml, which explains them.
struct GroupDimensionRules {
  std::vector<std::string> data_words, tensor_words, pipeline_words, context_words, expert_words;
};

/// Parses the text of a group_dimensions.toml. Fails on malformed TOML and on unknown or missing lists.
Result<GroupDimensionRules> parse_group_dimension_rules(std::string_view toml);

/// The rules this build ships.
Result<GroupDimensionRules> embedded_group_dimension_rules();

/// Returns "data", "tensor", "pipeline", "context" or "expert"; empty when no word tells.
std::string_view dimension_of_name(const GroupDimensionRules& rules, std::string_view description);

}  // namespace chopper
