// SPDX-License-Identifier: Apache-2.0
#include "synth/kernels.h"

#include <fmt/format.h>

#include <algorithm>

namespace chopper::synth {
namespace {

constexpr double kElementBytes = 2;  // BF16

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
std::int64_t round_up(std::int64_t a, std::int64_t b) { return ceil_div(a, b) * b; }

// How a library would cut C into tiles.
struct Tiling {
  std::int64_t m = 0, n = 0;
  std::int64_t depth = 64;    // of K in one step of the main loop
  std::int64_t split = 1;     // parts of K computed apart
  std::int64_t padded_k = 0;  // all parts together
  std::int64_t num_tiles = 0;
  double occupied = 0;  // share of the units that work, averaged over the waves of tiles
};

// A tile of few columns reuses less of what it loads.
double reuse(const Tiling& tiling) {
  const double area = static_cast<double>(tiling.m * tiling.n);
  return area / (area + 2048.0);
}

// Few tiles leave units idle: a long K is then cut into parts of whole blocks, each padded.
void split_long_k(Tiling& tiling, std::int64_t k, std::int64_t num_units) {
  constexpr std::int64_t kLongK = 8192, kBlock = 1024;
  if (tiling.num_tiles >= num_units || k < kLongK) return;
  tiling.split = std::min<std::int64_t>(4, ceil_div(2 * num_units, std::max<std::int64_t>(1, tiling.num_tiles)));
  tiling.padded_k = round_up(ceil_div(k, tiling.split), kBlock) * tiling.split;
}

Tiling choose_tiling(std::int64_t m, std::int64_t n, std::int64_t k, const GpuSpec& gpu) {
  constexpr std::int64_t kSizes[][2] = {{256, 256}, {256, 128}, {128, 128}, {128, 64}, {64, 64}};
  Tiling best;
  double best_score = -1;
  for (const auto& size : kSizes) {
    Tiling tiling;
    tiling.m = size[0];
    tiling.n = size[1];
    tiling.num_tiles = ceil_div(m, tiling.m) * ceil_div(n, tiling.n);
    tiling.padded_k = round_up(k, tiling.depth);
    split_long_k(tiling, k, gpu.num_units);
    const std::int64_t jobs = tiling.num_tiles * tiling.split;
    tiling.occupied = static_cast<double>(jobs) / static_cast<double>(ceil_div(jobs, gpu.num_units) * gpu.num_units);
    const double useful = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
    const double padded =
        static_cast<double>(tiling.num_tiles * tiling.m * tiling.n) * static_cast<double>(tiling.padded_k);
    // Libraries shun small tiles more than their own results justify.
    const double preference = reuse(tiling) * reuse(tiling) * reuse(tiling);
    const double score = tiling.occupied * preference * useful / padded;
    if (score > best_score) {
      best_score = score;
      best = tiling;
    }
  }
  return best;
}

std::string gemm_name(const Tiling& tiling, bool amd) {
  if (amd) {
    return fmt::format(
        "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT{}x{}x{}_MI16x16x1_SN_LDSB1_AFC1_AF0EM8_AF1EM1_AMAS3_ASE_ASGT_"
        "ASLT_ASAE01_"
        "ASCE01_ASEM1_AAC0_BL1_BS1_CLR1_DTVA0_EPS0_GSU{}_GSUAMB_GRVWA8_GRVWB8_LBSPPA1024_LPA16_SK0_SKXCCM0_WG32_8_1",
        tiling.m, tiling.n, tiling.depth, tiling.split);
  }
  return fmt::format("nvjet_tst_{}x{}_{}x{}_{}_h_bz_{}TNT", tiling.m, tiling.n, tiling.depth,
                     tiling.m * tiling.n >= 256 * 256 ? 3 : 5, tiling.n >= 256 ? "2x1_v" : "1x2",
                     tiling.split > 1 ? "splitK_" : "coopA_");
}

}  // namespace

Kernels::Kernels(const Job& job)
    : job_(job),
      peak_flop_per_ns_(job.gpu.bf16_tflops() * 1e3),
      peak_bytes_per_ns_(job.gpu.memory_gb_per_s),
      amd_(job.gpu.vendor == "amd") {}

// A kernel is as slow as the slower of its matrix units and its memory; what bounds it in theory is the larger of the
// two least times (spec 9). `util` takes whatever is left, the floor too, so that theory x inst x util x rate = alone
// exactly. `insensitive` must be set before.
void Kernels::finish_matrix_work(Work& work, double utilisation, double rate) const {
  const double compute_ns = work.executed_flops / (peak_flop_per_ns_ * utilisation * rate);
  const double memory_ns = streaming_ns(work.executed_bytes);
  work.alone_ns = std::max(compute_ns, memory_ns) + job_.physics.kernel_floor_ns;
  if (memory_ns > compute_ns) work.insensitive = job_.physics.vector_insensitive;
  const double flops_ns = work.flops / peak_flop_per_ns_, bytes_ns = work.bytes / peak_bytes_per_ns_;
  work.bound = bytes_ns > flops_ns ? Bound::memory : Bound::compute;
  work.theory_ns = std::max(flops_ns, bytes_ns);
  work.inst = work.bound == Bound::memory ? work.executed_bytes / work.bytes : work.executed_flops / work.flops;
  work.rate = work.bound == Bound::memory ? 1 : 1 / rate;
  work.util = work.alone_ns / (work.theory_ns * work.inst * work.rate);
}

double Kernels::streaming_ns(double bytes) const {
  const Physics& p = job_.physics;
  return bytes / (peak_bytes_per_ns_ * p.memory_efficiency * bytes / (bytes + p.memory_half_bytes));
}

void Kernels::finish_memory_bound(Work& work) const {
  const Physics& p = job_.physics;
  work.bytes = std::max(work.bytes, 64.0);  // one line of the cache
  work.executed_bytes = std::max(work.executed_bytes, work.bytes);
  work.bound = Bound::memory;
  work.theory_ns = work.bytes / peak_bytes_per_ns_;
  work.alone_ns = streaming_ns(work.executed_bytes) + p.kernel_floor_ns;
  work.inst = work.executed_bytes / work.bytes;
  work.util = work.alone_ns / (work.theory_ns * work.inst);
  work.rate = 1;
  work.insensitive = p.vector_insensitive;
  work.contention = p.contention_vector;
  work.core_activity = 0.35;
  work.memory_activity = 1.0;
}

Work Kernels::gemm(std::int64_t m, std::int64_t n, std::int64_t k) const {
  const Physics& p = job_.physics;
  const Tiling tiling = choose_tiling(m, n, k, job_.gpu);
  Work work;
  work.work_class = WorkClass::gemm;
  work.call = Call::launch_module;
  work.name = gemm_name(tiling, amd_);
  const double padded =
      static_cast<double>(tiling.num_tiles * tiling.m * tiling.n) * static_cast<double>(tiling.padded_k);
  work.flops = 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  work.executed_flops = 2.0 * padded;
  work.bytes = kElementBytes * static_cast<double>(m * k + k * n + m * n);
  work.executed_bytes = work.bytes;
  const double k_steps = static_cast<double>(k);
  const double utilisation = p.gemm_utilisation * tiling.occupied * reuse(tiling) * k_steps / (k_steps + p.gemm_fill_k);
  work.insensitive = p.gemm_insensitive;
  finish_matrix_work(work, utilisation, p.gemm_rate);
  if (tiling.split > 1) work.workspace_bytes = m * n * 4;
  work.contention = p.contention_gemm;
  work.core_activity = 1.0;
  work.memory_activity = 0.35;
  work.grid = {tiling.num_tiles * tiling.split, 1, 1};
  work.block = {amd_ ? 256 : 384, 1, 1};
  work.registers = 168;
  work.shared_memory = amd_ ? 65536 : 214016;
  return work;
}

Work Kernels::attention_forward(std::int64_t batch, std::int64_t heads, std::int64_t kv_heads, std::int64_t sequence,
                                std::int64_t keys) const {
  const Physics& p = job_.physics;
  constexpr std::int64_t kTile = 128;
  const std::int64_t d = job_.model.head_dim;
  Work work;
  work.work_class = WorkClass::attention;
  work.name =
      amd_ ? "attn_fwd"
           : "void flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64, 4, false, false, cutlass::bfloat16_t, "
             "Flash_kernel_traits<128, 128, 64, 4, cutlass::bfloat16_t> >, false, true, false, false, true, true, "
             "false, false>(Flash_fwd_params)";
  // Half of the square, and whole tiles on the diagonal.
  work.flops = 2.0 * static_cast<double>(batch * heads) * static_cast<double>(sequence) * static_cast<double>(keys * d);
  work.executed_flops = work.flops * (1.0 + static_cast<double>(kTile) / static_cast<double>(keys));
  work.bytes =
      kElementBytes * static_cast<double>(batch * d) * static_cast<double>(2 * heads * sequence + 2 * kv_heads * keys);
  work.executed_bytes = work.bytes;
  work.insensitive = p.attention_insensitive;
  finish_matrix_work(work, p.attention_forward_utilisation, 1.0);
  work.contention = p.contention_attention;
  work.core_activity = 0.8;
  work.memory_activity = 0.3;
  work.grid = {ceil_div(sequence, kTile), batch, heads};
  work.block = {amd_ ? 256 : 128, 1, 1};
  work.registers = 254;
  work.shared_memory = amd_ ? 32768 : 81920;
  return work;
}

Work Kernels::attention_backward(std::int64_t batch, std::int64_t heads, std::int64_t kv_heads, std::int64_t sequence,
                                 std::int64_t keys) const {
  const Physics& p = job_.physics;
  Work work = attention_forward(batch, heads, kv_heads, sequence, keys);
  work.name =
      amd_ ? "bwd_kernel_fuse"
           : "void flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<Flash_bwd_kernel_traits<128, 64, 128, 8, 2, 4, 2, "
             "false, false, cutlass::bfloat16_t, Flash_kernel_traits<128, 64, 128, 8, cutlass::bfloat16_t> >, "
             "false, true, false, false, true, true, false>(Flash_bwd_params)";
  // Five products instead of two.
  work.flops *= 2.5;
  work.executed_flops *= 2.5;
  work.bytes *= 2.5;
  work.executed_bytes = work.bytes;
  // One sequence per gpu fills the gpu badly: the loop over key blocks is the only parallelism beside the heads.
  const double share = batch == 1 ? p.attention_backward_batch1 : 1.0;
  work.insensitive = p.attention_insensitive;
  finish_matrix_work(work, p.attention_backward_utilisation * share, 1.0);
  work.core_activity = 0.8 * (0.5 + 0.5 * share);  // waiting waves draw power, too
  work.registers = 255;
  work.shared_memory = amd_ ? 65536 : 147456;
  return work;
}

Work Kernels::attention_backward_sums(std::int64_t batch, std::int64_t heads, std::int64_t sequence) const {
  const double elements = static_cast<double>(batch * heads) * static_cast<double>(sequence * job_.model.head_dim);
  Work work = streaming(amd_ ? "attn_bwd_preprocess"
                             : "void flash_bwd_dot_do_o_kernel<true, Flash_bwd_kernel_traits<128, 64, 128, 8, 2, 4, 2, "
                               "false, false, cutlass::bfloat16_t> >(Flash_bwd_params)",
                        elements, elements * 4);
  work.work_class = WorkClass::attention;
  work.grid = {ceil_div(sequence, 64), batch, heads};
  return work;
}

Work Kernels::elementwise(std::string_view functor, double elements, double bytes) const {
  return streaming(
      fmt::format("void at::native::vectorized_elementwise_kernel<{0}, at::native::{1}, std::array<char*, 3ul> >(int, "
                  "at::native::{1}, std::array<char*, 3ul>)",
                  amd_ ? 8 : 4, functor),
      elements, bytes);
}

Work Kernels::streaming(std::string_view name, double elements, double bytes) const {
  Work work;
  work.name = name;
  work.bytes = bytes;
  work.executed_bytes = bytes;
  finish_memory_bound(work);
  const std::int64_t threads = amd_ ? 512 : 128;
  const auto blocks = static_cast<std::int64_t>(elements / static_cast<double>(threads * 4));
  work.grid = {std::clamp<std::int64_t>(blocks, 1, 2147483647), 1, 1};
  work.block = {threads, 1, 1};
  return work;
}

Work Kernels::with_least_bytes(Work work, double bytes) const {
  work.bytes = bytes;
  work.theory_ns = bytes / peak_bytes_per_ns_;
  work.inst = work.executed_bytes / bytes;
  work.util = work.alone_ns / (work.theory_ns * work.inst);
  return work;
}

Work Kernels::multi_tensor(std::string_view functor, double elements, double bytes) const {
  Work work =
      streaming(fmt::format("void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous "
                            "namespace)::TensorListMetadata<4>, "
                            "at::native::(anonymous namespace)::{0}, std::plus<float> >(at::native::(anonymous "
                            "namespace)::TensorListMetadata<4>, "
                            "at::native::(anonymous namespace)::{0}, std::plus<float>)",
                            functor),
                elements, bytes);
  constexpr double kChunk = 65536;  // elements a block handles
  work.grid = {std::clamp<std::int64_t>(static_cast<std::int64_t>(elements / kChunk), 1, 320), 1, 1};
  work.block = {512, 1, 1};
  return work;
}

Work Kernels::fused(std::string_view kind, std::string_view parts, std::int64_t index, double elements,
                    double bytes) const {
  Work work = streaming(fmt::format("triton_{}_fused_{}_{}", kind, parts, index), elements, bytes);
  work.call = Call::launch_driver;
  const auto blocks = static_cast<std::int64_t>(elements / 2048.0);
  work.grid = {std::clamp<std::int64_t>(blocks, 1, 2147483647), 1, 1};
  work.block = {amd_ ? 512 : 256, 1, 1};
  return work;
}

Work Kernels::communication(const Collective& collective, std::int32_t index) const {
  Work work;
  work.work_class = WorkClass::comm;
  work.call = Call::launch_comm;
  // RCCL's kernels do not say what they do.
  work.name = amd_ ? "ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)"
                   : fmt::format("ncclDevKernel_{}(ncclDevKernelArgsStorage<4096ul>)", collective.kernel);
  work.bound = Bound::none;
  work.collective = index;
  work.core_activity = 0.08;
  work.memory_activity = 0.45;
  const std::int64_t channels = amd_ ? 56 : 24;
  work.grid = {channels, 1, 1};
  work.block = {amd_ ? 256 : 544, 1, 1};
  work.registers = 96;
  work.shared_memory = amd_ ? 29936 : 82240;
  return work;
}

Work Kernels::copy_to_device(std::int64_t bytes) const {
  Work work;
  work.work_class = WorkClass::memcpy_work;
  work.name = "Memcpy HtoD (Pinned -> Device)";
  work.call = Call::copy;
  work.bound = Bound::none;
  work.copy_bytes = bytes;
  work.alone_ns = static_cast<double>(bytes) / job_.physics.host_link_gb_per_s + 1800;
  work.insensitive = 1;
  work.memory_activity = 0.1;
  return work;
}

Work Kernels::copy_to_host(std::int64_t bytes) const {
  Work work = copy_to_device(bytes);
  work.name = "Memcpy DtoH (Device -> Pinned)";
  return work;
}

Work Kernels::copy_on_device(std::int64_t bytes) const {
  Work work = copy_to_device(bytes);
  work.name = "Memcpy DtoD (Device -> Device)";
  work.alone_ns = 2.0 * static_cast<double>(bytes) / (peak_bytes_per_ns_ * job_.physics.memory_efficiency) + 1500;
  return work;
}

Work Kernels::fill(std::int64_t bytes) const {
  Work work = copy_on_device(bytes);
  work.work_class = WorkClass::memset_work;
  work.name = "Memset (Device)";
  work.call = Call::fill;
  return work;
}

}  // namespace chopper::synth
