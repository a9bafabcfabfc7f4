// SPDX-License-Identifier: Apache-2.0
// What the text answer calls a step, and where it says time is lost.
#include "report/losses.h"

#include <gtest/gtest.h>

#include "report/time_basis.h"

namespace chopper {
namespace {

// One gpu with a step of 100 ns: 60 computation, 20 exposed communication, 5 copies, 10 and 3 launching, 2 other idle.
TimelineRow window(std::int64_t rank, std::int64_t ordinal, std::int64_t length, bool complete, bool last) {
  TimelineRow row;
  row.input = rank;
  row.rank = rank;
  row.gpu = std::int64_t{0};
  row.scope = "iteration";
  row.ordinal = ordinal;
  row.iteration = 10 + ordinal;
  row.window_ns = length;
  row.window_compute_ns = length * 60 / 100;
  row.window_comm_ns = length * 30 / 100;
  row.window_overlap_ns = length * 10 / 100;
  row.window_exposed_comm_ns = length * 20 / 100;
  row.window_memcpy_ns = row.window_exposed_memcpy_ns = length * 5 / 100;
  row.window_idle_ns = length * 15 / 100;
  row.window_prep_idle_ns = length * 10 / 100;
  row.window_call_idle_ns = length * 3 / 100;
  row.complete = complete;
  row.last = last;
  return row;
}

Answer answer_of(std::int64_t num_ranks) {
  Answer answer;
  for (std::int64_t rank = 0; rank < num_ranks; rank++) {
    TimelineRow trace;
    trace.input = rank;
    trace.rank = rank;
    trace.gpu = std::int64_t{0};
    trace.span_ns = 5000;
    answer.timeline.push_back(trace);
    CoverageRow coverage;
    coverage.input = rank;
    coverage.iteration_rule = "profiler_step";
    answer.coverage.push_back(coverage);
  }
  return answer;
}

const Loss* loss_called(const std::vector<Loss>& losses, std::string_view title) {
  for (const Loss& loss : losses) {
    if (loss.title == title) return &loss;
  }
  return nullptr;
}

TEST(TimeBasis, TakesCompleteStepsButTheLast) {
  Answer answer = answer_of(1);
  answer.windows = {window(0, 0, 1000, false, false), window(0, 1, 2000, true, false), window(0, 2, 4000, true, false),
                    window(0, 3, 9000, true, true)};
  const TimeBasis basis = time_basis(answer);
  ASSERT_TRUE(basis.steps);
  EXPECT_FALSE(basis.with_last);
  ASSERT_EQ(basis.gpus.size(), 1u);
  EXPECT_EQ(basis.gpus[0].num_steps, 2u);
  EXPECT_DOUBLE_EQ(basis.mean.span_ns, 3000);
  EXPECT_DOUBLE_EQ(basis.mean.part(TimePart::computation), 1800);
  EXPECT_DOUBLE_EQ(basis.mean.part(TimePart::other_idle), 60);
  EXPECT_DOUBLE_EQ(basis.gpus[0].comm_ns, 900);
  EXPECT_DOUBLE_EQ(basis.num_parts, 2);
  EXPECT_EQ(basis.gpus[0].ordinals, (std::vector<std::int64_t>{1, 2}));
}

TEST(TimeBasis, TakesWhatThereIs) {
  Answer answer = answer_of(1);
  answer.windows = {window(0, 0, 1000, false, false), window(0, 1, 9000, true, true)};
  EXPECT_DOUBLE_EQ(time_basis(answer).mean.span_ns, 1000);
  answer.windows = {window(0, 0, 9000, true, true)};
  EXPECT_DOUBLE_EQ(time_basis(answer).mean.span_ns, 9000);
  EXPECT_TRUE(time_basis(answer).with_last);
  answer.coverage[0].iteration_rule = "none";  // one iteration for want of marks: the trace itself
  EXPECT_FALSE(time_basis(answer).steps);
  EXPECT_DOUBLE_EQ(time_basis(answer).mean.span_ns, 5000);
}

TEST(Losses, SplitExposedCommunicationByKindAndWaiting) {
  Answer answer = answer_of(1);
  answer.windows = {window(0, 0, 1000, true, false)};  // 200 ns exposed
  CollectiveRow gather;
  gather.gpu = std::int64_t{0};
  gather.ordinal = std::int64_t{0};
  gather.kind = "ag";
  gather.duration_ns = 100;
  gather.exposed_ns = 100;
  gather.transfer_ns = std::int64_t{40};
  gather.wait_ns = std::int64_t{60};
  CollectiveRow reduce;
  reduce.gpu = std::int64_t{0};
  reduce.ordinal = std::int64_t{0};
  reduce.kind = "rs";
  reduce.duration_ns = 300;
  reduce.exposed_ns = 300;        // without another rank nothing is known of waiting
  CollectiveRow before = gather;  // launched before the first step, and in one that no step time is a mean of
  before.ordinal = Field<std::int64_t>(Reason::no_mark);
  CollectiveRow last = gather;
  last.ordinal = std::int64_t{1};
  answer.collectives = {gather, reduce, before, last};
  const std::vector<Loss> losses = find_losses(answer, time_basis(answer));
  ASSERT_NE(loss_called(losses, "exposed reduce-scatter"), nullptr);
  EXPECT_DOUBLE_EQ(loss_called(losses, "exposed reduce-scatter")->at_stake_ns, 200.0 * 300 / 400);
  EXPECT_DOUBLE_EQ(loss_called(losses, "exposed all-gather")->at_stake_ns, 200.0 * 40 / 400);
  EXPECT_DOUBLE_EQ(loss_called(losses, "waiting for late ranks")->at_stake_ns, 200.0 * 60 / 400);
  for (std::size_t i = 1; i < losses.size(); i++) EXPECT_GE(losses[i - 1].at_stake_ns, losses[i].at_stake_ns);
}

TEST(Losses, NameWhatTheHostDidAndWhatItLaunchedLate) {
  Answer answer = answer_of(1);
  answer.windows = {window(0, 0, 1000, true, false)};
  OperationRow norm;
  norm.gpu = std::int64_t{0};
  norm.phase = "forward";
  norm.operation = "attn_n";
  norm.gpu_class = "vector";
  norm.duration_ns = 100;
  norm.prep_idle_ns = 90;
  norm.call_idle_ns = 1;
  OperationRow product = norm;
  product.operation = "mlp_gp";
  product.prep_idle_ns = 10;
  product.call_idle_ns = 9;
  answer.step_operations = {norm, product};
  std::vector<Loss> losses = find_losses(answer, time_basis(answer));
  EXPECT_EQ(loss_called(losses, "kernels launched late")->advice, "90 % before forward attn_n");
  EXPECT_EQ(loss_called(losses, "launch to start")->advice, "90 % before forward mlp_gp");
  HostBlockerRow blocker;
  blocker.gpu = std::int64_t{0};
  blocker.kind = "data_loading";
  blocker.idle_ns = 500;  // most of it in front of the first step
  blocker.step_idle_ns = 50;
  answer.host_blockers = {blocker};
  losses = find_losses(answer, time_basis(answer));
  EXPECT_EQ(loss_called(losses, "kernels launched late")->advice, "50 % during data loading");
}

TEST(Losses, CountWhatIsBelowThePeakPerStepAndGpu) {
  Answer answer = answer_of(2);
  for (const std::int64_t rank : {0, 1}) {
    answer.windows.push_back(window(rank, 0, 1000, true, false));
    answer.windows.push_back(window(rank, 1, 1000, true, true));
    OperationRow product;
    product.input = rank;
    product.gpu = std::int64_t{0};
    product.phase = "backward";
    product.operation = "mlp_up";
    product.gpu_class = "gemm";
    product.duration_ns = 800;
    product.flops = 1.6e6;
    product.tflops = 2.0;
    product.gbps = 1.0;
    product.peak_share = 0.25;
    product.bound = std::string("compute");
    answer.step_operations.push_back(product);
  }
  const std::vector<Loss> losses = find_losses(answer, time_basis(answer));
  const Loss* loss = loss_called(losses, "compute-bound below peak");
  ASSERT_NE(loss, nullptr);
  EXPECT_DOUBLE_EQ(loss->at_stake_ns, 2 * 800 * 0.75 / 2);  // two gpus, a step each
  EXPECT_EQ(loss->advice, "25 %, most in backward mlp_up");
  const std::vector<OperationTotal> totals = operation_totals(answer, time_basis(answer));
  ASSERT_EQ(totals.size(), 1u);
  EXPECT_EQ(rate_text(totals[0]), "2 TF/s 25 %");
}

CollectiveRow collective(std::string kind, std::int64_t exposed_ns) {
  CollectiveRow row;
  row.gpu = std::int64_t{0};
  row.ordinal = std::int64_t{0};
  row.kind = std::move(kind);
  row.duration_ns = row.exposed_ns = exposed_ns;
  row.transfer_ns = exposed_ns;
  row.wait_ns = std::int64_t{0};
  return row;
}

TEST(Losses, SayWhereWaitsAreNotToldApart) {
  Answer answer = answer_of(1);
  answer.windows = {window(0, 0, 1000, true, false)};
  answer.collectives = {collective("a2a", 100)};
  const auto advice = [&] { return find_losses(answer, time_basis(answer))[0].advice; };
  EXPECT_EQ(find_losses(answer, time_basis(answer))[0].title, "exposed all-to-all");
  EXPECT_EQ(advice(), "overlap it with computation");
  answer.health_log.add(HealthKind::rank_missing, "", "rank 1");
  EXPECT_EQ(advice(), "with waits for missing ranks");
  answer.collectives[0].wait_ns = answer.collectives[0].transfer_ns = Reason::single_rank;
  EXPECT_EQ(advice(), "with waits: no rank to compare");
  answer.collectives[0].wait_ns = answer.collectives[0].transfer_ns = Reason::no_group;
  EXPECT_EQ(advice(), "with waits: group not recorded");
  answer.collectives[0].wait_ns = answer.collectives[0].transfer_ns = Reason::unmatched_ranks;
  EXPECT_EQ(advice(), "with waits: ranks do not match");
  // Of several reasons that of most time.
  answer.collectives.push_back(collective("a2a", 30));
  answer.collectives.back().wait_ns = answer.collectives.back().transfer_ns = Reason::single_rank;
  EXPECT_EQ(advice(), "with waits: ranks do not match");
  answer.collectives.back().exposed_ns = 101;
  EXPECT_EQ(advice(), "with waits: no rank to compare");
}

TEST(Losses, TellBubblesFromLateRanks) {
  Answer answer = answer_of(3);
  for (const std::int64_t rank : {0, 1, 2}) {
    answer.windows.push_back(window(rank, 0, 1000, true, false));
    RankRow row;
    row.input = rank;
    row.rank = rank;
    row.gpu = std::int64_t{0};
    row.comm_wait_ns = std::int64_t{rank == 1 ? 40 : 100};
    answer.ranks.push_back(row);
  }
  CollectiveRow send = collective("p2p", 100);
  send.transfer_ns = std::int64_t{20};
  send.wait_ns = std::int64_t{80};
  CollectiveRow reduce = send;
  reduce.kind = "ar";
  send.dimension = std::string("pipeline");
  answer.collectives = {send, reduce};  // 200 ns exposed, half by each
  std::vector<Loss> losses = find_losses(answer, time_basis(answer));
  EXPECT_DOUBLE_EQ(loss_called(losses, "bubbles of the pipeline")->at_stake_ns, 80);
  EXPECT_DOUBLE_EQ(loss_called(losses, "waiting for late ranks")->at_stake_ns, 80);
  EXPECT_EQ(loss_called(losses, "waiting for late ranks")->advice, "rank 1 waits least");
  EXPECT_EQ(loss_called(losses, "waiting for late ranks")->command, "--rank 1");
  answer.ranks[1].comm_wait_ns = std::int64_t{60};  // no gpu stands out
  losses = find_losses(answer, time_basis(answer));
  EXPECT_EQ(loss_called(losses, "waiting for late ranks")->command, "");
}

TEST(Losses, SayHowMuchWorkIsKnown) {
  Answer answer = answer_of(1);
  answer.windows = {window(0, 0, 1000, true, false)};
  OperationRow product;
  product.gpu = std::int64_t{0};
  product.operation = "mlp_up";
  product.gpu_class = "gemm";
  product.duration_ns = 300;
  product.flops = 6e5;
  product.tflops = 2.0;
  product.peak_share = 0.5;
  product.bound = std::string("compute");
  OperationRow fused = product;
  fused.operation = "fused";
  fused.duration_ns = 100;
  fused.flops = fused.tflops = fused.peak_share = Reason::no_shapes;
  fused.bound = Reason::no_shapes;
  answer.step_operations = {product, fused};
  EXPECT_EQ(known_work_note(answer, time_basis(answer)),
            "work is known of 75 % of computation: what the rest is below peak is not told");
  answer.step_operations[1].duration_ns = 10;
  EXPECT_EQ(known_work_note(answer, time_basis(answer)), "");
  answer.step_operations[1].duration_ns = 100;
  GpuRow gpu;
  gpu.name = std::string("Old One");
  gpu.spec = Reason::unknown_gpu;
  gpu.input = answer.timeline.front().input;
  gpu.gpu = answer.timeline.front().gpu;
  answer.gpus = {gpu};
  EXPECT_EQ(known_work_note(answer, time_basis(answer)),
            "peaks of Old One are not known: what is below them is not told");
}

TEST(Losses, OfAPartOfTheWork) {
  Answer answer = answer_of(1);
  answer.windows = {window(0, 0, 1000, true, false)};  // 200 ns exposed
  answer.selection.operations = {"rs"};
  CollectiveRow reduce;
  reduce.gpu = std::int64_t{0};
  reduce.ordinal = std::int64_t{0};
  reduce.kind = "rs";
  reduce.duration_ns = reduce.exposed_ns = 50;
  answer.collectives = {reduce};
  std::vector<Loss> losses = find_losses(answer, time_basis(answer));
  ASSERT_EQ(losses.size(), 1u);  // copies and idle time are not of the selection
  EXPECT_DOUBLE_EQ(losses[0].at_stake_ns, 50);
  EXPECT_FALSE(losses[0].part);
  answer.selection = {};
  losses = find_losses(answer, time_basis(answer));
  EXPECT_DOUBLE_EQ(loss_called(losses, "exposed reduce-scatter")->at_stake_ns, 200);
  EXPECT_EQ(loss_called(losses, "exposed reduce-scatter")->part, TimePart::exposed_comm);
}

TEST(Losses, RatesNeedHalfOfTheTime) {
  OperationTotal total;
  total.bound = "memory";
  total.duration_ns = 100;
  total.known_ns = 60;
  total.least_ns = 30;
  total.bytes = 6000;
  EXPECT_EQ(rate_text(total), "100 GB/s 50 %");
  total.least_ns = 90;
  EXPECT_EQ(rate_text(total), "100 GB/s >100 %");
  total.known_ns = 49;
  EXPECT_EQ(rate_text(total), "");
}

TEST(Losses, NameTheSlowGpu) {
  Answer answer = answer_of(2);
  for (const std::int64_t rank : {0, 1}) {
    answer.windows.push_back(window(rank, 0, 1000, true, false));
    RankRow row;
    row.input = rank;
    row.rank = rank;
    row.gpu = std::int64_t{0};
    row.window_compute_ns = std::int64_t{600};
    row.compute_ratio = rank == 1 ? 1.25 : 1.0;
    if (rank == 1) row.hint = std::string("straggler");
    answer.ranks.push_back(row);
  }
  const std::vector<Loss> losses = find_losses(answer, time_basis(answer));
  const Loss* loss = loss_called(losses, "rank 1 slower, 1.25 x");
  ASSERT_NE(loss, nullptr);
  EXPECT_DOUBLE_EQ(loss->at_stake_ns, 600 * (1 - 1 / 1.25));
  EXPECT_EQ(loss->command, "--rank 1");
}

// Two ranks of each of two jobs, that of job 1 ten times as long. Rank 1 of each computes longer.
Answer two_jobs() {
  Answer answer = answer_of(4);
  answer.jobs = {{true, 2, 2}, {true, 4, 2}};
  for (std::int64_t i = 0; i < 4; i++) {
    const std::int64_t job = i / 2, rank = i % 2, scale = job == 0 ? 1 : 10;
    const auto at = static_cast<std::size_t>(i);
    TimelineRow step = window(rank, 0, 1000 * scale, true, false);
    step.input = i;
    step.job = answer.timeline[at].job = job;
    answer.timeline[at].rank = step.rank = rank;
    answer.windows.push_back(step);
    RankRow row;
    row.input = i;
    row.job = job;
    row.rank = rank;
    row.gpu = std::int64_t{0};
    row.window_compute_ns = 600 * scale;
    row.compute_ratio = rank == 1 ? 1.2 : 1.0;
    row.comm_wait_ns = (rank == 1 ? 2 : 60) * scale;
    if (rank == 1) row.hint = std::string("straggler");
    answer.ranks.push_back(row);
    CollectiveRow reduce = collective("ar", 100 * scale);
    reduce.input = i;
    reduce.transfer_ns = 40 * scale;
    reduce.wait_ns = 60 * scale;
    answer.collectives.push_back(reduce);
  }
  return answer;
}

TEST(Losses, NothingIsComparedAcrossJobs) {
  Answer answer = two_jobs();
  const auto losses = [&] { return find_losses(answer, time_basis(answer)); };
  const auto advice = [&] { return loss_called(losses(), "waiting for late ranks")->advice; };
  EXPECT_EQ(loss_called(losses(), "rank 1 slower, 1.20 x"), nullptr);  // of which job, and of which step?
  EXPECT_EQ(advice(), "uneven work, hosts launching late");
  for (RankRow& row : answer.ranks) row.hint = {};
  EXPECT_EQ(advice(), "uneven work, hosts launching late");  // 2 ns of job 0 are no less than 20 of job 1
  answer.windows[2].window_memcpy_ns = answer.windows[2].window_exposed_memcpy_ns = std::int64_t{8000};
  EXPECT_EQ(loss_called(losses(), "exposed copies")->command, "");
}

TEST(Losses, OfTheOnlyJobWithStepsAreComparedWithinIt) {
  Answer answer = two_jobs();
  answer.windows.erase(answer.windows.begin() + 2, answer.windows.end());
  answer.ranks[3].compute_ratio = 1.5;
  std::vector<Loss> losses = find_losses(answer, time_basis(answer));
  EXPECT_NE(loss_called(losses, "rank 1 slower, 1.20 x"), nullptr);
  EXPECT_EQ(loss_called(losses, "waiting for late ranks")->advice, "rank 1 computes 1.20 x");
  for (RankRow& row : answer.ranks) row.hint = {};
  answer.ranks[2].comm_wait_ns = std::int64_t{0};  // of the other job
  losses = find_losses(answer, time_basis(answer));
  EXPECT_EQ(loss_called(losses, "waiting for late ranks")->advice, "rank 1 waits least");
}

}  // namespace
}  // namespace chopper
