// SPDX-License-Identifier: Apache-2.0
#include "analyze/decomposition/paper_mode.h"

#include <gtest/gtest.h>

#include <vector>

namespace chopper {
namespace {

KernelSample instance(std::int32_t layer, std::int64_t duration_ns, double overlap_ratio) {
  KernelSample s;
  s.layer = layer;
  s.start_ns = layer * 100'000;
  s.duration_ns = duration_ns;
  s.overlap_ns = static_cast<std::int64_t>(static_cast<double>(duration_ns) * overlap_ratio);
  s.flops = 1e6;
  s.compute_theory_ns = 1000;
  s.executed_flops = 1.2e6;
  s.matrix_busy_cycles = 3600;
  s.matrix_cycles = 6000;
  s.gpu_cycles = 3200;  // 1,600 ns at 2,000 MHz
  return s;
}

TEST(PaperMode, RanksInstancesByOverlap) {
  // By overlap ratio: 2000, 2200, 3000, 2400. CDF positions 25, 50, 75, 100: D_0 = 2000, D_50 = 2200.
  const std::vector<KernelSample> samples = {instance(0, 2400, 0.9), instance(1, 2000, 0.0), instance(2, 3000, 0.6),
                                             instance(3, 2200, 0.5)};
  const PaperDecomposition paper = decompose_as_paper(samples, 0, 2000);
  EXPECT_EQ(paper.num_instances, 4u);
  EXPECT_EQ(paper.d_thr_ns, 1000);
  EXPECT_EQ(paper.d_act_ns, 2300);  // the mean of the two in the middle
  EXPECT_NEAR(paper.factors[Factor::inst], 1.2, 1e-12);
  EXPECT_NEAR(paper.factors[Factor::util], 1 / 0.6, 1e-12);
  EXPECT_NEAR(paper.factors[Factor::contention], 1.1, 1e-12);
  EXPECT_NEAR(paper.factors[Factor::freq], 2300 / 1600.0 / 1.1, 1e-12);
  // What the paper leaves out: 1,600 ns of cycles against 1,000 x 1.2 / 0.6.
  EXPECT_NEAR(paper.factors[Factor::remainder], 0.8, 1e-12);
  EXPECT_EQ(paper.missing[static_cast<std::size_t>(Factor::rate)], Missing::not_in_mode);
  EXPECT_EQ(paper.first_overlap_ratio, 0);
  EXPECT_EQ(paper.middle_overlap_ratio, 0.5);
}

TEST(PaperMode, MicroStepsAreInstancesOfTheirOwn) {
  std::vector<KernelSample> samples = {instance(0, 2400, 0.9), instance(0, 2000, 0.0)};
  samples[0].micro_step = 0;
  samples[1].micro_step = 1;
  samples.push_back(samples[0]);
  samples.back().iteration = 1;
  const PaperDecomposition paper = decompose_as_paper(samples, 0, 2000);
  EXPECT_EQ(paper.num_instances, 3u);
  EXPECT_EQ(paper.num_iterations, 2u);
  EXPECT_EQ(paper.d_act_ns, 2400);
  EXPECT_EQ(paper.d_thr_ns, 1000);  // not of two passes
}

TEST(PaperMode, OverlapFactorIsAtLeastOne) {
  const std::vector<KernelSample> faster = {instance(0, 2400, 0.1), instance(1, 2000, 0.5), instance(2, 2000, 0.6),
                                            instance(3, 2000, 0.7)};
  EXPECT_EQ(decompose_as_paper(faster, 0, 2000).factors[Factor::contention], 1);
  // The middle instance, of positions 25, 50, 75, 100, has no overlap.
  const std::vector<KernelSample> without = {instance(0, 2000, 0), instance(1, 2400, 0), instance(2, 2500, 0.6),
                                             instance(3, 2600, 0.7)};
  EXPECT_EQ(decompose_as_paper(without, 0, 2000).factors[Factor::contention], 1);
  // Of three, positions 33 and 67 are as near to 50: the first.
  const std::vector<KernelSample> three = {instance(0, 2000, 0.1), instance(1, 2400, 0.2), instance(2, 2500, 0.6)};
  EXPECT_EQ(decompose_as_paper(three, 0, 2000).factors[Factor::contention], 1);
}

TEST(PaperMode, IsOneGpuAndWhatHasCounters) {
  std::vector<KernelSample> samples = {instance(0, 2400, 0.5), instance(1, 2400, 0.5)};
  samples.push_back(instance(2, 9000, 0.5));
  samples.back().gpu = 1;
  samples.push_back(instance(3, 9000, 0.5));
  samples.back().gpu_cycles = samples.back().executed_flops = samples.back().matrix_busy_cycles = kNotMeasured;
  const PaperDecomposition paper = decompose_as_paper(samples, 0, 2000);
  EXPECT_EQ(paper.num_instances, 2u);
  EXPECT_EQ(paper.d_act_ns, 2400);
}

// Elapsed time has the gaps between the kernels of an instance, the summed one has not.
TEST(PaperMode, OverlapIsOfElapsedTime) {
  std::vector<KernelSample> samples;
  for (std::int32_t layer = 0; layer < 2; layer++) {
    samples.push_back(instance(layer, 1000, layer == 0 ? 0.1 : 0.9));
    samples.push_back(instance(layer, 1000, layer == 0 ? 0.1 : 0.9));
    samples.back().start_ns += layer == 0 ? 1500 : 2000;
  }
  const PaperDecomposition paper = decompose_as_paper(samples, 0, 2000);
  EXPECT_EQ(paper.d_act_ns, 2000);
  EXPECT_NEAR(paper.first_overlap_ratio, 200 / 2500.0, 1e-12);
}

TEST(PaperMode, SaysWhatIsMissing) {
  KernelSample s = instance(0, 2000, 0.5);
  s.executed_flops = s.matrix_cycles = kNotMeasured;
  PaperDecomposition paper = decompose_as_paper(std::vector{s}, 0, 2000);
  EXPECT_EQ(paper.missing[0], Missing::no_executed_work);
  EXPECT_EQ(paper.missing[1], Missing::no_matrix_cycles);
  EXPECT_NEAR(paper.factors[Factor::remainder] * paper.factors[Factor::freq], 2, 1e-12);
  s.compute_theory_ns = 0;
  paper = decompose_as_paper(std::vector{s}, 0, 2000);
  EXPECT_EQ(paper.missing[0], Missing::no_theory);
  EXPECT_FALSE(paper.factors.has(Factor::contention));
  EXPECT_EQ(decompose_as_paper(std::vector{s}, 5, 2000).num_instances, 0u);
}

}  // namespace
}  // namespace chopper
