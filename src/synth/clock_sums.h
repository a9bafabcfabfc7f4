// SPDX-License-Identifier: Apache-2.0
// Sums over kernels from which the factors of spec 9 follow, as an analysis of noiseless passes would find them.
#pragma once

#include <cstdint>
#include <string>

#include "synth/counter_physics.h"
#include "synth/simulation.h"

namespace chopper::synth {

struct ClockSums {
  std::int64_t num_kernels = 0;
  std::int64_t duration_ns = 0;                           ///< D_act
  double flops = 0, executed_flops = 0, busy_cycles = 0;  ///< of kernels that compute bounds
  double bytes = 0, executed_bytes = 0;                   ///< of kernels that memory bounds
  double theory_ns = 0;                                   ///< D_thr
  double with_inst_ns = 0;                                ///< D_thr x inst
  double with_util_ns = 0;                                ///< D_thr x inst x util
  double peak_ns = 0;                                     ///< D_alone(f_peak, g_pass) = D_thr x inst x util x rate
  double at_core_ns = 0;                                  ///< D_alone(f, g_pass)
  double at_clocks_ns = 0;                                ///< D_alone(f, g)
  double core_cycles = 0;                                 ///< clock integrated over D_act, MHz x ns
  double insensitive_ns = 0;                              ///< of peak_ns: what does not follow the core clock
  double front_end_peak_ns = 0, front_end_ns = 0;         ///< of peak_ns and of at_core_ns: the front end's cycles

  void add(const Job& job, const Work& work, const WorkTime& time);
  void add(const ClockSums& other);

  double inst() const { return with_inst_ns / theory_ns; }
  double util() const { return with_util_ns / with_inst_ns; }
  double rate() const { return peak_ns / with_util_ns; }
  double freq() const { return at_core_ns / peak_ns; }
  double mem_clock() const { return at_clocks_ns / at_core_ns; }
  double contention() const { return static_cast<double>(duration_ns) / at_clocks_ns; }
  /// The same of the kernels themselves: cycles of the front end, which only the passes have, left out.
  double util_alone() const { return util() * (peak_ns - front_end_peak_ns) / peak_ns; }
  double contention_alone() const { return static_cast<double>(duration_ns) / (at_clocks_ns - front_end_ns); }
  /// Cycles over time: the mean clock while the kernels ran.
  double mean_mhz() const { return core_cycles / static_cast<double>(duration_ns); }
  /// The one clock at which all kernels together take at_core_ns: the harmonic mean over their sensitive time.
  double effective_mhz(const Job& job) const;
};

/// The sums as keys of a JSON object, without braces.
std::string sums_text(const ClockSums& sums);
/// The factors and clocks likewise.
std::string factors_text(const Job& job, const ClockSums& sums);

}  // namespace chopper::synth
