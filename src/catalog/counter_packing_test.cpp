// SPDX-License-Identifier: Apache-2.0
#include "catalog/counter_packing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

namespace chopper {
namespace {

// Counters of block 0 are 0, 1, 2 ...; limit 4.
PackingProblem one_block(std::size_t limit, std::size_t num_counters, std::vector<std::vector<std::size_t>> groups) {
  return {{limit}, std::vector<std::size_t>(num_counters, 0), std::move(groups), {}};
}

TEST(counter_packing, groups_stay_together_and_share_counters) {
  // {0,1,2}, {2,3}, {4,5}: five or more counters, four a pass: two passes, the first two together.
  const Packing packing = pack_counters(one_block(4, 6, {{0, 1, 2}, {2, 3}, {4, 5}}));
  EXPECT_EQ(packing.passes.size(), 2u);
  EXPECT_EQ(packing.lower_bound, 2u);
}

TEST(counter_packing, finds_what_greedy_packing_misses) {
  // Sizes 4 4 3 3 3 3 in passes of 10: largest first fills 4+4, 3+3+3, 3; two passes are 4+3+3 each.
  std::vector<std::vector<std::size_t>> groups;
  std::size_t next = 0;
  for (const std::size_t size : {4u, 4u, 3u, 3u, 3u, 3u}) {
    groups.emplace_back();
    for (std::size_t i = 0; i < size; i++) groups.back().push_back(next++);
  }
  const Packing packing = pack_counters(one_block(10, next, groups));
  EXPECT_EQ(packing.passes.size(), 2u);
  EXPECT_EQ(packing.lower_bound, 2u);
}

TEST(counter_packing, proves_that_fewer_do_not_do) {
  // Three groups of 3 in passes of 5: nine counters would fit two passes, groups that stay together need three.
  const Packing packing = pack_counters(one_block(5, 9, {{0, 1, 2}, {3, 4, 5}, {6, 7, 8}}));
  EXPECT_EQ(packing.passes.size(), 3u);
  EXPECT_EQ(packing.lower_bound, 3u);
}

TEST(counter_packing, nothing_wanted_is_one_pass_of_what_every_pass_has) {
  PackingProblem problem = one_block(2, 1, {});
  problem.always = {0};
  EXPECT_EQ(pack_counters(problem).passes.size(), 1u);
}

TEST(counter_packing, counters_of_every_pass_take_their_room) {
  // Limit 2 and one that is always there: a new counter a pass.
  PackingProblem problem = one_block(2, 4, {{1}, {2}, {3}, {0}});
  problem.always = {0};
  EXPECT_EQ(pack_counters(problem).passes.size(), 3u);
}

// The fewest passes by trying every assignment.
std::size_t fewest(const PackingProblem& problem) {
  const std::size_t n = problem.groups.size();
  std::vector<std::size_t> pass_of(n, 0);
  for (std::size_t number = 1; number < n; number++) {
    std::fill(pass_of.begin(), pass_of.end(), 0);
    for (;;) {
      bool fits = true;
      for (std::size_t p = 0; p < number && fits; p++) {
        std::vector<std::size_t> counters;
        for (std::size_t i = 0; i < n; i++)
          if (pass_of[i] == p) counters.insert(counters.end(), problem.groups[i].begin(), problem.groups[i].end());
        fits = fits_one_pass(problem, counters);
      }
      if (fits) return number;
      std::size_t at = 0;
      while (at < n && ++pass_of[at] == number) pass_of[at++] = 0;
      if (at == n) break;
    }
  }
  return n;
}

PackingProblem random_problem(std::mt19937_64& random, std::size_t num_groups) {
  PackingProblem problem;
  const std::size_t num_blocks = 1 + random() % 3;
  for (std::size_t i = 0; i < num_blocks; i++) problem.limits.push_back(2 + random() % 4);
  const std::size_t num_counters = 3 + random() % 12;
  for (std::size_t i = 0; i < num_counters; i++) problem.block.push_back(random() % num_blocks);
  if (random() % 2 == 0) problem.always = {0};
  while (problem.groups.size() < num_groups) {
    std::vector<std::size_t> group;
    for (std::size_t i = 0, size = 1 + random() % 4; i < size; i++) group.push_back(random() % num_counters);
    if (fits_one_pass(problem, group)) problem.groups.push_back(group);
  }
  return problem;
}

void expect_valid(const PackingProblem& problem, const Packing& packing) {
  std::set<std::size_t> placed;
  for (const auto& groups : packing.passes) {
    std::vector<std::size_t> counters;
    for (const std::size_t group : groups)
      counters.insert(counters.end(), problem.groups[group].begin(), problem.groups[group].end());
    EXPECT_TRUE(fits_one_pass(problem, counters));
    placed.insert(counters.begin(), counters.end());
  }
  // Groups inside others are not named, their counters are there: with one of the groups as a whole.
  for (const auto& group : problem.groups) {
    const bool together = std::any_of(packing.passes.begin(), packing.passes.end(), [&](const auto& groups) {
      std::set<std::size_t> there(problem.always.begin(), problem.always.end());
      for (const std::size_t other : groups) there.insert(problem.groups[other].begin(), problem.groups[other].end());
      return std::all_of(group.begin(), group.end(), [&](std::size_t counter) { return there.contains(counter); });
    });
    EXPECT_TRUE(together);
  }
}

TEST(counter_packing, random_small_sets_are_packed_into_the_fewest_passes) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 400; round++) {
    const PackingProblem problem = random_problem(random, 1 + random() % 6);
    const Packing packing = pack_counters(problem);
    expect_valid(problem, packing);
    EXPECT_EQ(packing.passes.size(), fewest(problem)) << "round " << round;
    EXPECT_EQ(packing.lower_bound, packing.passes.size()) << "round " << round;
  }
}

TEST(counter_packing, random_large_sets_stay_within_limits_and_above_their_bound) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 20; round++) {
    const PackingProblem problem = random_problem(random, 60);
    const Packing packing = pack_counters(problem);
    expect_valid(problem, packing);
    EXPECT_LE(packing.lower_bound, packing.passes.size());
  }
}

}  // namespace
}  // namespace chopper
