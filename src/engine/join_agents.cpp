// SPDX-License-Identifier: Apache-2.0
#include "engine/join_agents.h"

#include <algorithm>
#include <string>

#include "engine/folders.h"

namespace chopper {
namespace {

const AgentFacts* find_gpu(const std::vector<AgentFacts>& agents, std::int64_t AgentFacts::*number,
                           std::int64_t wanted) {
  const auto found = std::find_if(agents.begin(), agents.end(),
                                  [&](const AgentFacts& agent) { return agent.is_gpu && agent.*number == wanted; });
  return found == agents.end() ? nullptr : &*found;
}

// What "Agent N" counts in a pass: the visible agents by default, the nodes of the driver with -A absolute.
struct AgentNumbers {
  std::int64_t AgentFacts::*number = &AgentFacts::visible_index;
  bool ambiguous = false;
};

AgentNumbers what_agents_count(const CounterPassSummary& pass, const std::vector<AgentFacts>& agents) {
  bool all_visible = true, all_nodes = true, differ = false;
  for (const PassDeviceSummary& device : pass.devices) {
    if (device.device.form != AgentForm::agent) continue;
    const AgentFacts* visible = find_gpu(agents, &AgentFacts::visible_index, device.device.number);
    const AgentFacts* node = find_gpu(agents, &AgentFacts::node, device.device.number);
    all_visible = all_visible && visible != nullptr;
    all_nodes = all_nodes && node != nullptr;
    differ = differ || visible != node;
  }
  if (!all_visible && all_nodes) return {&AgentFacts::node, false};
  return {&AgentFacts::visible_index, all_visible && all_nodes && differ};
}

const AgentFacts* find_named(const std::vector<AgentFacts>& agents, const PassDevice& device,
                             const AgentNumbers& numbers) {
  switch (device.form) {
    case AgentForm::node:
      return find_gpu(agents, &AgentFacts::node, device.number);
    case AgentForm::agent:
      return find_gpu(agents, numbers.number, device.number);
    case AgentForm::gpu:
      return find_gpu(agents, &AgentFacts::type_index, device.number);
    case AgentForm::cpu:
    case AgentForm::unknown:
      return nullptr;
  }
  return nullptr;
}

// A machine described as such has gpus of one kind and no numbers: all dispatches mean it.
const AgentFacts* of_whole_machine(const std::vector<AgentFacts>& agents) {
  return agents.size() == 1 && agents[0].is_gpu && agents[0].node == kNoNumber ? &agents[0] : nullptr;
}

void join(const InputSummary& agents_input, InputSummary& input) {
  CounterPassSummary& pass = *input.pass;
  const std::vector<AgentFacts>& agents = agents_input.pass->agents;
  const AgentNumbers numbers = what_agents_count(pass, agents);
  for (PassDeviceSummary& device : pass.devices) {
    if (!device.agents_file.empty()) continue;  // its own file says what it is
    const AgentFacts* found = of_whole_machine(agents);
    if (found == nullptr) found = find_named(agents, device.device, numbers);
    if (found == nullptr) {
      input.health.add(HealthKind::agent_unknown, input.path,
                       device.device.text + " is no gpu of " + agents_input.path);
      continue;
    }
    device.facts = *found;
    device.agents_file = agents_input.path;
    if (numbers.ambiguous && device.device.form == AgentForm::agent)
      input.health.add(HealthKind::agent_ambiguous, input.path, device.device.text + " in " + agents_input.path);
  }
}

}  // namespace

void join_agents(std::vector<InputSummary>& inputs) {
  const Folders folders(inputs);
  for (std::size_t i = 0; i < inputs.size(); i++) {
    InputSummary& input = inputs[i];
    if (!input.pass || input.pass->devices.empty()) continue;
    if (!input.pass->agents.empty()) {
      join(input, input);  // the file describes its gpus itself
      continue;
    }
    const std::size_t agents = folders.find_beside(
        i, [&](std::size_t other) { return inputs[other].pass && inputs[other].pass->content == PassContent::agents; });
    if (agents != SIZE_MAX) join(inputs[agents], input);
  }
}

}  // namespace chopper
