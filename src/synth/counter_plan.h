// SPDX-License-Identifier: Apache-2.0
// Which counters each pass holds (formats.md 2.5), and how many instances of the hardware count them.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "synth/job.h"

namespace chopper::synth {

enum class Counter : std::uint8_t {
  grbm_count,
  gui_active,
  mops_bf16,
  mfma_busy,
  busy_cu,
  wave_cycles,
  active_valu,
  thread_valu,
  lds_conflict,
  lds_active,
  active_lds,
  read_requests,
  read_requests_32,
  read_requests_128,
  write_requests,
  write_requests_64,
  cache_hit,
  cache_miss,
  cache_requests,
};
enum class CounterBlock : std::uint8_t { grbm, sq, tcc };

CounterBlock block_of(Counter counter);
/// The block as the profiler names it: "GRBM".
std::string_view block_name(CounterBlock block);
/// Instances in a device: one GRBM, four SQs and 16 TCCs for each die.
std::int64_t num_instances(const Job& job, CounterBlock block);
/// The counter's name on the job's gpu.
std::string_view counter_name(const Job& job, Counter counter);

/// The counters of each pass of an AMD gpu; each repeats GRBM_GUI_ACTIVE.
std::vector<std::vector<Counter>> counter_plan(const Job& job);

/// Passes of the job, of either vendor.
std::int64_t num_passes(const Job& job);

}  // namespace chopper::synth
