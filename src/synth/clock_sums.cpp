// SPDX-License-Identifier: Apache-2.0
#include "synth/clock_sums.h"

#include <fmt/format.h>

#include <algorithm>

namespace chopper::synth {

void ClockSums::add(const Job& job, const Work& work, const WorkTime& time) {
  const std::int64_t length = time.end_ns - time.start_ns;
  const auto elapsed = static_cast<double>(std::max<std::int64_t>(1, length));
  const double core_mhz = time.core_cycles / elapsed;
  const double memory_share =
      job.gpu.memory_clock_mhz > 0 ? time.memory_cycles / elapsed / job.gpu.memory_clock_mhz : 1.0;
  num_kernels++;
  duration_ns += length;
  if (work.bound == Bound::compute) {
    flops += work.flops;
    executed_flops += work.executed_flops;
    busy_cycles += matrix_busy_cycles(job, work);
  } else {
    bytes += work.bytes;
    executed_bytes += work.executed_bytes;
  }
  const double peak = serialised_ns(job, work, {job.gpu.clock_mhz, 1});
  theory_ns += work.theory_ns;
  with_inst_ns += work.theory_ns * work.inst;
  // What the front end adds to the cycles lowers the utilisation that counters show; rate stays.
  with_util_ns += work.theory_ns * work.inst * work.util * peak / work.alone_ns;
  peak_ns += peak;
  at_core_ns += serialised_ns(job, work, {core_mhz, 1});
  at_clocks_ns += serialised_ns(job, work, {core_mhz, memory_share});
  core_cycles += time.core_cycles;
  insensitive_ns += work.alone_ns * work.insensitive;
  front_end_peak_ns += job.physics.front_end_cycles / job.gpu.clock_mhz * 1e3;
  front_end_ns += job.physics.front_end_cycles / core_mhz * 1e3;
}

void ClockSums::add(const ClockSums& o) {
  num_kernels += o.num_kernels;
  duration_ns += o.duration_ns;
  for (double ClockSums::*each :
       {&ClockSums::flops, &ClockSums::executed_flops, &ClockSums::busy_cycles, &ClockSums::bytes,
        &ClockSums::executed_bytes, &ClockSums::theory_ns, &ClockSums::with_inst_ns, &ClockSums::with_util_ns,
        &ClockSums::peak_ns, &ClockSums::at_core_ns, &ClockSums::at_clocks_ns, &ClockSums::core_cycles,
        &ClockSums::insensitive_ns, &ClockSums::front_end_peak_ns, &ClockSums::front_end_ns}) {
    this->*each += o.*each;
  }
}

double ClockSums::effective_mhz(const Job& job) const {
  return job.gpu.clock_mhz * (peak_ns - insensitive_ns) / (at_core_ns - insensitive_ns);
}

std::string sums_text(const ClockSums& s) {
  return fmt::format(
      "\"num_kernels\": {}, \"duration_ns\": {}, \"flops\": {}, \"executed_flops\": {}, \"busy_cycles\": {}, "
      "\"bytes\": {}, \"executed_bytes\": {}, \"d_thr_ns\": {}, \"with_inst_ns\": {}, \"with_util_ns\": {}, "
      "\"alone_peak_ns\": {}, \"alone_core_ns\": {}, \"alone_clocks_ns\": {}, \"core_cycles\": {}, "
      "\"insensitive_ns\": {}, \"front_end_peak_ns\": {}, \"front_end_ns\": {}",
      s.num_kernels, s.duration_ns, s.flops, s.executed_flops, s.busy_cycles, s.bytes, s.executed_bytes, s.theory_ns,
      s.with_inst_ns, s.with_util_ns, s.peak_ns, s.at_core_ns, s.at_clocks_ns, s.core_cycles, s.insensitive_ns,
      s.front_end_peak_ns, s.front_end_ns);
}

std::string factors_text(const Job& job, const ClockSums& s) {
  std::string text = fmt::format(
      "\"inst\": {}, \"util\": {}, \"rate\": {}, \"contention\": {}, \"freq\": {}, \"insensitive\": {}, "
      "\"util_alone\": {}, \"contention_alone\": {}, \"f_mean_mhz\": {}, ",
      s.inst(), s.util(), s.rate(), s.contention(), s.freq(), s.insensitive_ns / s.peak_ns, s.util_alone(),
      s.contention_alone(), s.mean_mhz());
  // A kernel that does not follow the core clock at all says nothing about it.
  text += s.insensitive_ns < s.peak_ns ? fmt::format("\"f_eff_mhz\": {}", s.effective_mhz(job)) : "\"f_eff_mhz\": null";
  if (job.gpu.memory_clock_mhz > 0) text += fmt::format(", \"mem_clock\": {}", s.mem_clock());
  return text;
}

}  // namespace chopper::synth
