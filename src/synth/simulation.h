// SPDX-License-Identifier: Apache-2.0
// A discrete-event simulation of all ranks of a job. Hosts walk through their programs and launch; streams run what
// was launched in order; collectives start when the last rank has arrived; kernels that run beside others slow down; a
// control loop sets each gpu's clocks by its power once a millisecond.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "synth/job.h"
#include "synth/program.h"

namespace chopper::synth {

/// The programs of a job: per pipeline stage, without and with the optimizer's step.
struct Programs {
  std::vector<Program> plain, with_optimizer;

  /// Returns what a rank of `stage` runs in iteration `index` (0: the first warm-up).
  const Program& at(const Job& job, std::int64_t stage, std::int64_t index) const;
};
Programs build_programs(const Job& job);

/// Position of a rank in the job's grid.
struct Place {
  std::int64_t tensor = 0, context = 0, data = 0, stage = 0;
};
Place place_of(const Job& job, std::int64_t rank);
/// Returns the ranks of `group` that `rank` belongs to, in order.
std::vector<std::int64_t> members_of(const Job& job, std::int64_t rank, Group group);
/// Whether iteration `index` of the simulation takes an optimizer step.
bool has_optimizer_step(const Job& job, std::int64_t index);

/// Why the gap before a piece of work was as long as it was. The part before the launch call is due to the host; the
/// part after it to what the launched work waited for last.
enum class GapCause : std::uint8_t {
  none,          ///< no gap, or the pause between neighbours of a stream
  host,          ///< the launch call came late: the host was busy
  data_loading,  ///< ... since it waited for a batch
  host_sync,     ///< ... since it waited for the gpu
  latency,       ///< between the launch call and the gpu
  dependency,    ///< an event of another compute stream
  collective,    ///< an event of a communication stream, or a collective before it on its stream
  copy,          ///< a copy or fill before it on its stream
};
const char* to_string(GapCause cause);

/// When a host range or call happened.
struct HostTime {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
};

/// One execution of a piece of work.
struct WorkTime {
  std::int64_t call_ns = 0;  ///< start of the launch call
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t all_arrived_ns = 0;  ///< collectives: when the last rank was there
  double variation = 1;             ///< of this repetition: the time alone is alone_ns x this
  double core_cycles = 0;           ///< clock integrated over the time, MHz x ns
  double memory_cycles = 0;
  GapCause prep_cause = GapCause::none, call_cause = GapCause::none;
};

/// What one rank did in one iteration; the vectors are parallel to the tables of its program.
struct IterationTimes {
  std::int64_t index = 0;  ///< 0: the first warm-up
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;  ///< of the host
  std::vector<HostTime> ranges, calls;
  std::vector<WorkTime> work;
  std::vector<std::int64_t> memory_ns;
  std::int64_t num_unfinished = 0;
  bool host_done = false;
};

/// State of a gpu's clocks at one millisecond.
struct ClockSample {
  std::int64_t time_ns = 0;
  double core_mhz = 0;
  double memory_mhz = 0;
  double power_w = 0;
};

/// Core and memory clock (MHz) of each piece of work: by rank, iteration of the simulation, index in the program.
using HeldClocks = std::vector<std::vector<std::vector<std::pair<float, float>>>>;

/// What a simulation leaves out: the counterfactuals that give the truth.
struct Scenario {
  /// False: collectives take no time, wait for nobody and disturb nobody. Transfers between pipeline stages still wait
  /// for the other stage, whose result they bring.
  bool communication = true;
  bool peak_clock = false;             ///< all clocks at their highest
  bool host_cost = true;               ///< false: host work and launch latency take no time
  const HeldClocks* clocks = nullptr;  ///< clocks to hold, as the factual simulation left them
};

class Simulation {
 public:
  Simulation(const Job& job, const Programs& programs, Scenario scenario);
  ~Simulation();

  /// Runs until iteration `index` is complete on all ranks.
  void run_until_complete(std::int64_t index);
  const IterationTimes& times(std::int64_t rank, std::int64_t index) const;
  /// Forgets iteration `index` of all ranks; iterations are forgotten in order.
  void forget(std::int64_t index);
  /// Returns the clock samples of a rank since the last call.
  std::vector<ClockSample> take_clocks(std::int64_t rank);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace chopper::synth
