// SPDX-License-Identifier: Apache-2.0
#include "catalog/counter_packing.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "base/check.h"

namespace chopper {
namespace {

// A pass that is being filled. A counter is there as often as groups want it, so that a group can be taken out again.
class OpenPass {
 public:
  explicit OpenPass(const PackingProblem& problem)
      : problem_(&problem), wanted_(problem.block.size(), 0), used_(problem.limits.size(), 0), more_(used_) {
    for (const std::size_t counter : problem.always) add(counter);
  }

  // Counters of the group that are not there yet; nothing when they do not fit.
  std::optional<std::size_t> cost(std::span<const std::size_t> group) {
    std::fill(more_.begin(), more_.end(), 0);
    std::size_t sum = 0;
    for (const std::size_t counter : group) {
      if (wanted_[counter] > 0) continue;
      const std::size_t block = problem_->block[counter];
      if (used_[block] + ++more_[block] > problem_->limits[block]) return std::nullopt;
      sum++;
    }
    return sum;
  }

  void put(std::span<const std::size_t> group) {
    for (const std::size_t counter : group) add(counter);
  }
  void take_out(std::span<const std::size_t> group) {
    for (const std::size_t counter : group)
      if (--wanted_[counter] == 0) used_[problem_->block[counter]]--;
  }

 private:
  void add(std::size_t counter) {
    if (wanted_[counter]++ == 0) used_[problem_->block[counter]]++;
  }

  const PackingProblem* problem_;
  std::vector<std::size_t> wanted_, used_;
  std::vector<std::size_t> more_;  // of a block, while cost() counts
};

std::vector<std::vector<std::size_t>> distinct_groups(const PackingProblem& problem) {
  std::vector<std::vector<std::size_t>> groups = problem.groups;
  for (auto& group : groups) {
    std::sort(group.begin(), group.end());
    group.erase(std::unique(group.begin(), group.end()), group.end());
  }
  return groups;
}

// Groups by size, largest first, without those that another one contains: these cost nothing beside it.
std::vector<std::size_t> order_of(const std::vector<std::vector<std::size_t>>& groups) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < groups.size(); i++) {
    const auto contains = [&](std::size_t other) {
      const bool all = std::includes(groups[other].begin(), groups[other].end(), groups[i].begin(), groups[i].end());
      return other != i && all && (groups[other].size() > groups[i].size() || other < i);
    };
    bool needed = true;
    for (std::size_t other = 0; other < groups.size() && needed; other++) needed = !contains(other);
    if (needed) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return groups[a].size() > groups[b].size(); });
  return order;
}

// Each block: all its counters must go somewhere.
std::size_t bound_of_blocks(const PackingProblem& problem, const std::vector<std::vector<std::size_t>>& groups) {
  std::vector<char> is_there(problem.block.size(), 0);
  std::vector<std::size_t> room = problem.limits, number(problem.limits.size(), 0);
  for (const std::size_t counter : problem.always) {
    if (is_there[counter] == 0) room[problem.block[counter]]--;
    is_there[counter] = 1;
  }
  for (const auto& group : groups) {
    for (const std::size_t counter : group) {
      if (is_there[counter] == 0) number[problem.block[counter]]++;
      is_there[counter] = 1;
    }
  }
  std::size_t bound = 1;
  for (std::size_t i = 0; i < room.size(); i++)
    if (room[i] > 0) bound = std::max(bound, (number[i] + room[i] - 1) / room[i]);
  return bound;
}

// Groups of which no two fit together need a pass each.
std::size_t bound_of_conflicts(const PackingProblem& problem, const std::vector<std::vector<std::size_t>>& groups,
                               const std::vector<std::size_t>& order) {
  std::vector<OpenPass> apart;
  for (const std::size_t i : order) {
    const bool alone =
        std::none_of(apart.begin(), apart.end(), [&](OpenPass& pass) { return pass.cost(groups[i]).has_value(); });
    if (!alone) continue;
    apart.emplace_back(problem).put(groups[i]);
  }
  return std::max<std::size_t>(apart.size(), 1);
}

// Each group where it adds least.
std::vector<std::vector<std::size_t>> pack_greedily(const PackingProblem& problem,
                                                    const std::vector<std::vector<std::size_t>>& groups,
                                                    const std::vector<std::size_t>& order) {
  std::vector<OpenPass> open;
  std::vector<std::vector<std::size_t>> passes;
  for (const std::size_t i : order) {
    std::size_t best = open.size(), least = SIZE_MAX;
    for (std::size_t p = 0; p < open.size(); p++) {
      const std::optional<std::size_t> cost = open[p].cost(groups[i]);
      if (cost && *cost < least) {
        least = *cost;
        best = p;
      }
    }
    if (best == open.size()) {
      open.emplace_back(problem);
      passes.emplace_back();
    }
    open[best].put(groups[i]);
    passes[best].push_back(i);
  }
  return passes;
}

// Tries every way to put the groups into `number` passes; empty passes are alike, so only the first of them is tried.
class Search {
 public:
  Search(const PackingProblem& problem, const std::vector<std::vector<std::size_t>>& groups,
         const std::vector<std::size_t>& order, std::size_t number, std::size_t& steps_left)
      : groups_(groups), order_(order), open_(number, OpenPass(problem)), passes_(number), steps_left_(steps_left) {}

  bool found() { return place(0, 0); }
  std::vector<std::vector<std::size_t>> passes() const { return passes_; }

 private:
  bool place(std::size_t at, std::size_t num_used) {
    if (at == order_.size()) return true;
    const auto& group = groups_[order_[at]];
    for (std::size_t p = 0; p < std::min(num_used + 1, open_.size()); p++) {
      if (steps_left_ == 0) return false;
      steps_left_--;
      if (!open_[p].cost(group)) continue;
      open_[p].put(group);
      passes_[p].push_back(order_[at]);
      if (place(at + 1, std::max(num_used, p + 1))) return true;
      passes_[p].pop_back();
      open_[p].take_out(group);
    }
    return false;
  }

  const std::vector<std::vector<std::size_t>>& groups_;
  const std::vector<std::size_t>& order_;
  std::vector<OpenPass> open_;
  std::vector<std::vector<std::size_t>> passes_;
  std::size_t& steps_left_;
};

}  // namespace

bool fits_one_pass(const PackingProblem& problem, std::span<const std::size_t> counters) {
  std::vector<std::size_t> distinct(counters.begin(), counters.end());
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  return OpenPass(problem).cost(distinct).has_value();
}

Packing pack_counters(const PackingProblem& problem) {
  const std::vector<std::vector<std::size_t>> groups = distinct_groups(problem);
  for (const auto& group : groups) CHOPPER_CHECK(fits_one_pass(problem, group));
  const std::vector<std::size_t> order = order_of(groups);
  Packing result;
  result.lower_bound = std::max(bound_of_blocks(problem, groups), bound_of_conflicts(problem, groups, order));
  result.passes = pack_greedily(problem, groups, order);
  if (result.passes.empty()) result.passes.emplace_back();
  // About a second at most; the sets people ask for take some hundred steps.
  std::size_t steps_left = 2000000;
  while (result.lower_bound < result.passes.size()) {
    Search search(problem, groups, order, result.lower_bound, steps_left);
    if (search.found()) {
      result.passes = search.passes();
    } else if (steps_left == 0) {
      break;
    } else {
      result.lower_bound++;
    }
  }
  return result;
}

}  // namespace chopper
