// SPDX-License-Identifier: Apache-2.0
// The agents of a host as rocprofv3 describes them.
#pragma once

#include <string>

#include "synth/pass_writer.h"

namespace chopper::synth {

/// agent_info.csv: the processors and gpus of the process's host.
std::string agent_info_text(const PassProcess& process);

/// The same as an array of JSON, with the keys of rocprofv3's JSON.
std::string agents_json(const PassProcess& process);
/// How JSON refers to an agent.
std::int64_t agent_handle(std::int64_t node);

}  // namespace chopper::synth
