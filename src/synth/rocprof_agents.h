// SPDX-License-Identifier: Apache-2.0
// The agents of a host as rocprofv3 describes them.
#pragma once

#include <string>
#include <vector>

#include "synth/pass_writer.h"

namespace chopper::synth {

/// agent_info.csv: the processors and gpus of the process's host.
std::string agent_info_text(const PassProcess& process);

/// One of these agents; `json` has all that is known of it, with the keys of rocprofv3's JSON.
struct AgentText {
  std::int64_t node = 0;
  bool is_gpu = false;
  std::string name, vendor, product;
  std::string json;
};
std::vector<AgentText> agents_of(const PassProcess& process);
/// How JSON refers to an agent.
std::int64_t agent_handle(std::int64_t node);

}  // namespace chopper::synth
