// SPDX-License-Identifier: Apache-2.0
// What is simulated: a training job as a value. Every number of it is written into truth.json.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "catalog/gpus.h"

namespace chopper::synth {

enum class Sharding : std::uint8_t { fsdp1, fsdp2, ddp };
enum class OptimizerSteps : std::uint8_t { every, once, never };
/// How a trace names devices and streams: NVIDIA; AMD until June 2026 (hardware queues, node index of the device) and
/// since (streams, device ordinal); formats.md 1.7.
enum class Dialect : std::uint8_t { nvidia, amd_queue, amd_stream };

/// What the counter passes are written as. `automatic`: what the gpu's vendor writes today.
enum class CounterFormat : std::uint8_t {
  automatic,
  rocprofv3_6_2,
  rocprofv3_6_3,
  rocprofv3_6_4,
  rocprofv3_7_0,
  rocprofv3_json,
  rocpd,
  ncu,
};

const char* to_string(Sharding sharding);
const char* to_string(OptimizerSteps steps);
const char* to_string(Dialect dialect);

/// Dimensions of a Llama-type transformer, in elements.
struct ModelShape {
  std::int64_t num_layers = 0;
  std::int64_t hidden = 0;
  std::int64_t feed_forward = 0;
  std::int64_t num_heads = 0;
  std::int64_t num_kv_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t vocabulary = 0;

  std::int64_t layer_parameters() const;
  std::int64_t root_parameters() const;  ///< embedding, final norm, logits
  std::int64_t parameters() const { return num_layers * layer_parameters() + root_parameters(); }
};

/// The parameters of the physics. Defaults and sources: parameters.cpp, shown by `synth --list`.
struct Physics {
  // Host.
  double launch_call_ns = 0;
  double operator_ns = 0;
  double range_ns = 0;
  double launch_latency_ns = 0;
  double queue_gap_ns = 0;
  double event_latency_ns = 0;
  double queue_depth = 0;
  double host_jitter = 0;
  double host_spread = 0;
  double data_loading_ns = 0;
  double host_hiccup_share = 0;
  double host_hiccup_ns = 0;
  // Matrix units.
  double gemm_utilisation = 0;
  double gemm_fill_k = 0;
  double gemm_rate = 0;
  double attention_forward_utilisation = 0;
  double attention_backward_utilisation = 0;
  double attention_backward_batch1 = 0;
  double gemm_insensitive = 0;
  double attention_insensitive = 0;
  // Memory.
  double memory_efficiency = 0;
  double memory_half_bytes = 0;
  double vector_insensitive = 0;
  double kernel_floor_ns = 0;
  // Contention.
  double contention_gemm = 0;
  double contention_attention = 0;
  double contention_vector = 0;
  double contention_waiting = 0;
  double contention_copy = 0;
  double contention_transfer = 0;
  // Communication.
  double link_efficiency = 0;
  double collective_latency_ns = 0;
  double nic_gb_per_s = 0;
  double pcie_gb_per_s = 0;
  double host_link_gb_per_s = 0;
  double transfer_jitter = 0;
  double exit_jitter_ns = 0;
  // Clocks and power.
  double idle_w = 0;
  double core_w = 0;
  double memory_w = 0;
  double link_w = 0;
  double power_cap_share = 0;
  double min_clock_share = 0;
  double clock_up_mhz_per_w = 0;
  double clock_down_mhz_per_w = 0;
  double power_lag = 0;
  double power_noise_w = 0;
  double memory_clock_floor = 0;
  double silicon_spread = 0;
  double xcd_spread = 0;
  // Allocator under FSDP1.
  double allocator_spike_share = 0;
  double allocator_spike_w = 0;
  double allocator_spike_ms = 0;
  double allocator_new_share = 0;
  double allocator_retry_share = 0;
  double allocator_retry_ns = 0;
  // Serialised counter passes.
  double front_end_cycles = 0;
  double cold_cache_share = 0;
  // Repetition.
  double kernel_jitter = 0;
};

/// A disturbance on request; `rank` -1 stands for all ranks.
struct Fault {
  std::string name;  ///< one of list_faults()
  std::int64_t rank = -1;
  double amount = 0;
};

/// A flaw of the written files on request.
struct Imperfection {
  std::string name;  ///< one of list_imperfections()
  std::int64_t rank = -1;
  double amount = 0;
};

/// The counter passes beside the traces: each is an execution of its own, kernels one after the other.
struct PassSettings {
  bool is_on = false;
  CounterFormat format = CounterFormat::automatic;
  bool marks = true;                ///< the program marks its iterations
  bool compressed = false;          ///< .csv.gz instead of .csv
  std::int64_t warmup = 3;          ///< iterations before those of the trace
  std::int64_t num_iterations = 0;  ///< counted ones, the warm-up among them; 0: up to the trace's last
  std::int64_t clock_range = 12;    ///< %: how much lower the last pass clocks than the first
};

struct Job {
  std::string preset;
  std::string model_name;
  ModelShape model;
  GpuSpec gpu;
  std::uint64_t seed = 1;
  std::int64_t world_size = 8;
  std::int64_t ranks_per_node = 8;
  std::int64_t batch = 1;     ///< sequences per data-parallel rank and micro step
  std::int64_t sequence = 0;  ///< tokens
  std::int64_t micro_steps = 1;
  std::int64_t tensor_parallel = 1;
  std::int64_t pipeline_parallel = 1;
  std::int64_t context_parallel = 1;
  Sharding sharding = Sharding::fsdp2;
  bool compiled = false;
  bool graphs = false;
  bool checkpointing = false;
  bool reads_loss = true;  ///< the host reads the loss after each iteration, so iterations do not overlap on the gpu
  OptimizerSteps optimizer = OptimizerSteps::every;
  std::int64_t num_iterations = 4;
  std::int64_t first_iteration = 10;   ///< number of the first recorded one, as the profiler counts
  std::int64_t warmup_iterations = 2;  ///< simulated and not recorded: clocks and leads settle
  // What the trace shows.
  bool annotations = false;
  bool modules = true;
  bool stacks = false;
  bool shapes = true;
  bool memory_events = false;
  std::int64_t start_ns = 1'767'189'312'000'000'000 + 1'234'567'800'000'000;  ///< UNIX time of the job's start
  Dialect dialect = Dialect::nvidia;
  Physics physics;
  std::vector<Fault> faults;
  std::vector<Imperfection> imperfections;
  PassSettings passes;

  std::int64_t data_parallel() const { return world_size / (tensor_parallel * pipeline_parallel * context_parallel); }
  std::int64_t layers_per_stage() const { return model.num_layers / pipeline_parallel; }
  /// Tokens of one rank in one micro step.
  std::int64_t tokens() const { return batch * sequence / context_parallel; }
};

}  // namespace chopper::synth
