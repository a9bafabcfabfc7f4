// SPDX-License-Identifier: Apache-2.0
#include "catalog/pass_plan.h"

#include <algorithm>
#include <map>

#include "catalog/counter_packing.h"

namespace chopper {
namespace {

bool contains(const std::vector<std::string>& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

class Planner {
 public:
  Planner(const MetricCatalog& catalog, const MetricSet& set) : catalog_(catalog), set_(set) {
    // A block without a limit, for counters of which none is known.
    problem_.limits.push_back(SIZE_MAX / 2);
    for (const std::string& name : catalog.counters.check_counters) {
      if (!plan_.check_counter.empty() || catalog.counters.find(name, set.architecture()) == nullptr) continue;
      plan_.check_counter = name;
      problem_.always.push_back(index_of(name));
    }
    plan_.architecture = set.architecture();
    plan_.vendor = vendor_of_architecture(set.architecture());
  }

  Result<Done> want(const std::string& name) {
    const std::size_t metric = set_.index_of(name);
    if (metric == MetricSet::kNone) return want_counter(name);
    const MetricSet::Metric& spec = set_.metrics()[metric];
    if (spec.not_defined)
      return Error{ErrorCode::usage, spec.not_defined->text, "", "what there is: chopper metrics --gpu KEY"};
    wanted_.push_back({name, counters_of(spec)});
    if (fits_one_pass(problem_, wanted_.back().counters)) {
      problem_.groups.push_back(wanted_.back().counters);
    } else {
      plan_.spread.push_back(name);
      spread(spec);
    }
    return Done{};
  }

  PassPlan finish(std::int64_t num_xccs) {
    const Packing packing = pack_counters(problem_);
    plan_.lower_bound = packing.lower_bound;
    for (const std::vector<std::size_t>& groups : packing.passes) {
      std::vector<std::size_t> counters = problem_.always;
      for (const std::size_t group : groups)
        counters.insert(counters.end(), problem_.groups[group].begin(), problem_.groups[group].end());
      plan_.passes.push_back(make_pass(std::move(counters), num_xccs));
    }
    return std::move(plan_);
  }

 private:
  struct Wanted {
    std::string name;
    std::vector<std::size_t> counters;
  };

  std::size_t block_of(std::string_view counter) {
    std::string block(counter.substr(0, counter.find('_')));
    if (const CounterSpec* known = catalog_.counters.find(counter, set_.architecture())) block = known->block;
    if (block == "SQC") block = "SQ";  // the caches of the sequencers count in their registers
    const auto [at, added] = blocks_.emplace(block, 0);
    if (!added) return at->second;
    const BlockSpec* spec = catalog_.counters.find_block(block, set_.architecture());
    if (spec == nullptr) return at->second;
    at->second = problem_.limits.size();
    problem_.limits.push_back(static_cast<std::size_t>(spec->limit));
    return at->second;
  }

  std::size_t index_of(const std::string& counter) {
    const auto [at, added] = indices_.emplace(counter, names_.size());
    if (added) {
      names_.push_back(counter);
      problem_.block.push_back(block_of(counter));
    }
    return at->second;
  }

  std::vector<std::size_t> counters_of(const MetricSet::Metric& metric) {
    std::vector<std::size_t> counters;
    for (const std::uint32_t counter : metric.counters) counters.push_back(index_of(set_.counters()[counter]));
    return counters;
  }

  // A metric too large for a pass: the metrics it is made of, each whole where it fits, then its own counters.
  void spread(const MetricSet::Metric& metric) {
    std::vector<std::size_t> rest = counters_of(metric);
    for (const std::string& name : metric.uses) {
      const MetricSet::Metric& part = set_.metrics()[set_.index_of(name)];
      const std::vector<std::size_t> counters = counters_of(part);
      if (fits_one_pass(problem_, counters)) {
        problem_.groups.push_back(counters);
      } else {
        spread(part);
      }
      std::erase_if(rest, [&](std::size_t counter) {
        return std::find(counters.begin(), counters.end(), counter) != counters.end();
      });
    }
    for (const std::size_t counter : rest) problem_.groups.push_back({counter});
  }

  Result<Done> want_counter(const std::string& name) {
    if (catalog_.counters.find(name, set_.architecture()) == nullptr) {
      const std::string block(name.substr(0, name.find('_')));
      const bool named_after_block =
          name.find('_') != std::string::npos &&
          catalog_.counters.find_block(block == "SQC" ? "SQ" : block, set_.architecture()) != nullptr;
      if (!named_after_block && !(plan_.vendor == "nvidia" && name.find("__") != std::string::npos))
        return Error{ErrorCode::usage, "neither a metric nor a counter of " + set_.architecture() + ": " + name, "",
                     "the metrics there are: chopper metrics"};
      if (!contains(plan_.not_known, name)) plan_.not_known.push_back(name);
    }
    wanted_.push_back({name, {index_of(name)}});
    problem_.groups.push_back(wanted_.back().counters);
    return Done{};
  }

  std::int64_t instances_of(std::size_t counter, std::int64_t num_xccs) const {
    std::string block(names_[counter].substr(0, names_[counter].find('_')));
    if (const CounterSpec* known = catalog_.counters.find(names_[counter], set_.architecture())) block = known->block;
    const BlockSpec* spec = catalog_.counters.find_block(block == "SQC" ? "SQ" : block, set_.architecture());
    return spec == nullptr ? 0 : spec->instances_per_xcc * num_xccs;
  }

  PlannedPass make_pass(std::vector<std::size_t> counters, std::int64_t num_xccs) const {
    std::sort(counters.begin(), counters.end(), [&](std::size_t a, std::size_t b) {
      const bool a_checks = names_[a] == plan_.check_counter, b_checks = names_[b] == plan_.check_counter;
      return a_checks != b_checks ? b_checks : names_[a] < names_[b];
    });
    counters.erase(std::unique(counters.begin(), counters.end()), counters.end());
    PlannedPass pass;
    for (const std::size_t counter : counters) {
      pass.counters.push_back(names_[counter]);
      pass.num_instances += instances_of(counter, num_xccs);
    }
    for (const Wanted& wanted : wanted_) {
      const bool enough = std::all_of(wanted.counters.begin(), wanted.counters.end(),
                                      [&](std::size_t counter) { return contains(pass.counters, names_[counter]); });
      if (enough && !contains(pass.metrics, wanted.name)) pass.metrics.push_back(wanted.name);
    }
    return pass;
  }

  const MetricCatalog& catalog_;
  const MetricSet& set_;
  PassPlan plan_;
  PackingProblem problem_;
  std::vector<Wanted> wanted_;
  std::vector<std::string> names_;              // of counters
  std::map<std::string, std::size_t> indices_;  // of names
  std::map<std::string, std::size_t> blocks_;   // 0: without a limit
};

}  // namespace

std::vector<std::string> decomposition_metrics(const MetricSet& set) {
  std::vector<std::string> ids;
  for (const std::string_view id : {"gpu_cycles", "pass_clock", "executed_flops", "matrix_utilisation",
                                    "executed_read_bytes", "executed_write_bytes"}) {
    const std::size_t metric = set.index_of(id);
    if (metric != MetricSet::kNone && !set.metrics()[metric].not_defined) ids.emplace_back(id);
  }
  return ids;
}

Result<PassPlan> plan_passes(const MetricCatalog& catalog, const MetricSet& set, std::span<const std::string> wanted,
                             std::int64_t num_xccs) {
  Planner planner(catalog, set);
  for (const std::string& name : wanted) {
    CHOPPER_TRY([[maybe_unused]] const Done done, planner.want(name));
  }
  return planner.finish(num_xccs);
}

}  // namespace chopper
