// SPDX-License-Identifier: Apache-2.0
// Windows and operations of random labelled work against one flag for each nanosecond, and for each kernel a look at
// all others: quadratic, and written from docs/reference/attribution.md alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "analyze/timeline.h"
#include "support/hand_trace.h"
#include "support/trace_builder.h"

namespace chopper::test {
namespace {

constexpr std::int64_t kAxis = 300;  // times lie in [0, kAxis)

using Flags = std::vector<bool>;

// Random records, sorted or not, on one device.
struct Records {
  std::vector<HandRecord> records;
  std::size_t num_marks = 0;

  HandTrace trace(std::int64_t shift_ns = 0) const {
    HandTrace hand;
    for (std::size_t k = 0; k < num_marks; k++) hand.mark(static_cast<std::int64_t>(k) * 3);
    for (HandRecord record : records) {
      record.start += shift_ns;
      record.end += shift_ns;
      if (record.launched != kNoNumber) record.launched += shift_ns;
      hand.add(record);
    }
    return hand;
  }
};

Records random_records(Random& random) {
  Records made;
  made.num_marks = random.below(5);
  const std::size_t count = 1 + random.below(random.chance(3) ? 40 : 8);
  constexpr GpuClass kClasses[] = {GpuClass::gemm, GpuClass::vector, GpuClass::other,
                                   GpuClass::comm, GpuClass::memcpy, GpuClass::memset};
  const bool in_order = random.chance(2);  // iterations mostly one after the other
  for (std::size_t i = 0; i < count; i++) {
    HandRecord r;
    r.start = random.between(0, kAxis - 1);
    r.end = r.start + random.between(0, std::min<std::int64_t>(kAxis - r.start, random.chance(5) ? 150 : 20));
    r.gpu_class = kClasses[random.below(std::size(kClasses))];
    if (!random.chance(6)) r.launched = r.start - random.between(random.chance(6) ? -10 : 0, 40);
    const auto marks = static_cast<std::int32_t>(made.num_marks);
    r.iteration = static_cast<std::int32_t>(random.between(kTailIteration, marks - 1));
    if (in_order && marks > 0 && !random.chance(4)) r.iteration = static_cast<std::int32_t>(r.start * marks / kAxis);
    r.phase = static_cast<Phase>(random.below(4));
    r.operation = random.chance(6) ? "" : random.chance(2) ? "mlp_up" : "attn_fa";
    r.layer = static_cast<std::int32_t>(random.between(kUnknownLayer, 2));
    r.comm_copy = r.gpu_class != GpuClass::comm && random.chance(6);
    made.records.push_back(r);
  }
  return made;
}

// Covered nanoseconds by class.
struct Naive {
  Flags compute, strict, comm, copies, comm_copy;

  Naive()
      : compute(kAxis, false),
        strict(kAxis, false),
        comm(kAxis, false),
        copies(kAxis, false),
        comm_copy(kAxis, false) {}
  void add(const HandRecord& r) {
    for (std::int64_t t = r.start; t < r.end; t++) {
      const auto at = static_cast<std::size_t>(t);
      if (is_compute(r.gpu_class)) compute[at] = true;
      if (is_compute(r.gpu_class) && !r.comm_copy) strict[at] = true;
      if (r.gpu_class == GpuClass::comm) comm[at] = true;
      if (is_copy(r.gpu_class)) copies[at] = true;
      if (r.comm_copy) comm_copy[at] = true;
    }
  }
  bool busy(std::int64_t t) const {
    const auto at = static_cast<std::size_t>(t);
    return compute[at] || comm[at] || copies[at];
  }
};

template <class Predicate>
std::int64_t count_in(std::int64_t start, std::int64_t end, Predicate&& predicate) {
  std::int64_t count = 0;
  for (std::int64_t t = start; t < end; t++) count += predicate(static_cast<std::size_t>(t)) ? 1 : 0;
  return count;
}

struct NaiveGap {
  const HandRecord* kernel;
  std::int64_t from, called, to;
};

// Equations 1 and 2, each kernel by itself.
std::vector<NaiveGap> naive_gaps(const std::vector<HandRecord>& sorted) {
  std::vector<NaiveGap> gaps;
  for (std::size_t i = 0; i < sorted.size(); i++) {
    const HandRecord& r = sorted[i];
    if (!is_compute(r.gpu_class) || r.launched == kNoNumber) continue;
    bool first = true;
    std::int64_t ends = 0;
    for (std::size_t k = 0; k < i; k++) {
      if (!is_compute(sorted[k].gpu_class)) continue;
      ends = first ? sorted[k].end : std::max(ends, sorted[k].end);
      first = false;
    }
    if (first) continue;
    const std::int64_t gap = std::max<std::int64_t>(0, r.start - ends);
    const std::int64_t prep = std::min(std::max<std::int64_t>(r.launched - ends, 0), gap);
    if (gap > 0) gaps.push_back({&r, ends, ends + prep, r.start});
  }
  return gaps;
}

// S_k for each mark, then the end of the last window.
std::vector<std::int64_t> naive_starts(const std::vector<HandRecord>& records, std::size_t marks, bool& any) {
  std::vector<std::int64_t> starts;
  std::vector<bool> has(marks, false);
  std::int64_t end = INT64_MIN, highest = INT64_MIN;
  for (std::size_t k = 0; k < marks; k++) {
    std::int64_t compute = INT64_MAX, work = INT64_MAX;
    for (const HandRecord& r : records) {
      if (r.launched == kNoNumber || r.iteration != static_cast<std::int32_t>(k)) continue;
      work = std::min(work, r.start);
      end = std::max(end, r.end);
      if (is_compute(r.gpu_class)) compute = std::min(compute, r.start);
    }
    has[k] = work != INT64_MAX;
    if (has[k]) highest = std::max(highest, compute != INT64_MAX ? compute : work);
    starts.push_back(highest);
  }
  any = std::any_of(has.begin(), has.end(), [](bool h) { return h; });
  if (!any) {
    end = INT64_MAX;
    std::int64_t head_end = INT64_MIN;
    for (const HandRecord& r : records) {
      end = std::min(end, r.start);
      if (r.launched != kNoNumber && r.iteration == kHeadIteration) head_end = std::max(head_end, r.end);
    }
    end = std::max(end, head_end);
  }
  for (std::size_t k = marks; k-- > 0;) {
    if (!has[k]) starts[k] = k + 1 < marks ? starts[k + 1] : end;
  }
  starts.push_back(end);
  return starts;
}

void sort_records(std::vector<HandRecord>& records) {
  std::stable_sort(records.begin(), records.end(), [](const HandRecord& a, const HandRecord& b) {
    return std::make_pair(a.start, a.end) < std::make_pair(b.start, b.end);
  });
}

void expect_window(const TimelineRow& row, const Naive& all, const Naive& own, const std::vector<NaiveGap>& gaps,
                   std::int64_t start, std::int64_t end) {
  EXPECT_EQ(row.window_start_ns, start);
  EXPECT_EQ(row.window_ns, end - start);
  const auto in = [&](auto predicate) { return count_in(start, end, predicate); };
  EXPECT_EQ(row.window_busy_ns, in([&](std::size_t t) { return all.busy(static_cast<std::int64_t>(t)); }));
  EXPECT_EQ(row.window_compute_ns, in([&](std::size_t t) { return all.compute[t]; }));
  EXPECT_EQ(row.window_comm_ns, in([&](std::size_t t) { return all.comm[t]; }));
  EXPECT_EQ(row.window_memcpy_ns, in([&](std::size_t t) { return all.copies[t]; }));
  EXPECT_EQ(row.window_overlap_ns, in([&](std::size_t t) { return all.compute[t] && all.comm[t]; }));
  EXPECT_EQ(row.window_exposed_comm_ns, in([&](std::size_t t) { return all.comm[t] && !all.compute[t]; }));
  EXPECT_EQ(row.window_exposed_comm_strict_ns, in([&](std::size_t t) { return all.comm[t] && !all.strict[t]; }));
  EXPECT_EQ(row.window_exposed_memcpy_ns,
            in([&](std::size_t t) { return all.copies[t] && !all.compute[t] && !all.comm[t]; }));
  EXPECT_EQ(row.window_idle_ns, in([&](std::size_t t) { return !all.busy(static_cast<std::int64_t>(t)); }));
  EXPECT_EQ(row.window_comm_copy_ns, in([&](std::size_t t) { return all.comm_copy[t]; }));
  EXPECT_EQ(row.foreign_ns, in([&](std::size_t t) {
              return all.busy(static_cast<std::int64_t>(t)) && !own.busy(static_cast<std::int64_t>(t));
            }));
  std::int64_t prep = 0, call = 0;
  for (const NaiveGap& gap : gaps) {
    const auto idle = [&](std::size_t t) { return !all.busy(static_cast<std::int64_t>(t)); };
    prep += count_in(std::max(gap.from, start), std::min(gap.called, end), idle);
    call += count_in(std::max(gap.called, start), std::min(gap.to, end), idle);
  }
  EXPECT_EQ(row.window_prep_idle_ns, prep);
  EXPECT_EQ(row.window_call_idle_ns, call);
}

void expect_own(const TimelineRow& row, const std::vector<HandRecord>& records, const Naive& all,
                const std::vector<NaiveGap>& gaps, const std::vector<std::int64_t>& starts,
                const std::set<const HandRecord*>& kernels) {
  Naive own;
  std::int64_t first = INT64_MAX, last = INT64_MIN, no_launch = 0;
  for (const HandRecord& r : records) {
    own.add(r);
    first = std::min(first, r.start);
    last = std::max(last, r.end);
    if (is_compute(r.gpu_class) && r.launched == kNoNumber) no_launch++;
  }
  if (records.empty()) {
    EXPECT_EQ(row.start_ns.reason(), Reason::no_records);
    first = last = 0;
  } else {
    EXPECT_EQ(row.start_ns, first);
  }
  const auto in = [&](auto predicate) { return count_in(0, kAxis, predicate); };
  EXPECT_EQ(row.span_ns, last - first);
  EXPECT_EQ(row.busy_ns, in([&](std::size_t t) { return own.busy(static_cast<std::int64_t>(t)); }));
  EXPECT_EQ(row.compute_ns, in([&](std::size_t t) { return own.compute[t]; }));
  EXPECT_EQ(row.comm_ns, in([&](std::size_t t) { return own.comm[t]; }));
  EXPECT_EQ(row.memcpy_ns, in([&](std::size_t t) { return own.copies[t]; }));
  EXPECT_EQ(row.overlap_ns, in([&](std::size_t t) { return own.compute[t] && own.comm[t]; }));
  EXPECT_EQ(row.exposed_comm_ns, in([&](std::size_t t) { return own.comm[t] && !own.compute[t]; }));
  EXPECT_EQ(row.exposed_comm_strict_ns, in([&](std::size_t t) { return own.comm[t] && !own.strict[t]; }));
  EXPECT_EQ(row.exposed_memcpy_ns, in([&](std::size_t t) { return own.copies[t] && !own.compute[t] && !own.comm[t]; }));
  EXPECT_EQ(row.idle_ns, row.span_ns - row.busy_ns);
  EXPECT_EQ(row.comm_copy_ns, in([&](std::size_t t) { return own.comm_copy[t]; }));
  EXPECT_EQ(row.num_no_launch, no_launch);
  std::int64_t prep = 0, call = 0, prep_idle = 0, call_idle = 0, inter = 0;
  for (const NaiveGap& gap : gaps) {
    if (!kernels.contains(gap.kernel)) continue;
    const auto idle = [&](std::size_t t) { return !all.busy(static_cast<std::int64_t>(t)); };
    prep += gap.called - gap.from;
    call += gap.to - gap.called;
    prep_idle += count_in(gap.from, gap.called, idle);
    call_idle += count_in(gap.called, gap.to, idle);
    const bool spans =
        std::any_of(starts.begin(), starts.end(), [&](std::int64_t s) { return gap.from < s && s <= gap.to; });
    if (spans) inter += gap.to - gap.from;
  }
  EXPECT_EQ(row.prep_ns, prep);
  EXPECT_EQ(row.call_ns, call);
  EXPECT_EQ(row.prep_idle_ns, prep_idle);
  EXPECT_EQ(row.call_idle_ns, call_idle);
  EXPECT_EQ(row.inter_iteration_ns, inter);
}

GpuSummary summarise(const HandTrace& hand, const Grain& grain = {}, unsigned threads = 1) {
  HealthLog health;
  std::vector<KernelTimes> times;
  SummaryOptions options;
  options.grain = grain;
  options.threads = threads;
  return summarise_gpus(hand.trace, hand.labels, options, health, &times).front();
}

TEST(AnalysisProperty, WindowsAgreeWithOneFlagForEachNanosecond) {
  for (std::uint64_t seed = 1; seed <= 3000; seed++) {
    SCOPED_TRACE(seed_text(seed));
    Random random(seed);
    const Records made = random_records(random);
    std::vector<HandRecord> sorted = made.records;
    sort_records(sorted);
    const std::vector<NaiveGap> gaps = naive_gaps(sorted);
    bool any = false;
    std::vector<std::int64_t> starts = naive_starts(sorted, made.num_marks, any);
    const std::int64_t end = starts.back();
    starts.pop_back();
    Naive all;
    std::int64_t span_end = 0;
    for (const HandRecord& r : sorted) {
      all.add(r);
      span_end = std::max(span_end, r.end);
    }
    const auto launched_in = [&](std::int32_t iteration) {
      std::pair<std::vector<HandRecord>, std::set<const HandRecord*>> own;
      for (const HandRecord& r : sorted) {
        const std::int32_t k = r.launched == kNoNumber ? kNoIteration : r.iteration;
        if (k != iteration) continue;
        own.first.push_back(r);
        own.second.insert(&r);
      }
      return own;
    };
    const std::vector<std::int64_t> inter_starts = any ? starts : std::vector<std::int64_t>{};

    const GpuSummary summary = summarise(made.trace());
    std::set<const HandRecord*> every;
    for (const HandRecord& r : sorted) every.insert(&r);
    expect_own(summary.timeline, sorted, all, gaps, inter_starts, every);
    std::vector<std::int64_t> bounds = {sorted.front().start};
    bounds.insert(bounds.end(), starts.begin(), starts.end());
    bounds.push_back(end);
    bounds.push_back(span_end);
    std::int64_t sum = 0;
    for (std::size_t w = 0; w < summary.windows.size(); w++) {
      SCOPED_TRACE("row " + std::to_string(w));
      const TimelineRow& row = summary.windows[w].row;
      const std::size_t tail = made.num_marks + 1;
      const std::int32_t iteration = w == 0      ? kHeadIteration
                                     : w == tail ? kTailIteration
                                     : w > tail  ? kNoIteration
                                                 : static_cast<std::int32_t>(w) - 1;
      const auto [own, kernels] = launched_in(iteration);
      expect_own(row, own, all, gaps, inter_starts, kernels);
      if (w > tail) continue;
      Naive of_own;
      for (const HandRecord& r : own) of_own.add(r);
      expect_window(row, all, of_own, gaps, bounds[w], bounds[w + 1]);
      sum += row.window_ns.value();
    }
    EXPECT_EQ(sum, summary.timeline.span_ns);
    EXPECT_EQ(summary.windows.size(), made.num_marks + 2 + (launched_in(kNoIteration).first.empty() ? 0 : 1));
    if (testing::Test::HasFailure()) return;
  }
}

using Sums = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
                        std::int64_t, std::int64_t, std::int64_t>;

Sums sums_of(const OperationSummary& s) {
  return {s.num_kernels, s.duration_ns,     s.overlap_ns,
          s.compute_ns,  s.prep_ns,         s.call_ns,
          s.elapsed_ns,  s.num_layer_known, static_cast<std::int64_t>(s.instances.count())};
}

TEST(AnalysisProperty, OperationsAgreeWithALookAtEveryRecord) {
  for (std::uint64_t seed = 1; seed <= 1500; seed++) {
    SCOPED_TRACE(seed_text(seed));
    Random random(seed);
    Records made = random_records(random);
    // Instances: records of equal labels fall into a few of them.
    std::map<std::tuple<int, std::string, std::int64_t, std::int32_t, std::size_t>, std::int64_t> instances;
    for (HandRecord& r : made.records) {
      const bool linked = r.launched != kNoNumber;
      const auto key = std::make_tuple(static_cast<int>(linked ? r.phase : Phase::unlabelled), r.operation,
                                       std::int64_t{linked ? r.iteration : kNoIteration}, r.layer, random.below(3));
      r.instance = instances.try_emplace(key, static_cast<std::int64_t>(instances.size())).first->second;
    }
    std::vector<HandRecord> sorted = made.records;
    sort_records(sorted);
    const std::vector<NaiveGap> gaps = naive_gaps(sorted);
    for (const Grain grain : {Grain{}, Grain{true, false}, Grain{false, true}, Grain{true, true}}) {
      std::map<OperationKey, Sums> expected;
      std::map<std::pair<OperationKey, std::int64_t>, std::pair<std::int64_t, std::int64_t>> extents;
      for (const HandRecord& r : sorted) {
        const bool linked = r.launched != kNoNumber;
        const OperationKey key{linked ? r.phase : Phase::unlabelled, r.operation.empty() ? "unlabelled" : r.operation,
                               grain.iteration ? std::int64_t{linked ? r.iteration : kNoIteration} : kNotGrouped,
                               grain.layer ? std::int64_t{r.layer} : kNotGrouped};
        auto& [kernels, duration, overlap, compute, prep, call, elapsed, known, num_instances] = expected[key];
        kernels++;
        duration += r.end - r.start;
        if (is_compute(r.gpu_class)) compute += r.end - r.start;
        if (r.layer != kUnknownLayer) known++;
        for (std::int64_t t = r.start; t < r.end && r.gpu_class != GpuClass::comm; t++) {
          overlap += std::any_of(sorted.begin(), sorted.end(),
                                 [&](const HandRecord& c) {
                                   return c.gpu_class == GpuClass::comm && c.start <= t && t < c.end;
                                 })
                         ? 1
                         : 0;
        }
        for (const NaiveGap& gap : gaps) {
          if (gap.kernel != &r) continue;
          prep += gap.called - gap.from;
          call += gap.to - gap.called;
        }
        const auto [at, inserted] = extents.try_emplace({key, r.instance}, r.start, r.end);
        at->second.first = std::min(at->second.first, r.start);
        at->second.second = std::max(at->second.second, r.end);
        num_instances += inserted ? 1 : 0;
      }
      for (const auto& [key, extent] : extents) std::get<6>(expected[key.first]) += extent.second - extent.first;
      std::map<OperationKey, Sums> got;
      std::map<OperationKey, OperationSummary> merged;
      for (const auto& [key, sum] : summarise(made.trace(), grain).operations) {
        OperationKey whole = key;
        whole.in_steps = false;
        merged[whole].merge(sum);
      }
      for (const auto& [key, sum] : merged) got[key] = sums_of(sum);
      EXPECT_EQ(got, expected);
    }
    if (testing::Test::HasFailure()) return;
  }
}

TEST(AnalysisProperty, QueuesAgreeWithALookAtEveryRecord) {
  for (std::uint64_t seed = 1; seed <= 1000; seed++) {
    SCOPED_TRACE(seed_text(seed));
    Random random(seed);
    const Records made = random_records(random);
    std::map<Phase, std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>>> expected;  // depths, delays
    for (const HandRecord& r : made.records) {
      if (r.launched == kNoNumber) continue;
      const auto depth = std::count_if(made.records.begin(), made.records.end(), [&](const HandRecord& other) {
        return other.launched != kNoNumber && other.launched < r.launched && other.start > r.launched;
      });
      expected[r.phase].first.push_back(depth);
      expected[r.phase].second.push_back(std::max<std::int64_t>(0, r.start - r.launched));
    }
    const GpuSummary summary = summarise(made.trace());
    EXPECT_EQ(summary.launches.size(), expected.size());
    for (const auto& [phase, values] : expected) {
      QuantileSketch depths, delays;
      depths.add_all(values.first);
      delays.add_all(values.second);
      const LaunchSummary& got = summary.launches.at(phase);
      for (std::uint64_t q = 0; q <= 20; q++) {
        EXPECT_EQ(got.queue.quantile(q, 20), depths.quantile(q, 20));
        EXPECT_EQ(got.delay_ns.quantile(q, 20), delays.quantile(q, 20));
      }
      EXPECT_EQ(got.queue.sum(), depths.sum());
      EXPECT_EQ(got.delay_ns.sum(), delays.sum());
    }
    if (testing::Test::HasFailure()) return;
  }
}

TEST(AnalysisProperty, IdleChargedToBlockersAgreesWithALookAtEachNanosecond) {
  struct Blocker {
    std::int64_t start, end;
    std::uint32_t thread;
    std::string name;
  };
  const Result<HostBlockerRules> rules = embedded_host_blocker_rules();
  ASSERT_TRUE(rules.ok());
  for (std::uint64_t seed = 1; seed <= 1000; seed++) {
    SCOPED_TRACE(seed_text(seed));
    Random random(seed);
    Records made = random_records(random);
    for (HandRecord& r : made.records) r.thread = random.chance(3) ? 1 : 0;
    HandTrace hand = made.trace();
    std::vector<Blocker> blockers;
    std::set<std::tuple<std::uint32_t, std::int64_t>> starts;  // which of two is the inner one must be told
    for (std::size_t i = 0; i < random.below(8); i++) {
      const std::int64_t start = random.between(-20, kAxis);
      Blocker b{start, start + random.between(0, random.chance(2) ? 100 : 15), random.chance(3) ? 1u : 0u,
                random.chance(2)   ? "gc"
                : random.chance(2) ? "aten::item"
                                   : "cudaFree"};
      if (!starts.emplace(b.thread, b.start).second) continue;
      if (b.name == "cudaFree") {
        hand.add_call(b.name, b.start, b.end, b.thread);
      } else {
        hand.add_range(b.name, b.start, b.end, b.thread);
      }
      blockers.push_back(b);
    }
    std::vector<HandRecord> sorted = made.records;
    sort_records(sorted);
    Naive all;
    for (const HandRecord& r : sorted) all.add(r);
    std::map<std::string, std::int64_t> expected;
    for (const NaiveGap& gap : naive_gaps(sorted)) {
      for (std::int64_t t = gap.from; t < gap.called; t++) {
        if (all.busy(t)) continue;
        const Blocker* innermost = nullptr;
        for (const Blocker& b : blockers) {
          if (b.thread != gap.kernel->thread || t < b.start || t >= b.end) continue;
          if (innermost == nullptr || b.start > innermost->start) innermost = &b;
        }
        if (innermost != nullptr) expected[innermost->name]++;
      }
    }
    HealthLog health;
    SummaryOptions options;
    options.blockers = &rules.value();
    const GpuSummary summary = summarise_gpus(hand.trace, hand.labels, options, health, nullptr).front();
    std::map<std::string, std::int64_t> got;
    for (const auto& [key, blocker] : summary.blockers) {
      if (blocker.idle_ns != 0) got[key.second] = blocker.idle_ns;
    }
    EXPECT_EQ(got, expected);
    if (testing::Test::HasFailure()) return;
  }
}

// What does not depend on the order of records, on threads, or on when it was.
std::string text_of(const GpuSummary& summary, std::int64_t shift_ns) {
  std::string text;
  const auto add = [&](std::int64_t value) { text += std::to_string(value) + " "; };
  const auto add_row = [&](const TimelineRow& r) {
    text += "\n" + r.scope + " ";
    if (r.start_ns.present()) add(r.start_ns.value() - shift_ns);
    if (r.window_start_ns.present()) add(r.window_start_ns.value() - shift_ns);
    for (const std::int64_t value :
         {r.span_ns, r.busy_ns, r.compute_ns, r.comm_ns, r.memcpy_ns, r.overlap_ns, r.exposed_comm_ns,
          r.exposed_comm_strict_ns, r.exposed_memcpy_ns, r.idle_ns, r.comm_copy_ns, r.prep_ns, r.call_ns,
          r.prep_idle_ns, r.call_idle_ns, r.inter_iteration_ns, r.num_no_launch}) {
      add(value);
    }
    for (const Field<std::int64_t>& field :
         {r.window_ns, r.window_busy_ns, r.window_compute_ns, r.window_comm_ns, r.window_memcpy_ns, r.window_idle_ns,
          r.window_prep_idle_ns, r.window_call_idle_ns, r.foreign_ns, r.gap_to_next_ns}) {
      text += field.present() ? std::to_string(field.value()) + " " : "- ";
    }
  };
  add_row(summary.timeline);
  for (const WindowSummary& window : summary.windows) add_row(window.row);
  for (const auto& [key, s] : summary.operations) {
    text += "\n" + key.operation + " ";
    for (const std::int64_t value :
         {static_cast<std::int64_t>(key.phase), key.ordinal, key.layer, s.num_kernels, s.duration_ns, s.elapsed_ns,
          s.overlap_ns, s.prep_ns, s.call_ns, s.prep_idle_ns, s.call_idle_ns, s.instances.quantile(1, 2)}) {
      add(value);
    }
  }
  return text;
}

TEST(AnalysisProperty, OrderTimeAndThreadsChangeNothing) {
  for (std::uint64_t seed = 1; seed <= 500; seed++) {
    SCOPED_TRACE(seed_text(seed));
    Random random(seed);
    Records made = random_records(random);
    // Of records with equal times the file's order decides: there are none here.
    std::set<std::pair<std::int64_t, std::int64_t>> times;
    std::erase_if(made.records, [&](const HandRecord& r) { return !times.emplace(r.start, r.end).second; });
    const Grain grain{random.chance(2), random.chance(2)};
    const std::string expected = text_of(summarise(made.trace(), grain), 0);
    const std::int64_t shift = 1767225600000000000;
    EXPECT_EQ(text_of(summarise(made.trace(shift), grain, 2), shift), expected);
    random.shuffle(made.records);
    EXPECT_EQ(text_of(summarise(made.trace(), grain, 3), 0), expected);
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace chopper::test
