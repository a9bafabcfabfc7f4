// SPDX-License-Identifier: Apache-2.0
// What names of host ranges say about phases, the autograd engine and modules (data/phases.toml).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace chopper {

/// Lists as in data/phases.toml, which explains each.
struct PhaseRules {
  std::vector<std::string> optimizer_prefix, optimizer_contains_nocase, optimizer_words;
  std::vector<std::string> forward_prefix, forward_words, root_prefix;
  std::vector<std::string> backward_prefix, backward_words, before_node_prefix, prefetch_contains;
  std::vector<std::string> engine_prefix, accumulate_contains, accumulate_operators;
  std::vector<std::string> clip_operators;
  std::vector<std::string> container_classes, block_parts, not_block_parts;
};

/// Parses the text of a phases.toml. Fails on malformed TOML and on unknown or missing lists.
Result<PhaseRules> parse_phase_rules(std::string_view toml);

/// The rules this build ships.
Result<PhaseRules> embedded_phase_rules();

}  // namespace chopper
