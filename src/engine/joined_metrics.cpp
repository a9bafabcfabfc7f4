// SPDX-License-Identifier: Apache-2.0
#include "engine/joined_metrics.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string_view>

#include "engine/dispatch_reader.h"

namespace chopper {
namespace {

constexpr std::size_t kNowhere = SIZE_MAX;

// The counters of several passes under one numbering, and where each pass has them.
struct JoinedCounters {
  std::vector<std::string_view> names;
  std::vector<std::vector<std::size_t>> place;  // by pass and joined counter: index in the pass, or kNowhere

  explicit JoinedCounters(const std::vector<DispatchReader>& readers) {
    std::map<std::string_view, std::size_t> known;
    for (const DispatchReader& reader : readers) {
      for (const std::string_view name : counter_names(reader.pass())) {
        if (known.try_emplace(name, names.size()).second) names.push_back(name);
      }
    }
    for (const DispatchReader& reader : readers) {
      std::vector<std::size_t>& of_pass = place.emplace_back(names.size(), kNowhere);
      const std::vector<std::string_view> own = counter_names(reader.pass());
      for (std::size_t c = 0; c < own.size(); c++) of_pass[known.at(own[c])] = c;
    }
  }
};

// Where a metric takes its counters from.
struct Plan {
  struct Counter {
    std::size_t joined, pass, place;  // the last two: index into the passes, and of the counter in that pass
  };
  std::size_t metric = 0;
  std::vector<Counter> counters;
  std::vector<std::size_t> passes;  // that it takes counters from; the first one's times count
};

Plan plan_of(std::size_t metric, const PassMetrics& metrics, const JoinedCounters& joined) {
  const PassMetrics::Needs needs = metrics.needs(metric);
  const std::size_t num_passes = joined.place.size();
  const auto count = [&](std::size_t pass, const std::vector<std::uint32_t>& counters) {
    return std::count_if(counters.begin(), counters.end(),
                         [&](std::uint32_t c) { return joined.place[pass][c] != kNowhere; });
  };
  std::vector<std::size_t> order(num_passes);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::make_pair(count(a, needs.counters), count(a, needs.of_numerator)) >
           std::make_pair(count(b, needs.counters), count(b, needs.of_numerator));
  });
  Plan plan;
  plan.metric = metric;
  for (const std::size_t pass : order) {
    bool takes = false;
    for (const std::uint32_t c : needs.counters) {
      const bool taken = std::any_of(plan.counters.begin(), plan.counters.end(),
                                     [&](const Plan::Counter& counter) { return counter.joined == c; });
      if (taken || joined.place[pass][c] == kNowhere) continue;
      plan.counters.push_back({c, pass, joined.place[pass][c]});
      takes = true;
    }
    if (takes) plan.passes.push_back(pass);
  }
  return plan;
}

class Joiner {
 public:
  Joiner(const std::vector<InputSummary>& inputs, const std::vector<const PassAlignment*>& passes, GpuCounters& out)
      : passes_(passes),
        table_(inputs[out.input].gpus[out.gpu].compute_kernels->table),
        out_(out),
        readers_(readers_of(inputs, passes)),
        joined_(readers_),
        metrics_(*out.set, joined_.names),
        sums_(joined_.names.size(), kNoValue),
        maxima_(joined_.names.size(), kNoValue) {
    for (auto& [metric, text] : out.missing) {
      if (const std::optional<Unavailable> missing = metrics_.missing(metric)) {
        text = missing->text;
        continue;
      }
      Plan plan = plan_of(metric, metrics_, joined_);
      if (plan.passes.size() > 1) plans_.push_back(std::move(plan));
    }
  }

  void read() {
    if (plans_.empty()) return;
    values_.resize(readers_.size());
    for (std::size_t kernel = 0; kernel < num_rows(table_); kernel++) {
      is_read_.assign(readers_.size(), 0);
      for (const Plan& plan : plans_) {
        if (fill(plan, kernel)) keep(plan, kernel);
        for (const Plan::Counter& counter : plan.counters) sums_[counter.joined] = maxima_[counter.joined] = kNoValue;
      }
    }
    for (const Plan& plan : plans_) {
      if (has_value_.contains(plan.metric)) {
        out_.missing.erase(plan.metric);
      } else {
        out_.missing[plan.metric] = "needs kernels that are matched in all passes that hold its counters";
      }
    }
  }

 private:
  static std::vector<DispatchReader> readers_of(const std::vector<InputSummary>& inputs,
                                                const std::vector<const PassAlignment*>& passes) {
    std::vector<DispatchReader> readers;
    for (const PassAlignment* alignment : passes) readers.emplace_back(*inputs[alignment->pass].pass_tables);
    return readers;
  }

  // Sets what the plan needs of a kernel; returns whether every pass has a dispatch of it.
  bool fill(const Plan& plan, std::size_t kernel) {
    for (const std::size_t p : plan.passes) {
      const std::uint32_t dispatch = passes_[p]->dispatch_of(kernel);
      // Another kernel at the same place has other counts.
      if (dispatch == kUnmatched || passes_[p]->alignment.matches[kernel].substituted) return false;
      if (is_read_[p] == 0) values_[p] = readers_[p].values_of(dispatch);
      is_read_[p] = 1;
    }
    for (const Plan::Counter& counter : plan.counters) {
      sums_[counter.joined] = values_[counter.pass].sums[counter.place];
      maxima_[counter.joined] = values_[counter.pass].maxima[counter.place];
    }
    current_ = values_[plan.passes.front()];
    for (const std::size_t p : plan.passes) {
      if (std::isnan(current_.duration_ns)) current_.duration_ns = values_[p].duration_ns;
    }
    current_.sums = sums_;
    current_.maxima = maxima_;
    return true;
  }

  void keep(const Plan& plan, std::size_t kernel) {
    const MetricValue value = metrics_.evaluate(plan.metric, current_);
    if (!value.ok()) return;
    has_value_.insert(plan.metric);
    keep_base(plan, kernel, value);
    if (table_.selected[kernel] == 0 || table_.complete[kernel] == 0) return;
    std::vector<MetricSum>& sums = out_.metrics[{table_.phase[kernel], table_.operation[kernel]}];
    sums.resize(out_.set->metrics().size());
    MetricSum& sum = sums[plan.metric];
    if (sum.num_kernels == 0) {
      sum.pass = passes_[plan.passes.front()]->pass;
      for (const std::size_t p : plan.passes) sum.passes.push_back(passes_[p]->pass);
      std::sort(sum.passes.begin(), sum.passes.end());
      sum.computed_by = metrics_.describe(plan.metric, value.choices);
    }
    sum.add(value, table_.duration_ns[kernel]);
  }

  // What the decomposition is made of and no pass has.
  void keep_base(const Plan& plan, std::size_t kernel, const MetricValue& value) {
    const std::string& id = out_.set->metrics()[plan.metric].id;
    const auto keep_first = [kernel](std::vector<double>& column, double x) {
      if (std::isnan(column[kernel])) column[kernel] = x;
    };
    if (id == "executed_flops" && std::isnan(out_.executed_flops[kernel])) {
      out_.executed_flops[kernel] = value.value;
      const PassAlignment& first = *passes_[plan.passes.front()];
      out_.flops_pass[kernel] = static_cast<std::int64_t>(first.pass);
      const PassDispatchTable& dispatches = readers_[plan.passes.front()].pass().dispatches;
      out_.flops_dispatch[kernel] = dispatches.dispatch_id[first.dispatch_of(kernel)];
    }
    if (id == "executed_bytes") keep_first(out_.executed_bytes, value.value);
    if (id == "executed_read_bytes") keep_first(out_.read_bytes, value.value);
    if (id == "executed_write_bytes") keep_first(out_.write_bytes, value.value);
    if (id == "matrix_utilisation" && std::isnan(out_.matrix_busy_cycles[kernel] / out_.matrix_cycles[kernel])) {
      out_.matrix_busy_cycles[kernel] = value.numerator;
      out_.matrix_cycles[kernel] = value.denominator;
    }
  }

  const std::vector<const PassAlignment*>& passes_;
  const ComputeKernelTable& table_;
  GpuCounters& out_;
  std::vector<DispatchReader> readers_;
  JoinedCounters joined_;
  PassMetrics metrics_;
  std::vector<Plan> plans_;
  std::vector<double> sums_, maxima_;
  std::vector<DispatchValues> values_;  // of the kernel at hand, by pass
  std::vector<std::uint8_t> is_read_;
  DispatchValues current_;
  std::set<std::size_t> has_value_;
};

}  // namespace

void join_metrics(const std::vector<InputSummary>& inputs, const std::vector<const PassAlignment*>& passes,
                  GpuCounters& out) {
  if (passes.size() < 2) return;
  Joiner(inputs, passes, out).read();
}

}  // namespace chopper
