// SPDX-License-Identifier: Apache-2.0
#include "engine/repeated_counters.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "engine/dispatch_reader.h"

namespace chopper {
namespace {

// A counter of a pass, and its sums over the kernels that the first pass with it has as well.
struct Repeated {
  std::size_t pass = 0;       // index into passes
  std::uint32_t counter = 0;  // of that pass
  double here = 0, there = 0;
};

// The first pass that holds a counter, and all others.
struct Holders {
  Repeated first;
  std::vector<Repeated> others;
};

std::map<std::string_view, Holders> holders_of(const std::vector<InputSummary>& inputs,
                                               const std::vector<const PassAlignment*>& passes) {
  std::map<std::string_view, Holders> all;
  for (std::size_t p = 0; p < passes.size(); p++) {
    const std::vector<std::string_view> names = counter_names(*inputs[passes[p]->pass].pass_tables);
    for (std::uint32_t c = 0; c < names.size(); c++) {
      const auto [entry, is_first] = all.try_emplace(names[c], Holders{{p, c}, {}});
      if (!is_first && entry->second.first.pass != p) entry->second.others.push_back({p, c});
    }
  }
  std::erase_if(all, [](const auto& entry) { return entry.second.others.empty(); });
  return all;
}

bool counts_cycles(const CounterCatalog& counters, std::string_view name, std::string_view architecture) {
  const CounterSpec* spec = counters.find(name, architecture);
  // What is not known may be anything.
  return spec == nullptr || spec->unit_text.find("cycles") != std::string::npos || spec->unit_text == "ns" ||
         spec->unit_text == "percent";
}

// The dispatch of a kernel if nothing else explains it; kUnmatched otherwise.
std::uint32_t sure_dispatch(const PassAlignment& alignment, std::size_t kernel) {
  const Match& match = alignment.alignment.matches[kernel];
  if (match.pass == kUnmatched || match.substituted || match.basis == MatchBasis::ambiguous) return kUnmatched;
  return alignment.dispatch_of(kernel);
}

}  // namespace

void note_repeated_counters(std::vector<InputSummary>& inputs, const std::vector<const PassAlignment*>& passes,
                            const CounterCatalog& counters, std::string_view architecture,
                            const std::function<bool(std::size_t)>& at_one_clock) {
  std::map<std::string_view, Holders> repeated = holders_of(inputs, passes);
  if (repeated.empty()) return;
  std::map<std::size_t, DispatchReader> readers;  // of the passes that repeat something
  for (const auto& [name, holders] : repeated) {
    readers.try_emplace(holders.first.pass, *inputs[passes[holders.first.pass]->pass].pass_tables);
    for (const Repeated& other : holders.others)
      readers.try_emplace(other.pass, *inputs[passes[other.pass]->pass].pass_tables);
  }
  std::vector<DispatchValues> values(passes.size());
  std::vector<std::uint8_t> has_values(passes.size(), 0);
  for (std::size_t kernel = 0; kernel < passes.front()->alignment.matches.size(); kernel++) {
    for (auto& [p, reader] : readers) {
      const std::uint32_t dispatch = sure_dispatch(*passes[p], kernel);
      has_values[p] = dispatch != kUnmatched ? 1 : 0;
      if (dispatch != kUnmatched) values[p] = reader.values_of(dispatch);
    }
    for (auto& [name, holders] : repeated) {
      if (has_values[holders.first.pass] == 0) continue;
      const double there = values[holders.first.pass].sums[holders.first.counter];
      for (Repeated& other : holders.others) {
        const double here = has_values[other.pass] != 0 ? values[other.pass].sums[other.counter] : kNoValue;
        if (std::isnan(here) || std::isnan(there)) continue;
        other.here += here;
        other.there += there;
      }
    }
  }
  for (const auto& [name, holders] : repeated) {
    for (const Repeated& other : holders.others) {
      if (counts_cycles(counters, name, architecture) && !at_one_clock(other.pass)) continue;
      const bool differ = std::abs(other.here - other.there) > kPassDisagreement * std::abs(other.there);
      if (!differ) continue;
      InputSummary& pass = inputs[passes[other.pass]->pass];
      pass.health.add(HealthKind::passes_disagree, pass.path,
                      fmt::format("{} of the same kernels: {:.6g} here, {:.6g} in {}", name, other.here, other.there,
                                  inputs[passes[holders.first.pass]->pass].path));
    }
  }
}

}  // namespace chopper
