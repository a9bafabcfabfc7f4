// SPDX-License-Identifier: Apache-2.0
#include "engine/pass_gpus.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace chopper {
namespace {

InputSummary trace_of(std::optional<std::int64_t> rank, std::vector<std::int32_t> devices) {
  InputSummary input;
  input.path = "rank" + std::to_string(rank.value_or(0)) + ".json";
  input.facts.rank = rank;
  for (const std::int32_t device : devices) {
    GpuSummary& gpu = input.gpus.emplace_back();
    gpu.device = device;
  }
  return input;
}

InputSummary pass_of(std::optional<std::int64_t> rank, AgentForm form, std::int64_t number,
                     std::int64_t type_index = kNoNumber) {
  InputSummary input;
  input.path = "counters.csv";
  input.facts.rank = rank;
  input.pass.emplace();
  input.pass->num_values = 1;
  PassDeviceSummary device;
  device.device = {form, number, "gpu as written"};
  device.num_values = 1;
  device.facts.type_index = type_index;
  input.pass->devices.push_back(device);
  return input;
}

struct TestRun {
  std::vector<InputSummary> inputs;

  template <class... Inputs>
  explicit TestRun(Inputs... all) {
    (inputs.push_back(std::move(all)), ...);
  }
  PassGpu find(std::size_t pass) const { return find_pass_gpu(inputs, find_jobs(inputs), pass, 0); }
};

TEST(PassGpus, TheRankOfTheFileDecides) {
  const TestRun run(trace_of(0, {0}), trace_of(1, {0}), pass_of(1, AgentForm::agent, 9));
  const PassGpu found = run.find(2);
  ASSERT_TRUE(found.place.has_value()) << found.reason;
  EXPECT_EQ(found.place->input, 1u);
}

TEST(PassGpus, WindowsOfOneRankAreOneGpu) {
  const TestRun run(trace_of(0, {0}), trace_of(0, {0}), trace_of(1, {1}), pass_of(0, AgentForm::agent, 9),
                    pass_of(std::nullopt, AgentForm::gpu, 0));
  for (const std::size_t pass : {3u, 4u}) {
    const PassGpu found = run.find(pass);
    ASSERT_TRUE(found.place.has_value()) << found.reason;
    EXPECT_EQ(found.place->input, 0u);
    ASSERT_EQ(found.other_windows.size(), 1u);
    EXPECT_EQ(found.other_windows.front().input, 1u);
  }
}

TEST(PassGpus, TheIndexDecidesWithoutARank) {
  const TestRun run(trace_of(0, {0}), trace_of(1, {1}), pass_of(std::nullopt, AgentForm::agent, 5, 1));
  const PassGpu found = run.find(2);
  ASSERT_TRUE(found.place.has_value()) << found.reason;
  EXPECT_EQ(found.place->input, 1u);
}

TEST(PassGpus, OneIndexOnSeveralHostsIsRefused) {
  const TestRun run(trace_of(0, {0}), trace_of(8, {0}), pass_of(std::nullopt, AgentForm::gpu, 0));
  const PassGpu found = run.find(2);
  EXPECT_FALSE(found.place.has_value());
  EXPECT_NE(found.reason.find("--set-rank"), std::string::npos) << found.reason;
}

TEST(PassGpus, TheOnlyGpuIsThatOfTheOnlyDevice) {
  const TestRun run(trace_of(std::nullopt, {4}), pass_of(std::nullopt, AgentForm::agent, 2, 0));
  EXPECT_TRUE(run.find(1).place.has_value());
}

TEST(PassGpus, PassesOfOtherGpusAreNotThatOfTheOnlyTrace) {
  const TestRun run(trace_of(0, {0}), pass_of(std::nullopt, AgentForm::gpu, 0),
                    pass_of(std::nullopt, AgentForm::gpu, 3));
  EXPECT_TRUE(run.find(1).place.has_value());
  EXPECT_FALSE(run.find(2).place.has_value());
}

TEST(PassGpus, OrdinalsThatCountProcessorsAreTakenInOrder) {
  const TestRun run(trace_of(std::nullopt, {2, 3}), pass_of(std::nullopt, AgentForm::agent, 4),
                    pass_of(std::nullopt, AgentForm::agent, 5));
  const PassGpu first = run.find(1), second = run.find(2);
  ASSERT_TRUE(first.place && second.place) << first.reason << second.reason;
  EXPECT_EQ(first.place->gpu, 0u);
  EXPECT_EQ(second.place->gpu, 1u);
}

TEST(PassGpus, ARankWithoutATraceIsNamed) {
  const TestRun run(trace_of(0, {0}), pass_of(7, AgentForm::gpu, 0));
  EXPECT_EQ(run.find(1).reason, "no trace of rank 7");
}

}  // namespace
}  // namespace chopper
