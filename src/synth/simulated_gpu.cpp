// SPDX-License-Identifier: Apache-2.0
// Gpus: streams run what was launched, at rates that follow the clocks and what runs beside.
#include <algorithm>
#include <utility>

#include "synth/random.h"
#include "synth/simulation_state.h"

namespace chopper::synth {

void Simulation::State::check_stream(std::uint32_t rank, std::uint32_t stream) {
  RankState& r = ranks[rank];
  RunningStream& s = r.streams[stream];
  while (!s.busy && !s.queue.empty()) {
    const Item item = s.queue.front();
    if (item.kind == ItemKind::wait) {
      const auto found = r.instances.find(item.instance);
      if (found != r.instances.end() && found->second.done_ns != kNever && found->second.done_ns > now) {
        // The event has come, and this stream has not learnt of it yet.
        s.wait_done_ns = found->second.done_ns;
        s.wait_was_collective = found->second.of_communication;
        return schedule(found->second.done_ns, EventKind::check, rank, stream);
      }
      if (found != r.instances.end() && found->second.done_ns == kNever) {
        std::vector<std::uint32_t>& waiting = found->second.streams;
        if (std::find(waiting.begin(), waiting.end(), stream) == waiting.end()) waiting.push_back(stream);
        return;
      }
      s.queue.pop_front();
      r.num_queued--;
      continue;
    }
    if (item.ready_ns > now) return schedule(item.ready_ns, EventKind::check, rank, stream);
    if (item.kind == ItemKind::record) {
      s.queue.pop_front();
      r.num_queued--;
      complete_event(rank, item.instance);
      continue;
    }
    if (!begin_work(rank, stream, item)) return;
  }
  if (r.num_queued == 0 && r.blocked == Blocked::drain) unblock(rank);
}

void Simulation::State::complete_event(std::uint32_t rank, std::uint32_t instance) {
  RankState& r = ranks[rank];
  EventInstance& event = r.instances[instance];
  // Another stream learns of it a moment later.
  event.done_ns = now + (scenario.host_cost ? static_cast<std::int64_t>(job.physics.event_latency_ns) : 0);
  const std::int64_t done = event.done_ns;
  const std::vector<std::uint32_t> streams = std::exchange(event.streams, {});
  const bool host_waits = event.host_waits;
  const bool of_communication = event.of_communication;
  for (const std::uint32_t stream : streams) {
    r.streams[stream].wait_done_ns = done;
    r.streams[stream].wait_was_collective = of_communication;
    schedule(done, EventKind::check, rank, stream);
  }
  if (host_waits && r.blocked == Blocked::event && r.blocked_on == instance) unblock(rank);
  // A slot that is recorded again forgets its older instances; those that are done and not current are dropped.
  if (r.instances.size() > 4 * r.slots.size() + 64) {
    const std::uint32_t old = r.next_instance - static_cast<std::uint32_t>(3 * r.slots.size()) - 32;
    std::erase_if(r.instances, [&](const auto& entry) { return entry.first < old && entry.second.done_ns != kNever; });
  }
}

// Why the host was late: the launch call came after `idle_since`.
GapCause Simulation::State::prep_cause_of(const RankState& r, const Item& item, std::int64_t idle_since) const {
  if (item.call_ns <= idle_since) return GapCause::none;
  const std::int64_t late = item.call_ns - idle_since;
  const std::int64_t loading = std::min(item.call_ns, r.loading_end_ns) - std::max(idle_since, r.loading_start_ns);
  if (2 * loading > late) return GapCause::data_loading;
  if (r.sync_end_ns >= idle_since) return GapCause::host_sync;
  return GapCause::host;
}

// What came last of all that a launched piece of work had to wait for.
GapCause Simulation::State::call_cause_of(const RunningStream& s, const Item& item, std::int64_t idle_since) const {
  if (s.wait_done_ns > std::max({idle_since, s.free_ns, item.ready_ns - 1})) {
    return s.wait_was_collective ? GapCause::collective : GapCause::dependency;
  }
  if (item.ready_ns > std::max(idle_since, s.free_ns)) return GapCause::latency;
  if (s.free_ns <= idle_since) return GapCause::none;
  switch (s.previous_class) {
    case WorkClass::comm:
      return GapCause::collective;
    case WorkClass::memcpy_work:
    case WorkClass::memset_work:
      return GapCause::copy;
    default:
      return GapCause::none;
  }
}

// Starts `item` if the stream's pause since its last work is over.
bool Simulation::State::begin_work(std::uint32_t rank, std::uint32_t stream, const Item& item) {
  RankState& r = ranks[rank];
  RunningStream& s = r.streams[stream];
  const auto iteration = static_cast<std::uint64_t>(item.iteration);
  const double pause = unit(random_bits(job.seed, Purpose::queue_gap, rank, iteration, item.index));
  const double gap = scenario.host_cost ? job.physics.queue_gap_ns * (0.7 + 0.6 * pause) : 0;
  const std::int64_t earliest = s.free_ns == 0 ? 0 : s.free_ns + static_cast<std::int64_t>(gap);
  if (earliest > now) {
    schedule(earliest, EventKind::check, rank, stream);
    return false;
  }
  advance(r);
  const Program& program = program_of(rank, item.iteration);
  s.queue.pop_front();
  s.item = item;
  s.work = &program.work[item.index];
  s.busy = true;
  s.transferring = false;
  s.core_cycles = s.memory_cycles = 0;
  WorkTime& time = times_of(r, item.iteration).work[item.index];
  time.call_ns = item.call_ns;
  time.start_ns = now;
  time.prep_cause = prep_cause_of(r, item, r.compute_end_ns);
  time.call_cause = call_cause_of(s, item, r.compute_end_ns);
  r.num_waiting--;
  const double noise = bell(random_bits(job.seed, Purpose::kernel_duration, rank, iteration, item.index));
  time.variation = 1 + job.physics.kernel_jitter * noise;
  s.remaining_ns = std::max(1.0, s.work->alone_ns * time.variation);
  s.core_mhz = std::max(job.gpu.clock_mhz, job.gpu.max_clock_mhz);
  s.memory_mhz = job.gpu.memory_clock_mhz;
  if (scenario.clocks != nullptr) {
    const auto& [core, memory] = (*scenario.clocks)[rank][static_cast<std::size_t>(item.iteration)][item.index];
    s.core_mhz = static_cast<double>(core);
    s.memory_mhz = static_cast<double>(memory);
  }
  s.version++;
  if (s.work->collective >= 0) {
    const bool brings_input = s.work->stream >= Stream::receive_forward;
    if (!scenario.communication && !brings_input) {
      s.remaining_ns = 0;
      schedule(now, EventKind::collective_exit, rank, stream);
    } else {
      arrive(rank, stream, item.collective);
    }
  }
  rerate(rank);
  if (r.blocked == Blocked::queue_full && static_cast<double>(r.num_waiting) < job.physics.queue_depth) unblock(rank);
  return true;
}

void Simulation::State::finish_work(std::uint32_t rank, std::uint32_t stream) {
  RankState& r = ranks[rank];
  RunningStream& s = r.streams[stream];
  advance(r);
  IterationTimes& t = times_of(r, s.item.iteration);
  WorkTime& time = t.work[s.item.index];
  time.end_ns = std::max(now, time.start_ns + (scenario.communication || s.work->collective < 0 ? 1 : 0));
  time.core_cycles = s.core_cycles;
  time.memory_cycles = s.memory_cycles;
  t.num_unfinished--;
  s.busy = false;
  s.previous_class = s.work->work_class;
  if (s.work->is_compute()) r.compute_end_ns = std::max(r.compute_end_ns, time.end_ns);
  s.work = nullptr;
  s.free_ns = time.end_ns;
  s.version++;
  r.num_queued--;
  rerate(rank);
  check_stream(rank, stream);
}

// Brings the running work up to now at the rates of the last change.
void Simulation::State::advance(RankState& r) {
  const auto elapsed = static_cast<double>(now - r.updated_ns);
  if (elapsed <= 0) return;
  const auto rank = static_cast<std::uint32_t>(&r - ranks.data());
  const bool own_clock = !scenario.peak_clock && scenario.clocks == nullptr;
  r.energy_nj += power_of(r, rank) * elapsed;
  for (RunningStream& s : r.streams) {
    if (!s.busy) continue;
    s.remaining_ns -= s.rate * elapsed;
    s.core_cycles += elapsed * (own_clock ? clocks[rank].core_mhz() : s.core_mhz);
    s.memory_cycles += elapsed * (own_clock ? clocks[rank].memory_mhz() : s.memory_mhz);
  }
  r.updated_ns = now;
}

// How much longer the work of `stream` takes for what runs beside it.
double Simulation::State::slowdown(const RankState& r, std::size_t stream) const {
  const Work& work = *r.streams[stream].work;
  double level = 0, copies = 0;
  for (std::size_t other = 0; other < kNumStreams; other++) {
    const RunningStream& s = r.streams[other];
    if (other == stream || !s.busy) continue;
    if (s.work->collective >= 0) {
      level = std::max(level, s.transferring ? 1.0 : job.physics.contention_waiting);
    } else {
      copies = 1;
    }
  }
  if (!scenario.communication) level = 0;
  return (1 + (work.contention - 1) * level) * (1 + (job.physics.contention_copy - 1) * copies);
}

void Simulation::State::rerate(std::uint32_t rank) {
  RankState& r = ranks[rank];
  const bool own_clock = !scenario.peak_clock && scenario.clocks == nullptr;
  for (std::uint32_t stream = 0; stream < kNumStreams; stream++) {
    RunningStream& s = r.streams[stream];
    if (!s.busy || s.work->collective >= 0) continue;
    const double core = own_clock ? clocks[rank].core_mhz() : s.core_mhz;
    const double memory = own_clock ? clocks[rank].memory_mhz() : s.memory_mhz;
    const double m = s.work->insensitive;
    const double memory_share = job.gpu.memory_clock_mhz > 0 ? job.gpu.memory_clock_mhz / memory : 1.0;
    s.rate = 1 / (((1 - m) * job.gpu.clock_mhz / core + m * memory_share) * slowdown(r, stream));
    const double left = std::max(0.0, s.remaining_ns) / s.rate;
    auto whole = static_cast<std::int64_t>(left);
    if (static_cast<double>(whole) < left) whole++;
    schedule(now + whole, EventKind::finish, rank, stream, ++s.version);
  }
}

double Simulation::State::power_of(const RankState& r, std::uint32_t rank) const {
  double core = 0, memory = 0, link = 0;
  for (std::size_t stream = 0; stream < kNumStreams; stream++) {
    const RunningStream& s = r.streams[stream];
    if (!s.busy) continue;
    core += s.work->core_activity;
    memory += s.work->memory_activity * (s.work->collective >= 0 && !s.transferring ? 0.1 : 1.0);
    if (s.work->collective >= 0) link = s.transferring ? 1.0 : std::max(link, 0.1);
  }
  return clocks[rank].power(std::min(core, 1.0), std::min(memory, 1.2), link,
                            now <= r.spike_until_ns ? job.physics.allocator_spike_w : 0.0);
}

void Simulation::State::tick(std::uint32_t rank) {
  RankState& r = ranks[rank];
  advance(r);
  const double mean_w = r.energy_nj / kMillisecond;
  r.energy_nj = 0;
  clocks[rank].tick(mean_w, r.ticks++);
  if (r.iteration >= job.warmup_iterations) {
    r.samples.push_back({now, clocks[rank].core_mhz(), clocks[rank].memory_mhz(), mean_w});
  }
  // FSDP 1 reuses memory in an order that differs from run to run; what that does to the power of the memory is
  // modelled as spikes that begin at random.
  const std::uint64_t spike = random_bits(job.seed, Purpose::allocator, rank, static_cast<std::uint64_t>(r.ticks));
  if (job.sharding == Sharding::fsdp1 && now > r.spike_until_ns && unit(spike) < job.physics.allocator_spike_share) {
    const double length = 0.5 + unit(spike * 0x9e3779b97f4a7c15u);
    r.spike_until_ns = now + static_cast<std::int64_t>(job.physics.allocator_spike_ms * 1e6 * length);
  }
  rerate(rank);
  if (!r.finished || r.num_queued > 0) schedule(now + kMillisecond, EventKind::tick, rank);
}

}  // namespace chopper::synth
