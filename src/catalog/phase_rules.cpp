// SPDX-License-Identifier: Apache-2.0
#include "catalog/phase_rules.h"

#include <array>

#include "catalog/embedded_data.h"
#include "catalog/named_lists.h"

namespace chopper {
namespace {

constexpr std::array<NamedList<PhaseRules>, 17> kLists = {{
    {"optimizer", "prefix", &PhaseRules::optimizer_prefix},
    {"optimizer", "contains_nocase", &PhaseRules::optimizer_contains_nocase},
    {"optimizer", "words", &PhaseRules::optimizer_words},
    {"forward", "prefix", &PhaseRules::forward_prefix},
    {"forward", "words", &PhaseRules::forward_words},
    {"forward", "root_prefix", &PhaseRules::root_prefix},
    {"backward", "prefix", &PhaseRules::backward_prefix},
    {"backward", "words", &PhaseRules::backward_words},
    {"backward", "before_node_prefix", &PhaseRules::before_node_prefix},
    {"backward", "prefetch_contains", &PhaseRules::prefetch_contains},
    {"engine", "prefix", &PhaseRules::engine_prefix},
    {"engine", "accumulate_contains", &PhaseRules::accumulate_contains},
    {"engine", "accumulate_operators", &PhaseRules::accumulate_operators},
    {"clip", "operators", &PhaseRules::clip_operators},
    {"modules", "containers", &PhaseRules::container_classes},
    {"modules", "block_parts", &PhaseRules::block_parts},
    {"modules", "not_block_parts", &PhaseRules::not_block_parts},
}};

}  // namespace

Result<PhaseRules> parse_phase_rules(std::string_view toml) {
  return read_named_lists<PhaseRules>(toml, kLists, "phases.toml");
}

Result<PhaseRules> embedded_phase_rules() {
  for (std::size_t i = 0; i < kNumEmbeddedFiles; i++) {
    if (kEmbeddedFiles[i].name == "phases.toml") return parse_phase_rules(kEmbeddedFiles[i].text);
  }
  return Error{ErrorCode::internal, "phases.toml is not in this build", "", "rebuild"};
}

}  // namespace chopper
