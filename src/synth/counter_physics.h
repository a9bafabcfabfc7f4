// SPDX-License-Identifier: Apache-2.0
// What a kernel leaves in the counters: from the same work, factors and clocks as its time (docs/design/simulator.md).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "synth/counter_plan.h"
#include "synth/program.h"

namespace chopper::synth {

/// Clocks of a gpu relative to what the peaks are quoted at.
struct RunClocks {
  double core_mhz = 0;
  double memory_share = 1;  ///< memory clock / its highest
};

/// D_alone(f, g) of spec 9 in ns: C / f, so the cycles of the front end are part of it.
double serialised_ns(const Job& job, const Work& work, RunClocks clocks);

/// Executed matrix operations of all blocks, whatever bounds the kernel.
std::int64_t matrix_operations(const Work& work);
/// Cycles in which matrix units are busy, summed over the units: their operations at the rate they run at.
double matrix_busy_cycles(const Job& job, const Work& work);

/// Bytes in requests of the fabric, or of DRAM: read + write is the executed bytes rounded up to 32.
struct Traffic {
  std::int64_t read_128 = 0, read_64 = 0, read_32 = 0;
  std::int64_t write_64 = 0, write_32 = 0;
  std::int64_t lines = 0;  ///< of 128 bytes that miss the cache
  std::int64_t hits = 0;

  std::int64_t read_bytes() const { return 128 * read_128 + 64 * read_64 + 32 * read_32; }
  std::int64_t write_bytes() const { return 64 * write_64 + 32 * write_32; }
};
Traffic traffic_of(const Job& job, const Work& work);

/// Share of the units that hold waves of the kernel, averaged over its rounds of blocks.
double occupied_share(const Job& job, const Work& work);
/// Waves or warps resident on an occupied unit.
std::int64_t resident_waves(const Job& job, const Work& work);

/// Clock of each die of the gpu of `rank`, relative to the mean.
std::vector<double> die_shares(const Job& job, std::int64_t rank);

/// Values of `counter` for a dispatch of `cycles` (mean over `dies`): one for each instance.
void count_instances(const Job& job, std::span<const double> dies, const Work& work, Counter counter, double cycles,
                     std::vector<std::int64_t>& values);
/// The sum of those.
std::int64_t count_all(const Job& job, std::span<const double> dies, const Work& work, Counter counter, double cycles);

}  // namespace chopper::synth
