// SPDX-License-Identifier: Apache-2.0
#include "synth/simulation.h"

#include <utility>

#include "base/check.h"
#include "synth/random.h"
#include "synth/simulation_state.h"

namespace chopper::synth {

const char* to_string(GapCause cause) {
  switch (cause) {
    case GapCause::none:
      return "none";
    case GapCause::host:
      return "host";
    case GapCause::data_loading:
      return "data_loading";
    case GapCause::host_sync:
      return "host_sync";
    case GapCause::latency:
      return "latency";
    case GapCause::dependency:
      return "dependency";
    case GapCause::collective:
      return "collective";
    case GapCause::copy:
      return "copy";
  }
  return "";
}

Simulation::State::State(const Job& j, const Programs& p, Scenario s)
    : job(j), programs(p), scenario(s), total_iterations(j.warmup_iterations + j.num_iterations) {
  const auto size = static_cast<std::size_t>(job.world_size);
  ranks.resize(size);
  members.resize(size);
  clocks.reserve(size);
  for (std::uint32_t rank = 0; rank < size; rank++) {
    places.push_back(place_of(job, rank));
    clocks.emplace_back(job, rank);
    RankState& r = ranks[rank];
    const double slower = fault("straggler", rank);
    clocks[rank].set_efficiency(std::clamp(1 - slower / 100, 0.05, 1.0));
    for (std::size_t group = 0; group < members[rank].size(); group++) {
      members[rank][group] = members_of(job, rank, static_cast<Group>(group));
    }
    r.speed = 1 + job.physics.host_spread * triangular(random_bits(job.seed, Purpose::host_speed, rank));
    const double late = unit(random_bits(job.seed, Purpose::process_start, rank));
    r.now_ns = static_cast<std::int64_t>(late * 200'000);
    if (!scenario.peak_clock && scenario.clocks == nullptr) {
      const double phase = unit(random_bits(job.seed, Purpose::sensor, rank));
      schedule(static_cast<std::int64_t>(phase * kMillisecond), EventKind::tick, rank);
    }
    begin_iteration(rank, 0);
    schedule(r.now_ns, EventKind::host, rank);
  }
}

double Simulation::State::fault(const char* name, std::uint32_t rank) const {
  double amount = 0;
  for (const Fault& f : job.faults) {
    if (f.name == name && (f.rank < 0 || f.rank == static_cast<std::int64_t>(rank))) amount += f.amount;
  }
  return amount;
}

void Simulation::State::schedule(std::int64_t time, EventKind kind, std::uint32_t rank, std::uint32_t stream,
                                 std::uint64_t version) {
  if (kind != EventKind::tick) num_progressing++;
  events.push({time, next_order++, kind, rank, stream, version});
}

void Simulation::State::run_until_complete(std::int64_t index) {
  const auto complete = [&] {
    return std::all_of(ranks.begin(), ranks.end(), [&](const RankState& r) {
      if (r.iteration < index) return false;
      const IterationTimes& t = r.times[static_cast<std::size_t>(index - r.times.front().index)];
      return t.host_done && t.num_unfinished == 0;
    });
  };
  std::uint64_t handled = 0;
  // Looking at all ranks after every event would cost more than the events.
  const std::uint64_t every = 64 + static_cast<std::uint64_t>(job.world_size) * 8;
  while (num_progressing > 0 && (handled++ % every != 0 || !complete())) {
    const Event event = events.top();
    events.pop();
    if (event.kind != EventKind::tick) num_progressing--;
    now = event.time_ns;
    handle(event);
  }
  CHOPPER_CHECK(complete());
}

void Simulation::State::handle(const Event& event) {
  RankState& r = ranks[event.rank];
  switch (event.kind) {
    case EventKind::host:
      if (r.blocked == Blocked::no) run_host(event.rank);
      break;
    case EventKind::check:
      check_stream(event.rank, event.stream);
      break;
    case EventKind::finish:
      if (r.streams[event.stream].version == event.version) finish_work(event.rank, event.stream);
      break;
    case EventKind::tick:
      tick(event.rank);
      break;
    case EventKind::transferred:
      transferred(event.version);
      break;
    case EventKind::collective_exit:
      finish_work(event.rank, event.stream);
      break;
  }
}

// Simulation ----------------------------------------------------------------------------------------------------------

Simulation::Simulation(const Job& job, const Programs& programs, Scenario scenario)
    : state_(std::make_unique<State>(job, programs, scenario)) {}
Simulation::~Simulation() = default;

void Simulation::run_until_complete(std::int64_t index) { state_->run_until_complete(index); }

const IterationTimes& Simulation::times(std::int64_t rank, std::int64_t index) const {
  RankState& r = state_->ranks[static_cast<std::size_t>(rank)];
  return state_->times_of(r, index);
}

void Simulation::forget(std::int64_t index) {
  for (RankState& r : state_->ranks) {
    if (r.times.size() > 1 && r.times.front().index == index) r.times.pop_front();
  }
}

std::vector<ClockSample> Simulation::take_clocks(std::int64_t rank) {
  return std::exchange(state_->ranks[static_cast<std::size_t>(rank)].samples, {});
}

}  // namespace chopper::synth
