// SPDX-License-Identifier: Apache-2.0
// Metrics of the shipped catalogue on counters of real files and by the arithmetic of their definitions.
#include "catalog/metric_set.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace chopper {
namespace {

const MetricCatalog& shipped() {
  static const MetricCatalog catalog = [] {
    Result<MetricCatalog> loaded = load_metrics({});
    EXPECT_TRUE(loaded.ok()) << (loaded.ok() ? "" : loaded.error().text());
    return loaded.ok() ? std::move(loaded).value() : MetricCatalog{};
  }();
  return catalog;
}

// A dispatch of a pass with these counters: name, sum, maximum.
class Pass {
 public:
  struct Counter {
    std::string_view name;
    double sum;
    double maximum = kNoValue;
  };

  Pass(std::string_view architecture, GpuFacts facts, const std::vector<Counter>& counters, double duration_ns)
      : set_(make(architecture, facts)), duration_ns_(duration_ns) {
    std::vector<std::string_view> names;
    for (const Counter& counter : counters) {
      names.push_back(counter.name);
      sums_.push_back(counter.sum);
      maxima_.push_back(counter.maximum);
    }
    bound_.emplace_back(set_, names);
  }

  MetricValue value(std::string_view id) const { return bound_[0].evaluate(set_.index_of(id), values()); }
  double operator()(std::string_view id) const { return value(id).value; }
  std::string reason(std::string_view id) const {
    const auto reason = bound_[0].explain(set_.index_of(id), values());
    return reason ? reason->text : "";
  }
  std::string missing(std::string_view id) const {
    const auto reason = bound_[0].missing(set_.index_of(id));
    return reason ? reason->text : "";
  }
  std::string told(std::string_view id) const { return bound_[0].describe(set_.index_of(id), value(id).choices); }

 private:
  static MetricSet make(std::string_view architecture, const GpuFacts& facts) {
    Result<MetricSet> made = MetricSet::make(shipped(), architecture, facts);
    EXPECT_TRUE(made.ok()) << (made.ok() ? "" : made.error().text());
    return std::move(made).value();
  }
  DispatchValues values() const { return {sums_, maxima_, duration_ns_}; }

  MetricSet set_;
  double duration_ns_;
  std::vector<double> sums_, maxima_;
  std::vector<PassMetrics> bound_;
};

GpuFacts amd_facts(double num_units, double num_xccs) {
  GpuFacts facts;
  facts.num_units = num_units;
  facts.num_xccs = num_xccs;
  facts.matrix_units_per_unit = 4;
  facts.warp_size = 64;
  return facts;
}

TEST(metric_set, specimen_of_one_dispatch_on_mi300x) {
  // 6,720,000 / 8 XCCs = 840,000 cycles; in 499 us: 840,000 / 499,000 ns = 1.683 GHz;
  // 510,720,000 / (840,000 x 304 x 4) = 510,720,000 / 1,021,440,000 = 0.5.
  const Pass pass("gfx942", amd_facts(304, 8), {{"GRBM_GUI_ACTIVE", 6720000}, {"SQ_VALU_MFMA_BUSY_CYCLES", 510720000}},
                  499000);
  EXPECT_DOUBLE_EQ(pass("gpu_cycles"), 840000);
  EXPECT_EQ(pass.told("gpu_cycles"), "mean over XCCs");
  EXPECT_NEAR(pass("pass_clock"), 1683.366733466934, 1e-9);
  EXPECT_DOUBLE_EQ(pass("matrix_busy_cycles"), 510720000);
  EXPECT_DOUBLE_EQ(pass("matrix_cycles"), 1021440000);
  EXPECT_DOUBLE_EQ(pass("matrix_utilisation"), 0.5);
  EXPECT_EQ(pass.told("matrix_utilisation"), "gpu_cycles: mean over XCCs");
  const MetricValue parts = pass.value("matrix_utilisation");
  EXPECT_DOUBLE_EQ(parts.numerator, 510720000);
  EXPECT_DOUBLE_EQ(parts.denominator, 1021440000);
}

TEST(metric_set, the_maximum_over_instances_goes_before_the_mean) {
  const Pass pass("gfx942", amd_facts(304, 8), {{"GRBM_GUI_ACTIVE", 6720000, 850000}}, 499000);
  EXPECT_DOUBLE_EQ(pass("gpu_cycles"), 850000);
  EXPECT_EQ(pass.told("gpu_cycles"), "maximum over XCCs");
  EXPECT_EQ(pass.told("pass_clock"), "gpu_cycles: maximum over XCCs");
}

TEST(metric_set, copy_on_mi210_of_rocprofiler_compute) {
  // Second dispatch of vcopy_MI200 (1,048,576 doubles): 104 units, 1 XCC, 1411551767765792 - 1411551767749472 = 16,320
  // ns.
  const Pass pass("gfx90a", amd_facts(104, 1),
                  {{"GRBM_GUI_ACTIVE", 41616},
                   {"GRBM_COUNT", 41616},
                   {"SQ_WAVE_CYCLES", 19460332},
                   {"SQ_BUSY_CU_CYCLES", 2808219},
                   {"SQ_ACTIVE_INST_VALU", 163840},
                   {"SQ_THREAD_CYCLES_VALU", 10485760},
                   {"SQ_LDS_BANK_CONFLICT", 0},
                   {"TCC_REQ_sum", 200735},
                   {"TCC_HIT_sum", 69652},
                   {"TCC_MISS_sum", 131083},
                   {"TCC_EA_RDREQ_sum", 131086},
                   {"TCC_EA_RDREQ_32B_sum", 0},
                   {"TCC_EA_WRREQ_sum", 91072},
                   {"TCC_EA_WRREQ_64B_sum", 91072}},
                  16320);
  EXPECT_DOUBLE_EQ(pass("gpu_cycles"), 41616);
  EXPECT_DOUBLE_EQ(pass("pass_clock"), 2550);  // 41,616 / 16,320 ns; counted in another pass than the times
  EXPECT_DOUBLE_EQ(pass("gpu_busy"), 1);
  EXPECT_NEAR(pass("occupancy"), 0.5620391704004377, 1e-15);          // 4 x 19,460,332 / (41,616 x 104 x 32)
  EXPECT_NEAR(pass("unit_busy"), 0.6488395273267678, 1e-15);          // 2,808,219 / (41,616 x 104)
  EXPECT_NEAR(pass("valu_utilisation"), 0.03785526276875758, 1e-15);  // 163,840 / (41,616 x 104)
  EXPECT_DOUBLE_EQ(pass("valu_lane_utilisation"), 1);                 // 10,485,760 / (163,840 x 64)
  EXPECT_NEAR(pass("l2_hit_rate"), 0.34698483074700476, 1e-15);       // 69,652 / (69,652 + 131,083)
  EXPECT_DOUBLE_EQ(pass("l2_bytes"), 12847040);                       // 64 x 200,735
  EXPECT_NEAR(pass("l2_bandwidth"), 787.1960784313726, 1e-10);        // / 16,320 ns
  EXPECT_DOUBLE_EQ(pass("executed_read_bytes"), 8389504);             // 64 x 131,086: 8 MiB and 896 bytes
  EXPECT_DOUBLE_EQ(pass("executed_write_bytes"), 5828608);            // 64 x 91,072
  EXPECT_NEAR(pass("memory_bandwidth"), 871.2078431372549, 1e-10);    // 14,218,112 / 16,320 ns
  EXPECT_DOUBLE_EQ(pass("lds_bank_conflict_rate"), 0);
}

TEST(metric_set, copy_on_mi300x_of_rocprofiler_compute) {
  // Second dispatch of vcopy_MI300X_A1: 304 units, 8 XCCs; its times are written with five digits, so there are none.
  const Pass pass("gfx942", amd_facts(304, 8),
                  {{"GRBM_GUI_ACTIVE", 2494642},
                   {"GRBM_COUNT", 2494642},
                   {"SQ_WAVE_CYCLES", 32566004},
                   {"SQ_ACTIVE_INST_VALU", 98304},
                   {"SQ_THREAD_CYCLES_VALU", 6291456},
                   {"TCC_REQ_sum", 196861},
                   {"TCC_HIT_sum", 65536},
                   {"TCC_MISS_sum", 131325},
                   {"TCC_BUBBLE_sum", 65536},
                   {"TCC_EA0_RDREQ_sum", 65763},
                   {"TCC_EA0_RDREQ_32B_sum", 0},
                   {"TCC_EA0_WRREQ_sum", 131072},
                   {"TCC_EA0_WRREQ_64B_sum", 131072}},
                  kNoValue);
  EXPECT_DOUBLE_EQ(pass("gpu_cycles"), 311830.25);                     // 2,494,642 / 8
  EXPECT_NEAR(pass("occupancy"), 0.04294203864037194, 1e-15);          // 4 x 32,566,004 / (311,830.25 x 304 x 32)
  EXPECT_NEAR(pass("valu_utilisation"), 0.001037001448873647, 1e-17);  // 98,304 / (311,830.25 x 304)
  EXPECT_NEAR(pass("l2_hit_rate"), 0.33290494308166674, 1e-15);
  EXPECT_DOUBLE_EQ(pass("l2_bytes"), 25198208);             // 128 x 196,861
  EXPECT_DOUBLE_EQ(pass("executed_read_bytes"), 8403136);   // 128 x 65,536 + 64 x (65,763 - 65,536)
  EXPECT_DOUBLE_EQ(pass("executed_write_bytes"), 8388608);  // 64 x 131,072 = 8 MiB
  EXPECT_DOUBLE_EQ(pass("executed_bytes"), 16791744);
  EXPECT_EQ(pass.reason("memory_bandwidth"), "needs the times of the dispatch");
}

TEST(metric_set, copy_on_mi350_of_rocprofiler_compute) {
  // Second dispatch of vcopy_MI350 as its sysinfo tells the gpu: 128 units, 8 XCCs; medians of passes, 16,919.75 ns.
  const Pass pass("gfx950", amd_facts(128, 8),
                  {{"GRBM_GUI_ACTIVE", 64716},
                   {"GRBM_COUNT", 66766},
                   {"SQ_WAVE_CYCLES", 4413902},
                   {"SQ_ACTIVE_INST_VALU", 98304},
                   {"TCC_REQ_sum", 197984},
                   {"TCC_HIT_sum", 66864},
                   {"TCC_MISS_sum", 131120},
                   {"TCC_BUBBLE_sum", 0},
                   {"TCC_EA0_RDREQ_sum", 65612},
                   {"TCC_EA0_RDREQ_32B_sum", 0},
                   {"TCC_EA0_WRREQ_sum", 131072},
                   {"TCC_EA0_WRREQ_64B_sum", 131072}},
                  16919.75);
  EXPECT_DOUBLE_EQ(pass("gpu_cycles"), 8089.5);                       // 64,716 / 8
  EXPECT_NEAR(pass("gpu_busy"), 0.969295749333493, 1e-15);            // 64,716 / 66,766
  EXPECT_NEAR(pass("pass_clock"), 478.10990115102175, 1e-10);         // 8,089.5 / 16,919.75 ns
  EXPECT_NEAR(pass("occupancy"), 0.5328451909110575, 1e-15);          // 4 x 4,413,902 / (8,089.5 x 128 x 32)
  EXPECT_NEAR(pass("valu_utilisation"), 0.09493788244020027, 1e-15);  // 98,304 / (8,089.5 x 128)
  EXPECT_NEAR(pass("l2_bandwidth"), 1497.7734304584878, 1e-9);        // 128 x 197,984 / 16,919.75 ns
  EXPECT_DOUBLE_EQ(pass("executed_read_bytes"), 4199168);             // 64 x 65,612: half of the 8 MiB it read
  EXPECT_EQ(pass.told("executed_read_bytes"), "as rocprofiler-sdk: reads of 128 bytes may count as 64");
  EXPECT_NEAR(pass("memory_bandwidth"), 743.9693848904387, 1e-10);  // (4,199,168 + 8,388,608) / 16,919.75 ns
}

TEST(metric_set, operations_of_matrix_and_vector_units_on_mi300x) {
  // 512 operations a count: BF16 1,000 -> 512,000; F8 7 -> 3,584. FP32 vector: 64 x (3 + 5 + 11 + 2 x 7) = 2,112.
  const Pass pass("gfx942", amd_facts(304, 8),
                  {{"SQ_INSTS_VALU_MFMA_MOPS_BF16", 1000},
                   {"SQ_INSTS_VALU_MFMA_MOPS_F16", 0},
                   {"SQ_INSTS_VALU_MFMA_MOPS_F8", 7},
                   {"SQ_INSTS_VALU_MFMA_MOPS_XF32", 0},
                   {"SQ_INSTS_VALU_MFMA_MOPS_F32", 1},
                   {"SQ_INSTS_VALU_MFMA_MOPS_F64", 0},
                   {"SQ_INSTS_VALU_MFMA_MOPS_I8", 0},
                   {"SQ_INSTS_VALU_ADD_F32", 3},
                   {"SQ_INSTS_VALU_MUL_F32", 5},
                   {"SQ_INSTS_VALU_TRANS_F32", 11},
                   {"SQ_INSTS_VALU_FMA_F32", 7}},
                  1);
  EXPECT_DOUBLE_EQ(pass("executed_flops_bf16"), 512000);
  EXPECT_DOUBLE_EQ(pass("executed_flops_fp8"), 3584);
  EXPECT_DOUBLE_EQ(pass("executed_flops"), 512000 + 3584 + 512);
  EXPECT_DOUBLE_EQ(pass("valu_flops_f32"), 2112);
  EXPECT_EQ(pass.reason("valu_flops"), "needs counter SQ_INSTS_VALU_ADD_F16");
}

TEST(metric_set, local_data_share_on_mi300x) {
  // 128 x (1,000 - 200) = 102,400 bytes; in 50 ns 2,048 GB/s; conflicts 200 / (8 / 8 x 304) = 0.657894...
  const Pass pass("gfx942", amd_facts(304, 8),
                  {{"SQ_LDS_IDX_ACTIVE", 1000}, {"SQ_LDS_BANK_CONFLICT", 200}, {"GRBM_GUI_ACTIVE", 8}}, 50);
  EXPECT_DOUBLE_EQ(pass("lds_bytes"), 102400);
  EXPECT_DOUBLE_EQ(pass("lds_bandwidth"), 2048);
  EXPECT_NEAR(pass("lds_bank_conflict_rate"), 0.6578947368421053, 1e-15);
}

TEST(metric_set, a_product_on_b200_of_nsight_compute) {
  // The details page of a cuBLASLt kernel tells labels: 508,757 cycles in 406,240 ns = 1,252.36 MHz, 462,061.91 cycles
  // with warps = 0.90822 of them.
  GpuFacts facts;
  facts.num_units = 152;
  facts.matrix_units_per_unit = 4;
  const Pass pass("sm_100", facts,
                  {{"Elapsed Cycles", 508757},
                   {"Duration", 406240},
                   {"SM Active Cycles", 462061.91},
                   {"Achieved Occupancy", 15.53}},
                  kNoValue);
  EXPECT_DOUBLE_EQ(pass("gpu_cycles"), 508757);
  EXPECT_EQ(pass.told("gpu_cycles"), "cycles of clusters");
  EXPECT_NEAR(pass("pass_clock"), 1252.3557502954, 1e-9);
  EXPECT_NEAR(pass("unit_busy"), 0.9082173021697981, 1e-15);
  EXPECT_NEAR(pass("occupancy"), 0.1553, 1e-15);
}

TEST(metric_set, tensor_cores_by_sums_means_and_shares) {
  // 132 multiprocessors, 1,000,000 cycles, 66,000,000 busy of 132,000,000: 0.5 in three ways.
  GpuFacts facts;
  facts.num_units = 132;
  facts.matrix_units_per_unit = 4;
  const auto utilisation = [&](std::string_view counter, double value) {
    return Pass("sm_90", facts, {{"sm__cycles_elapsed.max", 1e6}, {counter, value}}, 1)("matrix_utilisation");
  };
  EXPECT_DOUBLE_EQ(utilisation("sm__pipe_tensor_cycles_active.sum", 66e6), 0.5);
  EXPECT_DOUBLE_EQ(utilisation("sm__pipe_tensor_cycles_active.avg", 5e5), 0.5);
  EXPECT_DOUBLE_EQ(utilisation("sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed", 50), 0.5);
}

TEST(metric_set, a_product_of_1024_cubed_has_two_to_the_31_operations) {
  const Pass pass("sm_80", {}, {{"sm__ops_path_tensor_src_bf16_dst_fp32.sum", 2147483648.0}}, 1);
  EXPECT_DOUBLE_EQ(pass("executed_flops_bf16"), 2147483648.0);
  EXPECT_EQ(pass.missing("executed_flops"),
            "needs counter sm__ops_path_tensor_src_fp16.sum or counter sm__ops_path_tensor_src_fp16_dst_fp32.sum");
}

TEST(metric_set, what_lacks_a_counter_is_unavailable_and_names_it) {
  const Pass pass("gfx942", amd_facts(304, 8), {{"SQ_WAVES", 5}}, 100);
  EXPECT_FALSE(pass.value("matrix_utilisation").ok());
  EXPECT_EQ(pass.missing("matrix_utilisation"), "needs counter SQ_VALU_MFMA_BUSY_CYCLES");
  EXPECT_EQ(pass.missing("gpu_cycles"), "needs counter GRBM_GUI_ACTIVE");
  EXPECT_EQ(pass.reason("gpu_cycles"), "needs counter GRBM_GUI_ACTIVE");
  EXPECT_EQ(pass.missing("pass_duration"), "");
}

TEST(metric_set, what_one_dispatch_lacks_is_told_of_that_dispatch) {
  const Pass pass("gfx942", amd_facts(304, 8), {{"TCC_HIT", 5}, {"TCC_MISS", kNoValue}}, 100);
  EXPECT_EQ(pass.missing("l2_hit_rate"), "");
  EXPECT_EQ(pass.reason("l2_hit_rate"), "needs counter TCC_MISS");
}

TEST(metric_set, a_gpu_without_facts_needs_the_fact) {
  const Pass pass("gfx942", GpuFacts{}, {{"GRBM_GUI_ACTIVE", 800}}, 100);
  EXPECT_EQ(pass.reason("gpu_cycles"), "needs the largest instance of counter GRBM_GUI_ACTIVE or num_xccs of the gpu");
  EXPECT_EQ(pass.reason("matrix_cycles"),
            "needs the largest instance of counter GRBM_GUI_ACTIVE or num_xccs of the gpu");
}

TEST(metric_set, nothing_is_divided_by_zero) {
  const Pass pass("gfx942", amd_facts(304, 8), {{"TCC_HIT", 0}, {"TCC_MISS", 0}}, 100);
  EXPECT_FALSE(pass.value("l2_hit_rate").ok());
  EXPECT_EQ(pass.reason("l2_hit_rate"), "needs a denominator that is not zero");
  EXPECT_EQ(pass.missing("l2_hit_rate"), "");
}

TEST(metric_set, mi100_has_no_counters_of_matrix_units) {
  const Pass pass("gfx908", amd_facts(120, 1), {{"GRBM_GUI_ACTIVE", 43281}}, 18880);
  EXPECT_EQ(pass.reason("matrix_utilisation"), "matrix_busy_cycles is not defined for gfx908");
  EXPECT_EQ(pass.reason("executed_flops"), "executed_flops is not defined for gfx908");
}

TEST(metric_set, values_of_metrics_are_told_with_reasons_whatever_is_missing) {
  // Each metric of each architecture has a value or a reason, never neither, never both.
  for (const std::string& architecture : shipped().counters.architectures) {
    for (const bool with_counters : {false, true}) {
      const Result<MetricSet> set = MetricSet::make(shipped(), architecture, amd_facts(304, 8));
      ASSERT_TRUE(set.ok());
      std::vector<std::string_view> names;
      if (with_counters) names.assign(set.value().counters().begin(), set.value().counters().end());
      const std::vector<double> ones(names.size(), 1);
      const PassMetrics pass(set.value(), names);
      for (std::size_t i = 0; i < set.value().metrics().size(); i++) {
        const DispatchValues values = {ones, ones, 10, 1, 1};
        EXPECT_NE(pass.evaluate(i, values).ok(), pass.explain(i, values).has_value())
            << architecture << " " << set.value().metrics()[i].id;
      }
    }
  }
}

}  // namespace
}  // namespace chopper
