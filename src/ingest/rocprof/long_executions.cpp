// SPDX-License-Identifier: Apache-2.0
#include "ingest/rocprof/long_executions.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

namespace chopper::rocprof {
namespace {

using Key = std::tuple<std::uint32_t, std::int64_t, std::int64_t, StringId, std::int64_t, std::int64_t>;

Key key_of(const CounterPass& pass, std::size_t dispatch) {
  const PassDispatchTable& table = pass.dispatches;
  const PassKernel& kernel = pass.kernels[table.kernel[dispatch]];
  return {table.device[dispatch], table.process[dispatch], table.dispatch_id[dispatch], kernel.name,
          kernel.grid_size,       kernel.workgroup_size};
}

// The first of the dispatches that each one is joined with, itself where it stands alone.
std::vector<std::uint32_t> partners_of(const CounterPass& pass) {
  const std::size_t n = num_rows(pass.dispatches);
  std::vector<std::size_t> begin(n + 1, 0);
  for (const std::uint32_t dispatch : pass.values.dispatch) begin[dispatch + 1]++;
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  // Of each key the dispatches that stay, and of each of its counters how many of them hold it already: the next
  // dispatch with that counter is another execution.
  struct Executions {
    std::vector<std::uint32_t> firsts;
    std::map<std::uint32_t, std::size_t> num_holding;
  };
  std::map<Key, Executions> executions;
  std::vector<std::uint32_t> partner(n);
  for (std::uint32_t i = 0; i < n; i++) {
    partner[i] = i;
    if (pass.dispatches.dispatch_id[i] == kNoNumber) continue;
    Executions& known = executions[key_of(pass, i)];
    std::size_t place = 0;
    for (std::size_t v = begin[i]; v < begin[i + 1]; v++)
      place = std::max(place, known.num_holding[pass.values.counter[v]]);
    if (place == known.firsts.size()) known.firsts.push_back(i);
    partner[i] = known.firsts[place];
    for (std::size_t v = begin[i]; v < begin[i + 1]; v++) known.num_holding[pass.values.counter[v]] = place + 1;
  }
  return partner;
}

// Sets the mean durations of the joined dispatches; sums of them may pass 64 bits only where single ones are absurd.
void set_mean_durations(const std::vector<std::uint32_t>& partner, PassDispatchTable& table) {
  std::vector<double> sum(partner.size(), 0);
  std::vector<std::int64_t> count(partner.size(), 0), num_joined(partner.size(), 0);
  for (std::size_t i = 0; i < partner.size(); i++) {
    num_joined[partner[i]]++;
    if (table.duration_ns[i] == kNoNumber) continue;
    sum[partner[i]] += static_cast<double>(table.duration_ns[i]);
    count[partner[i]]++;
  }
  for (std::size_t i = 0; i < partner.size(); i++) {
    if (num_joined[i] < 2 || count[i] == 0) continue;
    table.duration_ns[i] = static_cast<std::int64_t>(sum[i] / static_cast<double>(count[i]) + 0.5);
    if (table.start_ns[i] != kNoNumber) table.end_ns[i] = table.start_ns[i] + table.duration_ns[i];
  }
}

}  // namespace

void join_executions(CounterPass& pass) {
  const std::vector<std::uint32_t> partner = partners_of(pass);
  std::vector<std::uint8_t> keep(partner.size(), 0);
  std::vector<std::uint32_t> place(partner.size(), 0);  // of those that stay
  std::uint32_t num_kept = 0;
  for (std::size_t i = 0; i < partner.size(); i++) {
    if (partner[i] != i) continue;
    keep[i] = 1;
    place[i] = num_kept++;
  }
  if (num_kept == partner.size()) return;
  set_mean_durations(partner, pass.dispatches);
  keep_rows(pass.dispatches, keep);
  CounterValueTable& values = pass.values;
  for (std::uint32_t& dispatch : values.dispatch) dispatch = place[partner[dispatch]];
  std::vector<std::size_t> order(num_rows(values));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return values.dispatch[a] < values.dispatch[b]; });
  for_each_column(values, [&](auto& column) {
    std::remove_reference_t<decltype(column)> sorted;
    sorted.reserve(column.size());
    for (const std::size_t i : order) sorted.push_back(column[i]);
    column = std::move(sorted);
  });
}

}  // namespace chopper::rocprof
