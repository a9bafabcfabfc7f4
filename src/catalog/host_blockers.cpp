// SPDX-License-Identifier: Apache-2.0
#include "catalog/host_blockers.h"

#include <array>

#include "catalog/embedded_data.h"
#include "catalog/named_lists.h"

namespace chopper {
namespace {

constexpr std::array<NamedList<HostBlockerRules>, 6> kLists = {{
    {"synchronise", "calls", &HostBlockerRules::synchronise_calls},
    {"copy_to_host", "prefix", &HostBlockerRules::copy_to_host_prefix},
    {"item", "exact", &HostBlockerRules::item_exact},
    {"data_loading", "prefix", &HostBlockerRules::data_loading_prefix},
    {"allocator", "calls", &HostBlockerRules::allocator_calls},
    {"garbage_collection", "exact", &HostBlockerRules::garbage_collection_exact},
}};

}  // namespace

Result<HostBlockerRules> parse_host_blocker_rules(std::string_view toml) {
  return read_named_lists<HostBlockerRules>(toml, kLists, "host_blockers.toml");
}

Result<HostBlockerRules> embedded_host_blocker_rules() {
  for (std::size_t i = 0; i < kNumEmbeddedFiles; i++) {
    if (kEmbeddedFiles[i].name == "host_blockers.toml") return parse_host_blocker_rules(kEmbeddedFiles[i].text);
  }
  return Error{ErrorCode::internal, "host_blockers.toml is not in this build", "", "rebuild"};
}

}  // namespace chopper
