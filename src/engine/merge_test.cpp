// SPDX-License-Identifier: Apache-2.0
// Ranks beside each other: collectives, steps, comparisons.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/engine.h"
#include "engine/group_dimension.h"

namespace chopper {
namespace {

struct CollectiveOf {
  std::int32_t ordinal;
  std::int64_t start_ns, duration_ns;
  std::string kind = "ar";
  std::string group = "0";
  std::int64_t group_size = 2;
  std::int64_t bytes = 1000;
  std::int64_t sequence = kNoNumber;
};

InputSummary rank_input(std::int64_t rank, std::vector<std::int64_t> numbers) {
  InputSummary input;
  input.path = "rank" + std::to_string(rank) + ".json";
  input.facts.rank = rank;
  input.facts.host = "node0";
  input.facts.world_size = 2;
  input.mark_kind = MarkKind::iteration;
  GpuSummary& gpu = input.gpus.emplace_back();
  gpu.device = static_cast<std::int32_t>(rank);
  gpu.name = "AMD Instinct MI300X";
  gpu.windows.resize(numbers.size() + 2);
  gpu.windows.front().row.scope = "head";
  gpu.windows.back().row.scope = "tail";
  for (std::size_t k = 0; k < numbers.size(); k++) {
    TimelineRow& row = gpu.windows[k + 1].row;
    row.scope = "iteration";
    row.ordinal = static_cast<std::int64_t>(k);
    row.iteration = numbers[k] == kNoNumber ? Field<std::int64_t>(Reason::no_mark) : Field<std::int64_t>(numbers[k]);
    row.window_ns = 100;
    row.window_compute_ns = 60;
    row.window_exposed_comm_ns = 10;
    row.window_exposed_memcpy_ns = 0;
    row.window_idle_ns = 30;
    row.window_prep_idle_ns = 20;
    row.window_call_idle_ns = 5;
    row.complete = true;
    row.last = k + 1 == numbers.size();
  }
  return input;
}

std::uint32_t text(GpuSummary& gpu, const std::string& value) {
  for (std::uint32_t i = 1; i < gpu.texts.size(); i++) {
    if (gpu.texts[i] == value) return i;
  }
  gpu.texts.push_back(value);
  return static_cast<std::uint32_t>(gpu.texts.size() - 1);
}

void add(InputSummary& input, const CollectiveOf& c) {
  GpuSummary& gpu = input.gpus.front();
  CollectiveRecord record;
  record.start_ns = c.start_ns;
  record.duration_ns = c.duration_ns;
  record.bytes = c.bytes;
  record.sequence = c.sequence;
  record.group_size = c.group_size;
  record.ordinal = c.ordinal;
  record.kind = text(gpu, c.kind);
  record.group = c.group.empty() ? 0 : text(gpu, c.group);
  gpu.collectives.push_back(record);
}

template <class... Inputs>
std::vector<InputSummary> list_of(Inputs&&... inputs) {
  std::vector<InputSummary> list;
  (list.push_back(std::forward<Inputs>(inputs)), ...);
  return list;
}

Answer merge(std::vector<InputSummary> inputs, const RunOptions& options = {}) {
  Result<Answer> answer = merge_summaries(std::move(inputs), {}, options);
  EXPECT_TRUE(answer.ok());
  return std::move(answer).value();
}

TEST(Merge, TheShortestOfTheRanksIsTheTransfer) {
  InputSummary a = rank_input(0, {5, 6}), b = rank_input(1, {5, 6});
  add(a, {0, 100, 50});
  add(b, {0, 130, 20});  // arrived last
  add(a, {0, 200, 10});
  add(b, {0, 190, 30});
  const Answer answer = merge(list_of(std::move(a), std::move(b)));
  ASSERT_EQ(answer.collectives.size(), 4u);
  const CollectiveRow& first = answer.collectives[0];
  EXPECT_EQ(first.transfer_ns, 20);
  EXPECT_EQ(first.wait_ns, 30);
  EXPECT_EQ(first.iteration, 5);
  EXPECT_EQ(first.busbw_gbps, 1000.0 * 1 / 20);  // 2 (n - 1) / n = 1
  EXPECT_EQ(first.theory_ns, 1000.0 / (7 * 64));
  EXPECT_EQ(first.seq, 0);
  EXPECT_EQ(answer.collectives[1].seq, 1);
  EXPECT_EQ(answer.collectives[1].wait_ns, 0);
  EXPECT_EQ(answer.collectives[2].wait_ns, 0);
  EXPECT_EQ(answer.collectives[3].wait_ns, 20);
  ASSERT_EQ(answer.ranks.size(), 2u);
  EXPECT_EQ(answer.ranks[0].comm_wait_ns, 30);  // iteration 6 is the last
  EXPECT_EQ(answer.ranks[1].comm_wait_ns, 20);
}

TEST(Merge, IterationsMeetByTheirNumber) {
  InputSummary a = rank_input(0, {5, 6, 7}), b = rank_input(1, {6, 7, 8});
  b.gpus.front().windows[1].row.window_ns = 140;
  b.gpus.front().windows[1].row.window_compute_ns = 50;
  add(a, {0, 100, 50});
  add(a, {1, 200, 10});
  add(b, {0, 200, 30});
  const Answer answer = merge(list_of(std::move(a), std::move(b)));
  EXPECT_EQ(answer.collectives[0].wait_ns.reason(), Reason::single_rank);
  EXPECT_EQ(answer.collectives[1].transfer_ns, 10);
  EXPECT_EQ(answer.collectives[2].wait_ns, 20);
  ASSERT_EQ(answer.steps.size(), 4u);
  EXPECT_EQ(answer.steps[0].num_gpus, 1);
  EXPECT_FALSE(answer.steps[0].complete);
  EXPECT_EQ(answer.steps[1].ordinal, 1);
  EXPECT_EQ(answer.steps[1].iteration, 6);
  EXPECT_EQ(answer.steps[1].step_ns, 140);
  EXPECT_EQ(answer.steps[1].shortest_ns, 100);
  EXPECT_EQ(answer.steps[1].slowest_rank, 0);
  EXPECT_TRUE(answer.steps[1].complete);
  EXPECT_FALSE(answer.steps[1].last);
  EXPECT_TRUE(answer.steps[2].last);  // of rank 0
}

TEST(Merge, WithoutNumbersTheOrderCounts) {
  InputSummary a = rank_input(0, {5, 6}), b = rank_input(1, {kNoNumber, kNoNumber});
  add(a, {0, 100, 50});
  add(b, {0, 200, 30});
  const Answer answer = merge(list_of(std::move(a), std::move(b)));
  EXPECT_EQ(answer.collectives[0].wait_ns, 20);
  ASSERT_EQ(answer.steps.size(), 2u);
  EXPECT_EQ(answer.steps[0].iteration.reason(), Reason::no_mark);
  EXPECT_EQ(answer.steps[0].num_gpus, 2);
}

TEST(Merge, WhatDoesNotMatchSaysWhy) {
  InputSummary a = rank_input(0, {5, 6}), b = rank_input(1, {5, 6});
  add(a, {0, 100, 50});
  add(a, {0, 200, 50});
  add(b, {0, 100, 50});                 // one fewer
  add(a, {1, 300, 50, "ar", ""});       // no group
  add(a, {kHeadIteration, 10, 5});      // in no iteration
  add(a, {1, 400, 50, "p2p", "3", 4});  // two of four: which?
  add(b, {1, 400, 50, "p2p", "3", 4});
  add(a, {1, 500, 50, "ag", "0", 2, kNoNumber});  // no size
  add(b, {1, 500, 40, "ag", "0", 2, kNoNumber});
  const Answer answer = merge(list_of(std::move(a), std::move(b)));
  ASSERT_EQ(answer.collectives.size(), 9u);
  EXPECT_EQ(answer.collectives[0].kind, "ar");
  EXPECT_EQ(answer.collectives[0].ordinal.reason(), Reason::no_mark);
  EXPECT_EQ(answer.collectives[0].wait_ns.reason(), Reason::unmatched_ranks);
  EXPECT_EQ(answer.collectives[1].wait_ns.reason(), Reason::unmatched_ranks);
  EXPECT_EQ(answer.collectives[3].wait_ns.reason(), Reason::no_group);
  EXPECT_EQ(answer.collectives[3].theory_ns.reason(), Reason::no_links_known);
  EXPECT_EQ(answer.collectives[4].wait_ns.reason(), Reason::unmatched_ranks);
  EXPECT_EQ(answer.collectives[4].dimension, "pipeline");
  EXPECT_EQ(answer.collectives[5].wait_ns, 10);
  EXPECT_EQ(answer.collectives[5].busbw_gbps.reason(), Reason::no_shapes);
  EXPECT_EQ(answer.collectives[5].theory_ns.reason(), Reason::no_shapes);
}

CollectiveOf numbered(std::int32_t ordinal, std::int64_t start, std::int64_t duration, std::int64_t sequence) {
  return {ordinal, start, duration, "ar", "0", 2, 1000, sequence};
}

// The waits of the first collectives, in order of (rank, start); -1: not told.
std::vector<std::int64_t> waits_of(const Answer& answer) {
  std::vector<std::int64_t> waits;
  for (const CollectiveRow& row : answer.collectives) waits.push_back(row.wait_ns.present() ? row.wait_ns.value() : -1);
  return waits;
}

TEST(Merge, OneCollectiveTooManyDoesNotHideThoseWithTheSameNumber) {
  InputSummary a = rank_input(0, {5}), b = rank_input(1, {5});
  add(a, numbered(0, 100, 50, 7));
  add(a, numbered(0, 200, 30, 9));
  add(b, numbered(0, 100, 20, 7));
  add(b, numbered(0, 150, 10, 8));  // rank 0 lost it
  add(b, numbered(0, 210, 25, 9));
  const Answer answer = merge(list_of(std::move(a), std::move(b)));
  EXPECT_EQ(waits_of(answer), (std::vector<std::int64_t>{30, 5, 0, -1, 0}));
  EXPECT_EQ(answer.collectives[3].wait_ns.reason(), Reason::unmatched_ranks);
}

TEST(Merge, NumbersTellOrderWhereTheyAreTheSame) {
  InputSummary a = rank_input(0, {5}), b = rank_input(1, {5});
  add(a, numbered(0, 100, 50, 7));
  add(a, numbered(0, 200, 30, 8));
  add(b, numbered(0, 100, 20, 8));  // two streams
  add(b, numbered(0, 210, 25, 7));
  EXPECT_EQ(waits_of(merge(list_of(std::move(a), std::move(b)))), (std::vector<std::int64_t>{25, 10, 0, 0}));
}

// A number that a rank gives twice (collectives that were launched as one), that some rank does not give, or that no
// two ranks share says nothing: the order counts, where there are equally many.
TEST(Merge, NumbersThatDoNotTellAreNotUsed) {
  const auto waits = [](const std::vector<std::int64_t>& of_a, const std::vector<std::int64_t>& of_b) {
    InputSummary a = rank_input(0, {5}), b = rank_input(1, {5});
    for (std::size_t i = 0; i < of_a.size(); i++)
      add(a, numbered(0, 100 * static_cast<std::int64_t>(i), 50 + static_cast<std::int64_t>(i), of_a[i]));
    for (std::size_t i = 0; i < of_b.size(); i++) add(b, numbered(0, 100 * static_cast<std::int64_t>(i), 50, of_b[i]));
    return waits_of(merge(list_of(std::move(a), std::move(b))));
  };
  EXPECT_EQ(waits({7, 7, 8}, {7, 8, 9}), (std::vector<std::int64_t>{0, 1, 2, 0, 0, 0}));
  EXPECT_EQ(waits({7, 8}, {kNoNumber, 7}), (std::vector<std::int64_t>{0, 1, 0, 0}));
  EXPECT_EQ(waits({7, 8}, {17, 18}), (std::vector<std::int64_t>{0, 1, 0, 0}));
  EXPECT_EQ(waits({7, 7, 8}, {7, 8}), (std::vector<std::int64_t>{-1, -1, -1, -1, -1}));
  EXPECT_EQ(waits({7, 8}, {17, 18, 19}), (std::vector<std::int64_t>{-1, -1, -1, -1, -1}));
}

// All ranks of the run that have collectives of the group and kind in the iteration must have it.
TEST(Merge, ACollectiveThatOneOfManyRanksLacksIsNotMatched) {
  const auto job = [](bool with_another) {
    std::vector<InputSummary> inputs;
    for (std::int64_t rank = 0; rank < 3; rank++) {
      InputSummary& input = inputs.emplace_back(rank_input(rank, {5}));
      for (std::int64_t number = 0; number < 3; number++) {
        if (number != rank) add(input, {0, 100 * number, 50 + rank, "ar", "0", 3, 1000, number});
      }
      if (with_another) add(input, {0, 900, 50 + rank, "ar", "0", 3, 1000, 9});
    }
    return inputs;
  };
  EXPECT_EQ(waits_of(merge(job(true))), (std::vector<std::int64_t>{-1, -1, 0, -1, -1, 1, -1, -1, 2}));
  EXPECT_EQ(waits_of(merge(job(false))), (std::vector<std::int64_t>{-1, -1, -1, -1, -1, -1}));
}

TEST(Merge, WaitsAreOfTheIterationsWhoseCollectivesAreMatched) {
  const auto answer_of = [](std::int64_t more_in_first) {
    InputSummary a = rank_input(0, {5, 6, 7, 8, 9}), b = rank_input(1, {5, 6, 7, 8, 9});
    for (std::int32_t k = 0; k < 5; k++) {
      add(a, {k, 100 * k, 400});
      add(b, {k, 100 * k, 100});
      if (k > 0) add(b, {k, 100 * k + 50, 50});  // one more: none of the iteration is matched
    }
    if (more_in_first > 0) {
      add(a, {0, 60, more_in_first, "ag"});
      add(b, {0, 60, 1, "ag"});
      add(b, {0, 70, 1, "ag"});
    }
    return merge(list_of(std::move(a), std::move(b)));
  };
  EXPECT_EQ(answer_of(0).ranks[0].comm_wait_ns, 300);
  EXPECT_EQ(answer_of(0).ranks[1].comm_wait_ns, 0);
  EXPECT_EQ(answer_of(21).ranks[0].comm_wait_ns, 300);  // 400 of 421: 95 %
  EXPECT_EQ(answer_of(22).ranks[0].comm_wait_ns.reason(), Reason::unmatched_ranks);
  EXPECT_EQ(answer_of(22).ranks[1].comm_wait_ns, 0);  // 100 of 102
}

TEST(Merge, SeveralHostsHaveNoLinksInCommon) {
  InputSummary a = rank_input(0, {5}), b = rank_input(1, {5});
  b.facts.host = "node1";
  add(a, {0, 100, 50});
  add(b, {0, 100, 50});
  const Answer answer = merge(list_of(std::move(a), std::move(b)));
  EXPECT_EQ(answer.collectives[0].theory_ns.reason(), Reason::no_links_known);
  EXPECT_EQ(answer.collectives[0].wait_ns, 0);
}

TEST(Merge, InputsWithoutRankAreJobsOfTheirOwn) {
  const auto unranked = [](std::int64_t number) {
    InputSummary input = rank_input(number, {5, 6});
    input.facts.rank.reset();
    add(input, {0, 100, 50});
    return input;
  };
  const Answer answer = merge(list_of(unranked(0), unranked(1)));
  EXPECT_EQ(answer.collectives[0].wait_ns.reason(), Reason::rank_unknown);
  ASSERT_EQ(answer.steps.size(), 4u);  // two of each
  EXPECT_EQ(answer.steps[1].job, 0);
  EXPECT_EQ(answer.steps[2].job, 1);
  EXPECT_EQ(answer.steps[2].ordinal, 0);
  EXPECT_EQ(answer.steps[2].num_gpus, 1);
  ASSERT_EQ(answer.ranks.size(), 2u);
  EXPECT_EQ(answer.ranks[0].compute_ratio.reason(), Reason::rank_unknown);
  EXPECT_EQ(answer.ranks[0].window_ns, 100);
  const Answer alone = merge(list_of(unranked(0)));
  EXPECT_EQ(alone.steps.size(), 2u);
  EXPECT_EQ(alone.ranks[0].compute_ratio.reason(), Reason::single_rank);
}

// Two ranks of a job of 2, two of a job of 8 whose steps take ten times as long, and one input without a rank.
std::vector<InputSummary> three_jobs() {
  std::vector<InputSummary> inputs;
  for (const auto& [path, rank, size, scale] :
       {std::tuple{"a0", 0, 2, 1}, std::tuple{"a1", 1, 2, 1}, std::tuple{"b4", 4, 8, 10}, std::tuple{"b5", 5, 8, 10},
        std::tuple{"c", -1, 0, 3}}) {
    InputSummary input = rank_input(std::max(0, rank), {5, 6, 7});
    input.path = std::string(path) + ".json";
    input.facts.file_bytes = static_cast<std::uint64_t>(inputs.size());
    input.facts.world_size = size;
    if (rank < 0) input.facts.rank.reset();
    GpuSummary& gpu = input.gpus.front();
    gpu.flops.assign(3, {scale * 1e9, scale * 1e9, 0});
    gpu.compute_by_operation[{Phase::forward, "mlp_up"}] = scale * (rank == 5 ? 1100 : 1000);
    for (WindowSummary& window : gpu.windows) {
      if (window.row.scope == "iteration") window.row.window_ns = scale * (100 + rank);
    }
    add(input, {0, 100, scale * (rank == 5 ? 20 : 50), "ar", "0", size == 8 ? 8 : 2});
    inputs.push_back(std::move(input));
  }
  return inputs;
}

std::vector<InputSummary> part_of_three_jobs(const std::vector<std::size_t>& wanted) {
  std::vector<InputSummary> all = three_jobs(), part;
  for (const std::size_t i : wanted) part.push_back(std::move(all[i]));
  return part;
}

TEST(Merge, JobsAreAnsweredAsIfEachWereReportedByItself) {
  const Answer together = merge(three_jobs());
  ASSERT_EQ(together.inputs.size(), 5u);
  EXPECT_EQ(together.inputs[1].job, 0);
  EXPECT_EQ(together.inputs[3].job, 1);
  EXPECT_EQ(together.inputs[4].job, 2);
  ASSERT_EQ(together.steps.size(), 9u);
  ASSERT_EQ(together.throughput.size(), 9u);
  const std::vector<std::vector<std::size_t>> parts = {{0, 1}, {2, 3}, {4}};
  std::size_t first_input = 0;
  for (std::size_t j = 0; j < parts.size(); j++) {
    const Answer alone = merge(part_of_three_jobs(parts[j]));
    ASSERT_EQ(alone.steps.size(), 3u);
    EXPECT_FALSE(alone.steps[0].job.applicable());
    EXPECT_FALSE(alone.inputs[0].job.applicable());
    EXPECT_EQ(alone.health_log.count(HealthKind::several_jobs), 0u);
    for (std::size_t k = 0; k < 3; k++) {
      const StepRow& step = together.steps[3 * j + k];
      EXPECT_EQ(step.job, static_cast<std::int64_t>(j));
      EXPECT_EQ(step.ordinal, static_cast<std::int64_t>(k));
      EXPECT_EQ(step.num_gpus, alone.steps[k].num_gpus);
      EXPECT_EQ(step.step_ns, alone.steps[k].step_ns);
      EXPECT_EQ(step.shortest_ns, alone.steps[k].shortest_ns);
      EXPECT_EQ(step.complete, alone.steps[k].complete);
      const ThroughputRow& row = together.throughput[3 * j + k];
      EXPECT_EQ(row.job, static_cast<std::int64_t>(j));
      EXPECT_FALSE(alone.throughput[k].job.applicable());
      EXPECT_EQ(row.convention, alone.throughput[k].convention);
      EXPECT_EQ(row.step_time_ns, alone.throughput[k].step_time_ns.value());
      if (row.convention != "shapes") continue;
      EXPECT_EQ(row.flops_per_step, alone.throughput[k].flops_per_step.value());
      EXPECT_EQ(row.mfu, alone.throughput[k].mfu.value());
    }
    for (std::size_t i = 0; i < alone.ranks.size(); i++) {
      const RankRow& row = together.ranks[first_input + i];
      EXPECT_EQ(row.compute_ratio.present(), alone.ranks[i].compute_ratio.present());
      EXPECT_EQ(row.compute_ratio.value(), alone.ranks[i].compute_ratio.value());
      EXPECT_EQ(row.comm_wait_ns.value(), alone.ranks[i].comm_wait_ns.value());
      EXPECT_EQ(together.collectives[first_input + i].transfer_ns.value(), alone.collectives[i].transfer_ns.value());
    }
    first_input += alone.inputs.size();
  }
  EXPECT_EQ(together.ranks[4].compute_ratio.reason(), Reason::rank_unknown);
}

TEST(Merge, WhatTellsJobsApartIsANote) {
  const Answer answer = merge(three_jobs());
  EXPECT_FALSE(answer.lost_something);
  const HealthEntry& jobs = answer.health_log.entry(HealthKind::several_jobs);
  EXPECT_EQ(jobs.count, 3u);
  ASSERT_EQ(jobs.examples.size(), 3u);
  EXPECT_EQ(jobs.examples[1].where, "b4.json");
  EXPECT_EQ(jobs.examples[0].what, "job 0: 2 ranks of 2");
  EXPECT_EQ(jobs.examples[1].what, "job 1: 2 ranks of 8");
  EXPECT_EQ(jobs.examples[2].what, "job 2: no rank");
  const HealthEntry& missing = answer.health_log.entry(HealthKind::rank_missing);
  EXPECT_EQ(missing.count, 6u);
  ASSERT_EQ(missing.examples.size(), 1u);
  EXPECT_EQ(missing.examples[0].where, "b4.json");
  EXPECT_EQ(missing.examples[0].what, "ranks 0, 1, 2, 3, 6, 7 of 8");
  ASSERT_EQ(answer.jobs.size(), 3u);
  EXPECT_EQ(answer.jobs[1].world_size, 8);
  EXPECT_EQ(answer.jobs[1].num_gpus, 2u);
}

// Also of different world sizes: which of the files is that rank?
TEST(Merge, ARankTwiceIsAConflictUnlessOneContinuesTheOther) {
  constexpr std::int64_t kSecondNs = 1'000'000'000;
  const auto twice = [](std::int64_t other_size, std::int64_t other_start, const char* other_gpu = "") {
    std::vector<InputSummary> inputs = part_of_three_jobs({0, 1});
    for (InputSummary& input : inputs) {
      input.has_times = true;
      input.facts.rank = 0;
      input.facts.clock = ClockDomain::unix_time;
      input.last_ns = kSecondNs;
      input.gpus.front().name = "AMD Instinct MI300X";
    }
    inputs[1].facts.world_size = other_size;
    inputs[1].first_ns = other_start;
    inputs[1].last_ns = other_start + kSecondNs;
    if (*other_gpu != 0) inputs[1].gpus.front().name = other_gpu;
    inputs[1].gpus.front().device = inputs[0].gpus.front().device;
    const Result<Answer> answer = merge_summaries(std::move(inputs), {}, {});
    if (!answer.ok()) {
      EXPECT_EQ(answer.error().code, ErrorCode::conflict);
    }
    return answer.ok();
  };
  EXPECT_TRUE(twice(2, 2 * kSecondNs));
  EXPECT_FALSE(twice(2, kSecondNs / 2));
  EXPECT_FALSE(twice(8, 2 * kSecondNs));
  EXPECT_FALSE(twice(2, 2 * kSecondNs, "Tesla V100-SXM2-32GB"));
  EXPECT_TRUE(twice(2, 4000 * kSecondNs));
}

TEST(Merge, ASelectionOfOneJobIsAnsweredOfThatJob) {
  RunOptions options;
  options.only_rank = 5;
  const Answer answer = merge(three_jobs(), options);
  ASSERT_EQ(answer.steps.size(), 3u);
  EXPECT_EQ(answer.steps[0].job, 1);
  EXPECT_EQ(answer.steps[0].step_ns, 1050);
  ASSERT_EQ(answer.throughput.size(), 3u);
  EXPECT_EQ(answer.throughput[0].job, 1);
  EXPECT_EQ(answer.throughput[0].step_time_ns, 1050);
  EXPECT_FALSE(answer.jobs[0].selected);
  EXPECT_TRUE(answer.jobs[1].selected);
  options.only_rank = 0;
  EXPECT_EQ(merge(three_jobs(), options).steps.size(), 3u);
}

TEST(Merge, StragglersComputeLongerAndWaitLess) {
  const auto job = [] {
    std::vector<InputSummary> inputs;
    for (std::int64_t rank = 0; rank < 4; rank++) {
      InputSummary input = rank_input(rank, {5, 6, 7});
      const bool slow = rank == 2;
      GpuSummary& gpu = input.gpus.front();
      gpu.compute_by_operation[{Phase::forward, "mlp_up"}] = slow ? 3300 : 3000;
      if (rank == 3) gpu.compute_by_operation[{Phase::forward, "lp"}] = 1000;  // a last stage: compared with itself
      for (std::int32_t k = 0; k < 3; k++) add(input, {k, 100 + k, slow ? 10 : 60, "ar", "0", 4});
      inputs.push_back(std::move(input));
    }
    return inputs;
  };
  const Answer answer = merge(job());
  ASSERT_EQ(answer.ranks.size(), 4u);
  EXPECT_EQ(answer.ranks[2].compute_ratio, 1.1);
  EXPECT_EQ(answer.ranks[2].hint, "straggler");
  EXPECT_EQ(answer.ranks[3].compute_ratio, 1.0);
  EXPECT_EQ(answer.ranks[3].comm_wait_ns, 50);
  EXPECT_EQ(answer.ranks[3].num_windows, 2);
  EXPECT_FALSE(answer.ranks[3].hint.applicable());
  // A selection leaves rows out; what they are compared with stays.
  RunOptions only;
  only.only_rank = 2;
  const Answer selected = merge(job(), only);
  ASSERT_EQ(selected.ranks.size(), 1u);
  EXPECT_EQ(selected.ranks[0].compute_ratio, 1.1);
  EXPECT_EQ(selected.collectives.size(), 3u);
  EXPECT_EQ(selected.collectives[0].transfer_ns, 10);
  EXPECT_EQ(selected.steps.size(), 3u);
  EXPECT_EQ(selected.steps[0].num_gpus, 4);
}

// Each is compared with the others: of two, the straggler's own wait would be the (lower) median.
TEST(Merge, OfTwoGpusEitherCanBeTheStraggler) {
  const auto hints = [](const std::vector<std::int64_t>& compute, const std::vector<std::int64_t>& durations) {
    std::vector<InputSummary> inputs;
    for (std::size_t rank = 0; rank < compute.size(); rank++) {
      InputSummary& input = inputs.emplace_back(rank_input(static_cast<std::int64_t>(rank), {5, 6}));
      input.gpus.front().compute_by_operation[{Phase::forward, "mlp_up"}] = compute[rank];
      add(input, {0, 100, durations[rank], "ar", "0", static_cast<std::int64_t>(compute.size())});
    }
    std::vector<std::string> found;
    for (const RankRow& row : merge(std::move(inputs)).ranks)
      found.push_back(row.hint.present() ? row.hint.value() : "");
    return found;
  };
  using Texts = std::vector<std::string>;
  EXPECT_EQ(hints({1000, 1300}, {80, 50}), (Texts{"waits", "straggler"}));
  EXPECT_EQ(hints({1300, 1000}, {50, 80}), (Texts{"straggler", "waits"}));
  EXPECT_EQ(hints({1000, 1300}, {50, 50}), (Texts{"", ""}));  // nobody waits
  EXPECT_EQ(hints({1000, 1000, 1300}, {90, 80, 50}), (Texts{"", "", "straggler"}));
  EXPECT_EQ(hints({1300, 1000, 1000}, {70, 50, 80}), (Texts{"", "", ""}));  // others wait 0 and 30, itself 20
}

// Its steps, its FLOPs and its peak are those of the same gpus, whatever is shown of them.
TEST(Merge, ThroughputIsThatOfTheJob) {
  const auto job = [](const char* other_gpu, bool with_stranger) {
    std::vector<InputSummary> inputs = list_of(rank_input(0, {5, 6}), rank_input(1, {5, 6}));
    inputs[0].gpus[0].flops.assign(2, {.total = 2e6});
    inputs[1].gpus[0].flops.assign(2, {.total = 4e6});
    inputs[1].gpus[0].name = other_gpu;
    if (!with_stranger) return inputs;
    inputs.push_back(rank_input(2, {5, 6}));
    inputs.back().facts.rank.reset();
    inputs.back().facts.world_size.reset();
    inputs.back().gpus[0].flops.assign(2, {.total = 5e7});
    return inputs;
  };
  const auto shapes_of = [](const Answer& answer) {
    EXPECT_GE(answer.throughput.size(), 3u);
    return answer.throughput.at(2);  // of the first job
  };
  RunOptions only_rank, only_gpu;
  only_rank.only_rank = 0;
  only_gpu.only_gpu = 1;
  const char* gpu = "AMD Instinct MI300X";
  const ThroughputRow all = shapes_of(merge(job(gpu, false)));
  EXPECT_EQ(all.flops_per_step, 6e6);
  ASSERT_TRUE(all.mfu.present());
  EXPECT_DOUBLE_EQ(all.mfu.value(), 6e6 * 1e-3 / (100 * all.peak_tflops.value() * 2));
  for (const RunOptions& options : {only_rank, only_gpu}) {
    const ThroughputRow selected = shapes_of(merge(job(gpu, false), options));
    EXPECT_EQ(selected.flops_per_step, 6e6);
    EXPECT_EQ(selected.mfu, all.mfu.value());
    // The peak that the shown gpu has is not that of the job.
    EXPECT_EQ(shapes_of(merge(job("NVIDIA H100 80GB HBM3", false), options)).peak_tflops.reason(), Reason::no_peak);
  }
  // A file without a rank, beside others with one, is no part of the job.
  EXPECT_EQ(shapes_of(merge(job(gpu, true))).flops_per_step, 6e6);
  EXPECT_EQ(shapes_of(merge(job(gpu, true))).mfu, all.mfu.value());
}

// Iterations meet by their number: 6 and 7 are complete on both ranks, 8 is the last of one of them.
TEST(Merge, FlopsAreOfTheStepsThatTheTimeIsOf) {
  const auto shapes_of = [](std::optional<NumberRange> iterations) {
    InputSummary a = rank_input(0, {5, 6, 7, 8}), b = rank_input(1, {6, 7, 8, 9});
    a.gpus[0].flops = {{.total = 1e6}, {.total = 2e6}, {.total = 4e6}, {.total = 8e6}};
    b.gpus[0].flops = {{.total = 16e6}, {.total = 32e6}, {.total = 64e6}, {.total = 128e6}};
    a.gpus[0].windows[3].row.window_ns = 400;
    for (std::int64_t k = 0; k < 4; k++) a.gpus[0].operations[{Phase::forward, "mlp_up", k}].num_kernels = 1;
    RunOptions options;
    options.selection.iterations = iterations;
    return merge(list_of(std::move(a), std::move(b)), options).throughput.at(2);
  };
  const ThroughputRow all = shapes_of({});
  const double peak = all.peak_tflops.value();
  EXPECT_EQ(all.num_steps, 2);
  EXPECT_EQ(all.step_time_ns, 100);
  EXPECT_EQ(all.flops_per_step, (2e6 + 16e6 + 4e6 + 32e6) / 2);
  EXPECT_DOUBLE_EQ(all.mfu.value(), (2e6 + 16e6 + 4e6 + 32e6) * 1e-3 / ((100 + 400) * peak * 2));
  const ThroughputRow second = shapes_of(NumberRange{7, 7});
  EXPECT_EQ(second.flops_per_step, 4e6 + 32e6);
  EXPECT_DOUBLE_EQ(second.mfu.value(), (4e6 + 32e6) * 1e-3 / (400 * peak * 2));
  // No step time: FLOPs of the complete steps, of those that are there.
  const ThroughputRow last = shapes_of(NumberRange{8, 9});
  EXPECT_EQ(last.step_time_ns.reason(), Reason::no_complete_iteration);
  EXPECT_EQ(last.mfu.reason(), Reason::no_complete_iteration);
  EXPECT_EQ(last.flops_per_step, 8e6 + 64e6);
}

TEST(Merge, ConsecutiveFilesOfARankAreOneGpu) {
  InputSummary early = rank_input(0, {kNoNumber}), late = rank_input(0, {kNoNumber}),
               other = rank_input(1, {kNoNumber, kNoNumber});
  early.path = "early.json";
  late.path = "late.json";
  for (InputSummary* input : {&early, &late}) {
    input->has_times = true;
    input->facts.clock = ClockDomain::unix_time;
    input->facts.file_bytes = input == &early ? 1 : 2;
  }
  early.first_ns = 0;
  early.last_ns = 100;
  late.first_ns = 200;
  late.last_ns = 300;
  add(early, {0, 10, 50});
  add(late, {0, 210, 30});
  add(other, {0, 10, 40});
  add(other, {1, 210, 40});
  const Answer answer = merge(list_of(std::move(early), std::move(late), std::move(other)));
  ASSERT_EQ(answer.steps.size(), 2u);
  EXPECT_EQ(answer.steps[1].num_gpus, 2);
  EXPECT_TRUE(answer.steps[1].complete);
  EXPECT_EQ(answer.collectives[0].wait_ns, 10);
  EXPECT_EQ(answer.collectives[1].wait_ns, 0);
  EXPECT_EQ(answer.collectives[3].wait_ns, 10);
}

TEST(Merge, ASelectionLeavesOutRowsAndKeepsTheTrace) {
  const auto input = [] {
    InputSummary made = rank_input(0, {5, 6, 7});
    GpuSummary& gpu = made.gpus.front();
    gpu.timeline.span_ns = 1000;
    const auto add_operation = [&](Phase phase, const char* name, std::int64_t ordinal, std::int64_t layer) {
      OperationSummary& sum = gpu.operations[{phase, name, ordinal, layer}];
      sum.num_kernels = 1;
      sum.duration_ns = sum.class_ns[0] = 10;
      sum.instances.add(10);
    };
    for (std::int64_t ordinal = kHeadIteration; ordinal < 3; ordinal++) {
      add_operation(Phase::forward, "mlp_up", ordinal, 0);
      add_operation(Phase::forward, "mlp_up", ordinal, 1);
      add_operation(Phase::backward, "mlp_up", ordinal, 1);
      add_operation(Phase::forward, "lp", ordinal, kOutsideLayers);
    }
    for (std::int32_t k = 0; k < 3; k++) add(made, {k, 100 + k, 10});
    made.memory.push_back({.device = 0, .ordinal = -1});
    made.memory.push_back({.device = 0, .ordinal = 0, .number = 5});
    return made;
  };
  RunOptions options;
  options.selection.iterations = NumberRange{6, 9};
  options.selection.layers = NumberRange{0, 3};
  const Answer answer = merge(list_of(input()), options);
  ASSERT_EQ(answer.operations.size(), 2u);
  EXPECT_EQ(answer.operations[0].phase, "backward");
  EXPECT_EQ(answer.operations[0].num_kernels, 2);
  EXPECT_EQ(answer.operations[1].num_kernels, 4);
  EXPECT_EQ(answer.operations[1].duration_ns, 40);
  EXPECT_EQ(answer.operations[1].num_instances, 4);
  EXPECT_FALSE(answer.operations[1].layer.applicable());
  EXPECT_EQ(answer.windows.size(), 2u);
  ASSERT_EQ(answer.steps.size(), 2u);
  EXPECT_EQ(answer.steps[0].ordinal, 1);
  EXPECT_EQ(answer.ranks[0].num_windows, 1);
  EXPECT_EQ(answer.memory.size(), 1u);
  EXPECT_EQ(answer.timeline.front().span_ns, 1000);
  EXPECT_TRUE(answer.collectives.empty());  // in no layer
  options.grain_layer = true;
  EXPECT_EQ(merge(list_of(input()), options).operations.size(), 3u);
  options.selection.phases = {Phase::optimizer};
  EXPECT_FALSE(merge_summaries(list_of(input()), {}, options).ok());
}

// The gap in front of the first kernel of an iteration lies in the window before, and is lost there.
TEST(Merge, GapsOfSelectedIterationsAreThoseInTheirWindows) {
  InputSummary input = rank_input(0, {5, 6, 7});
  GpuSummary& gpu = input.gpus.front();
  const auto add_operation = [&](const char* name, std::int64_t ordinal, bool in_steps, std::int64_t num_kernels,
                                 std::int64_t gap_ns) {
    OperationSummary& sum = gpu.operations[{Phase::forward, name, ordinal, kNotGrouped, in_steps}];
    sum.num_kernels = num_kernels;
    sum.prep_idle_ns = gap_ns;
  };
  add_operation("mlp_up", 0, true, 1, 10);
  add_operation("lp", 0, true, 1, 20);
  add_operation("mlp_up", 1, true, 0, 40);  // in front of iteration 6, in the window of 5
  add_operation("mlp_up", 1, false, 1, 80);
  RunOptions options;
  options.selection.iterations = NumberRange{5, 5};
  const Answer answer = merge(list_of(std::move(input)), options);
  ASSERT_EQ(answer.step_operations.size(), 2u);
  EXPECT_EQ(answer.step_operations[0].operation, "lp");
  EXPECT_EQ(answer.step_operations[1].prep_idle_ns, 10 + 40);
  EXPECT_EQ(answer.step_operations[1].num_kernels, 1);
  ASSERT_EQ(answer.operations.size(), 2u);  // of the work launched in it
  EXPECT_EQ(answer.operations[1].prep_idle_ns, 10);
}

TEST(GroupDimension, ByWordsKindAndLayout) {
  const Result<GroupDimensionRules> rules = embedded_group_dimension_rules();
  ASSERT_TRUE(rules.ok());
  const auto dimension = [&](const RunFacts& facts, const GroupTexts& group) {
    return group_dimension(rules.value(), facts, 16, group);
  };
  RunFacts facts;
  EXPECT_EQ(dimension(facts, {"7", "mesh_tp", "[0, 1]", "ar", 2}), "tensor");
  EXPECT_EQ(dimension(facts, {"tp_group", "", "[0, 1]", "ar", 2}), "tensor");
  EXPECT_EQ(dimension(facts, {"7", "default_pg", "[0, 1]", "p2p", 2}), "pipeline");
  EXPECT_EQ(dimension(facts, {"7", "default_pg", "[0, 1]", "ar", 2}), "");
  facts.tensor_parallel = 2;
  facts.pipeline_parallel = 2;
  facts.context_parallel = 2;  // data: 16 / 8 = 2
  EXPECT_EQ(dimension(facts, {"7", "", "[4, 5]", "ar", 2}), "tensor");
  EXPECT_EQ(dimension(facts, {"7", "", "[4, 6]", "ar", 2}), "context");
  EXPECT_EQ(dimension(facts, {"7", "", "[0, 4]", "ar", 2}), "data");
  EXPECT_EQ(dimension(facts, {"7", "", "[0, 8]", "ar", 2}), "pipeline");
  EXPECT_EQ(dimension(facts, {"7", "", "[0, 2, 4, 6]", "ag", 4}), "data");
  EXPECT_EQ(dimension(facts, {"7", "", "", "ar", 2}), "");
  EXPECT_EQ(dimension(facts, {"0", "", "[0, 1, ..., 15]", "ar", 16}), "");
  EXPECT_EQ(ranks_of_text("[0, 4, 8]"), (std::vector<std::int64_t>{0, 4, 8}));
  EXPECT_EQ(ranks_of_text("[0, 1, ..., 63]"), (std::vector<std::int64_t>{0, 1}));
  EXPECT_TRUE(ranks_of_text("").empty());
}

}  // namespace
}  // namespace chopper
