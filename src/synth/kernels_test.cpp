// SPDX-License-Identifier: Apache-2.0
#include "synth/kernels.h"

#include <gtest/gtest.h>

#include "synth/parameters.h"
#include "synth/presets.h"

namespace chopper::synth {
namespace {

Job job_of(std::string_view preset) {
  Result<Job> job = make_job(preset, "");
  EXPECT_TRUE(job.ok());
  return std::move(job).value();
}

// Forward FLOPs of Llama 3 8B, formats.md 4.8, to the printed digits.
TEST(Kernels, FlopsAreThoseOfTheTestVectors) {
  const Job job = job_of("paper-b1s4-fsdp2");
  const Kernels kernels(job);
  EXPECT_NEAR(kernels.gemm(4096, 4096, 4096).flops, 1.37439e11, 5e5);
  EXPECT_NEAR(kernels.gemm(4096, 1024, 4096).flops, 3.43597e10, 5e4);
  EXPECT_NEAR(kernels.gemm(4096, 14336, 4096).flops, 4.81036e11, 5e5);
  EXPECT_NEAR(kernels.gemm(4096, 128256, 4096).flops, 4.30356e12, 5e6);
  EXPECT_NEAR(kernels.attention_forward(1, 32, 8, 4096, 4096).flops, 1.37439e11, 5e5);
  EXPECT_NEAR(kernels.attention_forward(2, 32, 8, 8192, 8192).flops, 1.09951e12, 5e6);
  EXPECT_NEAR(kernels.attention_backward(1, 32, 8, 4096, 4096).flops, 2.5 * 1.37439e11, 2e6);
  EXPECT_NEAR(kernels.gemm(4096, 14336, 4096).theory_ns, 367.9e3, 50);
  EXPECT_NEAR(kernels.gemm(4096, 4096, 4096).theory_ns, 105.1e3, 50);
}

TEST(Kernels, FactorsMultiplyToTheTimeAlone) {
  const Job job = job_of("paper-b1s4-fsdp2");
  const Kernels kernels(job);
  const Work all[] = {kernels.gemm(4096, 4096, 14336),
                      kernels.gemm(100, 200, 300),
                      kernels.gemm(1, 1, 1),
                      kernels.attention_forward(1, 32, 8, 4096, 4096),
                      kernels.attention_backward(2, 8, 4, 128, 512),
                      kernels.elementwise("F", 1e6, 4e6),
                      kernels.streaming("x", 1, 1),
                      kernels.multi_tensor("F", 1e9, 4e9)};
  for (const Work& w : all) {
    EXPECT_NEAR(w.theory_ns * w.inst * w.util * w.rate / w.alone_ns, 1.0, 1e-12) << w.name;
    EXPECT_GE(w.inst, 1.0) << w.name;
    EXPECT_GE(w.util, 1.0) << w.name;
    EXPECT_GE(w.executed_flops, w.flops) << w.name;
    EXPECT_GE(w.insensitive, 0.0);
    EXPECT_LE(w.insensitive, 1.0);
  }
}

// Paper: instruction overhead is visible only for the forward down projection at b1s4.
TEST(Kernels, OnlyTheDeepProductOfFewTilesIsPadded) {
  const Job job = job_of("paper-b1s4-fsdp2");
  const Kernels kernels(job);
  EXPECT_GT(kernels.gemm(4096, 4096, 14336).inst, 1.02);
  EXPECT_EQ(kernels.gemm(8192, 4096, 14336).inst, 1.0);
  EXPECT_EQ(kernels.gemm(4096, 14336, 4096).inst, 1.0);
  EXPECT_EQ(kernels.gemm(4096, 6144, 4096).inst, 1.0);
}

TEST(Kernels, OneSequenceMakesTheBackwardOfAttentionSlow) {
  const Job job = job_of("paper-b1s4-fsdp2");
  const Kernels kernels(job);
  EXPECT_GT(kernels.attention_backward(1, 32, 8, 4096, 4096).alone_ns,
            kernels.attention_backward(2, 32, 8, 4096, 4096).alone_ns);
}

// No kernel beats the memory: few rows make a product bandwidth-bound.
TEST(Kernels, ThinProductsAreBoundByMemory) {
  const Job job = job_of("paper-b1s4-fsdp2");
  const Kernels kernels(job);
  const Work thin = kernels.gemm(16, 14336, 4096);
  EXPECT_EQ(thin.bound, Bound::memory);
  EXPECT_EQ(thin.theory_ns, thin.bytes / job.gpu.memory_gb_per_s);
  EXPECT_GT(thin.alone_ns, thin.theory_ns);
  EXPECT_EQ(kernels.gemm(4096, 14336, 4096).bound, Bound::compute);
}

TEST(Kernels, MoreWorkTakesLonger) {
  const Job job = job_of("llama3-8b-fsdp2-h100");
  const Kernels kernels(job);
  EXPECT_GT(kernels.gemm(8192, 4096, 4096).alone_ns, kernels.gemm(4096, 4096, 4096).alone_ns);
  EXPECT_GT(kernels.elementwise("F", 2e6, 8e6).alone_ns, kernels.elementwise("F", 1e6, 4e6).alone_ns);
  EXPECT_GE(kernels.elementwise("F", 1, 8).alone_ns, job.physics.kernel_floor_ns);
}

}  // namespace
}  // namespace chopper::synth
