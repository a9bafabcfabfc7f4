// SPDX-License-Identifier: Apache-2.0
// The range a call is made in, against a search through all ranges (reading rules 4).
#include "attribute/stacks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "support/random.h"

namespace chopper {
namespace {

using test::Random;

TraceTables random_host(Random& random) {
  TraceTables trace;
  trace.threads = {{"10", "10"}, {"10", "11"}};
  const std::size_t num_ranges = random.below(14);
  for (std::size_t i = 0; i < num_ranges; i++) {
    HostRangeTable& t = trace.ranges;
    t.name.push_back(trace.strings.intern(random.chance(6) ? "fsdp::chunk_cat" : "aten::mm"));
    t.kind.push_back(random.chance(6)   ? RangeKind::module
                     : random.chance(3) ? RangeKind::annotation
                                        : RangeKind::operation);
    t.start_ns.push_back(random.between(0, 30));
    t.duration_ns.push_back(random.chance(4) ? 0 : random.between(0, 20));
    t.thread.push_back(ThreadId{static_cast<std::uint32_t>(random.below(2))});
    t.sequence_number.push_back(kNoNumber);
    t.forward_thread.push_back(kNoNumber);
    t.shapes.push_back(kNoString);
    t.types.push_back(kNoString);
    t.values.push_back(kNoString);
    t.collective.push_back(kNoRow);
    t.offset.push_back(i * 10);
  }
  const std::size_t num_calls = 1 + random.below(8);
  for (std::size_t i = 0; i < num_calls; i++) {
    LaunchTable& t = trace.launches;
    t.name.push_back(trace.strings.intern("cudaLaunchKernel"));
    t.kind.push_back(random.chance(3) ? CallKind::driver : CallKind::runtime);
    t.start_ns.push_back(random.between(0, 50));
    t.duration_ns.push_back(1);
    t.thread.push_back(ThreadId{static_cast<std::uint32_t>(random.below(2))});
    t.correlation.push_back(random.between(0, 4));
    t.offset.push_back(1000 + i * 10);
  }
  return trace;
}

RowId innermost(const TraceTables& trace, std::size_t call, bool operations_only) {
  const HostRangeTable& t = trace.ranges;
  RowId best = kNoRow;
  for (std::size_t i = 0; i < num_rows(t); i++) {
    const std::int64_t time = trace.launches.start_ns[call];
    if (t.thread[i] != trace.launches.thread[call] || t.kind[i] == RangeKind::module ||
        (operations_only && t.kind[i] != RangeKind::operation))
      continue;
    if (time < t.start_ns[i] || time >= std::max(t.start_ns[i] + t.duration_ns[i], t.start_ns[i] + 1)) continue;
    const auto rank = [&](std::size_t row) {
      return std::make_tuple(t.start_ns[row], -(t.start_ns[row] + t.duration_ns[row]), t.offset[row]);
    };
    if (best == kNoRow || rank(i) > rank(index_of(best))) best = RowId{static_cast<std::uint32_t>(i)};
  }
  return best;
}

TEST(Stacks, AgreesWithLookingAtEveryRange) {
  const Result<ClassRules> classes = embedded_class_rules();
  const Result<PhaseRules> phases = embedded_phase_rules();
  const Result<OperationMaps> maps = embedded_operation_maps();
  ASSERT_TRUE(classes.ok() && phases.ok() && maps.ok());
  for (std::uint64_t seed = 1; seed <= 5000; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const TraceTables trace = random_host(random);
    StringTable operations;
    RangeNames names(trace.strings, classes.value(), phases.value(), maps.value(), operations);
    names.learn(trace.ranges);
    const Stacks stacks =
        find_stacks(trace, order_ranges(trace), std::vector<std::uint8_t>(num_rows(trace.launches), 1),
                    ForwardPartners(trace), names, 1 + seed % 2);
    for (std::size_t call = 0; call < num_rows(trace.launches); call++) {
      const CallStack& stack = stacks.calls[stacks.of_call[call]];
      bool copy = false;
      for (std::size_t i = 0; i < num_rows(trace.ranges); i++) {
        const HostRangeTable& t = trace.ranges;
        const std::int64_t time = trace.launches.start_ns[call];
        const bool open = t.thread[i] == trace.launches.thread[call] && t.kind[i] != RangeKind::module &&
                          time >= t.start_ns[i] && time < t.start_ns[i] + std::max<std::int64_t>(t.duration_ns[i], 1);
        copy = copy || (open && trace.strings.view(t.name[i]) == "fsdp::chunk_cat");
      }
      ASSERT_EQ(stack.range, innermost(trace, call, false)) << "call " << call;
      ASSERT_EQ(stack.operation, innermost(trace, call, true)) << "call " << call;
      ASSERT_EQ(stack.comm_copy, copy) << "call " << call;
    }
  }
}

TEST(LaunchLinks, AgreesWithLookingAtEveryCall) {
  for (std::uint64_t seed = 1; seed <= 5000; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    TraceTables trace = random_host(random);
    const std::size_t num_kernels = 1 + random.below(5);
    for (std::size_t i = 0; i < num_kernels; i++) {
      trace.gpu_work.name.push_back(trace.strings.intern("k"));
      trace.gpu_work.start_ns.push_back(random.between(0, 50));
      trace.gpu_work.correlation.push_back(random.between(0, 5));
    }
    const LaunchLinks links = link_launches(trace);
    std::uint64_t ambiguous = 0;
    const LaunchTable& calls = trace.launches;
    for (std::size_t i = 0; i < num_kernels; i++) {
      const std::int64_t start = trace.gpu_work.start_ns[i];
      std::vector<std::uint32_t> candidates;
      for (const CallKind kind : {CallKind::runtime, CallKind::driver}) {
        for (std::uint32_t c = 0; c < num_rows(calls) && trace.gpu_work.correlation[i] != kNoId; c++) {
          if (calls.kind[c] == kind && calls.correlation[c] == trace.gpu_work.correlation[i]) candidates.push_back(c);
        }
        if (!candidates.empty()) break;
      }
      if (candidates.size() > 1) ambiguous++;
      RowId expected = kNoRow;
      if (!candidates.empty()) {
        // Not after the record: the latest; else the earliest; ties: the first in the file.
        const auto better = [&](std::uint32_t a, std::uint32_t b) {
          const bool before_a = calls.start_ns[a] <= start;
          const bool before_b = calls.start_ns[b] <= start;
          if (before_a != before_b) return before_a;
          if (calls.start_ns[a] != calls.start_ns[b])
            return before_a ? calls.start_ns[a] > calls.start_ns[b] : calls.start_ns[a] < calls.start_ns[b];
          return calls.offset[a] < calls.offset[b];
        };
        expected = RowId{*std::min_element(candidates.begin(), candidates.end(), better)};
      }
      ASSERT_EQ(links.launch[i], expected) << "kernel " << i;
    }
    ASSERT_EQ(links.num_ambiguous, ambiguous);
  }
}

}  // namespace
}  // namespace chopper
