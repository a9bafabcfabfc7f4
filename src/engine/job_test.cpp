// SPDX-License-Identifier: Apache-2.0
// Which inputs are of one job.
#include "engine/job.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace chopper {
namespace {

using Number = std::optional<std::int64_t>;
constexpr std::int64_t kHourNs = std::int64_t{3600} * 1'000'000'000;

struct InputOf {
  Number rank, world_size;
  std::int64_t start_ns = 0;
  ClockDomain clock = ClockDomain::unix_time;
};

// Inputs of one gpu, each a second long.
std::vector<InputSummary> inputs_of(const std::vector<InputOf>& wanted) {
  std::vector<InputSummary> inputs;
  for (const InputOf& of : wanted) {
    InputSummary& input = inputs.emplace_back();
    input.path = std::to_string(inputs.size() - 1) + ".json";
    input.facts.rank = of.rank;
    input.facts.world_size = of.world_size;
    input.facts.clock = of.clock;
    input.has_times = true;
    input.first_ns = of.start_ns;
    input.last_ns = of.start_ns + 1'000'000'000;
    input.mark_kind = MarkKind::iteration;
    input.gpus.emplace_back().device = static_cast<std::int32_t>(of.rank.value_or(0));
  }
  return inputs;
}

using Inputs = std::vector<std::vector<std::size_t>>;
Inputs jobs_of(const std::vector<InputOf>& wanted) {
  Inputs found;
  for (const Job& job : find_jobs(inputs_of(wanted))) found.push_back(job.inputs);
  return found;
}

TEST(FindJobs, RanksOfOneWorldSizeAreOneJob) {
  EXPECT_EQ(jobs_of({{0, 4}, {1, 4}, {3, 4}}), (Inputs{{0, 1, 2}}));
  EXPECT_EQ(jobs_of({{0, {}}, {1, {}}}), (Inputs{{0, 1}}));
  EXPECT_EQ(jobs_of({{0, 4}, {1, {}}, {2, 0}}), (Inputs{{0, 1, 2}}));  // none, and nonsense, go with the others
  EXPECT_EQ(jobs_of({}), Inputs{});
  const std::vector<Job> jobs = find_jobs(inputs_of({{1, {}}, {0, 4}}));
  ASSERT_EQ(jobs.size(), 1u);
  EXPECT_EQ(jobs[0].world_size, 4);
  EXPECT_TRUE(jobs[0].has_ranks);
  ASSERT_EQ(jobs[0].gpus.size(), 2u);
  EXPECT_EQ(jobs[0].gpus[0].input, 1u);  // rank 0
}

TEST(FindJobs, WorldSizesTellJobsApart) {
  EXPECT_EQ(jobs_of({{0, 2}, {0, 8}, {1, 2}, {3, 8}}), (Inputs{{0, 2}, {1, 3}}));
  EXPECT_EQ(jobs_of({{0, 2}, {0, 8}, {1, {}}}), (Inputs{{0}, {1}, {2}}));  // which of the two is not known
}

TEST(FindJobs, InputsWithoutARankAreJobsOfTheirOwn) {
  EXPECT_EQ(jobs_of({{{}, {}}}), (Inputs{{0}}));
  EXPECT_EQ(jobs_of({{{}, {}}, {{}, {}}}), (Inputs{{0}, {1}}));
  EXPECT_EQ(jobs_of({{{}, 4}, {0, 4}, {{}, 4}, {1, 4}}), (Inputs{{0}, {1, 3}, {2}}));
  EXPECT_EQ(jobs_of({{{}, 2}, {0, 4}, {1, {}}}), (Inputs{{0}, {1, 2}}));  // what it states says nothing about others
  for (const Job& job : find_jobs(inputs_of({{{}, {}}, {{}, {}}}))) {
    EXPECT_FALSE(job.has_ranks);
    EXPECT_EQ(job.gpus.size(), 1u);
  }
}

TEST(FindJobs, MoreThanAnHourApartIsAnotherJob) {
  const std::int64_t hour_later = 1'000'000'000 + kHourNs;  // behind the end of an input that starts at 0
  EXPECT_EQ(jobs_of({{0, 2, 0}, {1, 2, hour_later}}), (Inputs{{0, 1}}));
  EXPECT_EQ(jobs_of({{0, 2, 0}, {1, 2, hour_later + 1}}), (Inputs{{0}, {1}}));
  EXPECT_EQ(jobs_of({{0, 2, hour_later + 1}, {1, 2, 0}}), (Inputs{{0}, {1}}));
  EXPECT_EQ(jobs_of({{0, {}, 0}, {1, {}, 5 * kHourNs}}), (Inputs{{0}, {1}}));
  // Consecutive windows of a rank hold together what lies between them.
  EXPECT_EQ(jobs_of({{0, 3, 0}, {1, 3, 2 * kHourNs}, {0, 3, 4 * kHourNs}, {2, 3, 6 * kHourNs}}),
            (Inputs{{0, 1, 2}, {3}}));
  // Times that cannot be compared tell nothing.
  EXPECT_EQ(jobs_of({{0, 2, 0}, {1, 2, 5 * kHourNs, ClockDomain::relative}}), (Inputs{{0, 1}}));
  std::vector<InputSummary> without = inputs_of({{0, 2, 0}, {1, 2, 5 * kHourNs}});
  without[1].has_times = false;
  EXPECT_EQ(find_jobs(without).size(), 1u);
}

TEST(FindJobs, ALongTraceReachesLaterOnes) {
  std::vector<InputSummary> inputs = inputs_of({{0, 3, 0}, {1, 3, kHourNs}, {2, 3, 5 * kHourNs}});
  inputs[0].last_ns = 5 * kHourNs;
  EXPECT_EQ(find_jobs(inputs).size(), 1u);
}

TEST(FindJobs, MarksAreComparedWithinAJob) {
  std::vector<InputSummary> inputs = inputs_of({{0, 2}, {0, 8}, {1, 2}});
  inputs[0].mark_kind = MarkKind::none;
  inputs[1].mark_kind = MarkKind::none;
  const std::vector<Job> jobs = find_jobs(inputs);
  ASSERT_EQ(jobs.size(), 2u);
  ASSERT_EQ(jobs[0].gpus.size(), 1u);  // the other marks iterations in a better way
  EXPECT_EQ(jobs[0].gpus[0].input, 2u);
  EXPECT_EQ(jobs[1].gpus.size(), 1u);
}

// All runs of three inputs: every input is of one job, and the rules hold for every two.
TEST(FindJobs, OfAllSmallRuns) {
  std::vector<InputOf> kinds;
  for (const Number rank : {Number(), Number(0), Number(1)}) {
    for (const Number size : {Number(), Number(2), Number(8)}) {
      for (const std::int64_t start : {std::int64_t{0}, 3 * kHourNs}) kinds.push_back({rank, size, start});
    }
  }
  for (std::size_t code = 0; code < kinds.size() * kinds.size() * kinds.size(); code++) {
    const std::vector<InputOf> run = {kinds[code % kinds.size()], kinds[code / kinds.size() % kinds.size()],
                                      kinds[code / kinds.size() / kinds.size()]};
    const std::vector<InputSummary> inputs = inputs_of(run);
    const std::vector<Job> jobs = find_jobs(inputs);
    std::vector<std::size_t> all;
    std::set<Number> stated;
    for (const InputOf& input : run) {
      if (input.rank && input.world_size) stated.insert(input.world_size);
    }
    for (const Job& job : jobs) all.insert(all.end(), job.inputs.begin(), job.inputs.end());
    std::sort(all.begin(), all.end());
    ASSERT_EQ(all, (std::vector<std::size_t>{0, 1, 2})) << code;
    const std::vector<std::size_t> job_of = job_of_inputs(jobs, inputs.size());
    const std::vector<Number> sizes = world_sizes_of(inputs);
    for (std::size_t a = 0; a < 3; a++) {
      for (std::size_t b = 0; b < 3; b++) {
        if (a == b) continue;
        const bool ranked = run[a].rank && run[b].rank;
        const bool both_state = run[a].world_size && run[b].world_size;
        if (job_of[a] == job_of[b]) {
          EXPECT_TRUE(ranked && sizes[a] == sizes[b]) << code;
          EXPECT_TRUE(!both_state || run[a].world_size == run[b].world_size) << code;
        } else if (ranked && (stated.size() < 2 || (both_state && run[a].world_size == run[b].world_size))) {
          EXPECT_NE(run[a].start_ns, run[b].start_ns) << code;
          EXPECT_NE(run[a].rank, run[b].rank) << code;
        }
      }
    }
  }
}

}  // namespace
}  // namespace chopper
