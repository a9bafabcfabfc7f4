// SPDX-License-Identifier: Apache-2.0
// Forward operators of backward ones, against a search through all operators.
#include "attribute/partners.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "support/host_trace.h"
#include "support/random.h"

namespace chopper {
namespace {

using test::add_range;
using test::Random;

RowId add(TraceTables& trace, std::int64_t start, std::uint32_t thread, std::int64_t sequence,
          std::int64_t forward_thread = kNoNumber) {
  return add_range(trace, {.name = "op",
                           .start = start,
                           .end = start + 5,
                           .kind = RangeKind::operation,
                           .thread = thread,
                           .sequence = sequence,
                           .forward_thread = forward_thread});
}

RowId partner(const ForwardPartners& partners, RowId backward) {
  const std::optional<std::uint32_t> number = partners.partner_of(backward);
  return number ? RowId{partners.rows()[*number]} : kNoRow;
}

TraceTables trace_of(std::size_t num_threads) {
  TraceTables trace;
  for (std::size_t t = 0; t < num_threads; t++) trace.threads.push_back({"10", std::to_string(t)});
  return trace;
}

TEST(ForwardPartners, TheLastOfOneNumber) {
  TraceTables trace = trace_of(2);
  const RowId outer = add(trace, 0, 0, 7), inner = add(trace, 2, 0, 7), other = add(trace, 20, 0, 8);
  const RowId node = add(trace, 30, 1, 7, 1);
  const RowId lost = add(trace, 40, 1, 9, 1);
  const ForwardPartners partners(trace);
  EXPECT_EQ(partner(partners, node), inner);
  EXPECT_EQ(partner(partners, lost), kNoRow);
  EXPECT_TRUE(partners.has_partner(inner));
  EXPECT_FALSE(partners.has_partner(outer));
  EXPECT_FALSE(partners.has_partner(other));
}

TEST(ForwardPartners, ForwardThreadZeroIsNone) {
  TraceTables trace = trace_of(2);
  const RowId forward = add(trace, 0, 0, 7, 0);
  const RowId node = add(trace, 30, 1, 7, 3);
  EXPECT_EQ(partner(ForwardPartners(trace), node), forward);
}

TEST(ForwardPartners, NothingWithoutForwardOrBackwardOperators) {
  TraceTables trace = trace_of(1);
  const RowId node = add(trace, 30, 0, 7, 1);
  EXPECT_EQ(partner(ForwardPartners(trace), node), kNoRow);
  TraceTables forward = trace_of(1);
  const RowId alone = add(forward, 30, 0, 7);
  EXPECT_FALSE(ForwardPartners(forward).has_partner(alone));
}

TEST(ForwardPartners, ModuleFramesAreNoOperators) {
  TraceTables trace = trace_of(2);
  add_range(trace, {.name = "nn.Module: A_0", .start = 0, .end = 9, .kind = RangeKind::module, .sequence = 7});
  const RowId node = add(trace, 30, 1, 7, 1);
  EXPECT_EQ(partner(ForwardPartners(trace), node), kNoRow);
}

TEST(ForwardPartners, NumbersBeyond48BitsAreToldApart) {
  TraceTables trace = trace_of(3);
  const std::int64_t large = std::int64_t{1} << 48;
  const RowId small = add(trace, 0, 0, 7), far = add(trace, 1, 0, 7 ^ large * 3);
  add(trace, 2, 1, 7 ^ large);
  const RowId node = add(trace, 30, 2, 7, 1), far_node = add(trace, 31, 2, 7 ^ large * 3, 1);
  const ForwardPartners partners(trace);
  EXPECT_EQ(partner(partners, node), small);
  EXPECT_EQ(partner(partners, far_node), far);
}

TEST(ForwardPartners, OfThreadsThatFitEquallyTheFirstToBegin) {
  TraceTables trace = trace_of(3);
  add(trace, 10, 0, 7);
  const RowId first = add(trace, 5, 1, 7);
  const RowId node = add(trace, 30, 2, 7, 1);
  EXPECT_EQ(partner(ForwardPartners(trace), node), first);
}

TEST(CustomFunctionOf, TheClassInTheBrackets) {
  EXPECT_EQ(custom_function_of("torch::autograd::CppNode<SplitLookupFunction_rowwise_adagrad_Op>"),
            "SplitLookupFunction_rowwise_adagrad_Op");
  EXPECT_EQ(custom_function_of("autograd::engine::evaluate_function: torch::autograd::CppNode<vision::ops::(anonymous "
                               "namespace)::ROIAlignFunction>"),
            "ROIAlignFunction");
  EXPECT_EQ(
      custom_function_of("torch::autograd::CppNode<fbgemm_gpu::PermutePooledEmbsFunction<&fbgemm_gpu::permute> >"),
      "PermutePooledEmbsFunction");
  EXPECT_EQ(custom_function_of("CppNode<Cut"), "Cut");
  EXPECT_EQ(custom_function_of("CppNode<>"), "");
  EXPECT_EQ(custom_function_of("MmBackward0"), "");
  EXPECT_EQ(custom_function_of(""), "");
}

TEST(IsCalledLike, LettersAndDigitsWithoutNamespaces) {
  EXPECT_TRUE(is_called_like("torchvision::roi_align", "ROIAlignFunction"));
  EXPECT_TRUE(is_called_like("torchvision::deform_conv2d", "DeformConv2dFunction"));
  EXPECT_TRUE(is_called_like("torch_scatter::scatter_sum", "ScatterSum"));
  EXPECT_TRUE(is_called_like("my_function", "MyFunction"));
  EXPECT_FALSE(is_called_like("aten::zero_", "SplitLookupFunction_rowwise_adagrad_Op"));
  EXPECT_FALSE(is_called_like("lib::align", "ROIAlignFunction"));
  EXPECT_FALSE(is_called_like("lib::roi_align_more", "ROIAlignFunction"));
  EXPECT_FALSE(is_called_like("lib::", "Function"));
  EXPECT_FALSE(is_called_like("", ""));
}

// The rules, one operator after the other (attribution.md 5): F names the thread with most of its numbers; where that
// has none, another.
RowId naive(const TraceTables& trace, std::uint32_t backward) {
  const HostRangeTable& t = trace.ranges;
  const auto is_forward = [&](std::uint32_t row) {
    return t.forward_thread[row] <= 0 && t.sequence_number[row] != kNoNumber;
  };
  std::map<std::uint32_t, std::size_t> votes;
  for (std::uint32_t b = 0; b < num_rows(t); b++) {
    if (is_forward(b) || t.sequence_number[b] == kNoNumber || t.forward_thread[b] != t.forward_thread[backward])
      continue;
    std::set<std::uint32_t> holders;
    for (std::uint32_t f = 0; f < num_rows(t); f++) {
      if (is_forward(f) && t.sequence_number[f] == t.sequence_number[b]) holders.insert(index_of(t.thread[f]));
    }
    for (const std::uint32_t holder : holders) votes[holder]++;
  }
  std::vector<std::pair<std::int64_t, std::uint32_t>>
      threads;  // those with forward operators, the first to begin first
  for (std::uint32_t thread = 0; thread < trace.threads.size(); thread++) {
    std::int64_t first = INT64_MAX;
    for (std::uint32_t f = 0; f < num_rows(t); f++) {
      if (is_forward(f) && index_of(t.thread[f]) == thread) first = std::min(first, t.start_ns[f]);
    }
    threads.emplace_back(first, thread);
  }
  std::sort(threads.begin(), threads.end());
  std::vector<std::uint32_t> order;
  std::size_t most = 0;
  for (const auto& [first, thread] : threads) {
    if (votes.contains(thread) && votes[thread] > most) {
      order = {thread};
      most = votes[thread];
    }
  }
  for (const auto& [first, thread] : threads) order.push_back(thread);
  if (votes.empty()) return kNoRow;
  for (const std::uint32_t thread : order) {
    RowId best = kNoRow;
    for (std::uint32_t f = 0; f < num_rows(t); f++) {
      if (!is_forward(f) || index_of(t.thread[f]) != thread || t.sequence_number[f] != t.sequence_number[backward] ||
          t.start_ns[f] > t.start_ns[backward])
        continue;
      if (best == kNoRow || t.start_ns[f] >= t.start_ns[index_of(best)]) best = RowId{f};
    }
    if (best != kNoRow) return best;
  }
  return kNoRow;
}

TEST(ForwardPartners, AgreeWithASearch) {
  for (std::uint64_t seed = 1; seed <= 2000; seed++) {
    Random random(seed);
    TraceTables trace = trace_of(1 + random.below(4));
    const std::size_t count = random.below(16);
    for (std::size_t i = 0; i < count; i++) {
      const std::int64_t sequence = random.chance(8) ? kNoNumber : random.between(0, 5);
      const std::int64_t forward = random.chance(2) ? random.between(1, 3) : random.chance(2) ? 0 : kNoNumber;
      add(trace, random.between(0, 40), static_cast<std::uint32_t>(random.below(trace.threads.size())), sequence,
          forward);
    }
    const ForwardPartners partners(trace);
    std::set<RowId> named;
    for (std::uint32_t row = 0; row < num_rows(trace.ranges); row++) {
      if (trace.ranges.forward_thread[row] <= 0 || trace.ranges.sequence_number[row] == kNoNumber) continue;
      const RowId expected = naive(trace, row);
      ASSERT_EQ(partner(partners, RowId{row}), expected) << "seed " << seed << ", row " << row;
      if (expected != kNoRow) named.insert(expected);
    }
    EXPECT_EQ(partners.rows().size(), named.size()) << "seed " << seed;
    for (std::uint32_t row = 0; row < num_rows(trace.ranges); row++) {
      if (trace.ranges.forward_thread[row] > 0) continue;
      ASSERT_EQ(partners.has_partner(RowId{row}), named.contains(RowId{row})) << "seed " << seed << ", row " << row;
    }
  }
}

}  // namespace
}  // namespace chopper
