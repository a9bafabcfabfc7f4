// SPDX-License-Identifier: Apache-2.0
#include "engine/join_agents.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace chopper {
namespace {

InputSummary input(const std::string& path, PassContent content) {
  InputSummary summary;
  summary.path = path;
  summary.full_path = "/" + path;
  summary.pass.emplace();
  summary.pass->content = content;
  return summary;
}

InputSummary agents(const std::string& path, const std::string& product, std::int64_t node, std::int64_t visible) {
  InputSummary summary = input(path, PassContent::agents);
  AgentFacts gpu;
  gpu.is_gpu = true;
  gpu.node = node;
  gpu.visible_index = visible;
  gpu.type_index = 0;
  gpu.product = product;
  summary.pass->agents.push_back(gpu);
  return summary;
}

InputSummary pass(const std::string& path, AgentForm form, std::int64_t number) {
  InputSummary summary = input(path, PassContent::counters);
  summary.pass->devices.push_back({{form, number, "device"}, 1, 1, {}, ""});
  return summary;
}

// A summary cannot be copied, as an initializer list would.
template <class... Summaries>
std::vector<InputSummary> run_of(Summaries... summaries) {
  std::vector<InputSummary> inputs;
  (inputs.push_back(std::move(summaries)), ...);
  return inputs;
}

std::string product_of(const InputSummary& summary) { return summary.pass->devices[0].facts.product; }

TEST(JoinAgents, TakesTheFileOfTheSameFolderWithTheLongestCommonName) {
  std::vector<InputSummary> inputs = run_of(
      agents("a/1_agent_info.csv", "one", 4, 1), agents("a/12_agent_info.csv", "two", 4, 1),
      agents("b/12_agent_info.csv", "three", 4, 1), pass("a/12_counter_collection.csv", AgentForm::gpu, 0),
      pass("b/1_counter_collection.csv", AgentForm::gpu, 0), pass("c/1_counter_collection.csv", AgentForm::gpu, 0));
  join_agents(inputs);
  EXPECT_EQ(product_of(inputs[3]), "two");
  EXPECT_EQ(inputs[3].pass->devices[0].agents_file, "a/12_agent_info.csv");
  EXPECT_EQ(product_of(inputs[4]), "three");
  EXPECT_EQ(product_of(inputs[5]), "");
  EXPECT_EQ(inputs[5].health.worst(), Severity::note);
  EXPECT_EQ(inputs[5].health.count(HealthKind::agent_unknown), 0u);
}

TEST(JoinAgents, CountsByTheFormOfTheName) {
  const auto found = [](AgentForm form, std::int64_t number) {
    std::vector<InputSummary> inputs =
        run_of(agents("agent_info.csv", "gpu", 4, 1), pass("counter_collection.csv", form, number));
    join_agents(inputs);
    return product_of(inputs[1]) + (inputs[1].health.count(HealthKind::agent_unknown) > 0 ? "?" : "");
  };
  EXPECT_EQ(found(AgentForm::node, 4), "gpu");
  EXPECT_EQ(found(AgentForm::node, 1), "?");
  EXPECT_EQ(found(AgentForm::gpu, 0), "gpu");
  EXPECT_EQ(found(AgentForm::gpu, 4), "?");
  EXPECT_EQ(found(AgentForm::agent, 1), "gpu");  // relative, the default
  EXPECT_EQ(found(AgentForm::agent, 4), "gpu");  // absolute
  EXPECT_EQ(found(AgentForm::agent, 0), "?");
  EXPECT_EQ(found(AgentForm::cpu, 0), "?");
  EXPECT_EQ(found(AgentForm::unknown, kNoNumber), "?");
}

TEST(JoinAgents, AMachineWithoutNumbersIsEveryGpuOfItsFolder) {
  std::vector<InputSummary> inputs =
      run_of(agents("a/sysinfo.csv", "gpu", kNoNumber, kNoNumber), pass("a/pmc_perf.csv", AgentForm::unknown, 2),
             pass("a/timestamps.csv", AgentForm::gpu, 1), pass("b/pmc_perf.csv", AgentForm::unknown, 2));
  join_agents(inputs);
  EXPECT_EQ(product_of(inputs[1]), "gpu");
  EXPECT_EQ(product_of(inputs[2]), "gpu");
  EXPECT_EQ(product_of(inputs[3]), "");
  EXPECT_EQ(inputs[1].health.count(HealthKind::agent_unknown), 0u);
}

TEST(JoinAgents, AFileThatDescribesItsGpusNeedsNoOther) {
  InputSummary whole = pass("a/1_results.json", AgentForm::node, 4);
  whole.pass->agents = agents("", "own", 4, 1).pass->agents;
  std::vector<InputSummary> inputs = run_of(agents("a/1_agent_info.csv", "other", 4, 1), std::move(whole));
  join_agents(inputs);
  EXPECT_EQ(product_of(inputs[1]), "own");
  EXPECT_EQ(inputs[1].pass->devices[0].agents_file, "a/1_results.json");
}

}  // namespace
}  // namespace chopper
