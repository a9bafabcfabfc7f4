// SPDX-License-Identifier: Apache-2.0
#include "synth/presets.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "catalog/gpus.h"
#include "synth/parameters.h"

namespace chopper::synth {
namespace {

constexpr Preset kPresets[] = {
    {"paper-b1s4-fsdp1", "the paper's b1s4 under FSDP 1: Llama 3 8B, eight MI300X", "mi300x", "8b", 8, 1, 4096,
     "annotations=on optimizer=once sharding=fsdp1"},
    {"paper-b1s4-fsdp2", "the same under FSDP 2", "mi300x", "8b", 8, 1, 4096,
     "annotations=on optimizer=once sharding=fsdp2"},
    {"paper-b2s4-fsdp1", "b2s4", "mi300x", "8b", 8, 2, 4096, "annotations=on optimizer=once sharding=fsdp1"},
    {"paper-b2s4-fsdp2", "b2s4", "mi300x", "8b", 8, 2, 4096, "annotations=on optimizer=once sharding=fsdp2"},
    {"paper-b4s4-fsdp1", "b4s4", "mi300x", "8b", 8, 4, 4096, "annotations=on optimizer=once sharding=fsdp1"},
    {"paper-b4s4-fsdp2", "b4s4", "mi300x", "8b", 8, 4, 4096, "annotations=on optimizer=once sharding=fsdp2"},
    {"paper-b1s8-fsdp1", "b1s8", "mi300x", "8b", 8, 1, 8192, "annotations=on optimizer=once sharding=fsdp1"},
    {"paper-b1s8-fsdp2", "b1s8", "mi300x", "8b", 8, 1, 8192, "annotations=on optimizer=once sharding=fsdp2"},
    {"paper-b2s8-fsdp1", "b2s8", "mi300x", "8b", 8, 2, 8192, "annotations=on optimizer=once sharding=fsdp1"},
    {"paper-b2s8-fsdp2", "b2s8", "mi300x", "8b", 8, 2, 8192, "annotations=on optimizer=once sharding=fsdp2"},
    {"llama3-8b-fsdp2-h100", "Llama 3 8B under FSDP 2 on eight H100", "h100_sxm", "8b", 8, 1, 4096,
     "sharding=fsdp2 reads_loss=off"},
    {"llama3-8b-ddp", "Llama 3 8B under DDP on eight MI300X", "mi300x", "8b", 8, 1, 4096, "sharding=ddp"},
    {"llama3-8b-tp4", "tensor parallelism over four ranks, FSDP 2 over two, eight H100", "h100_sxm", "8b", 8, 2, 4096,
     "sharding=fsdp2 tensor_parallel=4"},
    {"llama3-8b-pp4", "four pipeline stages (1F1B, eight micro-batches), DDP over two, eight MI300X", "mi300x", "8b", 8,
     1, 4096, "sharding=ddp pipeline_parallel=4 micro_steps=8"},
    {"llama3-8b-cp4", "sequences of 32K shared by four ranks, FSDP 2 over eight, H100", "h100_sxm", "8b", 8, 1, 32768,
     "sharding=fsdp2 context_parallel=4"},
    {"llama3-8b-compiled", "compiled (fused) kernels, FSDP 2 on eight H100", "h100_sxm", "8b", 8, 2, 4096,
     "sharding=fsdp2 compiled=on"},
    {"llama3-8b-graphs", "each layer one graph launch, DDP on eight H100", "h100_sxm", "8b", 8, 1, 4096,
     "sharding=ddp graphs=on"},
    {"llama3-70b-fsdp2", "Llama 3 70B under FSDP 2 with checkpointing, 64 MI300X on eight nodes", "mi300x", "70b", 64,
     1, 8192, "sharding=fsdp2 checkpointing=on num_iterations=2 warmup_iterations=1"},
    {"tiny-fsdp2", "a two-layer model, four MI300X: small files", "mi300x", "tiny", 4, 2, 1024, "sharding=fsdp2"},
    {"tiny-fsdp1", "the same under FSDP 1", "mi300x", "tiny", 4, 2, 1024, "sharding=fsdp1"},
    {"tiny-ddp", "the same under DDP", "mi300x", "tiny", 4, 2, 1024, "sharding=ddp"},
    {"tiny-1024", "the two-layer model on 1,024 ranks of 128 nodes", "mi300x", "tiny", 1024, 1, 512,
     "sharding=fsdp2 num_iterations=2 warmup_iterations=1 modules=off"},
    {"demo", "four layers on four MI300X, one of them slower", "mi300x", "demo", 4, 2, 4096,
     "sharding=fsdp2 annotations=off num_iterations=3"},
};

Result<ModelShape> model_of(std::string_view name) {
  if (name == "8b") return ModelShape{32, 4096, 14336, 32, 8, 128, 128256};
  if (name == "70b") return ModelShape{80, 8192, 28672, 64, 8, 128, 128256};
  if (name == "demo") return ModelShape{4, 4096, 14336, 32, 8, 128, 32000};
  if (name == "tiny") return ModelShape{2, 512, 1536, 8, 4, 64, 4096};
  return Error{ErrorCode::internal, fmt::format("unknown model: {}", name), "", ""};
}

std::string title_of(std::string_view name) {
  if (name == "8b") return "Llama 3 8B";
  if (name == "70b") return "Llama 3 70B";
  return fmt::format("Llama, {}", name);
}

Result<GpuSpec> gpu_of(std::string_view key) {
  CHOPPER_TRY(std::vector<GpuSpec> gpus, embedded_gpus());
  std::string keys;
  for (GpuSpec& gpu : gpus) {
    if (gpu.key == key) return std::move(gpu);
    keys += (keys.empty() ? "" : ", ") + gpu.key;
  }
  return Error{ErrorCode::usage, fmt::format("unknown gpu '{}'", key), "", "there are: " + keys};
}

// What another gpu needs: parameters that stand for power follow its limit.
void scale_to(Job& job) {
  constexpr double kCalibratedFor = 750;  // W: MI300X
  const double share = job.gpu.power_w / kCalibratedFor;
  for (double Physics::*each : {&Physics::idle_w, &Physics::core_w, &Physics::memory_w, &Physics::link_w,
                                &Physics::power_noise_w, &Physics::allocator_spike_w}) {
    job.physics.*each *= share;
  }
  job.physics.clock_up_mhz_per_w /= share;
  job.physics.clock_down_mhz_per_w /= share;
  if (job.gpu.vendor == "nvidia") {
    // Fewer watts at the quoted clock, better kernels, a switch between the gpus.
    job.physics.core_w *= 0.85;
    job.physics.attention_forward_utilisation = 0.60;
    job.physics.attention_backward_utilisation = 0.50;
    job.physics.attention_backward_batch1 = 1.0;
    job.physics.memory_efficiency = 0.88;
    job.physics.link_efficiency = 0.80;
    job.physics.launch_latency_ns = 4500;
    job.physics.queue_gap_ns = 1000;
  }
}

}  // namespace

std::span<const Preset> list_presets() { return kPresets; }

Result<Job> make_job(std::string_view name, std::string_view gpu) {
  for (const Preset& preset : kPresets) {
    if (preset.name != name) continue;
    Job job;
    job.preset = preset.name;
    job.model_name = title_of(preset.model);
    CHOPPER_TRY(job.model, model_of(preset.model));
    CHOPPER_TRY(job.gpu, gpu_of(gpu.empty() ? preset.gpu : gpu));
    job.world_size = preset.world_size;
    job.batch = preset.batch;
    job.sequence = preset.sequence;
    job.physics = initial_physics();
    scale_to(job);
    job.dialect = job.gpu.vendor == "amd" ? Dialect::amd_stream : Dialect::nvidia;
    std::string_view rest = preset.settings;
    while (!rest.empty()) {
      const std::size_t space = rest.find(' ');
      CHOPPER_TRY([[maybe_unused]] Done done, apply_setting(job, rest.substr(0, space)));
      rest = space == std::string_view::npos ? "" : rest.substr(space + 1);
    }
    if (preset.name == "demo") job.faults.push_back({"straggler", 2, 10});
    return job;
  }
  return Error{ErrorCode::usage, fmt::format("unknown preset '{}'", name), "", "all presets: chopper synth --list"};
}

}  // namespace chopper::synth
