// SPDX-License-Identifier: Apache-2.0
#include "synth/parameters.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <optional>

#include "synth/pass_settings.h"

namespace chopper::synth {
namespace {

constexpr Parameter kParameters[] = {
    // Host.
    {"launch_call_ns", &Physics::launch_call_ns, 4200, 0, 1e6, "ns", "cost of a launch call",
     "medians of the real traces: 3.2 to 9.7 us under the profiler"},
    {"operator_ns", &Physics::operator_ns, 1300, 0, 1e6, "ns", "cost of entering an operator, before its first child",
     "medians of the real traces, from an operator's start to its first child's: 0.5 to 1.2 us, one 9.2"},
    {"range_ns", &Physics::range_ns, 2200, 0, 1e6, "ns", "cost of entering an annotation",
     "as operator_ns, without dispatch"},
    {"launch_latency_ns", &Physics::launch_latency_ns, 6500, 0, 1e6, "ns",
     "from the launch call to the earliest start on an idle stream",
     "shortest launch delays of the real traces: 5.0 to 8.9 us"},
    {"queue_gap_ns", &Physics::queue_gap_ns, 300, 0, 1e6, "ns", "pause between neighbours of one stream",
     "real AMD traces: most neighbours touch, one in ten is 3 to 7 us apart; NVIDIA (presets: 1000): medians 1.2 to 2 "
     "us"},
    {"event_latency_ns", &Physics::event_latency_ns, 1500, 0, 1e6, "ns",
     "from the end of work to the start of work of another stream that waits for it", "assumed"},
    {"queue_depth", &Physics::queue_depth, 1024, 1, 1e6, "pieces",
     "work launched and not started, at which the host waits", "assumed: slots of a hardware queue"},
    {"host_jitter", &Physics::host_jitter, 0.5, 0, 20, "share", "spread of host costs, skewed upwards",
     "launch calls of the real traces: tenth to ninetieth percentile 0.8 to 1.4 of the median"},
    {"host_spread", &Physics::host_spread, 0.04, 0, 1, "share", "difference between the hosts of ranks", "assumed"},
    {"data_loading_ns", &Physics::data_loading_ns, 420000, 0, 4e9, "ns", "time in the loader per iteration",
     "assumed: batches are ready"},
    {"host_hiccup_share", &Physics::host_hiccup_share, 0.00002, 0, 1, "share",
     "host actions hit by a hiccup (garbage collection, scheduling)", "assumed"},
    {"host_hiccup_ns", &Physics::host_hiccup_ns, 900000, 0, 1e10, "ns", "length of a hiccup", "assumed"},
    // Matrix units.
    {"gemm_utilisation", &Physics::gemm_utilisation, 0.86, 0.01, 1, "share",
     "matrix-unit utilisation of a large product, before waves and depth",
     "assumed, with gemm_rate and the clock: 700 to 800 TFLOP/s on MI300X, of the order of published results"},
    {"gemm_fill_k", &Physics::gemm_fill_k, 200, 0, 1e6, "elements",
     "depth lost to prologue and epilogue: K / (K + this)", "assumed: five steps of 64"},
    {"gemm_rate", &Physics::gemm_rate, 0.94, 0.1, 1, "share", "rate of busy matrix units against their peak",
     "assumed: instruction mix"},
    {"attention_forward_utilisation", &Physics::attention_forward_utilisation, 0.40, 0.01, 1, "share",
     "matrix-unit utilisation of forward attention",
     "assumed, of the order of published FlashAttention 2 results on MI300X"},
    {"attention_backward_utilisation", &Physics::attention_backward_utilisation, 0.30, 0.01, 1, "share",
     "the same, backward, from two sequences on", "assumed, as above"},
    {"attention_backward_batch1", &Physics::attention_backward_batch1, 0.27, 0.01, 1, "share",
     "what is left of it with one sequence", "paper: backward attention at batch 1 takes longer than at batch 2"},
    {"gemm_insensitive", &Physics::gemm_insensitive, 0.08, 0, 1, "share",
     "m: part of the time that follows the memory clock", "assumed"},
    {"attention_insensitive", &Physics::attention_insensitive, 0.05, 0, 1, "share", "m of attention", "assumed"},
    // Memory.
    {"memory_efficiency", &Physics::memory_efficiency, 0.68, 0.01, 1, "share",
     "bandwidth of a large streaming kernel against peak",
     "assumed, of the order of published copy benchmarks on MI300X (3.6 to 4.3 of 5.3 TB/s)"},
    {"memory_half_bytes", &Physics::memory_half_bytes, 4e6, 0, 1e12, "bytes", "size at which half of that is reached",
     "assumed: fill of all units"},
    {"vector_insensitive", &Physics::vector_insensitive, 0.85, 0, 1, "share", "m of bandwidth-bound kernels",
     "assumed: bandwidth follows the memory clock"},
    {"kernel_floor_ns", &Physics::kernel_floor_ns, 2200, 0, 1e6, "ns", "time of a kernel without work",
     "shortest repeated kernels of the real traces: 0.6 to 2 us, their lowest tenth up to 3.1 us"},
    // Contention.
    {"contention_gemm", &Physics::contention_gemm, 1.22, 1, 10, "factor",
     "matrix product beside a transferring collective", "paper: 15 to 20 %; arXiv 2507.03114: 18.9 % in the mean"},
    {"contention_attention", &Physics::contention_attention, 1.10, 1, 10, "factor", "attention beside one",
     "assumed: uses fewer shared resources"},
    {"contention_vector", &Physics::contention_vector, 1.30, 1, 10, "factor", "bandwidth-bound kernel beside one",
     "arXiv 2507.03114: up to 40 %"},
    {"contention_waiting", &Physics::contention_waiting, 0.95, 0, 1, "share",
     "of that, when the collective only waits for other ranks", "its blocks occupy units and spin"},
    {"contention_copy", &Physics::contention_copy, 1.12, 1, 10, "factor",
     "beside a kernel of another compute or copy stream", "assumed"},
    {"contention_transfer", &Physics::contention_transfer, 0.12, 0, 10, "share",
     "a transfer is longer by this when all its ranks compute", "ConCCL, arXiv 2412.14335, in order of size"},
    // Communication.
    {"link_efficiency", &Physics::link_efficiency, 0.72, 0.01, 1, "share",
     "bandwidth of collectives against the sum of links", "assumed: 320 of 448 GB/s for an all-gather on eight MI300X"},
    {"collective_latency_ns", &Physics::collective_latency_ns, 22000, 0, 1e9, "ns", "of a collective without bytes",
     "shortest collectives of the real traces: 6 to 17 us, their lowest tenth up to 28 us"},
    {"nic_gb_per_s", &Physics::nic_gb_per_s, 45, 0.001, 1e6, "GB/s", "of one gpu between nodes",
     "400 Gbit/s Ethernet or InfiniBand, 90 %"},
    {"pcie_gb_per_s", &Physics::pcie_gb_per_s, 25, 0.001, 1e6, "GB/s", "between gpus without links",
     "assumed: PCIe 4 x16, 80 %"},
    {"host_link_gb_per_s", &Physics::host_link_gb_per_s, 50, 0.001, 1e6, "GB/s", "copies between host and gpu",
     "assumed: PCIe 5 x16, 80 %"},
    {"transfer_jitter", &Physics::transfer_jitter, 0.03, 0, 1, "share", "spread of transfers", "assumed"},
    {"exit_jitter_ns", &Physics::exit_jitter_ns, 2500, 0, 1e9, "ns", "ranks leave a collective within this",
     "formats.md 5.4: within microseconds"},
    // Clocks and power.
    {"idle_w", &Physics::idle_w, 150, 0, 1e5, "W", "power without work", "assumed"},
    {"core_w", &Physics::core_w, 900, 0, 1e5, "W", "power of busy matrix units at the peak clock",
     "calibrated: about 1,750 MHz at 750 W in products"},
    {"memory_w", &Physics::memory_w, 115, 0, 1e5, "W", "power of memory at full bandwidth", "assumed: eight stacks"},
    {"link_w", &Physics::link_w, 35, 0, 1e5, "W", "power of busy links", "assumed"},
    {"power_cap_share", &Physics::power_cap_share, 1.0, 0.05, 1, "share", "of the board power that may be drawn",
     "paper: cap at 750 W"},
    {"min_clock_share", &Physics::min_clock_share, 0.45, 0.01, 1, "share", "lowest clock against the highest",
     "assumed"},
    {"clock_up_mhz_per_w", &Physics::clock_up_mhz_per_w, 0.3, 0, 100, "MHz/W",
     "step of the control loop below the cap, per ms", "calibrated: recovers in tens of ms"},
    {"clock_down_mhz_per_w", &Physics::clock_down_mhz_per_w, 0.7, 0, 100, "MHz/W", "step above the cap",
     "calibrated: reacts within a few ms"},
    {"power_lag", &Physics::power_lag, 0.35, 0.001, 1, "share", "of a new sample in the filtered power",
     "firmware averages over milliseconds"},
    {"power_noise_w", &Physics::power_noise_w, 12, 0, 1e4, "W", "noise of a sample", "assumed"},
    {"memory_clock_floor", &Physics::memory_clock_floor, 0.45, 0.01, 1, "share", "lowest memory clock",
     "paper, figure 14: memory clocks fall with core clocks"},
    {"silicon_spread", &Physics::silicon_spread, 0.035, 0, 1, "share",
     "spread of core power between gpus: fast and slow ones",
     "Lit Silicon: clock ratio 1.06 between hottest and coolest"},
    {"xcd_spread", &Physics::xcd_spread, 0.006, 0, 1, "share", "spread of clocks between the dies of a gpu", "assumed"},
    // Allocator under FSDP 1.
    {"allocator_spike_share", &Physics::allocator_spike_share, 0.26, 0, 1, "share",
     "chance per ms that a spike of memory power begins under FSDP 1",
     "calibrated: paper, clocks 20 to 25 % below FSDP 2 at equal power"},
    {"allocator_spike_w", &Physics::allocator_spike_w, 300, 0, 1e5, "W", "height of a spike", "calibrated, as above"},
    {"allocator_spike_ms", &Physics::allocator_spike_ms, 4, 0, 1e6, "ms", "length of a spike", "calibrated, as above"},
    {"allocator_new_share", &Physics::allocator_new_share, 0.15, 0, 1, "share",
     "gathers of FSDP 1 that take new memory, in allocator events", "assumed"},
    {"allocator_retry_share", &Physics::allocator_retry_share, 0.04, 0, 1, "share",
     "gathers of FSDP 1 before which the allocator frees blocks", "assumed"},
    {"allocator_retry_ns", &Physics::allocator_retry_ns, 450000, 0, 1e10, "ns", "host time of that", "assumed"},
    // Serialised counter passes.
    {"front_end_cycles", &Physics::front_end_cycles, 4200, 0, 1e9, "cycles",
     "added to each kernel of a serialised pass", "formats.md 3.1: busy cycles include the command processor"},
    {"cold_cache_share", &Physics::cold_cache_share, 0.015, 0, 1, "share",
     "longer for a bandwidth-bound kernel that finds cold caches", "assumed"},
    // Repetition.
    {"kernel_jitter", &Physics::kernel_jitter, 0.006, 0, 0.15, "share", "spread of a kernel between repetitions",
     "steadiest tenth of the repeated kernels of the real traces: 0.3 to 2.5 %"},
};

constexpr Setting kSettings[] = {
    {"world_size", &Job::world_size, nullptr, 1, 1024, "ranks"},
    {"ranks_per_node", &Job::ranks_per_node, nullptr, 1, 1024, "ranks of one host"},
    {"batch", &Job::batch, nullptr, 1, 4096, "sequences per data-parallel rank and micro step"},
    {"sequence", &Job::sequence, nullptr, 16, 1 << 24, "tokens of a sequence"},
    {"micro_steps", &Job::micro_steps, nullptr, 1, 1024, "forward-backward passes per iteration"},
    {"tensor_parallel", &Job::tensor_parallel, nullptr, 1, 1024, "ranks of a tensor-parallel group"},
    {"pipeline_parallel", &Job::pipeline_parallel, nullptr, 1, 1024, "pipeline stages (1F1B)"},
    {"context_parallel", &Job::context_parallel, nullptr, 1, 1024, "ranks that share a sequence"},
    {"num_iterations", &Job::num_iterations, nullptr, 1, 100000, "recorded iterations"},
    {"first_iteration", &Job::first_iteration, nullptr, 0, 1000000000, "number of the first recorded one"},
    {"warmup_iterations", &Job::warmup_iterations, nullptr, 0, 1000, "iterations simulated before, not recorded"},
    {"layers", nullptr, &ModelShape::num_layers, 1, 4096, "repeated blocks"},
    {"hidden", nullptr, &ModelShape::hidden, 16, 1 << 20, "width of the model"},
    {"feed_forward", nullptr, &ModelShape::feed_forward, 16, 1 << 22, "width of the MLP"},
    {"heads", nullptr, &ModelShape::num_heads, 1, 4096, "query heads"},
    {"kv_heads", nullptr, &ModelShape::num_kv_heads, 1, 4096, "key and value heads"},
    {"head_dim", nullptr, &ModelShape::head_dim, 8, 1024, "width of a head"},
    {"vocabulary", nullptr, &ModelShape::vocabulary, 16, 1 << 24, "tokens the model knows"},
};

constexpr Switch kSwitches[] = {
    {"compiled", &Job::compiled, "layers run as compiled, fused kernels"},
    {"graphs", &Job::graphs, "each layer is one graph launch forward and one backward"},
    {"checkpointing", &Job::checkpointing, "layers are recomputed in the backward pass"},
    {"reads_loss", &Job::reads_loss, "the host reads the loss after each iteration, which drains the gpu"},
    {"annotations", &Job::annotations, "hand-written ranges for iterations, layers and operations"},
    {"modules", &Job::modules, "module ranges (nn.Module: ...)"},
    {"stacks", &Job::stacks, "Python frames"},
    {"shapes", &Job::shapes, "shapes of operator inputs"},
    {"memory_events", &Job::memory_events, "allocator events"},
};

constexpr NamedEffect kFaults[] = {
    {"straggler", 8, 0, 90, false, true, "%", "the rank's gpu clocks lower by this much at the same power"},
    {"thermal-throttle", 30, 0, 90, false, true, "%",
     "the rank's gpu clocks at most this much below its highest, from the first recorded iteration on"},
    {"late-rank", 5, 0, 100000, false, true, "ms", "the rank starts each iteration later"},
    {"slow-link", 100, 0, 100000, false, true, "%", "transfers that involve the rank take longer"},
    {"host-jitter", 6, 0, 1000, false, true, "factor", "spread of the rank's host costs"},
    {"sync-calls", 1, 1, 1, true, false, "calls",
     "the host waits for the gpu before every layer of the forward pass; all ranks"},
    {"data-loading", 40, 0, 100000, false, true, "ms", "the loader is late in every iteration"},
};

constexpr NamedEffect kImperfections[] = {
    {"drop-first", 50, 0, 1000000000, true, true, "kernels", "the first gpu records of the file are missing"},
    {"drop-random", 1, 0, 100, false, true, "%", "gpu records are missing at random"},
    {"drop-stream", 1, 0, 9, true, true, "stream",
     "all gpu records of a stream are missing, by its number in the truth"},
    {"clock-offset", 1000, -1000000000, 1000000000, false, true, "us", "all times of the rank are shifted"},
    {"clock-drift", 20, -100000, 100000, false, true, "ppm", "the rank's clock runs faster"},
    {"duplicate-correlation", 1, 0, 100, false, true, "%", "launches share the correlation id of the call before"},
    {"zero-time", 3, 0, 1000000, true, true, "records", "gpu records with ts 0"},
    {"overflowed-time", 3, 0, 1000000, true, true, "records", "gpu records whose duration does not fit 63 bits of ns"},
    {"truncated", 10, 0, 100, false, true, "%", "the file ends early by this share of its uncompressed text"},
    {"broken-quoting", 5, 0, 1000000, true, true, "records", "annotations whose names contain bare quotes"},
    {"pass-extra", 1, 0, 100, false, true, "%", "counter passes have dispatches that the trace does not have"},
    {"pass-missing", 1, 0, 100, false, true, "%", "dispatches are missing in counter passes"},
    {"pass-renamed", 1, 0, 100, false, true, "%", "dispatches of counter passes are of another kernel for the same"},
    {"pass-reordered", 1, 0, 100, false, true, "%", "dispatches of counter passes are swapped with the next"},
    {"pass-warmup", 2, 0, 1000, true, true, "iterations", "counter passes warm up longer"},
    {"pass-clocks", 10, 0, 80, false, true, "%", "all counter passes clock lower"},
};

std::optional<double> number(std::string_view text) {
  // std::from_chars for double rounds correctly and ignores the locale.
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

Error usage(std::string message, std::string hint) {
  return {ErrorCode::usage, std::move(message), "", std::move(hint)};
}

template <class List>
std::string names_of(const List& list) {
  std::string text;
  for (const auto& each : list) text += fmt::format("{}{}", text.empty() ? "" : ", ", each.name);
  return text;
}

Result<Done> set_whole(Job& job, const Setting& setting, std::string_view value) {
  const auto parsed = number(value);
  const bool whole = parsed && *parsed == std::floor(*parsed);
  if (!whole || *parsed < static_cast<double>(setting.low) || *parsed > static_cast<double>(setting.high)) {
    return usage(
        fmt::format("{} takes a whole number from {} to {}, not '{}'", setting.name, setting.low, setting.high, value),
        "");
  }
  std::int64_t& target = setting.value != nullptr ? job.*setting.value : job.model.*setting.dimension;
  target = static_cast<std::int64_t>(*parsed);
  return Done{};
}

struct Effect {
  std::string name;
  std::int64_t rank = -1;
  double amount = 0;
};

Result<Effect> parse_effect(std::string_view text, std::span<const NamedEffect> list, std::string_view what) {
  const std::size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  for (const NamedEffect& each : list) {
    if (each.name != name) continue;
    Effect effect{std::string(name), -1, each.initial};
    if (colon == std::string_view::npos) return effect;
    const std::string_view rest = text.substr(colon + 1);
    const std::size_t second = rest.find(':');
    const std::string_view rank = rest.substr(0, second);
    if (!rank.empty()) {
      const auto parsed = number(rank);
      if (!parsed || *parsed < 0 || *parsed != std::floor(*parsed) || *parsed > 1e6) {
        return usage(fmt::format("'{}' is no rank in '{}'", rank, text),
                     fmt::format("example: {}:5:{}", name, each.initial));
      }
      if (!each.has_rank)
        return usage(fmt::format("{} concerns all ranks, not one: '{}'", name, text), "leave the rank out");
      effect.rank = static_cast<std::int64_t>(*parsed);
    }
    if (second == std::string_view::npos) return effect;
    const auto amount = number(rest.substr(second + 1));
    const bool fits =
        amount && *amount >= each.low && *amount <= each.high && (!each.is_whole || *amount == std::floor(*amount));
    if (!fits) {
      return usage(fmt::format("the amount of {} is {} from {} to {} {}, not '{}'", name,
                               each.is_whole ? "a whole number" : "a number", each.low, each.high, each.unit,
                               rest.substr(second + 1)),
                   "");
    }
    effect.amount = *amount;
    return effect;
  }
  return usage(fmt::format("unknown {} '{}'", what, name), "there are: " + names_of(list));
}

}  // namespace

std::span<const Parameter> list_parameters() { return kParameters; }
std::span<const Setting> list_settings() { return kSettings; }
std::span<const Switch> list_switches() { return kSwitches; }
std::span<const NamedEffect> list_faults() { return kFaults; }
std::span<const NamedEffect> list_imperfections() { return kImperfections; }

Physics initial_physics() {
  Physics physics;
  for (const Parameter& p : kParameters) physics.*p.value = p.initial;
  return physics;
}

Result<Done> apply_setting(Job& job, std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    return usage(fmt::format("--set takes NAME=VALUE, not '{}'", text), "example: --set layers=4");
  }
  const std::string_view name = text.substr(0, equals), value = text.substr(equals + 1);
  for (const Setting& setting : kSettings) {
    if (setting.name == name) return set_whole(job, setting, value);
  }
  for (const Switch& each : kSwitches) {
    if (each.name != name) continue;
    if (value != "on" && value != "off") return usage(fmt::format("{} takes on or off, not '{}'", name, value), "");
    job.*each.value = value == "on";
    return Done{};
  }
  for (const Parameter& p : kParameters) {
    if (p.name != name) continue;
    const auto parsed = number(value);
    if (!parsed || *parsed < p.low || *parsed > p.high) {
      return usage(fmt::format("{} takes a number from {} to {}, not '{}'", name, p.low, p.high, value), "");
    }
    job.physics.*p.value = *parsed;
    return Done{};
  }
  if (is_pass_setting(name)) return apply_pass_setting(job.passes, name, value);
  if (name == "optimizer") {
    for (const OptimizerSteps each : {OptimizerSteps::every, OptimizerSteps::once, OptimizerSteps::never}) {
      if (value == to_string(each)) return job.optimizer = each, Done{};
    }
    return usage(fmt::format("optimizer takes every, once or never, not '{}'", value), "");
  }
  if (name == "sharding") {
    for (const Sharding each : {Sharding::fsdp1, Sharding::fsdp2, Sharding::ddp}) {
      if (value == to_string(each)) return job.sharding = each, Done{};
    }
    return usage(fmt::format("sharding takes fsdp1, fsdp2 or ddp, not '{}'", value), "");
  }
  return usage(fmt::format("unknown setting '{}'", name), "all settings: chopper synth --list");
}

Result<Fault> parse_fault(std::string_view text) {
  CHOPPER_TRY(Effect effect, parse_effect(text, kFaults, "fault"));
  return Fault{effect.name, effect.rank, effect.amount};
}

Result<Imperfection> parse_imperfection(std::string_view text) {
  CHOPPER_TRY(Effect effect, parse_effect(text, kImperfections, "imperfection"));
  return Imperfection{effect.name, effect.rank, effect.amount};
}

Result<Done> check_job(const Job& job) {
  const ModelShape& m = job.model;
  const std::int64_t grid = job.tensor_parallel * job.pipeline_parallel * job.context_parallel;
  if (job.world_size % grid != 0) {
    return usage(fmt::format("world_size is no multiple of tensor x pipeline x context parallelism: {} and {}",
                             job.world_size, grid),
                 "");
  }
  if (m.num_layers % job.pipeline_parallel != 0) {
    return usage(
        fmt::format("layers is no multiple of pipeline_parallel: {} and {}", m.num_layers, job.pipeline_parallel), "");
  }
  if (m.num_heads % job.tensor_parallel != 0 || m.num_kv_heads % job.tensor_parallel != 0 ||
      m.feed_forward % job.tensor_parallel != 0 || m.vocabulary % job.tensor_parallel != 0) {
    return usage(fmt::format("heads, kv_heads, feed_forward and vocabulary must be multiples of tensor_parallel: {}",
                             job.tensor_parallel),
                 "");
  }
  if (m.num_heads % m.num_kv_heads != 0) {
    return usage(fmt::format("heads is no multiple of kv_heads: {} and {}", m.num_heads, m.num_kv_heads), "");
  }
  if (job.sequence % job.context_parallel != 0) {
    return usage(
        fmt::format("sequence is no multiple of context_parallel: {} and {}", job.sequence, job.context_parallel), "");
  }
  if (job.pipeline_parallel > 1 && job.sharding != Sharding::ddp) {
    return usage("pipeline stages are simulated with sharding=ddp only", "add: --set sharding=ddp");
  }
  if (job.graphs && (job.tensor_parallel > 1 || job.context_parallel > 1 || job.compiled || job.checkpointing)) {
    return usage("graphs cannot be combined with tensor or context parallelism, compilation or checkpointing", "");
  }
  if (job.compiled && (job.tensor_parallel > 1 || job.context_parallel > 1 || job.checkpointing)) {
    return usage("compiled cannot be combined with tensor or context parallelism or checkpointing", "");
  }
  if (job.gpu.bf16_flop_per_clock <= 0 || job.gpu.memory_gb_per_s <= 0) {
    return usage(fmt::format("the peaks of {} are not known", job.gpu.key), "see: chopper gpus");
  }
  for (const Fault& fault : job.faults) {
    if (fault.rank >= job.world_size)
      return usage(fmt::format("fault {} names a rank that is not there: {}", fault.name, fault.rank), "");
  }
  for (const Imperfection& each : job.imperfections) {
    if (each.rank >= job.world_size)
      return usage(fmt::format("imperfection {} names a rank that is not there: {}", each.name, each.rank), "");
  }
  return check_passes(job);
}

const char* to_string(Sharding sharding) {
  switch (sharding) {
    case Sharding::fsdp1:
      return "fsdp1";
    case Sharding::fsdp2:
      return "fsdp2";
    case Sharding::ddp:
      return "ddp";
  }
  return "";
}

const char* to_string(OptimizerSteps steps) {
  switch (steps) {
    case OptimizerSteps::every:
      return "every";
    case OptimizerSteps::once:
      return "once";
    case OptimizerSteps::never:
      return "never";
  }
  return "";
}

const char* to_string(Dialect dialect) {
  switch (dialect) {
    case Dialect::nvidia:
      return "nvidia";
    case Dialect::amd_queue:
      return "amd-queue";
    case Dialect::amd_stream:
      return "amd-stream";
  }
  return "";
}

}  // namespace chopper::synth
