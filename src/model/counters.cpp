// SPDX-License-Identifier: Apache-2.0
#include "model/counters.h"

#include <set>

namespace chopper {

std::string_view to_string(PassContent content) {
  switch (content) {
    case PassContent::counters:
      return "counters";
    case PassContent::kernel_times:
      return "kernel times";
    case PassContent::agents:
      return "agents";
    case PassContent::marks:
      return "marks";
  }
  return "counters";
}

namespace {

// A profiler may say itself what the gpus are that it counts on.
void describe_devices(const CounterPass& pass, CounterPassSummary& summary) {
  if (pass.content == PassContent::agents) return;
  for (PassDeviceSummary& device : summary.devices) {
    for (const AgentFacts& agent : pass.agents) {
      const bool is_it = agent.is_gpu && agent.type_index == device.device.number;
      if (device.device.form != AgentForm::gpu || !is_it) continue;
      device.facts = agent;
      device.agents_file = pass.file;
    }
  }
}

}  // namespace

CounterPassSummary summarise_pass(const CounterPass& pass) {
  CounterPassSummary summary;
  summary.content = pass.content;
  summary.writer = pass.writer;
  summary.num_dispatches = static_cast<std::int64_t>(num_rows(pass.dispatches));
  summary.num_values = static_cast<std::int64_t>(num_rows(pass.values));
  for (const PassDevice& device : pass.devices) summary.devices.push_back({device, 0, 0, {}, ""});
  std::set<StringId> names;
  for (const PassKernel& kernel : pass.kernels) names.insert(kernel.name);
  summary.num_kernels = static_cast<std::int64_t>(names.size());
  for (std::size_t i = 0; i < num_rows(pass.dispatches); i++) {
    summary.devices[pass.dispatches.device[i]].num_dispatches++;
    if (pass.dispatches.start_ns[i] != kNoNumber) summary.num_timed++;
    if (pass.dispatches.duration_ns[i] != kNoNumber) summary.num_with_duration++;
  }
  for (const StringId name : pass.counters) summary.counters.push_back({std::string(pass.strings.view(name)), 0});
  for (std::size_t i = 0; i < num_rows(pass.values); i++) {
    summary.counters[pass.values.counter[i]].num_values++;
    summary.devices[pass.dispatches.device[pass.values.dispatch[i]]].num_values++;
  }
  summary.num_marks = static_cast<std::int64_t>(num_rows(pass.marks));
  const std::set<StringId> mark_names(pass.marks.name.begin(), pass.marks.name.end());
  summary.num_mark_names = static_cast<std::int64_t>(mark_names.size());
  summary.agents = pass.agents;
  describe_devices(pass, summary);
  return summary;
}

}  // namespace chopper
