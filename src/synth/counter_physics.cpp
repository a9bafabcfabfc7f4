// SPDX-License-Identifier: Apache-2.0
#include "synth/counter_physics.h"

#include <algorithm>

#include "synth/clock_loop.h"

namespace chopper::synth {
namespace {

// What no factor of the truth depends on, by class; assumed.
struct Habits {
  double vector_busy;  // share of the cycles in which a unit issues vector instructions
  double lanes;        // of a wave that work
  double shared_busy;  // share of the cycles in which the local memory works
  double conflicts;    // of those
  double hits;         // of requests to the cache
  double reads;        // of the traffic
};

Habits habits_of(const Work& work) {
  switch (work.work_class) {
    case WorkClass::gemm:
      return {0.10, 0.98, 0.45, 0.02, 0.80, 0.75};
    case WorkClass::attention:
      return {0.35, 0.97, 0.30, 0.05, 0.75, 0.6875};
    default:
      return {0.22, 0.99, 0.02, 0.0, 0.30, 0.625};
  }
}

std::int64_t whole(double value) { return static_cast<std::int64_t>(value + 0.5); }

// Work of the units does not depend on the clock: it is that of the kernel alone at the peak clock.
double unit_cycles(const Job& job, const Work& work) {
  return work.alone_ns * job.gpu.clock_mhz * 1e-3 * static_cast<double>(job.gpu.num_units);
}

// What all instances of the blocks below the dies count together.
std::int64_t device_total(const Job& job, const Work& work, Counter counter, double cycles) {
  const Habits habits = habits_of(work);
  const Traffic traffic = traffic_of(job, work);
  constexpr double kQuad = 4;  // some count in units of four cycles; data/counters/amd.toml says which
  const double occupied = cycles * static_cast<double>(job.gpu.num_units) * occupied_share(job, work);
  switch (counter) {
    case Counter::mops_bf16:
      return matrix_operations(work) / 512;
    case Counter::mfma_busy:
      return whole(matrix_busy_cycles(job, work));
    case Counter::busy_cu:
      return whole(occupied);
    case Counter::wave_cycles:
      return whole(occupied * static_cast<double>(resident_waves(job, work)) / kQuad);
    case Counter::active_valu:
      return whole(unit_cycles(job, work) * habits.vector_busy);
    case Counter::thread_valu:
      return whole(unit_cycles(job, work) * habits.vector_busy * 64 * habits.lanes);
    case Counter::lds_active:
      return whole(unit_cycles(job, work) * habits.shared_busy);
    case Counter::lds_conflict:
      return whole(unit_cycles(job, work) * habits.shared_busy * habits.conflicts);
    case Counter::active_lds:
      return whole(unit_cycles(job, work) * habits.shared_busy / kQuad);
    case Counter::read_requests:
      return traffic.read_128 + traffic.read_64 + traffic.read_32;
    case Counter::read_requests_32:
      return traffic.read_32;
    case Counter::read_requests_128:
      return traffic.read_128;
    case Counter::write_requests:
      return traffic.write_64 + traffic.write_32;
    case Counter::write_requests_64:
      return traffic.write_64;
    case Counter::cache_hit:
      return traffic.hits;
    case Counter::cache_miss:
      return traffic.lines;
    case Counter::cache_requests:
      return traffic.hits + traffic.lines;
    case Counter::grbm_count:
    case Counter::gui_active:
      break;
  }
  return 0;
}

}  // namespace

double serialised_ns(const Job& job, const Work& work, RunClocks clocks) {
  const double m = work.insensitive;
  return work.alone_ns * ((1 - m) * job.gpu.clock_mhz / clocks.core_mhz + m / clocks.memory_share) +
         job.physics.front_end_cycles / clocks.core_mhz * 1e3;
}

std::int64_t matrix_operations(const Work& work) { return whole(work.executed_flops); }

double matrix_busy_cycles(const Job& job, const Work& work) {
  const double per_cycle = job.gpu.bf16_flop_per_clock / static_cast<double>(job.gpu.matrix_units_per_unit);
  // A product that memory bounds in theory has rate 1 by definition; its matrix units run as those of others.
  const double rate = work.bound == Bound::compute         ? work.rate
                      : work.work_class == WorkClass::gemm ? 1 / job.physics.gemm_rate
                                                           : 1;
  return work.executed_flops * rate / per_cycle;
}

Traffic traffic_of(const Job& job, const Work& work) {
  const Habits habits = habits_of(work);
  const std::int64_t granules = (whole(work.executed_bytes) + 31) / 32;
  const std::int64_t reads = whole(static_cast<double>(granules) * habits.reads);
  Traffic traffic;
  if (job.gpu.architecture != "gfx90a") traffic.read_128 = whole(static_cast<double>(reads) * 0.8) / 4;
  const std::int64_t rest = reads - 4 * traffic.read_128;
  traffic.read_64 = whole(static_cast<double>(rest) * 0.9) / 2;
  traffic.read_32 = rest - 2 * traffic.read_64;
  const std::int64_t writes = granules - reads;
  traffic.write_64 = whole(static_cast<double>(writes) * 0.98) / 2;
  traffic.write_32 = writes - 2 * traffic.write_64;
  traffic.lines = (granules + 3) / 4;
  traffic.hits = whole(static_cast<double>(traffic.lines) * habits.hits / (1 - habits.hits));
  return traffic;
}

double occupied_share(const Job& job, const Work& work) {
  const std::int64_t blocks = work.grid[0] * work.grid[1] * work.grid[2];
  const std::int64_t units = job.gpu.num_units;
  const std::int64_t rounds = (blocks + units - 1) / units;
  return static_cast<double>(blocks) / static_cast<double>(rounds * units);
}

std::int64_t resident_waves(const Job& job, const Work& work) {
  constexpr std::int64_t kSharedBytes = 65536, kRegisters = 512, kMostWaves = 32;
  const bool amd = job.gpu.vendor == "amd";
  const std::int64_t threads = work.block[0] * work.block[1] * work.block[2];
  const std::int64_t waves = (threads + job.gpu.warp_size - 1) / job.gpu.warp_size;
  const std::int64_t shared_bytes = amd ? kSharedBytes : 4 * kSharedBytes;
  const std::int64_t by_shared = work.shared_memory > 0 ? shared_bytes / work.shared_memory * waves : kMostWaves;
  const std::int64_t by_registers = 4 * (kRegisters / std::max<std::int64_t>(8, work.registers));
  return std::clamp(std::min(by_shared, by_registers), std::min(waves, kMostWaves), kMostWaves);
}

std::vector<double> die_shares(const Job& job, std::int64_t rank) {
  std::vector<double> shares;
  for (std::int64_t die = 0; die < job.gpu.num_xccs; die++) shares.push_back(xcd_share(job, rank, die));
  return shares;
}

// The dies differ in clock, so in cycles of the same time; what is below them shares evenly but for the same spread.
void count_instances(const Job& job, std::span<const double> dies, const Work& work, Counter counter, double cycles,
                     std::vector<std::int64_t>& values) {
  const CounterBlock block = block_of(counter);
  const std::int64_t count = num_instances(job, block);
  values.clear();
  if (block == CounterBlock::grbm) {
    // The counter is read a little before and after the kernel.
    constexpr double kWindowCycles = 1800;
    const double more = counter == Counter::grbm_count ? kWindowCycles : 0;
    for (const double share : dies) values.push_back(whole((cycles + more) * share));
    return;
  }
  const std::int64_t total = device_total(job, work, counter, cycles);
  const std::int64_t per_die = count / job.gpu.num_xccs;
  double cumulative = 0;
  std::int64_t given = 0;
  for (std::int64_t i = 0; i < count; i++) {
    cumulative += dies[static_cast<std::size_t>(i / per_die)] / static_cast<double>(count);
    const std::int64_t up_to = i + 1 == count ? total : std::min(total, whole(static_cast<double>(total) * cumulative));
    values.push_back(up_to - given);
    given = up_to;
  }
}

std::int64_t count_all(const Job& job, std::span<const double> dies, const Work& work, Counter counter, double cycles) {
  if (block_of(counter) != CounterBlock::grbm) return device_total(job, work, counter, cycles);
  std::vector<std::int64_t> values;
  count_instances(job, dies, work, counter, cycles, values);
  std::int64_t sum = 0;
  for (const std::int64_t value : values) sum += value;
  return sum;
}

}  // namespace chopper::synth
