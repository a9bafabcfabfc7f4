// SPDX-License-Identifier: Apache-2.0
// Names of host activity that keeps a thread from launching gpu work (data/host_blockers.toml).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace chopper {

/// Lists as in data/host_blockers.toml, which explains each.
struct HostBlockerRules {
  std::vector<std::string> synchronise_calls, copy_to_host_prefix, item_exact, data_loading_prefix, allocator_calls,
      garbage_collection_exact;
};

/// Parses the text of a host_blockers.toml. Fails on malformed TOML and on unknown or missing lists.
Result<HostBlockerRules> parse_host_blocker_rules(std::string_view toml);

/// The rules this build ships.
Result<HostBlockerRules> embedded_host_blocker_rules();

}  // namespace chopper
